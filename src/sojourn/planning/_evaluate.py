"""Policy evaluation with a certified bracket."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn._kernels import evaluate_deterministic, evaluate_stochastic
from sojourn._typing import ArrayLike, FloatArray, PolicyArray
from sojourn._validation import check_choice, check_not_masked
from sojourn.laws import LengthLaw
from sojourn.mdps import TabularMDP
from sojourn.planning._certificate import Certificate
from sojourn.planning._policy_cycle import find_cycle_certificate, policy_chain
from sojourn.planning._sparse_problem import SparseProblem
from sojourn.planning._tail import find_chain_tail, rounding_allowance
from sojourn.planning._tail_bounds import Tail
from sojourn.planning._threads import layers_per_call
from sojourn.planning._tolerance import (
    MAX_LAYERS,
    SPARE_DIGITS,
    TRUNCATION_SHARE,
    check_planning_arguments,
    warn_if_wide,
)

__all__ = ["Evaluation", "evaluate", "policy_bounds"]

_UNROLL = 1_024  # with at most this many layers, or cycles, backward induction is cheaper than a certificate
_CHUNK = 1 << 18


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The value of a policy from each start state.

    Attributes:
        value: `(S,)` best estimate, the middle of the bracket.
        lower: `(S,)` certified lower bound.
        upper: `(S,)` certified upper bound.
    """

    value: FloatArray
    lower: FloatArray
    upper: FloatArray

    @property
    def width(self) -> float:
        """Largest width of the bracket over all states."""
        return float((self.upper - self.lower).max())


def evaluate(
    mdp: TabularMDP,
    law: LengthLaw,
    policy: ArrayLike,
    after: str = "hold",
    *,
    tolerance: float | None = None,
    max_layers: int = MAX_LAYERS,
) -> Evaluation:
    """Return the value of a policy under hidden lengths drawn from `law`, with a certified bracket.

    Args:
        mdp: The problem.
        law: The law of episode lengths.
        policy: `(N, S)` actions or `(N, S, A)` probabilities, or a `Plan`; row h − 1 plays step h.
        after: What to play after step N: "hold" keeps playing the last row, and "restart" starts again with
            the first.
        tolerance: Width that the bracket should not exceed, in units of value; by default 1e-6,
            or 1e-6 times the largest reward if that is smaller than 1.
        max_layers: Largest number of layers that are computed one by one. If they are not enough for the
            tolerance, the bracket is wider and a `WideBracketWarning` says so.

    Example:
        >>> import sojourn as sj
        >>> mdp, law = sj.mdps.two_paths(), sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)])
        >>> always_a, always_b = [[0, 0, 0]], [[1, 1, 1]]
        >>> [round(float(sj.evaluate(mdp, law, p).value[0]), 6) for p in (always_a, always_b)]
        [1.0, 4.5]
    """
    problem = SparseProblem.of(mdp)
    tolerance, max_layers = check_planning_arguments(problem, law, tolerance, max_layers)
    rows = _check_policy(mdp, policy)
    check_choice("after", after, ["hold", "restart"])
    lower, upper, rounding = policy_bounds(
        problem, law, rows, after, tolerance=tolerance, max_layers=max_layers
    )
    found = Evaluation(value=(lower + upper) / 2.0, lower=lower, upper=upper)
    for array in (found.value, found.lower, found.upper):
        array.flags.writeable = False
    warn_if_wide("evaluate", found.width, tolerance, max_layers, rounding=rounding)
    return found


@np.errstate(under="ignore")
def policy_bounds(
    problem: SparseProblem,
    law: LengthLaw,
    rows: PolicyArray,
    after: str,
    *,
    tolerance: float,
    max_layers: int,
) -> tuple[FloatArray, FloatArray, float]:
    """Return certified bounds on the value of a valid policy, and the part of their width due to rounding."""
    tail = _find_tail(problem, law, rows, after, width=TRUNCATION_SHARE * tolerance, max_layers=max_layers)
    backup = evaluate_deterministic if rows.ndim == 2 else evaluate_stochastic
    lower, stop = tail.lower, tail.n_layers
    at_once = min(_CHUNK, layers_per_call(problem.data.size))
    while stop > 0:
        first = max(0, stop - at_once)
        steps = np.arange(first, stop)
        layers = np.minimum(steps, len(rows) - 1) if after == "hold" else steps % len(rows)
        ratios = law.continuation(steps + 1)
        lower = backup(problem.rows, problem.rewards, ratios, lower, rows, layers)
        stop = first
    mixing = rows.shape[2] * 2.0**-53 / problem.unit if rows.ndim == 3 else 0.0
    slack = (1.0 + mixing) * rounding_allowance(problem, law, tail.n_layers, tail.lower)
    return lower - slack, lower + tail.width(law) + slack, 2.0 * slack


