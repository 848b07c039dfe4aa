"""All lengths between two bounds, equally likely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn._typing import FloatArray
from sojourn.laws._base import LengthLaw
from sojourn.laws._checks import check_length

__all__ = ["Uniform"]


@dataclass(frozen=True, repr=False)
class Uniform(LengthLaw):
    """Episode lengths low, low + 1, …, high, all with the same probability.

    Args:
        low: The shortest length, a whole number ≥ 1.
        high: The longest length, a whole number ≥ low.

    Example:
        >>> law = Uniform(1, 4)
        >>> law.survival([1, 2, 3, 4, 5])
        array([1.  , 0.75, 0.5 , 0.25, 0.  ])
        >>> law.mean
        2.5
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        low = check_length("low", self.low)
        self._set(low=low, high=check_length("high", self.high, least=low))

    @property
    def longest(self) -> int:
        """The upper bound."""
        return self.high

    def _survival(self, h: FloatArray) -> FloatArray:
        return (self.high - np.maximum(h, self.low) + 1.0) / (self.high - self.low + 1.0)

    def _continuation(self, h: FloatArray) -> FloatArray:
        return np.where(h < self.low, 1.0, (self.high - h) / (self.high - h + 1.0))

    def _hazard(self, h: FloatArray) -> FloatArray:
        return np.where(h < self.low, 0.0, 1.0 / (self.high - h + 1.0))

    def _remaining(self, h: FloatArray) -> FloatArray:
        return np.maximum(self.low - h, 0.0) + 0.5 * (self.high - np.maximum(h, self.low) + 2.0)

    def _invert(self, uniforms: FloatArray) -> FloatArray:
        width = self.high - self.low + 1.0
        return self._correct_guesses(self.high + 1.0 - np.ceil(uniforms * width), uniforms)
