"""Reference values of a problem and a law: the best values, and the value of a learner's policy."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from sojourn._kernels import ProblemArrays, ReferenceArrays
from sojourn._typing import FloatArray, PolicyArray
from sojourn._validation import check_positive
from sojourn.agents import CompiledLearner, PlanningLearner
from sojourn.errors import WideBracketWarning
from sojourn.laws import LengthLaw
from sojourn.learning._reference_arrays import is_light, make_reference_arrays
from sojourn.mdps import TabularMDP
from sojourn.planning import clairvoyant_value, evaluate, plan

__all__ = [
    "REGRET_TOLERANCE",
    "Reference",
    "cached_reference",
    "check_regret_tolerance",
    "problem_arrays",
]

_MOST_CACHED = 12  # references per thread
_CACHE = threading.local()
_PRECISE = 1e-9  # tolerance of the best values under light tails: they are computed once, so it costs little
REGRET_TOLERANCE = 1e-6
"""Default of `regret_tolerance` in `learn`."""

_LEAST_TOLERANCE, _LARGEST_TOLERANCE = 1e-12, 1e-2


class Reference:
    """Reference values of a problem and a law, against which regret is computed.

    Attributes:
        mdp: The problem.
        law: The true law of episode lengths.
        tolerance: Target width of a regret.
        best: The optimal plan.
        arrays: Constants of policy valuation, in the form that kernels take.
    """

    def __init__(self, mdp: TabularMDP, law: LengthLaw, regret_tolerance: float = REGRET_TOLERANCE) -> None:
        self.mdp, self.law = mdp, law
        largest = float(max(np.abs(mdp.rewards).max(), np.finfo(float).tiny)) * law.mean
        has_light_tail = is_light(law)
        precision = min(regret_tolerance, _PRECISE) if has_light_tail else regret_tolerance
        unit = largest  # what tolerances are relative to
        self.best = _without_width_warning(plan, mdp, law, tolerance=precision * unit / 2.0)
        if has_light_tail:  # a tolerance relative to the best value costs little here
            value = float(np.abs(self.best.value[mdp.start > 0.0]).max())
            unit = min(max(value, 1e-6 * largest), largest)
            self.best = _without_width_warning(plan, mdp, law, tolerance=precision * unit / 2.0)
        self._best_tolerance, self.tolerance = precision * unit, regret_tolerance * unit
        self.arrays = make_reference_arrays(mdp, law, self.tolerance)
        self._evaluated: tuple[PolicyArray, str, Any] | None = None

    @property
    def unvalued_arrays(self) -> ReferenceArrays:
        """`arrays` with no steps, for playing policies without valuing them."""
        return self.arrays._replace(survival=np.zeros(0), tails=np.zeros(1))

    @functools.cached_property
    def price(self) -> FloatArray:
        """Price of not knowing the length, `(S,)`."""
        clairvoyant = _without_width_warning(
            clairvoyant_value, self.mdp, self.law, tolerance=self._best_tolerance
        )
        return np.asarray(clairvoyant - self.best.value)

    def value(self, learner: PlanningLearner, problem: ProblemArrays, start: int) -> tuple[float, float]:
        """Return the value of the coming episode's policy from `start`, and the width of its bracket."""
        if isinstance(learner, CompiledLearner):
            value, width = learner.policy_value(problem, self.arrays, start)
            if not np.isnan(value):
                return value, width
        return self.value_of_table(learner, start)

    def value_of_table(self, learner: PlanningLearner, start: int) -> tuple[float, float]:
        """Return the same as `value`, computed by `evaluate` from the policy's table."""
        policy, after = learner.policy(), getattr(learner, "after", "hold")
        last = self._evaluated
        if last is None or last[1] != after or not np.array_equal(policy, last[0]):
            settings = {"tolerance": self.tolerance / 2.0}
            found = _without_width_warning(evaluate, self.mdp, self.law, policy, after, **settings)
            last = np.array(policy), after, found  # a copy: the learner may reuse its array
            self._evaluated = last
        found = last[2]
        return float(found.value[start]), float(found.upper[start] - found.lower[start])

    def regret(self, values: FloatArray, starts: Any) -> FloatArray:
        """Return V* − V^π of policies with the values `values` from the start states `starts`."""
        return np.asarray(self.best.value[starts] - values)

    def regret_width(self, starts: Any, widths: FloatArray) -> FloatArray:
        """Return the widths of the brackets of these regrets, including those of the policies' values."""
        return np.asarray((self.best.upper - self.best.lower)[starts] + widths)


def check_regret_tolerance(value: float) -> float:
    """Return the setting `regret_tolerance` of `learn` after checking it."""
    rule = f"a number from {_LEAST_TOLERANCE:g} to {_LARGEST_TOLERANCE:g}"
    number = check_positive("regret_tolerance", value, rule=rule)
    if not _LEAST_TOLERANCE <= number <= _LARGEST_TOLERANCE:
        raise ValueError(f"regret_tolerance must be {rule}; got {value!r}.")
    return number


def cached_reference(
    mdp: TabularMDP, law: LengthLaw, regret_tolerance: float = REGRET_TOLERANCE
) -> Reference:
    """Return the reference of a problem and a law, from a cache if it was used before.

    Planning is most of the work of a short trial. A reference keeps the last policy that it evaluated, so
    each thread has its own cache.
    """
    cache: dict[Any, Reference] = _CACHE.__dict__.setdefault("references", {})
    try:
        key = id(mdp), law, regret_tolerance
        hash(law)
    except TypeError:  # a user's law without a hash
        return Reference(mdp, law, regret_tolerance)
    if key not in cache:
        while len(cache) >= _MOST_CACHED:
            del cache[next(iter(cache))]
        # It holds the problem, so that no other problem gets the same id.
        cache[key] = Reference(mdp, law, regret_tolerance)
    return cache[key]


def problem_arrays(mdp: TabularMDP) -> ProblemArrays:
    """Return a problem in the form that kernels take."""
    table, normalized = mdp.transitions, mdp.normalized()
    is_terminal = np.zeros(mdp.n_states, dtype=np.bool_)
    is_terminal[list(mdp.terminal)] = True
    return ProblemArrays(
        indptr=table.indptr,
        indices=table.indices,
        data=table.data,
        n_actions=mdp.n_actions,
        rewards=normalized.rewards.reshape(-1),
        raw_rewards=mdp.rewards.reshape(-1),
        is_terminal=is_terminal,
        raw_terminal_reward=float(mdp.terminal_reward),
    )


def _without_width_warning(function: Callable[..., Any], *arguments: Any, **settings: Any) -> Any:
    """Call `function` without `WideBracketWarning`: the width is reported beside the result anyway."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WideBracketWarning)
        return function(*arguments, **settings)
