"""Climbing to the maximum of a smooth function of few variables in a box."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sojourn._typing import BoolArray, FloatArray

__all__ = ["Peak", "climb"]

_STEP = 3e-4
"""Distance of difference quotients; variables are logarithms, so their scale is about 1."""

_LONGEST_MOVE = 2.0
_MOST_ROUNDS = 200
_FLAT = 1e-9
"""The slope below which a function with values of about 1 is taken to be at its top."""


@dataclass(frozen=True)
class Peak:
    """Where a function is largest, how large, how it bends there, and which variables are off the box."""

    at: FloatArray
    value: float
    bend: FloatArray
    free: BoolArray


def climb(
    function: Callable[[FloatArray], float],
    start: FloatArray,
    lower: Sequence[float],
    upper: Sequence[float],
) -> Peak:
    """Return the peak above a start, by Newton's method with Marquardt's damping and difference quotients.

    Args:
        function: Takes `(d,)`; may be −inf in places, and may be asked a hair outside the box.
        start: Where to begin, `(d,)`; moved into the box.
        lower: The box's lower corner.
        upper: The box's upper corner.
    """
    low, high = np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64)
    x = np.clip(start, low, high)
    value, damping = function(x), 1e-3
    slope, bend = _derivatives(function, x, value)
    free = _free(x, slope, low, high)
    for _ in range(_MOST_ROUNDS):
        if not free.any() or np.abs(slope[free]).max() < _FLAT:
            break
        move = _newton(slope[free], bend[np.ix_(free, free)], damping)
        new = x.copy()
        new[free] = np.clip(x[free] + move, low[free], high[free])
        new_value = function(new)
        if new_value > value:
            gain, x, value = new_value - value, new, new_value
            damping = damping / 10.0 if damping > 1e-9 else 0.0
            slope, bend = _derivatives(function, x, value)
            free = _free(x, slope, low, high)
            if gain < 1e-15 * abs(value):
                break
        else:
            damping = max(10.0 * damping, 1e-6)
            if damping > 1e9:
                break
    return Peak(x, value, bend, free)


def _free(x: FloatArray, slope: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Return which variables are not held at a wall that they push against."""
    return np.asarray(~((x <= low) & (slope <= 0.0) | (x >= high) & (slope >= 0.0)))


def _newton(slope: FloatArray, bend: FloatArray, damping: float) -> FloatArray:
    scale = np.maximum(np.abs(np.diag(bend)), 1e-8)
    while True:
        matrix = damping * np.diag(scale) - bend
        try:
            np.linalg.cholesky(matrix)  # fails unless the step leads uphill
            move = np.linalg.solve(matrix, slope)
            break
        except np.linalg.LinAlgError:
            damping = max(4.0 * damping, 1e-4)
    longest = float(np.abs(move).max())
    return np.asarray(move * min(1.0, _LONGEST_MOVE / longest) if longest > 0.0 else move)


def _derivatives(
    function: Callable[[FloatArray], float], x: FloatArray, value: float
) -> tuple[FloatArray, FloatArray]:
    """Return slope and bend by central differences; what is not finite counts as flat, and bent by 1."""
    d = x.size
    unit = _STEP * np.eye(d)
    up = np.array([function(x + unit[i]) for i in range(d)])
    down = np.array([function(x - unit[i]) for i in range(d)])
    with np.errstate(invalid="ignore"):
        slope = (up - down) / (2.0 * _STEP)
        bend = np.diag((up - 2.0 * value + down) / _STEP**2)
        for i in range(d):
            for j in range(i):
                both = function(x + unit[i] + unit[j]) + function(x - unit[i] - unit[j])
                mixed = both - up[i] - down[i] - up[j] - down[j] + 2.0 * value
                bend[i, j] = bend[j, i] = mixed / (2.0 * _STEP**2)
    if not (np.isfinite(slope).all() and np.isfinite(bend).all() and math.isfinite(value)):
        return np.nan_to_num(slope, posinf=0.0, neginf=0.0), -np.eye(d)
    return slope, bend
