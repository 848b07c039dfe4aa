"""Plain values: numbers in one form only, compared and shown in messages the same way everywhere."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["are_same", "plain_number", "shown"]

_LARGEST = 2**53


def plain_number(value: Any, place: str) -> Any:
    """Return a number in one form only: 1.0 becomes 1. Booleans and None are returned as they are.

    Raises:
        ValueError: If it is not a number, not finite, or a whole number above 2**53; `place` is named.
    """
    if value is None or isinstance(value, bool):
        return value
    if not isinstance(value, (int, float)):
        raise ValueError(f"{place} must be a number, a text, a list or a table; got {shown(value)}.")
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise ValueError(f"{place} must be at most 2**53; got a larger number.")
    if not -math.inf < value < math.inf:
        raise ValueError(f"{place} must be a finite number; got {value!r}.")
    return int(value) if float(value).is_integer() and abs(value) <= _LARGEST else value


def are_same(one: Any, other: Any) -> bool:
    """Whether two plain values are equal; unlike in Python, 1 is not True."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(are_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(are_same(one[key], other[key]) for key in one)
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def shown(value: Any) -> str:
    """Return a value for a message, shortened to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
