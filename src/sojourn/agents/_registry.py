"""Agents and bonuses by name, for `sojourn list` and saved learners."""

from __future__ import annotations

from typing import Any

from sojourn.agents._baselines import OptimalPlayer, RandomPlayer
from sojourn.agents._bonuses import (
    EQO,
    Bernstein,
    GeneralBernstein,
    Hoeffding,
    MonotoneBernstein,
    PaperBonus,
    SimpleBernstein,
)
from sojourn.agents._horizon_selection import HorizonSelection
from sojourn.agents._psrl import PSRL
from sojourn.agents._q_learning import EpsilonGreedy, QLearning
from sojourn.agents._ucbvi import UCBVI
from sojourn.agents._ucbvi_gamma import UCBVIGamma
from sojourn.agents._unknown_law import UnknownLaw

__all__ = ["AGENTS", "BONUSES"]

AGENTS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        UCBVI,
        UnknownLaw,
        HorizonSelection,
        PSRL,
        QLearning,
        UCBVIGamma,
        EpsilonGreedy,
        RandomPlayer,
        OptimalPlayer,
    )
}
"""Every agent class by its name."""

BONUSES: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        PaperBonus,
        Hoeffding,
        Bernstein,
        GeneralBernstein,
        SimpleBernstein,
        MonotoneBernstein,
        EQO,
    )
}
"""Every bonus class by its name."""
