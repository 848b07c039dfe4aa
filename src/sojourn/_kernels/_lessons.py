"""What a learner makes of an episode: each has a rule, a named tuple whose type says which update it is.

Compiled code finds the update by the type of the rule, so that all learners share one loop that plays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba.extending import overload

from sojourn._kernels._belief import Belief
from sojourn._kernels._jit import kernel
from sojourn._kernels._posterior import Sampling, sample_and_plan
from sojourn._kernels._replan import Replanning, replan
from sojourn._kernels._rolling import Rolling, roll_on
from sojourn._kernels._tables import Tables
from sojourn._kernels._temporal import Temporal, move_towards_targets
from sojourn._kernels._variance import Spread, sweep_variance
from sojourn._typing import FloatArray, IntArray

__all__ = ["Steps", "learn_from", "take_in"]


class Steps(NamedTuple):
    """An episode as a learner sees it: the pairs that it played, and its steps if its rule asks for them."""

    played: IntArray  # (pairs,) each pair once, in the order in which they were first played
    mark: IntArray  # (pairs,) the episode in which a pair was last played
    pairs: IntArray  # (steps,), or (0,) where nobody asks for steps
    layers: IntArray  # (steps,)
    following: IntArray  # (steps,) number of the next state
    rewards: FloatArray  # (steps,)


def learn_from(rule: Any, tables: Tables, belief: Belief, steps: Steps, n_played: int, n_steps: int) -> None:
    """Bring a learner's tables up to date after an episode; for compiled code, see `take_in`."""
    raise NotImplementedError


_UPDATES: dict[type, Any] = {
    Replanning: lambda rule, tables, belief, steps, n_played, n_steps: replan(
        tables, belief, steps.played[:n_played], rule.desk, rule.sheet
    ),
    Spread: lambda rule, tables, belief, steps, n_played, n_steps: sweep_variance(
        tables, belief, rule, steps.played[:n_played]
    ),
    Rolling: lambda rule, tables, belief, steps, n_played, n_steps: roll_on(
        tables, belief, rule.spread, steps.played[:n_played]
    ),
    Sampling: lambda rule, tables, belief, steps, n_played, n_steps: sample_and_plan(tables, belief, rule),
    Temporal: lambda rule, tables, belief, steps, n_played, n_steps: move_towards_targets(
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
@overload(learn_from, strict=False, inline="always")
def _update_of(rule: Any, tables: Any, belief: Any, steps: Any, n_played: Any, n_steps: Any) -> Any:
    return _UPDATES.get(rule.instance_class)


@kernel
def take_in(rule: Any, tables: Tables, belief: Belief, steps: Steps, n_played: int, n_steps: int) -> None:
    """Do what `learn_from` says."""
    learn_from(rule, tables, belief, steps, n_played, n_steps)