def _check_policy(mdp: TabularMDP, policy: ArrayLike) -> PolicyArray:
    """Return the policy as an integer `(N, S)` or float `(N, S, A)` array, or raise an error."""
    check_not_masked("policy", policy)
    rows = np.asarray(getattr(policy, "policy", policy))  # accepts a Plan too
    n_states, n_actions = mdp.n_states, mdp.n_actions
    fits = (
        rows.ndim in (2, 3) and rows.shape[0] > 0 and rows.shape[1:] in ((n_states,), (n_states, n_actions))
    )
    if not fits:
        raise ValueError(
            f"policy must have shape (N, {n_states}) or (N, {n_states}, {n_actions}); got {rows.shape}."
        )
    if rows.ndim == 2:
        if not np.issubdtype(rows.dtype, np.integer):
            raise TypeError(f"policy (N, S) must hold whole numbers (actions); got {rows.dtype}.")
        _refuse_first(rows, (rows < 0) | (rows >= n_actions), f"in 0 … {n_actions - 1}")
        return np.ascontiguousarray(rows, dtype=np.min_scalar_type(n_actions - 1))
    if not np.issubdtype(rows.dtype, np.number) or np.issubdtype(rows.dtype, np.complexfloating):
        raise TypeError(f"policy (N, S, A) must hold probabilities; got {rows.dtype}.")
    rows = np.ascontiguousarray(rows, dtype=float)
    _refuse_first(rows, ~(rows >= 0.0), "≥ 0")
    sums = rows.sum(axis=2)
    _refuse_first(sums, ~(np.abs(sums - 1.0) <= 1e-12), "a distribution that sums to 1")
    exact: PolicyArray = rows / sums[:, :, np.newaxis]  # sums are 1 up to rounding: normalize them
    return exact


def _refuse_first(values: PolicyArray, is_wrong: PolicyArray, rule: str) -> None:
    if is_wrong.any():
        place = tuple(int(i) for i in np.argwhere(is_wrong)[0])
        listed = ", ".join(str(i) for i in place)
        raise ValueError(f"policy[{listed}] must be {rule}; got {values[place].item()!r}.")


def _find_tail(
    problem: SparseProblem, law: LengthLaw, rows: PolicyArray, after: str, *, width: float, max_layers: int
) -> Tail:
    """Return the number of layers to compute one by one, and bounds on the value after them.

    If few layers suffice for the simplest bounds, these are used. Otherwise the Markov chain of the policy is
    bracketed: the chain of its last row if that is held, or of whole cycles if the policy restarts.
    """
    low, high = float(problem.rewards.min()), float(problem.rewards.max())
    flat, zeros = np.ones(problem.n_states), np.zeros(problem.n_states)
    plain = Certificate(low * flat, zeros, high * flat, zeros, actions=zeros.astype(np.int64))
    n_plain = plain.layers_needed(law, width, max_layers)
    is_enough = float(plain.width_after(law, n_plain)) <= width
    if is_enough and n_plain <= max(_UNROLL, len(rows)):
        n_fine = plain.layers_needed(law, width * SPARE_DIGITS, min(max_layers, max(_UNROLL, n_plain)))
        return Tail(n_fine, *plain.bounds(float(law.remaining(n_fine + 1))), plain.actions)
    if after == "hold":
        chain = policy_chain(problem, rows[-1])
        return find_chain_tail(chain, law, width, max_layers, n_layers=len(rows))
    certificate = plain
    if not is_enough or n_plain > _UNROLL * len(rows):
        certificate = find_cycle_certificate(problem, law, rows, width, max_layers) or plain
    n_layers = certificate.layers_needed(law, width, max_layers)
    n_layers = -(-n_layers // len(rows)) * len(rows)  # whole cycles
    return Tail(n_layers, *certificate.bounds(float(law.remaining(n_layers + 1))), plain.actions)
