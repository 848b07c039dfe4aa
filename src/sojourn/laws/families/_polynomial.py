"""Heavy tails: survival that falls like a power of the step (hyperbolic discounting)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sojourn._typing import FloatArray
from sojourn._validation import check_positive
from sojourn.laws._base import LengthLaw
from sojourn.laws._checks import check_length
from sojourn.laws.numerics._series import power_corrections, scaled_sum

__all__ = ["Polynomial"]


@dataclass(frozen=True, repr=False)
class Polynomial(LengthLaw):
    """Episode lengths with a heavy tail: H = offset + Z with P(Z ≥ z) = z^(−p).

    P(H ≥ h) = 1 for h ≤ offset + 1, and (h − offset)^(−p) for later steps. If p ≤ 2, the variance is
    infinite.

    Args:
        p: The power, > 1.
        offset: Steps that every episode lasts before its tail begins, a whole number ≥ 0.

    Example:
        >>> law = Polynomial(2.0, offset=1)
        >>> law.survival([1, 2, 3, 5])
        array([1.    , 1.    , 0.25  , 0.0625])
        >>> round(law.mean, 6)  # 1 + π²/6
        2.644934
        >>> Polynomial(1.4).effective_horizon(1e-2)
        988213
    """

    p: float
    offset: int = 0

    def __post_init__(self) -> None:
        p = check_positive("p", self.p, rule="a finite number > 1")
        if not p > 1.0:
            raise ValueError(f"Polynomial(p={p!r}) has an infinite mean length; p must be > 1.")
        self._set(p=p, offset=check_length("offset", self.offset, least=0))

    def _steps_past_offset(self, h: FloatArray) -> FloatArray:
        return np.maximum(h - self.offset, 1.0)

    def _survival(self, h: FloatArray) -> FloatArray:
        return np.asarray(self._steps_past_offset(h) ** -self.p)

    def _log_survival(self, h: FloatArray) -> FloatArray:
        return -self.p * np.log(self._steps_past_offset(h))

    def _log_continuation(self, h: FloatArray) -> FloatArray:
        return np.where(h > self.offset, -self.p * np.log1p(1.0 / self._steps_past_offset(h)), 0.0)

    def _continuation(self, h: FloatArray) -> FloatArray:
        return np.exp(self._log_continuation(h))

    def _hazard(self, h: FloatArray) -> FloatArray:
        return np.abs(np.expm1(self._log_continuation(h)))

    def _remaining(self, h: FloatArray) -> FloatArray:
        p = self.p
        # z^p ζ(p, z); x^(−p) is completely monotone, so the first omitted correction bounds the error.
        zeta = scaled_sum(
            self._steps_past_offset(h),
            log_ratio=lambda x, k: -p * np.log1p(k / x),
            settled=lambda x: x >= 1.2 * (p + 20.0),
            integral=lambda x: x / (p - 1.0),
            corrections=lambda x: power_corrections(x, p),
        )
        return np.maximum(self.offset + 1.0 - h, 0.0) + zeta

    def _invert(self, uniforms: FloatArray) -> FloatArray:
        powers = np.exp(np.minimum(-np.log(uniforms) / self.p, math.log(2.0**60)))
        return self._correct_guesses(self.offset + np.floor(powers), uniforms)
