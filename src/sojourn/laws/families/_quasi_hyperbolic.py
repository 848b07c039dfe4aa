"""Beta-delta discounting: geometric after a riskier first step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sojourn._typing import FloatArray
from sojourn._validation import check_closed_unit, check_half_open_unit
from sojourn.laws._base import LengthLaw

__all__ = ["QuasiHyperbolic"]


@dataclass(frozen=True, repr=False)
class QuasiHyperbolic(LengthLaw):
    """Episode lengths whose first step is the riskiest: quasi-hyperbolic (beta-delta) discounting.

    P(H ≥ 1) = 1, and P(H ≥ h) = β γ^(h−1) for later steps.

    Args:
        beta: Extra factor on all steps but the first, in [0, 1].
        gamma: Probability of one more step after the second, in [0, 1).

    Example:
        >>> law = QuasiHyperbolic(beta=0.5, gamma=0.75)
        >>> law.survival([1, 2, 3])
        array([1.     , 0.375  , 0.28125])
        >>> law.mean
        2.5
    """

    beta: float
    gamma: float

    def __post_init__(self) -> None:
        beta, gamma = check_closed_unit("beta", self.beta), check_half_open_unit("gamma", self.gamma)
        self._set(beta=beta, gamma=gamma)

    @property
    def longest(self) -> int | None:
        """None, or 1 if beta or gamma is 0."""
        return None if self.beta > 0.0 and self.gamma > 0.0 else 1

    @property
    def memoryless_from(self) -> int | None:
        """2, or 1 if beta is 1 (None if there is no second step)."""
        if self.longest is not None:
            return None
        return 1 if self.beta == 1.0 else 2

    def _survival(self, h: FloatArray) -> FloatArray:
        return np.where(h > 1.0, self.beta * self.gamma ** (h - 1.0), 1.0)

    def _log_survival(self, h: FloatArray) -> FloatArray:
        if self.longest == 1:
            return np.zeros_like(h)
        return np.where(h > 1.0, math.log(self.beta) + (h - 1.0) * math.log(self.gamma), 0.0)

    def _continuation(self, h: FloatArray) -> FloatArray:
        return np.where(h > 1.0, self.gamma, self.beta * self.gamma)

    def _hazard(self, h: FloatArray) -> FloatArray:
        # 1 − βγ as a sum of positive parts, so that nothing cancels if both are close to 1.
        first = (1.0 - self.beta) + self.beta * (1.0 - self.gamma)
        return np.where(h > 1.0, 1.0 - self.gamma, first)

    def _remaining(self, h: FloatArray) -> FloatArray:
        later = 1.0 / (1.0 - self.gamma)
        return np.where(h > 1.0, later, 1.0 + self.beta * self.gamma * later)

    def _invert(self, uniforms: FloatArray) -> FloatArray:
        if self.longest == 1:
            return np.ones_like(uniforms)
        later = (np.log(uniforms) - math.log(self.beta)) / math.log(self.gamma)
        return self._correct_guesses(1.0 + np.floor(later), uniforms)
