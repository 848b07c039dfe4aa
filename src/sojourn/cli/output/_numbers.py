"""Formats numbers, certified bounds, durations and long texts."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

__all__ = ["format_bounds", "format_duration", "format_number", "shorten"]


def format_number(value: float) -> str:
    """Format a number with about five digits and thousands separators."""
    if not math.isfinite(value):
        return str(value)
    size = abs(value)
    if size >= 1e15 or 0.0 < size < 1e-4:
        return f"{value:.3e}"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.5g}" if size < 1e4 else f"{value:,.1f}"


def format_bounds(lower: float, value: float, upper: float, *, least: float) -> tuple[str, str, str]:
    """Format a value and its bounds with the digits that their distance justifies, rounding bounds outwards.

    Args:
        lower: The lower bound.
        value: The value.
        upper: The upper bound.
        least: Smallest distance between the bounds that matters.
    """
    width = max(upper - lower, least)
    unit = Decimal(1).scaleb(min(math.floor(math.log10(width)) - 1, 0))
    roundings = ((lower, ROUND_FLOOR), (value, ROUND_HALF_EVEN), (upper, ROUND_CEILING))
    low, middle, high = (f"{Decimal(x).quantize(unit, rounding) + 0:,f}" for x, rounding in roundings)
    return low, middle, high


def format_duration(seconds: float) -> str:
    """Format a duration with its two largest units.

    Example:
        >>> [format_duration(seconds) for seconds in (0.42, 75, 7260, 200_000)]
        ['0.4 s', '1 min 15 s', '2 h 1 min', '2 d 7 h']
    """
    if seconds < 10.0:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for large, small, first, second in ((86400, 3600, "d", "h"), (3600, 60, "h", "min"), (60, 1, "min", "s")):
        if whole >= large:
            rest = whole % large // small
            return f"{whole // large} {first} {rest} {second}" if rest else f"{whole // large} {first}"
    return f"{whole} s"


def shorten(text: str, most: int = 200) -> str:
    """Return a text, cut to at most `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
