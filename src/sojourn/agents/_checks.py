"""What a learner is given while it plays, looked at once."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["check_range", "check_terminal_reward", "is_number", "is_whole"]


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, NumPy's included."""
    return isinstance(value, (int, np.integer))


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, NumPy's included."""
    return isinstance(value, (int, float, np.number)) and bool(np.isfinite(value))


def check_range(reward_range: Any) -> tuple[float, float]:
    """Return the least and the largest reward."""
    try:
        low, high = (float(end) for end in reward_range)
    except (TypeError, ValueError):
        low = high = np.nan
    if not -np.inf < low < high < np.inf:
        raise ValueError(f"reward_range must be two finite numbers, the lower first; got {reward_range!r}.")
    return low, high


def check_terminal_reward(terminal_reward: Any) -> float:
    """Return what the absorbing state pays."""
    if not is_number(terminal_reward):
        raise ValueError(f"terminal_reward must be a finite number; got {terminal_reward!r}.")
    return float(terminal_reward)
