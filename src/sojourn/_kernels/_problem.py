"""The problem, the learner's manner and the yardstick of a trial, as kernels take them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined
from sojourn._typing import BoolArray, FloatArray, IndexArray, IntArray

__all__ = ["PlayOptions", "ProblemArrays", "ReferenceArrays", "exploring"]


class ProblemArrays(NamedTuple):
    """The problem: transitions as compressed rows, rewards as the learner and as the user count them."""

    indptr: IndexArray
    indices: IndexArray
    data: FloatArray
    n_actions: int
    rewards: FloatArray  # (S·A,) mapped to [0, 1]
    paid: FloatArray  # (S·A,) in the environment's own units
    is_terminal: BoolArray  # (S,)
    terminal_paid: float


class PlayOptions(NamedTuple):
    """How a learner plays."""

    key: np.uint64  # of its ties
    is_random: bool  # ties at random, or the lowest action
    starts_again: bool  # past its last layer, or holds that one
    counts_all: bool  # steps past its last layer too
    n_layers: int  # after which its clock has gone round; Q values may have a single one
    counts_arcs: bool  # which successors a pair had, for a model
    counts_layers: bool  # how often a state was met in each layer
    epsilon: float  # chance of any action at all in the first episode
    decay: float  # in episode k it is epsilon·k^−decay


@inlined
def exploring(manner: PlayOptions, episode: int) -> float:
    """Return the chance of any action at all in an episode, counted from 0."""
    if manner.decay == 0.0:
        return manner.epsilon
    return float(manner.epsilon * (episode + 1.0) ** -manner.decay)


class ReferenceArrays(NamedTuple):
    """What the value of a policy is measured with, and room for it."""

    survival: FloatArray  # (M,) γ(1) … γ(M)
    tails: FloatArray  # (M + 1,) Γ(1) … Γ(M+1)
    start: int  # the one start state, or −1 if there are several
    middle: float  # of the rewards: what each step after M is taken to pay
    spread: float  # of the rewards
    width: float  # of the bracket that follows, where Γ(M+1) is small enough
    is_far: bool  # else, policies are followed until they run in a circle; see `value_from`
    allowed: float  # how wide a bracket may be then
    rounding: float  # by which the chances can be wrong more with every step
    drifts: FloatArray  # (K,) rising: for each of them,
    losses: FloatArray  # (K,) Σ_h γ(h) min(2, drift·h), from above
    chance: FloatArray  # (S,) zeros
    coming: FloatArray  # (S,) zeros
    saved: FloatArray  # (S,)
    earned: FloatArray  # (M,)
    here: IntArray  # (S,)
    there: IntArray  # (S,)
    numbers: IntArray  # (S,) the learner's numbers of states, 0 if they have none; see `look_up_states`
