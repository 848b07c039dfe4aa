"""What a given policy is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sojourn._kernels import evaluate_deterministic, evaluate_stochastic
from sojourn._typing import ArrayLike, FloatArray, PolicyArray
from sojourn._validation import check_choice
from sojourn.laws import LengthLaw
from sojourn.mdps import TabularMDP
from sojourn.planning._certificate import Certificate
from sojourn.planning._problem import Problem
from sojourn.planning._request import MAX_LAYERS, SPARE_DIGITS, TRUNCATION_SHARE, check_request, warn_if_wide
from sojourn.planning._tail import Tail, find_chain_tail, find_tail, rounding_allowance

__all__ = ["Evaluation", "evaluate", "policy_bounds"]

_UNROLL = 1_024  # rounds of a policy that cost less to play out than to look for a certificate
_CHAIN_ENTRIES = 50_000_000  # largest chain on state and phase that is built


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
        """Width of the bracket, its largest over the states."""
        return float((self.upper - self.lower).max())


def evaluate(
    mdp: TabularMDP,
    law: LengthLaw,
    policy: ArrayLike,
    after: str = "hold",
    *,
    tolerance: float = 1e-6,
    max_layers: int = MAX_LAYERS,
) -> Evaluation:
    """Return the value of a policy under hidden lengths drawn from `law`, with a certified bracket.

    Args:
        mdp: The problem.
        law: The law of episode lengths.
        policy: `(N, S)` actions or `(N, S, A)` probabilities; row h − 1 plays step h.
        after: What is played past step N: "hold" plays the last row for ever, "restart" starts again at the
            first.
        tolerance: Width that the bracket should not exceed, in units of value.
        max_layers: Layers computed one by one at most; past them the bracket may be wider than the tolerance,
            and a `WideBracketWarning` says so.

    Example:
        >>> import sojourn as sj
        >>> mdp, law = sj.mdps.two_paths(), sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)])
        >>> always_a, always_b = [[0, 0, 0]], [[1, 1, 1]]
        >>> [round(float(sj.evaluate(mdp, law, p).value[0]), 6) for p in (always_a, always_b)]
        [1.0, 4.5]
    """
    problem = Problem.of(mdp)
    tolerance, max_layers = check_request(law, tolerance, max_layers)
    rows = _checked(mdp, policy)
    check_choice("after", after, ["hold", "restart"])
    lower, upper = policy_bounds(problem, law, rows, after, tolerance=tolerance, max_layers=max_layers)
    found = Evaluation(value=(lower + upper) / 2.0, lower=lower, upper=upper)
    for array in (found.value, found.lower, found.upper):
        array.flags.writeable = False
    warn_if_wide("evaluate", found.width, tolerance, max_layers)
    return found


def policy_bounds(
    problem: Problem, law: LengthLaw, rows: PolicyArray, after: str, *, tolerance: float, max_layers: int
) -> tuple[FloatArray, FloatArray]:
    """Return certified bounds on the value of a policy whose rows are known to be good."""
    tail = _find_tail(problem, law, rows, after, width=TRUNCATION_SHARE * tolerance, most_layers=max_layers)
    ratios = law.continuation(np.arange(1, tail.n_layers + 1))
    steps = np.arange(tail.n_layers)
    layers = np.minimum(steps, len(rows) - 1) if after == "hold" else steps % len(rows)
    backup = evaluate_deterministic if rows.ndim == 2 else evaluate_stochastic
    lower = backup(problem.rows, problem.rewards, ratios, tail.lower, rows, layers)
    slack = rounding_allowance(problem, law, tail.n_layers, tail.lower)
    return lower - slack, lower + tail.width(law) + slack


def _checked(mdp: TabularMDP, policy: ArrayLike) -> PolicyArray:
    """Return the policy as an integer `(N, S)` or float `(N, S, A)` array, or say what is wrong with it."""
    rows = np.asarray(policy)
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
        return np.ascontiguousarray(rows)
    if not np.issubdtype(rows.dtype, np.number) or np.issubdtype(rows.dtype, np.complexfloating):
        raise TypeError(f"policy (N, S, A) must hold probabilities; got {rows.dtype}.")
    rows = np.ascontiguousarray(rows, dtype=float)
    _refuse_first(rows, ~(rows >= 0.0), "≥ 0")
    sums = rows.sum(axis=2)
    _refuse_first(sums, ~(np.abs(sums - 1.0) <= 1e-12), "a distribution that sums to 1")
    return rows


def _refuse_first(values: PolicyArray, is_wrong: PolicyArray, rule: str) -> None:
    if is_wrong.any():
        place = tuple(int(i) for i in np.argwhere(is_wrong)[0])
        listed = ", ".join(str(i) for i in place)
        raise ValueError(f"policy[{listed}] must be {rule}; got {values[place].item()!r}.")


def _find_tail(
    problem: Problem, law: LengthLaw, rows: PolicyArray, after: str, *, width: float, most_layers: int
) -> Tail:
    """Return bounds past the layers that have to be played out.

    Few layers are played out to where any rewards at all hardly count. Otherwise the policy's own chain is
    bracketed: on the states if the last row is held, on state and phase if the policy starts again.
    """
    low, high = float(problem.rewards.min()), float(problem.rewards.max())
    flat, zeros = np.ones(problem.n_states), np.zeros(problem.n_states)
    plain = Certificate(low * flat, zeros, high * flat, zeros, actions=zeros.astype(np.int64))
    n_plain = plain.layers_needed(law, width, most_layers)
    period = len(rows) if after == "restart" else 1
    is_small = problem.data.size * period <= _CHAIN_ENTRIES
    if n_plain > max(_UNROLL * period, len(rows)) and is_small:
        chain = _chain(problem, rows[-period:])
        if after == "hold":
            return find_chain_tail(chain, law, width, most_layers, n_layers=len(rows))
        found = find_tail(chain, law, width, most_layers)
        if found.n_layers <= n_plain:
            # Which phase comes next; states of a phase lie side by side.
            phase = slice((found.n_layers % period) * problem.n_states, None)
            lower, upper = (bound[phase][: problem.n_states] for bound in (found.lower, found.upper))
            return Tail(found.n_layers, lower, upper, plain.actions)
    if n_plain <= _UNROLL:
        n_plain = plain.layers_needed(law, width * SPARE_DIGITS, min(most_layers, _UNROLL))
    return Tail(n_plain, *plain.bounds(float(law.remaining(n_plain + 1))), plain.actions)


def _chain(problem: Problem, rows: PolicyArray) -> Problem:
    """Return the Markov chain of a policy that plays `rows` in turn for ever.

    Its states are phase·S + s; a single row gives the chain on the states alone.
    """
    period, n_states = len(rows), problem.n_states
    table = problem.table
    blocks: list[list[sparse.csr_array | None]] = [[None] * period for _ in range(period)]
    rewards = []
    for phase, row in enumerate(rows):
        pick = _mixing(row, n_states, problem.n_actions)
        blocks[phase][(phase + 1) % period] = pick @ table
        rewards.append(pick @ problem.rewards)
    joined = sparse.csr_array(sparse.block_array(blocks, format="csr"))
    return Problem(
        joined.indptr.astype(np.int64), joined.indices, joined.data, np.concatenate(rewards), n_actions=1
    )


def _mixing(row: PolicyArray, n_states: int, n_actions: int) -> sparse.csr_array:
    """Return the `(S, S·A)` matrix that takes pairs to states under one row of a policy."""
    if row.ndim == 1:
        columns = np.arange(n_states) * n_actions + row
        weights, indptr = np.ones(n_states), np.arange(n_states + 1)
        return sparse.csr_array((weights, columns, indptr), shape=(n_states, n_states * n_actions))
    indptr = np.arange(n_states + 1) * n_actions
    return sparse.csr_array(
        (row.reshape(-1), np.arange(n_states * n_actions), indptr), shape=(n_states, n_states * n_actions)
    )
