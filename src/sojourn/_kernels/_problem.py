"""A tabular problem as arrays, in the forms that kernels take."""

from __future__ import annotations

from typing import NamedTuple

from sojourn._typing import BoolArray, FloatArray, IndexArray

__all__ = ["ProblemArrays", "TransitionRows"]


class TransitionRows(NamedTuple):
    """Transitions as compressed sparse rows; row s·A + a holds P(·|s, a)."""

    indptr: IndexArray  # (S·A + 1,) position of each row's first transition
    indices: IndexArray  # (transitions,) successor states
    data: FloatArray  # (transitions,) transition probabilities
    n_actions: int  # number of actions A


class ProblemArrays(NamedTuple):
    """Transitions as compressed sparse rows, and rewards in two units, for learning."""

    indptr: IndexArray  # (S·A + 1,) position of each row's first transition
    indices: IndexArray  # (transitions,) successor states
    data: FloatArray  # (transitions,) transition probabilities
    n_actions: int  # number of actions A
    rewards: FloatArray  # (S·A,) rewards mapped to [0, 1], which is what learners observe
    raw_rewards: FloatArray  # (S·A,) rewards in the environment's own units
    is_terminal: BoolArray  # (S,) whether each state is absorbing
    raw_terminal_reward: float  # reward per step in an absorbing state, in the environment's own units
