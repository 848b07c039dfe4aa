"""What a learner makes of an episode: each has a rule, a named tuple whose type says which update it is.

Compiled code finds the update by the type of the rule, so that all learners share one loop that plays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba.extending import overload

from sojourn._kernels._jit import kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._tables import Tables
from sojourn._kernels.learning._update_bernstein import BernsteinUpdate, update_bernstein
from sojourn._kernels.learning._update_psrl import PSRLUpdate, update_psrl
from sojourn._kernels.learning._update_q_learning import QLearningUpdate, update_q_learning
from sojourn._kernels.learning._update_ucbvi import UCBVIUpdate, replan
from sojourn._kernels.learning._update_ucbvi_gamma import UCBVIGammaUpdate, update_ucbvi_gamma
from sojourn._typing import FloatArray, IntArray

__all__ = ["EpisodeBuffer", "apply_update", "update_learner"]


class EpisodeBuffer(NamedTuple):
    """An episode as a learner sees it: the pairs that it played, and its steps if its rule asks for them."""

    played: IntArray  # (pairs,) each pair once, in the order in which they were first played
    mark: IntArray  # (pairs,) the episode in which a pair was last played
    pairs: IntArray  # (steps,), or (0,) where nobody asks for steps
    layers: IntArray  # (steps,)
    following: IntArray  # (steps,) number of the next state
    rewards: FloatArray  # (steps,)


def update_learner(
    rule: Any, tables: Tables, belief: AssumedLaw, steps: EpisodeBuffer, n_played: int, n_steps: int
) -> None:
    """Bring a learner's tables up to date after an episode; for compiled code, see `apply_update`."""
    raise NotImplementedError


_UPDATES: dict[type, Any] = {
    UCBVIUpdate: lambda rule, tables, belief, steps, n_played, n_steps: replan(
        tables, belief, steps.played[:n_played], rule.desk, rule.sheet
    ),
    BernsteinUpdate: lambda rule, tables, belief, steps, n_played, n_steps: update_bernstein(
        tables, belief, rule, steps.played[:n_played]
    ),
    UCBVIGammaUpdate: lambda rule, tables, belief, steps, n_played, n_steps: update_ucbvi_gamma(
        tables, belief, rule.spread, steps.played[:n_played]
    ),
    PSRLUpdate: lambda rule, tables, belief, steps, n_played, n_steps: update_psrl(tables, belief, rule),
    QLearningUpdate: lambda rule, tables, belief, steps, n_played, n_steps: update_q_learning(
        tables,
        belief,
        rule,
        steps.pairs[:n_steps],
        steps.layers[:n_steps],
        steps.following[:n_steps],
        steps.rewards[:n_steps],
    ),
}


# Not strict: that would compare annotations, and lambdas have none.
@overload(update_learner, strict=False, inline="always")
def _update_of(rule: Any, tables: Any, belief: Any, steps: Any, n_played: Any, n_steps: Any) -> Any:
    return _UPDATES.get(rule.instance_class)


@kernel
def apply_update(
    rule: Any, tables: Tables, belief: AssumedLaw, steps: EpisodeBuffer, n_played: int, n_steps: int
) -> None:
    """Do what `update_learner` says."""
    update_learner(rule, tables, belief, steps, n_played, n_steps)
