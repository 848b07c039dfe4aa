"""A mixed population: each episode is geometric with its own chance of stopping."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn._typing import FloatArray
from sojourn._validation import check_positive
from sojourn.laws._base import LengthLaw
from sojourn.laws.numerics._special import log_gamma_ratio

__all__ = ["BetaGeometric"]


@dataclass(frozen=True, repr=False)
class BetaGeometric(LengthLaw):
    """Geometric episode lengths whose chance of stopping is drawn from Beta(a, b) once per episode.

    P(H ≥ h) = B(a, b + h − 1)/B(a, b): the longer an episode has lasted, the longer it is expected to go on.

    Args:
        a: First parameter of the beta distribution, > 1 (otherwise the mean length is infinite).
        b: Second parameter of the beta distribution, > 0.

    Example:
        >>> law = BetaGeometric(2.0, 1.0)
        >>> law.survival([1, 2, 3])  # 2 / (h (h + 1))
        array([1.        , 0.33333333, 0.16666667])
        >>> law.mean
        2.0
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        a, b = check_positive("a", self.a, rule="a finite number > 1"), check_positive("b", self.b)
        if not a > 1.0:
            raise ValueError(f"BetaGeometric(a={a!r}, b={b!r}) has an infinite mean length; a must be > 1.")
        self._set(a=a, b=b)

    def _log_survival(self, h: FloatArray) -> FloatArray:
        return log_gamma_ratio(self.a, self.b, h - 1.0)

    def _continuation(self, h: FloatArray) -> FloatArray:
        return (self.b + (h - 1.0)) / (self.a + (self.b + (h - 1.0)))

    def _hazard(self, h: FloatArray) -> FloatArray:
        return self.a / (self.a + (self.b + (h - 1.0)))

    def _remaining(self, h: FloatArray) -> FloatArray:
        return ((self.a - 1.0) + (self.b + (h - 1.0))) / (self.a - 1.0)
