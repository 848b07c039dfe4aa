"""The choice of the number of exact layers, and bounds on the value of the steps after them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from sojourn._kernels import PolicyIterationState, modified_policy_iteration
from sojourn._typing import FloatArray, IntArray
from sojourn.laws import LengthLaw
from sojourn.planning._certificate import Certificate, certificates, first_bounds
from sojourn.planning._horizon_average import average_over_horizons
from sojourn.planning._interpolated_tail import interpolate_tail
from sojourn.planning._sparse_problem import SparseProblem
from sojourn.planning._tail_bounds import Tail, reach_probability
from sojourn.planning._tolerance import OWN_VALUE_SHARE, SPARE_DIGITS

__all__ = [
    "best_certificate",
    "find_certificate",
    "find_chain_tail",
    "find_tail",
    "rounding_allowance",
]

_FEW_LAYERS = 1_024  # up to this many layers cost less than the search for a certificate
_MANY_TRANSITIONS = 50_000  # from this many on, layers are so dear that their number is reduced further
_SEARCH_WORK = 3e9  # multiplications that a search may take, which is some seconds
_WORK_PER_CALL = 3e8  # multiplications per call of a kernel, so that Ctrl-C is noticed
_SOLVE_STATES = 5_000  # up to this many states a sparse linear solve is fast, whatever its fill-in
_SWEEPS_BEFORE_SOLVING = 4_096
_MAX_SOLVES = 64
_FADED = 1e-3  # largest weight of the induction's end, relative to a layer whose actions are used


def find_tail(
    problem: SparseProblem, law: LengthLaw, width: float, max_layers: int
) -> tuple[Tail, int | None]:
    """Return bounds with a bracket of at most `width` after as few exact layers as possible.

    If no such bounds are found within `max_layers`, the best ones found are returned, which are wider but
    still proven. The second result is the layer whose actions should be held in all later steps, or None if
    the actions of the tail should be held.
    """
    start = law.memoryless_from
    is_short = law.longest is not None and law.longest <= min(_FEW_LAYERS, max_layers)
    if not is_short and start is not None and start <= 2:  # at most one layer comes first
        return _memoryless_tail(problem, law, start - 1, width, share=OWN_VALUE_SHARE), None
    plain = first_bounds(problem)
    if is_short and law.longest is not None:
        return _follow(plain, law, law.longest), law.longest
    n_plain = max(1, plain.layers_needed(law, width, max_layers))
    if start is not None and start - 1 <= n_plain:
        return _memoryless_tail(problem, law, start - 1, width, share=OWN_VALUE_SHARE), None
    if n_plain <= _FEW_LAYERS and plain.width_after(law, n_plain) <= width:
        return _follow(
            plain, law, _induction_start(plain, law, n_plain, width=width, max_layers=max_layers)
        ), n_plain
    certificate, n_layers = find_certificate(problem, law, width, max_layers)
    if law.longest is None and n_layers > _FEW_LAYERS and problem.data.size >= _MANY_TRANSITIONS:
        tail = interpolate_tail(problem, law, certificate, width, n_layers)
        if tail is not None:
            return tail, None
    is_all = n_layers == law.longest
    return _follow(certificate, law, n_layers), n_layers if is_all else None


def _follow(certificate: Certificate, law: LengthLaw, n_layers: int) -> Tail:
    """Return the bounds of a certificate after `n_layers` exact layers."""
    bounds = certificate.bounds(float(law.remaining(n_layers + 1)))
    return Tail(n_layers, *bounds, certificate.actions)


def _induction_start(
    plain: Certificate, law: LengthLaw, n_layers: int, *, width: float, max_layers: int
) -> int:
    """Return the layer at which backward induction starts so that actions at layer `n_layers` are right.

    The assumption about the end must have little weight even in episodes that have reached that layer.
    """
    further = n_layers + 2 ** np.arange(12)
    fades = law.log_survival(further + 1) <= law.log_survival(n_layers + 1) + np.log(_FADED)
    far = int(further[np.argmax(fades)] if fades.any() else further[-1])
    far = max(far, plain.layers_needed(law, width * SPARE_DIGITS, 4 * _FEW_LAYERS))
    return min(far, max_layers, law.longest or far)


def find_chain_tail(
    chain: SparseProblem, law: LengthLaw, width: float, max_layers: int, *, n_layers: int
) -> Tail:
    """Return bounds on the value of a Markov chain after `n_layers`; without choices, few steps suffice."""
    if law.memoryless_from is not None and law.memoryless_from <= n_layers + 1:
        return _memoryless_tail(chain, law, n_layers, width)
    certificate, _ = find_certificate(chain, law, width, max_layers)
    bounds = average_over_horizons(
        chain, law, certificate, after=n_layers, width=width, max_layers=max_layers
    )
    return Tail(n_layers, *bounds, certificate.actions)


def find_certificate(
    problem: SparseProblem, law: LengthLaw, width: float, max_layers: int
) -> tuple[Certificate, int]:
    """Return a certificate and the number of exact layers that must precede it."""
    best = first_bounds(problem)
    if law.longest is not None and law.longest <= min(_FEW_LAYERS, max_layers):
        return best, law.longest  # exact: no steps come after
    n_layers = best.layers_needed(law, width, max_layers)
    if n_layers <= _FEW_LAYERS:
        return best, best.layers_needed(law, width * SPARE_DIGITS, min(max_layers, _FEW_LAYERS))
    entries = problem.data.size
    return best_certificate(certificates(problem), law, width, max_layers, n_entries=entries, best=best)


def best_certificate(
    candidates: Iterator[tuple[int, Certificate]],
    law: LengthLaw,
    width: float,
    max_layers: int,
    *,
    n_entries: int,
    best: Certificate | None = None,
) -> tuple[Certificate, int]:
    """Return the best of a sequence of certificates, and the number of exact layers that must precede it.

    The search stops when it has cost as much as it could still save, or when the gains are known well enough.
    """
    n_layers = max_layers if best is None else best.layers_needed(law, width, max_layers)
    for n_sweeps, candidate in candidates:
        n_found = candidate.layers_needed(law, width, max_layers)
        cost = (n_found, candidate.width_after(law, n_found))
        if best is None or cost < (n_layers, best.width_after(law, n_layers)):
            best, n_layers = candidate, n_found
        is_settled = law.tail(n_layers + 1) * best.gain_gap <= width / 16
        if is_settled or n_layers <= 2 * n_sweeps or n_sweeps * n_entries > _SEARCH_WORK:
            return best, n_layers
    raise ValueError("candidates must not end.")


def rounding_allowance(problem: SparseProblem, law: LengthLaw, n_layers: int, last: FloatArray) -> float:
    """Return a bound on the rounding error of the value after `n_layers` backups that start from `last`.

    The error of a backup at step h is at most `unit` times |V_h| ≤ remaining(h)·max|r|, and a few times that
    where near ties are broken arbitrarily. It reaches step 1 with weight γ(h), and γ(h)·remaining(h) = Γ(h).
    """
    total = 0.0
    for first in range(1, n_layers + 1, 1 << 20):
        total += float(law.tail(np.arange(first, min(first + (1 << 20), n_layers + 1))).sum())
    size = float(np.abs(last).max(initial=0.0)) * reach_probability(law, n_layers)
    return 8.0 * problem.unit * (total * problem.largest_reward + (n_layers + 1) * size)


def _memoryless_tail(
    problem: SparseProblem, law: LengthLaw, n_layers: int, width: float, *, share: float = 1.0
) -> Tail:
    """Bracket the value from where the law is memoryless: ordinary discounting by a constant ratio.

    If TV − V lies in [low, high], the optimum lies in TV + ratio/(1 − ratio)·[low, high], and the policy
    greedy in V earns at least the lower end. The bracket has at most `share` of the width if that takes few
    sweeps.
    """
    ratio, weight = float(law.continuation(n_layers + 1)), reach_probability(law, n_layers)
    target = width / weight if weight > 0.0 else np.inf
    factor = ratio / (1.0 - ratio)
    spread = share * target / factor if factor > 0.0 else np.inf
    is_solvable = problem.n_states <= _SOLVE_STATES
    most_sweeps = _SWEEPS_BEFORE_SOLVING if is_solvable else _SEARCH_WORK / problem.data.size
    per_call = int(min(most_sweeps, max(1.0, _WORK_PER_CALL / problem.data.size))) * problem.n_actions
    state, solved_for = _start_policy_iteration(problem), None
    n_sweeps = n_solves = 0
    while True:
        low, high, rounding, n_more = modified_policy_iteration(
            problem.rows,
            problem.rewards,
            ratio,
            spread,
            problem.unit,
            problem.largest_reward,
            state,
            per_call,
        )
        n_sweeps += n_more
        is_narrow = high - low <= max(spread - 2.0 * rounding, rounding / 2.0)
        if is_narrow or (solved_for is not None and np.array_equal(state.actions, solved_for)):
            break
        if n_sweeps >= most_sweeps * problem.n_actions:
            is_enough = factor * (high - low + 2.0 * rounding) <= target
            if is_enough or not is_solvable or n_solves == _MAX_SOLVES:
                break
            state.value[:], solved_for = _policy_value(problem, state.actions, ratio), state.actions.copy()
            n_solves += 1
    image = state.image
    return Tail(
        n_layers, image + factor * (low - rounding), image + factor * (high + rounding), state.actions
    )


def _start_policy_iteration(problem: SparseProblem) -> PolicyIterationState:
    """Return the arrays of `modified_policy_iteration`, with V = 0."""
    n_states = problem.n_states
    return PolicyIterationState(
        value=np.zeros(n_states),
        image=np.empty(n_states),
        actions=np.empty(n_states, dtype=np.int64),
        ends=np.empty(n_states, dtype=np.uint64),
        columns=np.empty(problem.data.size, dtype=np.uint32),
        weights=np.empty(problem.data.size),
        paid=np.empty(n_states),
    )


def _policy_value(problem: SparseProblem, actions: IntArray, ratio: float) -> FloatArray:
    """Return the discounted value of a stationary policy minus its mean, by a sparse linear solve.

    Only differences between states matter for the bounds. They keep more digits without the mean, and a
    second solve, for the remaining error, restores those that the first one lost.
    """
    from scipy.sparse.linalg import splu  # noqa: PLC0415

    chain = problem.chain(actions)
    discounted = ratio * chain.table
    solver = splu(sparse.eye_array(problem.n_states, format="csc") - discounted.tocsc())
    value = np.zeros(problem.n_states)
    for _ in range(2):
        value = value + solver.solve(chain.rewards + discounted @ value - value)
        value -= value.mean()
    return value
