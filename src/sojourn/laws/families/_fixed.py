"""The same length for every episode: the classic fixed horizon."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn._typing import FloatArray
from sojourn.laws._base import LengthLaw
from sojourn.laws._checks import check_length

__all__ = ["Fixed"]


@dataclass(frozen=True, repr=False)
class Fixed(LengthLaw):
    """Episodes that all have the same length.

    Args:
        length: The length, a whole number ≥ 1.

    Example:
        >>> law = Fixed(3)
        >>> law.survival([1, 2, 3, 4])
        array([1., 1., 1., 0.])
        >>> law.remaining([1, 2, 3, 4])
        array([3., 2., 1., 0.])
    """

    length: int

    def __post_init__(self) -> None:
        self._set(length=check_length("length", self.length))

    @property
    def longest(self) -> int:
        """The length itself."""
        return self.length

    def _survival(self, h: FloatArray) -> FloatArray:
        return np.ones_like(h)

    def _continuation(self, h: FloatArray) -> FloatArray:
        return np.where(h < self.length, 1.0, 0.0)

    def _hazard(self, h: FloatArray) -> FloatArray:
        return np.where(h < self.length, 0.0, 1.0)

    def _remaining(self, h: FloatArray) -> FloatArray:
        return self.length - h + 1.0

    def _invert(self, uniforms: FloatArray) -> FloatArray:
        return np.full_like(uniforms, self.length)
