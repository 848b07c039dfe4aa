"""Who knows the best policy, and what a learner's policy gives up against it."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from sojourn._kernels import ProblemArrays
from sojourn._typing import FloatArray, PolicyArray
from sojourn.agents import CompiledLearner, PlanningLearner
from sojourn.errors import WideBracketWarning
from sojourn.laws import LengthLaw
from sojourn.learning._reference_arrays import is_light, make_reference_arrays
from sojourn.mdps import TabularMDP
from sojourn.planning import clairvoyant_value, evaluate, plan

__all__ = ["Reference", "cached_reference", "problem_arrays"]

_MOST_KEPT = 12  # judges
_KEPT = threading.local()
_LIGHT, _HEAVY = 1e-9, 1e-6
"""Certified width of a regret: relative to the best value, and under heavy tails to max|r|·E[H]."""


class Reference:
    """The yardstick of a problem and a law: best values, and the value of whatever a learner plays."""

    def __init__(self, mdp: TabularMDP, law: LengthLaw) -> None:
        self.mdp, self.law = mdp, law
        largest = float(max(np.abs(mdp.rewards).max(), np.finfo(float).tiny)) * law.mean
        self.tolerance = (_LIGHT if is_light(law) else _HEAVY) * largest
        self.best = _quietly(plan, mdp, law, tolerance=self.tolerance / 2.0)
        if is_light(law):  # where it costs little, relative to the best value itself
            value = float(np.abs(self.best.value[mdp.start > 0.0]).max())
            self.tolerance = _LIGHT * min(max(value, 1e-6 * largest), largest)
            self.best = _quietly(plan, mdp, law, tolerance=self.tolerance / 2.0)
        self.scale = make_reference_arrays(mdp, law, self.tolerance)
        self._valued: tuple[PolicyArray, str, Any] | None = None

    @functools.cached_property
    def price(self) -> FloatArray:
        """Price of not knowing the length, `(S,)`."""
        told: FloatArray = _quietly(clairvoyant_value, self.mdp, self.law, tolerance=self.tolerance)
        return np.asarray(told - self.best.value)

    def value(self, learner: PlanningLearner, world: ProblemArrays, start: int) -> tuple[float, float]:
        """Return what the coming episode's policy is worth from `start`, and the width of its bracket."""
        if isinstance(learner, CompiledLearner):
            value, width = learner.value_from(world, self.scale, start)
            if not np.isnan(value):
                return value, width
        return self.value_of_table(learner, start)

    def value_of_table(self, learner: PlanningLearner, start: int) -> tuple[float, float]:
        """Return the same by `evaluate` of the policy as a table, from all states at once."""
        policy, after = learner.policy(), getattr(learner, "after", "hold")
        last = self._valued
        if last is None or last[1] != after or not np.array_equal(policy, last[0]):
            settings = {"tolerance": self.tolerance / 2.0}
            found = _quietly(evaluate, self.mdp, self.law, policy, after, **settings)
            last = np.array(policy), after, found  # a copy: the learner may go on writing into its own
            self._valued = last
        found = last[2]
        return float(found.value[start]), float(found.upper[start] - found.lower[start])

    def regret(self, values: FloatArray, starts: Any) -> FloatArray:
        """Return V* − V^π for policies worth `values` from `starts`."""
        return np.asarray(self.best.value[starts] - values)

    def regret_width(self, starts: Any, widths: FloatArray) -> FloatArray:
        """Return how wide the brackets of these regrets are, policies' own included."""
        return np.asarray((self.best.upper - self.best.lower)[starts] + widths)


def cached_reference(mdp: TabularMDP, law: LengthLaw) -> Reference:
    """Return the judge of a problem and a law, the same one for trials that follow each other.

    Planning is most of the work of a short trial. Judges have room to work in, so each thread has its own.
    """
    kept: dict[Any, Reference] = _KEPT.__dict__.setdefault("judges", {})
    try:
        key = id(mdp), law
        hash(law)
    except TypeError:  # a law of one's own that cannot be looked up
        return Reference(mdp, law)
    if key not in kept:
        while len(kept) >= _MOST_KEPT:
            del kept[next(iter(kept))]
        kept[key] = Reference(mdp, law)  # which holds the problem, so that its id stays its own
    return kept[key]


def problem_arrays(mdp: TabularMDP) -> ProblemArrays:
    """Return a problem as trials take it."""
    table, normalized = mdp.transitions, mdp.normalized()
    is_terminal = np.zeros(mdp.n_states, dtype=np.bool_)
    is_terminal[list(mdp.terminal)] = True
    return ProblemArrays(
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
