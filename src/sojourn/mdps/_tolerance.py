"""The default tolerance of values on a problem, in proportion to small rewards."""

from __future__ import annotations

import numpy as np

from sojourn._validation import check_positive
from sojourn.mdps._tabular import TabularMDP

__all__ = ["check_tolerance", "default_tolerance"]

_TOLERANCE = 1e-6


def default_tolerance(largest_reward: float) -> float:
    """Return 1e-6, or 1e-6 times the largest reward if that is smaller than 1: rewards may have any unit.

    Example:
        >>> default_tolerance(20.0), default_tolerance(0.5)
        (1e-06, 5e-07)
    """
    return _TOLERANCE * min(largest_reward or 1.0, 1.0)


def check_tolerance(mdp: TabularMDP, tolerance: float | None) -> float:
    """Return a tolerance that was given, or the default for a problem if it is None."""
    if tolerance is None:
        return default_tolerance(float(np.abs(mdp.rewards).max()))
    return check_positive("tolerance", tolerance)
