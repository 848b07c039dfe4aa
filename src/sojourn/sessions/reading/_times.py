"""Durations and points in time: how cells and options write them."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable

import numpy as np

from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.laws import MAX_STEP
from sojourn.sessions.reading._cells import parse_decimal, with_decimal_point
from sojourn.sessions.reading._rows import Column

__all__ = ["DURATION_RULE", "TIME_RULE", "duration_words", "durations", "parse_duration", "steps_in", "times"]

DURATION_RULE = "must be a duration: seconds, 1:02:03, 90s, 1.5h or PT1H30M"
TIME_RULE = "must be a time like 2026-01-31 18:05:00, or seconds since 1970"

_UNITS = {"ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_UNITS |= {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0, "week": 604800.0}
_WITH_UNIT = re.compile(r"(\d+(?:\.\d+)?) ?([a-z]+?)s?", re.ASCII)
_CLOCK = re.compile(r"(?:(\d+) days?,? )?(\d+):([0-5]\d):([0-5]\d(?:\.\d+)?)", re.ASCII)
_ISO = re.compile(
    r"p(?:(\d+)d)?(?:t(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?)?(?<![pt])", re.ASCII | re.IGNORECASE
)
_LATEST = 1e11
"""Numbers above this, the year 5138 in seconds, are probably milliseconds."""


def duration_words(seconds: float) -> str:
    """Return a duration in the largest unit of which it is a whole number, such as "30 min"."""
    unit = next((one for one in ("d", "h", "min") if seconds % _UNITS[one] == 0.0), "s")
    return f"{seconds / _UNITS[unit]:g} {unit}"


def parse_duration(text: str) -> float | None:
    """Parse a duration, and return it in seconds; None if the text is anything else.

    Example:
        >>> [parse_duration(text) for text in ("90", "1:02:03", "1.5h", "30min", "PT1H30M", "2 days", "1:30")]
        [90.0, 3723.0, 5400.0, 1800.0, 5400.0, 172800.0, None]
    """
    word = text.strip().lower()
    number = parse_decimal(word)
    if number is not None:
        return number if number >= 0.0 else None
    if (found := _CLOCK.fullmatch(word)) or (found := _ISO.fullmatch(word)):
        days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
        return ((days * 24.0 + hours) * 60.0 + minutes) * 60.0 + seconds
    found = _WITH_UNIT.fullmatch(word)
    unit = None if found is None else _UNITS.get(found[2], _UNITS.get(f"{found[2]}s"))
    return None if found is None or unit is None else float(found[1]) * unit


def _parse_time(text: str) -> float | None:
    """Parse a point in time, and return it in seconds since 1970; without an offset it is in UTC."""
    number = parse_decimal(text)
    if number is not None:
        return number if 0.0 <= number <= _LATEST else None
    try:
        found = dt.datetime.fromisoformat(text.strip().removesuffix(" UTC"))
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=dt.UTC)).timestamp()


def durations(column: Column) -> tuple[FloatArray, BoolArray]:
    """Return the durations in a column, in seconds, and which cells have one."""
    return _values(column, "m", parse_duration)


def times(column: Column) -> tuple[FloatArray, BoolArray]:
    """Return the points in time in a column, in seconds since 1970, and which cells have one."""
    return _values(column, "M", _parse_time)


def _values(column: Column, kind: str, parse: Callable[[str], float | None]) -> tuple[FloatArray, BoolArray]:
    array = getattr(column, "array", None)
    if array is not None and array.dtype.kind == kind:
        rounded = array.astype(f"{kind}8[us]")
        known = ~np.isnat(array)
        if np.datetime_data(array.dtype)[0] not in ("ns", "ps", "fs", "as"):  # a coarse unit may overflow
            known &= rounded.astype(array.dtype) == array
        seconds = rounded.astype(np.int64) / 1e6
        return seconds, known if kind == "M" else known & (seconds >= 0.0)
    values, parsed = column.decimals()
    parsed = parsed & (values >= 0.0) & (values <= (_LATEST if kind == "M" else math.inf))
    if parsed.all():
        return values, parsed
    words, where = column.words()
    if getattr(column, "decimal_comma", False):
        words = [with_decimal_point(word) for word in words]
    found = [parse(word) for word in words]
    known = np.array([one is not None for one in found], dtype=bool)[where]
    texts = np.array([0.0 if one is None else one for one in found])[where]
    return np.where(parsed, values, texts), parsed | known


def steps_in(seconds: FloatArray, step: float) -> IntArray:
    """Return the number of steps that have begun within durations: at least 1, rounded up.

    Example:
        >>> steps_in(np.array([0.0, 59.0, 60.0, 61.0]), 60.0)
        array([1, 1, 1, 2])
    """
    ratio = seconds / step
    if (ratio > MAX_STEP).any():
        raise ValueError(f"step must be so long that no session has over {MAX_STEP:,}; got {step:g} s.")
    nearest = np.round(ratio)
    whole = np.where(np.abs(ratio - nearest) <= 1e-9 * np.maximum(nearest, 1.0), nearest, np.ceil(ratio))
    return np.maximum(whole, 1.0).astype(np.int64)
