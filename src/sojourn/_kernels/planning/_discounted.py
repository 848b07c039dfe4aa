"""Modified policy iteration for a constant discount, with bounds that end it.

If TV − V lies in [low, high] for the Bellman operator T with discount ρ, the optimum lies in
TV + ρ/(1 − ρ)·[low, high], and the policy that is greedy in V earns at least the lower end (MacQueen 1966).
So only the spread high − low has to become small. It shrinks at the rate at which the problem mixes, which is
often much faster than ρ, and it does not change if a constant is added to V.

Positions are unsigned, because numba checks signed ones for negative numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import kernel
from sojourn._kernels._problem import TransitionRows
from sojourn._typing import FloatArray, IntArray, PolicyArray

__all__ = ["PolicyIterationState", "modified_policy_iteration"]

_EVALUATION_SHARE = 0.1
"""A policy that still changes is evaluated until the spread has shrunk to this share."""

_EVALUATION_SWEEPS = 8
"""Its evaluation costs at most as much as this many improvements, and twice that each time it is kept."""


class PolicyIterationState(NamedTuple):
    """Arrays of modified policy iteration; the caller allocates them, which saves seconds of compilation."""

    value: FloatArray  # (S,) V; the first guess at the start
    image: FloatArray  # (S,) TV
    actions: IntArray  # (S,) actions that are greedy in V
    ends: PolicyArray  # (S,) end of each state's part of `columns` and `weights`, unsigned
    columns: PolicyArray  # (transitions,) successors under these actions, unsigned; scratch
    weights: FloatArray  # (transitions,) their probabilities; scratch
    paid: FloatArray  # (S,) rewards of these actions; scratch


@kernel
def _improve_policy(
    rows: TransitionRows,
    rewards: FloatArray,
    ratio: float,
    value: FloatArray,
    image: FloatArray,
    actions: IntArray,
) -> tuple[float, float, float, float, int]:
    """Fill TV and the actions greedy in V; return the extremes of TV − V and of TV, and how many changed."""
    indptr, indices, data, n_actions = rows
    low, high, least, most, n_changed = np.inf, -np.inf, np.inf, -np.inf, 0
    row, i = np.uint64(0), np.uint64(0)
    for s in range(value.size):
        best, best_action = -np.inf, 0
        for a in range(n_actions):
            row += np.uint64(1)
            expected = 0.0
            while i < np.uint64(indptr[row]):
                expected += data[i] * value[np.uint64(indices[i])]
                i += np.uint64(1)
            q = rewards[row - np.uint64(1)] + ratio * expected
            best_action = a if q > best else best_action
            best = q if q > best else best
        image[s] = best
        if actions[s] != best_action:
            actions[s] = best_action
            n_changed += 1
        low, high = min(low, best - value[s]), max(high, best - value[s])
        least, most = min(least, best), max(most, best)
    return low, high, least, most, n_changed


@kernel
def _collect_chain(rows: TransitionRows, rewards: FloatArray, state: PolicyIterationState) -> None:
    """Copy the rows that the policy plays, side by side."""
    indptr, indices, data, n_actions = rows
    at = np.uint64(0)
    for s in range(state.actions.size):
        row = np.uint64(s * n_actions + state.actions[s])
        state.paid[s] = rewards[row]
        for i in range(np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])):
            state.columns[at], state.weights[at] = indices[i], data[i]
            at += np.uint64(1)
        state.ends[s] = at


@kernel
def modified_policy_iteration(
    rows: TransitionRows,
    rewards: FloatArray,
    ratio: float,
    spread: float,
    unit: float,
    largest_reward: float,
    state: PolicyIterationState,
    max_sweeps: int,
) -> tuple[float, float, float, int]:
    """Return min and max of TV − V, the rounding error of TV, and the number of sweeps; fill `state`.

    A round improves the policy in all states, and then evaluates it by sweeps with its own actions only. The
    rounds end when the spread of TV − V is at most `spread`, or so small that rounding errors dominate it, or
    after `max_sweeps` sweeps; a sweep over all A actions counts as A.

    Args:
        rows: Transitions.
        rewards: Rewards, `(S·A,)`.
        ratio: The discount ρ < 1.
        spread: Spread of TV − V at which the rounds end.
        unit: Bound on the relative rounding error of one backup.
        largest_reward: Largest |reward|.
        state: V to begin with, and where the results go.
        max_sweeps: Number of sweeps after which no further round begins.
    """
    value, image, actions, ends, columns, weights, paid = state
    largest = 0.0
    for s in range(value.size):
        largest = max(largest, abs(value[s]))
        actions[s] = -1
    n_sweeps = 0
    n_improvements = 0  # worth of the next evaluation
    while True:
        low, high, least, most, n_changed = _improve_policy(rows, rewards, ratio, value, image, actions)
        n_sweeps += rows.n_actions
        rounding = unit * (largest_reward + largest)
        goal = max(spread - 2.0 * rounding, rounding / 2.0)
        if high - low <= goal or n_sweeps >= max_sweeps:
            return low, high, rounding, n_sweeps
        if n_changed == 0:
            goal /= 2.0
            n_improvements *= 2
        else:
            goal = _EVALUATION_SHARE * (high - low)
            n_improvements = _EVALUATION_SWEEPS
            _collect_chain(rows, rewards, state)
        last_sweep = min(max_sweeps, n_sweeps + n_improvements * rows.n_actions)
        while True:
            middle, largest = (most + least) / 2.0, (most - least) / 2.0
            for s in range(value.size):  # V is centered, so that rounding errors stay small
                value[s] = image[s] - middle
            if high - low <= goal or n_sweeps >= last_sweep:
                break
            low, high, least, most = np.inf, -np.inf, np.inf, -np.inf
            at = np.uint64(0)
            for s in range(value.size):
                expected = 0.0
                while at < ends[s]:
                    expected += weights[at] * value[columns[at]]
                    at += np.uint64(1)
                image[s] = paid[s] + ratio * expected
                low, high = min(low, image[s] - value[s]), max(high, image[s] - value[s])
                least, most = min(least, image[s]), max(most, image[s])
            n_sweeps += 1
