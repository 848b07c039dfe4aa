"""The geometric law, which is ordinary discounting."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sojourn._typing import FloatArray
from sojourn._validation import check_half_open_unit
from sojourn.laws._base import LengthLaw

__all__ = ["Geometric"]


@dataclass(frozen=True, repr=False)
class Geometric(LengthLaw):
    """Episode lengths with the same chance of going on at every step.

    P(H ≥ h) = γ^(h−1): the law behind ordinary discounting.

    Args:
        gamma: Probability of one more step, in [0, 1).

    Example:
        >>> law = Geometric(0.75)
        >>> law.survival([1, 2, 3])
        array([1.    , 0.75  , 0.5625])
        >>> law.mean
        4.0
    """

    gamma: float

    def __post_init__(self) -> None:
        self._set(gamma=check_half_open_unit("gamma", self.gamma))

    @property
    def longest(self) -> int | None:
        """None, or 1 if gamma is 0."""
        return None if self.gamma > 0.0 else 1

    @property
    def memoryless_from(self) -> int | None:
        """1, because the law is memoryless (None if gamma is 0)."""
        return 1 if self.gamma > 0.0 else None

    @property
    def mean(self) -> float:
        """The mean length, 1/(1 − γ)."""
        return 1.0 / (1.0 - self.gamma)

    def _survival(self, h: FloatArray) -> FloatArray:
        return np.asarray(self.gamma ** (h - 1.0))

    def _log_survival(self, h: FloatArray) -> FloatArray:
        return (h - 1.0) * (math.log(self.gamma) if self.gamma > 0.0 else 0.0)

    def _continuation(self, h: FloatArray) -> FloatArray:
        return np.full_like(h, self.gamma)

    def _hazard(self, h: FloatArray) -> FloatArray:
        return np.full_like(h, 1.0 - self.gamma)

    def _remaining(self, h: FloatArray) -> FloatArray:
        return np.full_like(h, 1.0 / (1.0 - self.gamma))

    def _invert(self, uniforms: FloatArray) -> FloatArray:
        if self.gamma == 0.0:
            return np.ones_like(uniforms)
        return self._correct_guesses(1.0 + np.floor(np.log(uniforms) / math.log(self.gamma)), uniforms)
