"""Checks of what bounds are asked for, each with a one-line error."""

from __future__ import annotations

from typing import Any

import numpy as np

from sojourn._validation import check_whole
from sojourn.laws import LengthLaw

__all__ = ["MOST_LAYERS", "check_delta", "check_episodes", "check_law", "check_layers"]

MOST_LAYERS = 10**7
"""Layers that a bound looks at one by one, at most."""


def check_law(law: Any) -> LengthLaw:
    """Return `law`, if it is one."""
    if not isinstance(law, LengthLaw):
        raise TypeError(f"law must be a LengthLaw, such as Geometric(0.95); got {law!r}.")
    return law


def check_delta(value: Any) -> float:
    """Return the probability that a bound may fail, in (0, 1)."""
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
    """Return a number of layers that can be looked at one by one."""
    if value > MOST_LAYERS:
        raise ValueError(f"{name} must be at most {MOST_LAYERS:,} to look at each layer; got {value:,}.")
    return value
