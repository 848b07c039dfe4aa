"""Checks of arguments passed to a learner."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["check_terminal_reward", "is_number", "is_whole"]


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, including NumPy's."""
    return isinstance(value, (int, np.integer))


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, including NumPy's."""
    return isinstance(value, (int, float, np.number)) and bool(np.isfinite(value))


def check_terminal_reward(terminal_reward: Any) -> float:
    """Return the reward per step of the absorbing state."""
    if not is_number(terminal_reward):
        raise ValueError(f"terminal_reward must be a finite number; got {terminal_reward!r}.")
    return float(terminal_reward)
