"""Problems: finite Markov decision processes, given, built, read from an environment or estimated."""

from __future__ import annotations

from sojourn.mdps._builders import cash_or_invest, chain, deep_sea, river_swim, two_paths
from sojourn.mdps._garnet import garnet
from sojourn.mdps._parse import BUILDERS, GYMNASIUM_IDS, NamedProblem, parse_problem, read_problem
from sojourn.mdps._tabular import TabularMDP

__all__ = [
    "BUILDERS",
    "GYMNASIUM_IDS",
    "NamedProblem",
    "TabularMDP",
    "cash_or_invest",
    "chain",
    "deep_sea",
    "garnet",
    "parse_problem",
    "read_problem",
    "river_swim",
    "two_paths",
]
