"""Validation of the arguments of bounds, with one-line error messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from sojourn._validation import check_whole
from sojourn.laws import LengthLaw

__all__ = ["MAX_LAYERS", "check_delta", "check_episodes", "check_law", "check_layers"]

MAX_LAYERS = 10**7
"""Largest number of layers that a bound evaluates one by one."""


def check_law(law: Any) -> LengthLaw:
    """Return `law` if it is a `LengthLaw`."""
    if not isinstance(law, LengthLaw):
        raise TypeError(f"law must be a LengthLaw, such as Geometric(0.95); got {law!r}.")
    return law


def check_delta(value: Any) -> float:
    """Return the failure probability δ as a float in (0, 1)."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        raise TypeError(f"delta must be in (0, 1); got {value!r}.")
    if not 0.0 < value < 1.0:
        raise ValueError(f"delta must be in (0, 1); got {value!r}.")
    return float(value)


def check_episodes(value: Any, *, least: int = 1) -> float:
    """Return the number of episodes as a float."""
    number = check_whole("episodes", value, least=least)
    if number > 10**300:
        raise ValueError(f"episodes must be at most 10**300; got a number of {len(str(number)):,} digits.")
    return float(number)


def check_layers(name: str, value: int) -> int:
    """Return the number of layers if it is at most `MAX_LAYERS`."""
    if value > MAX_LAYERS:
        raise ValueError(f"{name} must be at most {MAX_LAYERS:,} to look at each layer; got {value:,}.")
    return value
