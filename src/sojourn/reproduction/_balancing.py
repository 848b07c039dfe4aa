"""Dynamic balancing whose bounds contain the reward that a candidate's layers leave out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn._typing import FloatArray
from sojourn.agents import DynamicBalancing

__all__ = ["BalancingWithTruncation"]


@dataclass(frozen=True)
class BalancingWithTruncation(DynamicBalancing):
    """Dynamic balancing with the bounds R_i(n) = n Γ(H_i+1)/H_max + scale · (H_i/H_max) · √(SAn).

    The first term is what Theorems 1 and 4 of the paper have for the steps after the last layer. Without it,
    short horizons seem to have the smallest regret.

    Args:
        scale: Factor on the second term.
        c: Factor on the width of the intervals.
        delta: Probability that the intervals with c = 1 may fail, in (0, 1).
        beyond: Γ(H_i+1) of each candidate.
    """

    beyond: tuple[float, ...] = ()

    def bounds(self, statistics: Any) -> FloatArray:
        """Return R_i(n_i) for every candidate."""
        left_out = statistics.played * np.asarray(self.beyond) / statistics.horizons.max()
        return np.asarray(super().bounds(statistics) + left_out)
