"""Summaries of a law: its quantiles, whether its tail is heavy, the geometric law of the same mean."""

from __future__ import annotations

from sojourn.laws._base import MAX_STEP, LengthLaw
from sojourn.laws.families._geometric import Geometric

__all__ = ["effective_horizon", "geometric_with_mean", "is_heavy", "quantile", "same_mean"]


def quantile(law: LengthLaw, tail_probability: float) -> int:
    """Return the smallest h with P(H > h) ≤ tail_probability, at most 2**53.

    Example:
        >>> from sojourn.laws import Uniform
        >>> quantile(Uniform(1, 40), 0.25)
        30
    """
    low, high = 0, law.longest or MAX_STEP
    while high - low > 1:
        middle = (low + high) // 2
        if law.survival(middle + 1) <= tail_probability:
            high = middle
        else:
            low = middle
    return high


def effective_horizon(law: LengthLaw, truncation: float) -> int | None:
    """Return the smallest N with Γ(N) ≤ truncation, or None if it is above 2**53.

    Example:
        >>> from sojourn.laws import Geometric, Polynomial
        >>> effective_horizon(Geometric(0.5), 0.1), effective_horizon(Polynomial(1.01), 0.1)
        (6, None)
    """
    if law.longest is None and law.tail(MAX_STEP) > truncation:
        return None
    return law.effective_horizon(truncation)


def is_heavy(law: LengthLaw) -> bool:
    """Return whether episodes that have lasted long can expect many more steps than new ones.

    "Long" is the 99% quantile, and "many more" is more than twice the mean length.
    """
    return bool(law.remaining(quantile(law, 0.01)) > 2.0 * law.mean)


def same_mean(law: LengthLaw) -> Geometric | None:
    """Return the geometric law with the mean of `law`, or None if `law` is that law itself."""
    if law.memoryless_from == 1 or law.longest == 1:
        return None
    return geometric_with_mean(law.mean)


def geometric_with_mean(mean: float) -> Geometric:
    """Return the geometric law of a mean ≥ 1: γ = 1 − 1/mean, or the largest float below 1.

    Example:
        >>> geometric_with_mean(4.0)
        Geometric(gamma=0.75)
    """
    return Geometric(min(1.0 - 1.0 / mean, 1.0 - 2.0**-53))
