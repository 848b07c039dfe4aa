"""The dispatch from a learner's update parameters to the kernel that performs the update.

Each algorithm has a named tuple that holds the parameters of its update, such as `UCBVIUpdate`. Compiled code
knows the type of that tuple at compile time, so `play` is compiled once per algorithm with a direct call of
the algorithm's kernel in it. `_UPDATES` lists the kernels by the type of the parameters; a new algorithm
adds one entry.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba.extending import overload

from sojourn._kernels._interrupts import interruptible
from sojourn._kernels._jit import kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._tables import Tables
from sojourn._kernels.learning._update_bernstein import BernsteinUpdate, update_bernstein
from sojourn._kernels.learning._update_monotone_bernstein import (
    MonotoneBernsteinUpdate,
    update_monotone_bernstein,
)
from sojourn._kernels.learning._update_psrl import PSRLUpdate, update_psrl
from sojourn._kernels.learning._update_q_learning import QLearningUpdate, update_q_learning
from sojourn._kernels.learning._update_ucbvi import UCBVIUpdate, update_ucbvi
from sojourn._kernels.learning._update_ucbvi_gamma import UCBVIGammaUpdate, update_ucbvi_gamma
from sojourn._typing import FloatArray, IntArray

__all__ = ["EpisodeBuffer", "apply_update", "update_learner"]


class EpisodeBuffer(NamedTuple):
    """What an episode consisted of, as far as updates need it."""

    played: IntArray  # (pairs,) the pairs that were played, each once, in the order of their first step
    last_played: IntArray  # (pairs,) the episode in which each pair was last played, −1 if in none
    pairs: IntArray  # (steps,) the pair of each step, or (0,) if the update does not need the steps
    layers: IntArray  # (steps,) the layer of each step, counted from 0
    successors: IntArray  # (steps,) the number of the state after each step
    rewards: FloatArray  # (steps,) the reward of each step


def update_learner(
    update: Any, tables: Tables, assumed: AssumedLaw, buffer: EpisodeBuffer, n_played: int, n_steps: int
) -> None:
    """Update a learner's tables after an episode; only for compiled code, see `apply_update`."""
    raise NotImplementedError


_UPDATES: dict[type, Any] = {
    UCBVIUpdate: lambda update, tables, assumed, buffer, n_played, n_steps: update_ucbvi(
        tables, assumed, update, buffer.played[:n_played]
    ),
    BernsteinUpdate: lambda update, tables, assumed, buffer, n_played, n_steps: update_bernstein(
        tables, assumed, update, buffer.played[:n_played]
    ),
    MonotoneBernsteinUpdate: lambda update, tables, assumed, buffer, n_played, n_steps: (
        update_monotone_bernstein(tables, assumed, update, buffer.played[:n_played])
    ),
    UCBVIGammaUpdate: lambda update, tables, assumed, buffer, n_played, n_steps: update_ucbvi_gamma(
        tables, assumed, update, buffer.played[:n_played], max(1, n_steps)
    ),
    PSRLUpdate: lambda update, tables, assumed, buffer, n_played, n_steps: update_psrl(
        tables, assumed, update
    ),
    QLearningUpdate: lambda update, tables, assumed, buffer, n_played, n_steps: update_q_learning(
        tables,
        assumed,
        update,
        buffer.pairs[:n_steps],
        buffer.layers[:n_steps],
        buffer.successors[:n_steps],
        buffer.rewards[:n_steps],
    ),
}


# While numba compiles a call of `update_learner`, it calls this function with the types of the arguments and
# compiles the lambda that it returns in place of the call. Not strict: a strict overload would compare
# annotations, and lambdas have none.
@overload(update_learner, strict=False, inline="always")
def _update_of(update: Any, tables: Any, assumed: Any, buffer: Any, n_played: Any, n_steps: Any) -> Any:
    return _UPDATES.get(update.instance_class)


@interruptible
@kernel
def apply_update(
    update: Any, tables: Tables, assumed: AssumedLaw, buffer: EpisodeBuffer, n_played: int, n_steps: int
) -> None:
    """Update a learner's tables after an episode; callable from Python.

    Args:
        update: The parameters of the update; their type selects the kernel.
        tables: The learner's tables, changed in place.
        assumed: The law that the learner assumes.
        buffer: The episode.
        n_played: How many entries of `buffer.played` belong to the episode.
        n_steps: How many entries of `buffer.pairs` belong to the episode.
    """
    update_learner(update, tables, assumed, buffer, n_played, n_steps)
