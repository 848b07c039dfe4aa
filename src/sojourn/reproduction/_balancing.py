"""Dynamic balancing whose bounds contain the true weight of the steps that a candidate's layers leave out."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn._typing import FloatArray
from sojourn.agents import DynamicBalancing

__all__ = ["BalancingWithTruncation"]


@dataclass(frozen=True)
class BalancingWithTruncation(DynamicBalancing):
    """Dynamic balancing with given values of Γ(H_i+1) in its bounds, in place of estimates.

    With the true values, this is the rule as if the law were known.

    Args:
        scale: Factor on the second term of the bounds; by default the scale of the candidates' bonus.
        c: Factor on the width of the intervals.
        delta: Probability that the intervals with c = 1 may fail, in (0, 1).
        beyond: Γ(H_i+1) of each candidate.
    """

    beyond: tuple[float, ...] = ()

    def bounds(self, statistics: Any) -> FloatArray:
        """Return R_i(n_i) for every candidate."""
        return super().bounds(dataclasses.replace(statistics, beyond=np.asarray(self.beyond)))
