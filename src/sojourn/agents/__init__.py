"""Learners: settings that start a learner, and bonuses."""

from __future__ import annotations

from sojourn.agents._bonuses import Bernstein, GeneralBernstein, Hoeffding, PaperBonus
from sojourn.agents._optimist import Optimist
from sojourn.agents._players import OptimalPlayer, RandomPlayer
from sojourn.agents._protocol import Agent, CompiledLearner, Learner, PlanningLearner
from sojourn.agents._registry import AGENTS, BONUSES
from sojourn.agents._storage import load_learner
from sojourn.agents._ucbvi import UCBVI

__all__ = [
    "AGENTS",
    "BONUSES",
    "UCBVI",
    "Agent",
    "Bernstein",
    "CompiledLearner",
    "GeneralBernstein",
    "Hoeffding",
    "Learner",
    "OptimalPlayer",
    "Optimist",
    "PaperBonus",
    "PlanningLearner",
    "RandomPlayer",
    "load_learner",
]
