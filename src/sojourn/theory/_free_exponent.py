"""The free exponent β of the paper's analysis: its bounds are stated for every β, so the best one counts."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sojourn._typing import FloatArray

__all__ = ["best_exponent", "log_sum"]

_LOW, _HIGH = 1e-4, 1e4
_STEPS = 60
"""Golden-section steps: each keeps 0.618 of the interval of ln β, which has length 18.4 at first."""


def best_exponent(log_total: Callable[[float], float]) -> float:
    """Return the β in [10⁻⁴, 10⁴] at which a bound is smallest, given its logarithm as a function of β.

    ln(1 + e^x) is convex, and so is the logarithm of each printed bound as a function of β: t(h)/γ(h) falls
    with β, N^β grows, and sums and maxima keep convexity. Golden-section search therefore finds the minimum.
    """
    shrink = (math.sqrt(5.0) - 1.0) / 2.0
    low, high = math.log(_LOW), math.log(_HIGH)
    left, right = high - shrink * (high - low), low + shrink * (high - low)
    at_left, at_right = log_total(math.exp(left)), log_total(math.exp(right))
    for _ in range(_STEPS):
        # Where both are infinite, β is too small: g overflows there, while N^β is kept as a logarithm.
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - shrink * (high - low)
            at_left = log_total(math.exp(left))
        else:
            low, left, at_left = left, right, at_right
            right = low + shrink * (high - low)
            at_right = log_total(math.exp(right))
        if high - low < 1e-7:
            break
    return math.exp((low + high) / 2.0)


def log_sum(log_terms: FloatArray) -> float:
    """Return the logarithm of a sum, given the logarithms of its terms."""
    return float(np.logaddexp.reduce(log_terms))
