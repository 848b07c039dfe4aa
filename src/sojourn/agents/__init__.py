"""Agents: settings that start a learner, the learners themselves, and exploration bonuses."""

from __future__ import annotations

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
from sojourn.agents._episode import Episode, Step, play_episode, step_on_table
from sojourn.agents._horizon_selection import HorizonSelection
from sojourn.agents._protocol import Agent, CompiledLearner, EpisodeBatch, Learner, PlanningLearner, Played
from sojourn.agents._psrl import PSRL
from sojourn.agents._q_learning import EpsilonGreedy, QLearning
from sojourn.agents._registry import AGENTS, BONUSES
from sojourn.agents._selection_rules import D3RB, DynamicBalancing
from sojourn.agents._ucbvi import UCBVI, UCBVILearner
from sojourn.agents._ucbvi_gamma import UCBVIGamma
from sojourn.agents._unknown_law import UnknownLaw
from sojourn.agents.tabular._storage import load_learner

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
    "Episode",
    "EpisodeBatch",
    "EpsilonGreedy",
    "GeneralBernstein",
    "Hoeffding",
    "HorizonSelection",
    "Learner",
    "MonotoneBernstein",
    "OptimalPlayer",
    "PaperBonus",
    "PlanningLearner",
    "Played",
    "QLearning",
    "RandomPlayer",
    "SimpleBernstein",
    "Step",
    "UCBVIGamma",
    "UCBVILearner",
    "UnknownLaw",
    "load_learner",
    "play_episode",
    "step_on_table",
]
