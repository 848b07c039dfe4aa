"""Who knows the best policy, and what a learner's policy gives up against it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from sojourn._kernels import World
from sojourn._typing import FloatArray, PolicyArray
from sojourn.agents import CompiledLearner, PlanningLearner
from sojourn.errors import WideBracketWarning
from sojourn.laws import LengthLaw, is_heavy
from sojourn.learning._scale import make_scale
from sojourn.mdps import TabularMDP
from sojourn.planning import clairvoyant_value, evaluate, plan

__all__ = ["Judge", "world_of"]

_LIGHT, _HEAVY = 1e-9, 1e-6  # certified error of a regret, relative to the largest mean return


class Judge:
    """The yardstick of a problem and a law: best values, and the value of whatever a learner plays."""

    def __init__(self, mdp: TabularMDP, law: LengthLaw) -> None:
        self.mdp, self.law = mdp, law
        largest = float(max(np.abs(mdp.rewards).max(), np.finfo(float).tiny))
        self.tolerance = (_HEAVY if is_heavy(law) else _LIGHT) * largest * law.mean
        self.best = _quietly(plan, mdp, law, tolerance=self.tolerance / 2.0)
        self.scale = make_scale(mdp, law, self.tolerance)
        self._policy: PolicyArray | None = None
        self._found: Any = None

    @property
    def price(self) -> FloatArray:
        """Price of not knowing the length, `(S,)`."""
        told: FloatArray = _quietly(clairvoyant_value, self.mdp, self.law, tolerance=self.tolerance)
        return np.asarray(told - self.best.value)

    def value(self, learner: PlanningLearner, world: World, start: int) -> tuple[float, float]:
        """Return what the coming episode's policy is worth from `start`, and the width of its bracket."""
        if isinstance(learner, CompiledLearner):
            value, width = learner.value_from(world, self.scale, start)
            if not np.isnan(value):
                return value, width
        return self.value_of_table(learner, start)

    def value_of_table(self, learner: PlanningLearner, start: int) -> tuple[float, float]:
        """Return the same by `evaluate` of the policy as a table, from all states at once."""
        policy = learner.policy()
        if self._policy is None or not np.array_equal(policy, self._policy):
            after = getattr(learner, "after", "hold")
            settings = {"tolerance": self.tolerance / 2.0}
            self._found = _quietly(evaluate, self.mdp, self.law, policy, after, **settings)
            self._policy = policy
        found = self._found
        return float(found.value[start]), float(found.upper[start] - found.lower[start])

    def regret(self, values: FloatArray, starts: Any) -> FloatArray:
        """Return V* − V^π for policies worth `values` from `starts`."""
        return np.asarray(self.best.value[starts] - values)

    def regret_width(self, starts: Any, widths: FloatArray) -> FloatArray:
        """Return how wide the brackets of these regrets are, policies' own included."""
        return np.asarray((self.best.upper - self.best.lower)[starts] + widths)


def world_of(mdp: TabularMDP) -> World:
    """Return a problem as trials take it."""
    table, normalized = mdp.transitions, mdp.normalized()
    is_terminal = np.zeros(mdp.n_states, dtype=np.bool_)
    is_terminal[list(mdp.terminal)] = True
    return World(
        table.indptr,
        table.indices,
        table.data,
        mdp.n_actions,
        normalized.rewards.reshape(-1),
        mdp.rewards.reshape(-1),
        is_terminal,
        float(mdp.terminal_reward),
    )


def _quietly(function: Callable[..., Any], *arguments: Any, **settings: Any) -> Any:
    """Call without the warning of a wide bracket: the width itself is kept beside the result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WideBracketWarning)
        return function(*arguments, **settings)
