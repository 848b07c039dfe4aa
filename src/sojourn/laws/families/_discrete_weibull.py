"""Lengths with a hazard that falls or rises like a power of the step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sojourn._typing import FloatArray
from sojourn._validation import check_half_open_unit, check_positive
from sojourn.laws._base import MAX_STEP, LengthLaw
from sojourn.laws.numerics._series import exponential_corrections, scaled_sum
from sojourn.laws.numerics._special import gamma_tail_ratio

__all__ = ["DiscreteWeibull"]


@dataclass(frozen=True, repr=False)
class DiscreteWeibull(LengthLaw):
    """Episode lengths with P(H ≥ h) = q^((h−1)^shape).

    The hazard falls with the step for shape < 1, is constant for shape = 1 (`Geometric(q)`) and rises for
    shape > 1.

    Args:
        q: Probability of a second step, in (0, 1).
        shape: The power, > 0. The mean length must be at most 2**53.

    Example:
        >>> law = DiscreteWeibull(0.5, shape=2.0)
        >>> law.survival([1, 2, 3])
        array([1.    , 0.5   , 0.0625])
        >>> round(law.mean, 6)  # 1 + 1/2 + 1/16 + 1/512 + 1/65536 + …
        1.564468
    """

    q: float
    shape: float

    def __post_init__(self) -> None:
        q = check_half_open_unit("q", self.q, rule="in (0, 1)")
        shape = check_positive("shape", self.shape)
        if q == 0.0:
            raise ValueError(f"q must be in (0, 1); got {self.q!r}.")
        self._set(q=q, shape=shape)
        # E[H] is between ∫ and 1 + ∫ of γ, which is Γ(1 + 1/shape) λ^(−1/shape).
        if math.lgamma(1.0 + min(1.0 / shape, 1e300)) - math.log(self._rate) / shape > math.log(MAX_STEP):
            raise ValueError(f"{self!r} has a mean length above 2**53; shape must be larger or q smaller.")

    @property
    def memoryless_from(self) -> int | None:
        """1 if the shape is 1, else None."""
        return 1 if self.shape == 1.0 else None

    @property
    def _rate(self) -> float:
        return -math.log(self.q)

    def _log_survival(self, h: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.maximum(-self._rate * (h - 1.0) ** self.shape, -1e308)

    def _log_ratio(self, x: FloatArray, k: FloatArray | float) -> FloatArray:
        """Return ln γ(x + 1 + k)/γ(x + 1)."""
        with np.errstate(over="ignore", invalid="ignore"):
            base = np.where(x > 0.0, x, 1.0)
            power = base**self.shape * np.expm1(self.shape * np.log1p(k / base))
            return -self._rate * np.where(x > 0.0, power, k**self.shape)

    def _continuation(self, h: FloatArray) -> FloatArray:
        return np.exp(self._log_ratio(h - 1.0, 1.0))

    def _hazard(self, h: FloatArray) -> FloatArray:
        return -np.expm1(self._log_ratio(h - 1.0, 1.0))

    def _remaining(self, h: FloatArray) -> FloatArray:
        rate, shape = self._rate, self.shape

        def fall(x: FloatArray) -> FloatArray:
            with np.errstate(over="ignore", divide="ignore"):
                return np.asarray(rate * shape * x ** (shape - 1.0))

        def integral(x: FloatArray) -> FloatArray:
            return x / shape * gamma_tail_ratio(1.0 / shape, rate * x**shape)

        def log_taylor(x: FloatArray, k: int) -> FloatArray:
            binomial = math.prod((shape - i) / (i + 1) for i in range(k))
            return np.asarray(-rate * binomial * x ** (shape - k))

        # The corrections converge where both length scales of γ, x/shape and 1/fall, span several steps.
        return scaled_sum(
            h - 1.0,
            log_ratio=self._log_ratio,
            settled=lambda x: (x >= max(28.0, 4.0 * shape)) & (fall(x) <= 0.5),
            integral=integral,
            corrections=lambda x: exponential_corrections(x, log_taylor),
        )

    def _invert(self, uniforms: FloatArray) -> FloatArray:
        exponents = np.log(np.maximum(-np.log(uniforms) / self._rate, 1e-300)) / self.shape
        guesses = 1.0 + np.floor(np.exp(np.minimum(exponents, math.log(2.0**60))))
        return self._correct_guesses(guesses, uniforms)
