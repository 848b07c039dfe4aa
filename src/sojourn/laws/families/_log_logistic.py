"""Lengths whose odds of being over grow like a power of the step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sojourn._typing import FloatArray
from sojourn._validation import check_positive
from sojourn.laws._base import MAX_STEP, LengthLaw
from sojourn.laws.numerics._series import reciprocal_taylor, scaled_sum, taylor_corrections, unpack

__all__ = ["LogLogistic"]

_MAX_SHAPE = 1000.0
"""A larger shape would need thousands of terms for a sum, and is the same as a fixed length."""


@dataclass(frozen=True, repr=False)
class LogLogistic(LengthLaw):
    """Episode lengths with P(H ≥ h) = 1/(1 + ((h−1)/scale)^shape), rounded up from a log-logistic time.

    The hazard first rises and then falls.

    Args:
        scale: The median of the time before it is rounded up, > 0.
        shape: The power, in (1, 1000]; for shape ≤ 1 the mean length would be infinite. The mean length must
            be at most 2**53.

    Example:
        >>> law = LogLogistic(2.0, 3.0)
        >>> law.survival([1, 3, 5])  # 1, 1/2 and 1/9
        array([1.        , 0.5       , 0.11111111])
    """

    scale: float
    shape: float

    def __post_init__(self) -> None:
        scale = check_positive("scale", self.scale)
        shape = check_positive("shape", self.shape, rule="in (1, 1000]")
        if not 1.0 < shape <= _MAX_SHAPE:
            raise ValueError(
                f"shape must be in (1, 1000] (up to 1 the mean length is infinite); got {self.shape!r}."
            )
        self._set(scale=scale, shape=shape)
        # E[H] is between ∫ and 1 + ∫ of γ, which is scale · (π/shape)/sin(π/shape).
        if math.log(scale) + math.log(self._whole_integral) > math.log(MAX_STEP):
            raise ValueError(f"{self!r} has a mean length above 2**53; scale must be smaller.")

    @property
    def _whole_integral(self) -> float:
        """∫₀^∞ of γ, divided by the scale."""
        angle = math.pi / self.shape
        # sin(π/shape) = sin(π (1 − 1/shape)), which keeps its digits for shapes near 1.
        return angle / math.sin(math.pi * (self.shape - 1.0) / self.shape)

    def _log_odds(self, x: FloatArray) -> FloatArray:
        """Return ln((x/scale)^shape), where x = h − 1."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.shape * (np.log(x) - math.log(self.scale)))

    def _log_survival(self, h: FloatArray) -> FloatArray:
        return -np.logaddexp(0.0, self._log_odds(h - 1.0))

    def _log_ratio(self, x: FloatArray, k: FloatArray | float) -> FloatArray:
        """Return ln γ(x + 1 + k)/γ(x + 1) without cancellation."""
        odds = self._log_odds(x)
        base = np.where(x > 0.0, x, 1.0)
        growth = np.where(x > 0.0, self.shape * np.log1p(k / base), math.inf)
        over, alive = -np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds)
        small = growth < 1.0
        near = -np.log1p(np.exp(over) * np.expm1(np.where(small, growth, 0.0)))
        with np.errstate(invalid="ignore"):
            far = -np.logaddexp(alive, over + growth)
        at_start = -np.logaddexp(0.0, self._log_odds(np.asarray(k, dtype=float)))
        return np.where(x > 0.0, np.where(small, near, far), at_start)

    def _continuation(self, h: FloatArray) -> FloatArray:
        return np.exp(self._log_ratio(h - 1.0, 1.0))

    def _hazard(self, h: FloatArray) -> FloatArray:
        return -np.expm1(self._log_ratio(h - 1.0, 1.0))

    def _remaining(self, h: FloatArray) -> FloatArray:
        scale, shape = self.scale, self.shape
        pole = scale * np.exp(1j * math.pi / shape)
        binomials = _binomials(shape)

        def corrections(x: FloatArray) -> FloatArray:
            over = np.exp(-np.logaddexp(0.0, -self._log_odds(x)))
            growth = unpack([over * binomial / x**i for i, binomial in enumerate(binomials)])
            return taylor_corrections(reciprocal_taylor(growth))

        # γ has poles where the odds are −1, and a branch point at 0; the corrections converge away from them.
        return scaled_sum(
            h - 1.0,
            log_ratio=self._log_ratio,
            settled=lambda x: (x >= max(28.0, 4.0 * shape)) & (np.abs(x - pole) >= 28.0),
            integral=self._integral,
            corrections=corrections,
        )

    def _integral(self, x: FloatArray) -> FloatArray:
        """Return ∫ₓ^∞ of γ, divided by γ(x + 1): an incomplete beta function in u = γ(x + 1)."""
        from scipy.special import betainc  # noqa: PLC0415

        a, b = 1.0 - 1.0 / self.shape, 1.0 / self.shape
        log_u = -np.logaddexp(0.0, self._log_odds(x))
        u = np.exp(log_u)
        # Near 0 the first terms of the series in u, which do not underflow.
        series = 1.0 / a + u * ((1.0 - b) / (a + 1.0) + u * (1.0 - b) * (2.0 - b) / (2.0 * (a + 2.0)))
        tail = self.scale / self.shape * np.exp(-b * log_u) * series
        # Where u rounds to 1, the integral from 0 to x keeps its digits instead: a function of 1 − u.
        over = np.exp(-np.logaddexp(0.0, -self._log_odds(x)))
        share = np.where(u < 0.5, betainc(a, b, u), 1.0 - betainc(b, a, over))
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = self.scale * self._whole_integral * share / u
        return np.where(u < 1e-6, tail, whole)

    def _invert(self, uniforms: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            odds = (np.log1p(-uniforms) - np.log(uniforms)) / self.shape + math.log(self.scale)
        guesses = 1.0 + np.floor(np.exp(np.minimum(odds, math.log(2.0**60))))
        return self._correct_guesses(guesses, uniforms)


@lru_cache
def _binomials(shape: float) -> list[float]:
    """Return the coefficients of (1 + t)^shape up to t¹⁹."""
    return [math.prod((shape - i) / (i + 1) for i in range(k)) for k in range(20)]
