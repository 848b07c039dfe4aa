"""Problems: finite Markov decision processes, given, built, read from an environment or estimated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sojourn.mdps._builders import cash_or_invest, chain, deep_sea, river_swim, two_paths
from sojourn.mdps._garnet import garnet
from sojourn.mdps._tabular import TabularMDP

__all__ = [
    "BUILDERS",
    "TabularMDP",
    "cash_or_invest",
    "chain",
    "deep_sea",
    "garnet",
    "river_swim",
    "two_paths",
]

BUILDERS: Mapping[str, Callable[..., TabularMDP]] = MappingProxyType(
    {
        builder.__name__: builder
        for builder in (cash_or_invest, chain, deep_sea, garnet, river_swim, two_paths)
    }
)
"""Every builder by its name."""
