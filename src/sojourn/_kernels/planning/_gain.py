"""Bounds on the gain of a problem, and residuals of its optimality equation, for certificates of long tails.

Gains are whole multiples of a small step, so that g(s) ≥ Σ_y P(y|s, a) g(y) can hold exactly: an average
between two multiples is rounded to the safe side, and an average of equal numbers is that number, whatever
the rounding of the probabilities.
"""

from __future__ import annotations

import numpy as np

from sojourn._kernels._jit import kernel
from sojourn._kernels._problem import TransitionRows
from sojourn._typing import FloatArray, IntArray

__all__ = ["gain_slope", "lower_gain", "preserving_residual", "raise_gain", "residuals"]

_SLACK = 4e-12  # covers the rounding of a weighted sum and rows that sum to 1 only within 1e-12


@kernel
def raise_gain(rows: TransitionRows, gain: IntArray, max_sweeps: int) -> bool:
    """Raise `gain` in place until Σ_y P(y|s, a) g(y) ≤ g(s) for every pair.

    Returns False if that takes more than `max_sweeps` sweeps.
    """
    indptr, indices, data, n_actions = rows
    for _ in range(max_sweeps):
        changed = False
        row = 0
        for s in range(gain.size):
            here = gain[s]
            target = here
            for _a in range(n_actions):
                highest = here
                drift = 0.0
                weight = 0.0
                for i in range(indptr[row], indptr[row + 1]):
                    step = gain[indices[i]] - here
                    highest = max(highest, gain[indices[i]])
                    drift += data[i] * step
                    weight += data[i] * abs(step)
                if highest > here:
                    rise = np.ceil(drift + _SLACK * weight)
                    if rise > 0.0:
                        target = max(target, min(highest, here + np.int64(rise)))
                row += 1
            if target > here:
                gain[s] = target
                changed = True
        if not changed:
            return True
    return False


@kernel
def lower_gain(rows: TransitionRows, policy_rows: IntArray, gain: IntArray, max_sweeps: int) -> bool:
    """Lower `gain` in place until Σ_y P(y|s) g(y) ≥ g(s) for every state s and its row `policy_rows[s]`.

    Returns False if that takes more than `max_sweeps` sweeps.
    """
    indptr, indices, data, _ = rows
    for _ in range(max_sweeps):
        changed = False
        for s in range(gain.size):
            here = gain[s]
            lowest = here
            drift = 0.0
            weight = 0.0
            for i in range(indptr[policy_rows[s]], indptr[policy_rows[s] + 1]):
                step = gain[indices[i]] - here
                lowest = min(lowest, gain[indices[i]])
                drift += data[i] * step
                weight += data[i] * abs(step)
            if lowest < here:
                fall = np.floor(drift - _SLACK * weight)
                if fall < 0.0:
                    gain[s] = max(lowest, here + np.int64(fall))
                    changed = True
        if not changed:
            return True
    return False


@kernel
def residuals(
    rows: TransitionRows,
    rewards: FloatArray,
    bias: FloatArray,
    gain: FloatArray,
) -> FloatArray:
    """Return r + Pb − b − g for every pair, `(S·A,)`, as sums of differences."""
    indptr, indices, data, n_actions = rows
    out = np.empty(rewards.size)
    for row in range(rewards.size):
        s = row // n_actions
        total = 0.0
        for i in range(indptr[row], indptr[row + 1]):
            total += data[i] * (bias[indices[i]] - bias[s])
        out[row] = rewards[row] + total - gain[s]
    return out


@kernel
def preserving_residual(
    rows: TransitionRows,
    residual: FloatArray,
    gain: FloatArray,
    least_drop: float,
) -> float:
    """Return the largest residual of the pairs with g(s) − Σ_y P(y|s, a) g(y) ≤ `least_drop`."""
    indptr, indices, data, n_actions = rows
    worst = -np.inf
    for row in range(residual.size):
        s = row // n_actions
        drop = 0.0
        for i in range(indptr[row], indptr[row + 1]):
            drop += data[i] * (gain[s] - gain[indices[i]])
        if drop <= least_drop:
            worst = max(worst, residual[row])
    return worst


@kernel
def gain_slope(
    rows: TransitionRows,
    residual: FloatArray,
    gain: FloatArray,
    least_drop: float,
    level: float,
) -> float:
    """Return the least K ≥ 0 with residual − K·(g − Pg) ≤ level wherever g − Pg > `least_drop`."""
    indptr, indices, data, n_actions = rows
    slope = 0.0
    for row in range(residual.size):
        if residual[row] > level:
            s = row // n_actions
            drop = 0.0
            for i in range(indptr[row], indptr[row + 1]):
                drop += data[i] * (gain[s] - gain[indices[i]])
            if drop > least_drop:
                slope = max(slope, (residual[row] - level) / drop)
    return slope
