"""The distance between two discount functions, and the closest geometric law."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sojourn._typing import FloatArray
from sojourn._validation import check_whole
from sojourn.laws._base import MAX_STEP, LengthLaw
from sojourn.laws.families._geometric import Geometric

__all__ = ["closest_geometric", "distance"]

_EVERY_STEP_UP_TO = 2048
"""Crossings are searched at every step up to this one, and on a widening grid after it."""

_GRID = 2048
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_WIDTH = 4.0
"""Log-odds of continuing on either side of those of the mean length, between which the best γ lies."""

_FAR_STEPS, _NEAR_STEPS = 0.2, 0.02
"""Distances of the points at which other minima are looked for, everywhere and around the best one."""


def distance(law: LengthLaw, other: LengthLaw, *, last: int | None = None) -> float:
    """Return Σ_h |γ(h) − γ'(h)|, in steps, the full infinite sum or that of the steps up to `last`.

    For rewards in [0, R], no policy's values under the two laws differ by more than R times this distance,
    and the policy that is best under one law loses at most R times the distance under the other. For rewards
    in [−R, R] it may lose twice as much. Between two crossings of the survival functions the sum is a
    difference of tails. Crossings are searched at every step up to 2048, and on a widening grid after that.

    Example:
        >>> from sojourn.laws import Fixed, Geometric
        >>> distance(Fixed(2), Geometric(0.5))  # 0 + 1/2 + 1/4 + 1/8 + …
        1.0
        >>> distance(Fixed(2), Geometric(0.5), last=3)
        0.75
    """
    grid = _steps(law, other)
    if last is not None:
        grid = np.append(grid[grid < check_whole("last", last, least=1)], float(last))
    return _distance(law, other, grid, law.survival(grid), last)


@np.errstate(under="ignore")
def closest_geometric(law: LengthLaw) -> Geometric:
    """Return the geometric law with the smallest `distance`: the best approximation by a single γ.

    Example:
        >>> from sojourn.laws import Geometric, QuasiHyperbolic
        >>> closest_geometric(Geometric(0.9))
        Geometric(gamma=0.9)
        >>> round(closest_geometric(QuasiHyperbolic(0.7, 0.95)).gamma, 3)
        0.937
    """
    if isinstance(law, Geometric):
        return law
    if law.longest == 1:
        return Geometric(0.0)
    grid = _steps(law, law)
    survival = law.survival(grid)

    def loss(odds: float) -> float:
        return _distance(law, _geometric(odds), grid, survival)

    middle = math.log(max(law.mean - 1.0, 1e-9))  # log-odds of continuing that the mean length implies
    best = _golden_section(loss, middle - _WIDTH, middle + _WIDTH)
    least = loss(best)
    # There may be several minima, for laws that are bounded or mixed.
    near = grid[grid < _EVERY_STEP_UP_TO]
    rest = float(law.tail(near[-1] + 1.0))
    for width, step in ((_WIDTH, _FAR_STEPS), (2.0 * _FAR_STEPS, _NEAR_STEPS)):
        points = (middle if step == _FAR_STEPS else best) + np.arange(-width, width + 0.5 * step, step)
        rough = _rough_losses(np.append(points, best), near, survival[: near.size], rest)
        k = int(np.argmin(rough[:-1]))
        if rough[k] < rough[-1] * (1.0 - 1e-6):
            low, high = float(points[max(k - 1, 0)]), float(points[min(k + 1, points.size - 1)])
            other = _golden_section(loss, low, high)
            if (found := loss(other)) < least * (1.0 - 1e-9):
                best, least = other, found
    return _geometric(best)


def _rough_losses(points: FloatArray, steps: FloatArray, survival: FloatArray, rest: float) -> FloatArray:
    """Return distances to geometric laws with these log-odds; after the last step only that of the tails."""
    gammas = np.array([_geometric(point).gamma for point in points.tolist()])[:, np.newaxis]
    others = gammas ** (steps - 1.0)
    tails = (others[:, -1:] * gammas / (1.0 - gammas))[:, 0]
    return np.asarray(np.abs(survival - others).sum(axis=1) + np.abs(rest - tails))


def _golden_section(loss: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function has a minimum between two points."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = loss(left), loss(right)
    while high - low > 1e-9:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = loss(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = loss(right)
    return 0.5 * (low + high)


def _geometric(log_odds: float) -> Geometric:
    return Geometric(min(1.0 / (1.0 + math.exp(-log_odds)), 1.0 - 2.0**-53))


def _steps(*laws: LengthLaw) -> FloatArray:
    """Return the grid of steps, up to where the tail of every law is negligible."""
    powers = 2.0 ** np.arange(1, MAX_STEP.bit_length())
    is_negligible = np.all([law.tail(powers) <= 1e-12 * law.mean for law in laws], axis=0)
    last = float(powers[np.argmax(is_negligible)]) if is_negligible.any() else float(MAX_STEP)
    if last <= _EVERY_STEP_UP_TO:
        return np.arange(1.0, last + 1.0)
    far = np.geomspace(_EVERY_STEP_UP_TO, last, _GRID).round()
    return np.unique(np.concatenate((np.arange(1.0, _EVERY_STEP_UP_TO), far)))


def _distance(
    law: LengthLaw, other: LengthLaw, grid: FloatArray, survival: FloatArray, last: int | None = None
) -> float:
    above = survival >= other.survival(grid)
    turns = [_crossing(law, other, grid[i], grid[i + 1]) for i in np.flatnonzero(np.diff(above)).tolist()]
    begins = np.array([1.0, *turns])
    gaps = law.tail(begins) - other.tail(begins)
    after = 0.0 if last is None else float(law.tail(last + 1) - other.tail(last + 1))
    return float(np.abs(gaps - np.append(gaps[1:], after)).sum())


def _crossing(law: LengthLaw, other: LengthLaw, before: float, after: float) -> float:
    """Return the first step from which the two laws are in the same order as at `after`."""
    order = bool(law.survival(after) >= other.survival(after))
    while after - before > 1.0:
        middle = float((before + after) // 2.0)
        if bool(law.survival(middle) >= other.survival(middle)) == order:
            after = middle
        else:
            before = middle
    return after
