"""Learners: settings that start a learner, and bonuses."""

from __future__ import annotations

from sojourn.agents._balancing import D3RB, DynamicBalancing
from sojourn.agents._bonuses import (
    EQO,
    Bernstein,
    GeneralBernstein,
    Hoeffding,
    PaperBonus,
    SimpleBernstein,
)
from sojourn.agents._optimist import Optimist
from sojourn.agents._players import OptimalPlayer, RandomPlayer
from sojourn.agents._protocol import Agent, CompiledLearner, Learner, PlanningLearner, Played
from sojourn.agents._psrl import PSRL
from sojourn.agents._q_learning import EpsilonGreedy, QLearning
from sojourn.agents._registry import AGENTS, BONUSES
from sojourn.agents._selection import HorizonSelection
from sojourn.agents._storage import load_learner
from sojourn.agents._ucbvi import UCBVI
from sojourn.agents._ucbvi_gamma import UCBVIGamma
from sojourn.agents._unknown_law import UnknownLaw

__all__ = [
    "AGENTS",
    "BONUSES",
    "D3RB",
    "EQO",
    "PSRL",
    "UCBVI",
    "Agent",
    "Bernstein",
    "CompiledLearner",
    "DynamicBalancing",
    "EpsilonGreedy",
    "GeneralBernstein",
    "Hoeffding",
    "HorizonSelection",
    "Learner",
    "OptimalPlayer",
    "Optimist",
    "PaperBonus",
    "PlanningLearner",
    "Played",
    "QLearning",
    "RandomPlayer",
    "SimpleBernstein",
    "UCBVIGamma",
    "UnknownLaw",
    "load_learner",
]
