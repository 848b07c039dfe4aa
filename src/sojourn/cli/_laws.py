"""Laws as the commands look at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.laws import LengthLaw

__all__ = ["LAST_STEP", "complete_law", "horizon"]

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
