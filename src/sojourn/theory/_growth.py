"""The growth of errors as they propagate back to the first step: the function t(h) of Theorem 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sojourn._typing import ArrayLike, FloatArray
from sojourn._validation import check_positive
from sojourn.laws import LengthLaw, steps
from sojourn.theory._checks import check_law, check_layers

__all__ = [
    "at_steps",
    "error_growth",
    "error_weight",
    "log_error_growth",
    "log_growth_by_beta",
]


def log_error_growth(law: LengthLaw, h: ArrayLike, *, beta: float) -> FloatArray:
    """Return ln(t(h)/γ(h)) = Σ_{j=2}^{h} ln(1 + γ(j)/(j^β Γ(j))), also where γ(h) is too small for a float.

    Steps past the longest length add nothing. Time and memory are proportional to the largest h, which must
    be at most 10⁷.

    Args:
        law: The law of episode lengths.
        h: Steps from 1, of any shape.
        beta: The free exponent β of the paper's analysis, > 0.

    Example:
        >>> from sojourn.laws import Geometric
        >>> log_error_growth(Geometric(0.75), [1, 2], beta=2.0).round(6)  # ln(1 + 0.25/4)
        array([0.      , 0.060625])
    """
    exponent = check_positive("beta", beta)
    return at_steps(h, lambda last: log_growth_by_beta(check_law(law), last)(exponent))


def error_growth(law: LengthLaw, h: ArrayLike, *, beta: float) -> FloatArray:
    """Return t(h)/γ(h) = Π_{j=2}^{h} (1 + γ(j)/(j^β Γ(j))): growth of an error beyond its discount.

    For a geometric law and β = 3/2 the proof of Corollary 3 bounds this by e^(1−γ), which is false for every
    γ once h is large: the sum Σ_{j≥2} j^(−3/2) is 1.6124, not at most 1. The correct bound is
    e^(1.6124 (1−γ)), so only a constant changes.

    Example:
        >>> from sojourn.laws import Geometric
        >>> error_growth(Geometric(0.75), [1, 2, 3], beta=2.0).round(6)  # 1, 17/16, 17/16 · 37/36
        array([1.      , 1.0625  , 1.092014])
    """
    return np.exp(log_error_growth(law, h, beta=beta))


def error_weight(law: LengthLaw, h: ArrayLike, *, beta: float) -> FloatArray:
    """Return t(h) = γ(h) Π_{j=2}^{h} (1 + γ(j)/(j^β Γ(j))): weight in the regret of an error made at step h.

    It is 0 where γ(h) is too small for a float; use `log_error_growth` and `law.log_survival` there.

    Example:
        >>> from sojourn.laws import Geometric
        >>> error_weight(Geometric(0.75), [1, 2, 3], beta=2.0).round(6)
        array([1.      , 0.796875, 0.614258])
    """
    growth = error_growth(law, h, beta=beta)
    return np.asarray(law.survival(h) * growth)[()]


def log_growth_by_beta(law: LengthLaw, last: int) -> Callable[[float], FloatArray]:
    """Return a function of β that gives ln(t(h)/γ(h)) for h = 1 … last."""
    log_j, remaining = np.log(np.arange(2.0, last + 1.0)), law.remaining(np.arange(2.0, last + 1.0))

    def table(beta: float) -> FloatArray:
        # j^−β, because j^β would overflow; γ/Γ is 1/remaining; layers past the longest length add nothing.
        ratio = np.divide(np.exp(-beta * log_j), remaining, out=np.zeros_like(log_j), where=remaining > 0.0)
        return np.concatenate((np.zeros(1), np.cumsum(np.log1p(ratio))))

    return table


def at_steps(h: ArrayLike, table: Callable[[int], FloatArray]) -> FloatArray:
    """Return the entries at steps `h` of a table for steps 1 … last, computed up to the largest h."""
    given = steps(h)
    last = check_layers("h", int(given.max(initial=1.0)))
    found: FloatArray = table(last)[given.astype(np.int64) - 1]
    return found
