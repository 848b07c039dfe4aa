"""Maximization of a smooth function of a few variables in a box."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sojourn._typing import BoolArray, FloatArray

__all__ = ["Maximum", "maximize"]

_STEP = 3e-4
"""Step of the difference quotients; variables are logarithms, so their scale is about 1."""

_MAX_MOVE = 2.0
_SHORT_MOVE = 0.5
"""Moves on the way to an edge of the box are longer: far from a maximum, a function that levels off
exponentially needs steps of 1."""

_MAX_ITERATIONS = 200
_FLAT = 1e-9
"""A function with values of about 1 is taken to be at its maximum if its gradient is below this."""


@dataclass(frozen=True)
class Maximum:
    """A local maximum of a function.

    Attributes:
        at: Its location, `(d,)`.
        value: The function's value there.
        hessian: Second derivatives there, `(d, d)`.
        inside: Which variables are not held at the edge of the box, `(d,)`.
    """

    at: FloatArray
    value: float
    hessian: FloatArray
    inside: BoolArray


def maximize(
    function: Callable[[FloatArray], float],
    start: FloatArray,
    lower: Sequence[float],
    upper: Sequence[float],
    *,
    least_gain: float = 0.0,
) -> Maximum:
    """Find a local maximum by Newton's method with Levenberg–Marquardt damping and difference quotients.

    Args:
        function: Takes `(d,)`; may be −inf in places, and is also evaluated slightly outside the box.
        start: Starting point, `(d,)`; it is clipped to the box.
        lower: Lower corner of the box.
        upper: Upper corner of the box.
        least_gain: The search ends after a short step that gains less than this.
    """
    low, high = np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64)
    x = np.clip(start, low, high)
    value, damping = function(x), 1e-3
    gradient, hessian = _derivatives(function, x, value)
    inside = _inside(x, gradient, low, high)
    for _ in range(_MAX_ITERATIONS):
        if not inside.any() or np.abs(gradient[inside]).max() < _FLAT:
            break
        move = _newton(gradient[inside], hessian[np.ix_(inside, inside)], damping)
        new = x.copy()
        new[inside] = np.clip(x[inside] + move, low[inside], high[inside])
        new_value = function(new)
        if new_value > value:
            gain, far, x, value = new_value - value, float(np.abs(new - x).max()), new, new_value
            damping = damping / 10.0 if damping > 1e-9 else 0.0
            gradient, hessian = _derivatives(function, x, value)
            inside = _inside(x, gradient, low, high)
            if gain < 1e-15 * abs(value) or (gain < least_gain and far < _SHORT_MOVE):
                break
        else:
            damping = max(10.0 * damping, 1e-6)
            if damping > 1e9:
                break
    return Maximum(x, value, hessian, inside)


def _inside(x: FloatArray, gradient: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Return which variables are not at an edge of the box with the gradient pointing outward."""
    return np.asarray(~((x <= low) & (gradient <= 0.0) | (x >= high) & (gradient >= 0.0)))


def _newton(gradient: FloatArray, hessian: FloatArray, damping: float) -> FloatArray:
    """Return a damped Newton step that leads uphill."""
    scale = np.maximum(np.abs(np.diag(hessian)), 1e-8)
    diagonal = np.diag(scale)
    while True:
        matrix = damping * diagonal - hessian
        try:
            np.linalg.cholesky(matrix)  # raises LinAlgError unless the step leads uphill
            move = np.linalg.solve(matrix, gradient)
            break
        except np.linalg.LinAlgError:
            damping = max(4.0 * damping, 1e-4)
    longest = float(np.abs(move).max())
    return np.asarray(move * min(1.0, _MAX_MOVE / longest) if longest > 0.0 else move)


def _derivatives(
    function: Callable[[FloatArray], float], x: FloatArray, value: float
) -> tuple[FloatArray, FloatArray]:
    """Return gradient and Hessian by central differences; where these are not finite, 0 and −1."""
    d = x.size
    unit = _STEP * np.eye(d)
    up = np.array([function(x + unit[i]) for i in range(d)])
    down = np.array([function(x - unit[i]) for i in range(d)])
    with np.errstate(invalid="ignore"):
        gradient = (up - down) / (2.0 * _STEP)
        hessian = np.diag((up - 2.0 * value + down) / _STEP**2)
        for i in range(d):
            for j in range(i):
                both = function(x + unit[i] + unit[j]) + function(x - unit[i] - unit[j])
                mixed = both - up[i] - down[i] - up[j] - down[j] + 2.0 * value
                hessian[i, j] = hessian[j, i] = mixed / (2.0 * _STEP**2)
    if not (np.isfinite(gradient).all() and np.isfinite(hessian).all() and math.isfinite(value)):
        return np.nan_to_num(gradient, posinf=0.0, neginf=0.0), -np.eye(d)
    return gradient, hessian
