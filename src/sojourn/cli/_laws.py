"""Laws as the commands look at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.laws import LengthLaw

__all__ = ["LAST_STEP", "complete_law", "horizon", "is_heavy", "quantile", "same_mean"]

LAST_STEP = 2**53
"""The largest step that laws know."""


def complete_law(incomplete: str) -> list[str]:
    """Return the names of laws that begin like this."""
    from sojourn.laws import LAWS  # noqa: PLC0415

    return [name for name in LAWS if name.startswith(incomplete)]


def horizon(given: LengthLaw, truncation: float) -> int | None:
    """Return the effective horizon, or None if it is above 2^53."""
    if given.longest is None and given.tail(LAST_STEP) > truncation:
        return None
    return given.effective_horizon(truncation)


def quantile(given: LengthLaw, left: float) -> int:
    """Return the smallest h with P(H > h) ≤ left, at most 2^53."""
    low, high = 0, given.longest or LAST_STEP
    while high - low > 1:
        middle = (low + high) // 2
        if given.survival(middle + 1) <= left:
            high = middle
        else:
            low = middle
    return high


def is_heavy(given: LengthLaw) -> bool:
    """Whether episodes that have lasted long still have much longer to go than a new one."""
    return bool(given.remaining(quantile(given, 0.01)) > 2.0 * given.mean)


def same_mean(given: LengthLaw) -> LengthLaw:
    """Return the geometric law with the mean of `given`."""
    from sojourn.laws import Geometric  # noqa: PLC0415

    return Geometric(min(1.0 - 1.0 / given.mean, 1.0 - 2.0**-53))
