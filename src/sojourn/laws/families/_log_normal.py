"""Lengths whose logarithm is normally distributed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sojourn._typing import FloatArray
from sojourn._validation import check_finite, check_positive
from sojourn.laws._base import MAX_STEP, LengthLaw
from sojourn.laws.numerics._series import exponential_taylor, scaled_sum, taylor_corrections, unpack

__all__ = ["LogNormal"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(14)
_MIN_SIGMA = 0.01
"""A smaller σ would need thousands of terms for a sum, and is almost the same as a fixed length."""


@dataclass(frozen=True, repr=False)
class LogNormal(LengthLaw):
    """Episode lengths that are rounded up from a log-normal time.

    P(H ≥ h) = P(Z > (ln(h−1) − μ)/σ) for a standard normal Z. The hazard first rises and then falls.

    Args:
        mu: Mean of the logarithm of the time before it is rounded up.
        sigma: Its standard deviation, ≥ 0.01. The mean length must be at most 2**53.

    Example:
        >>> law = LogNormal(0.0, 1.0)
        >>> law.survival([1, 2])  # the median of the time is 1
        array([1. , 0.5])
    """

    mu: float
    sigma: float

    def __post_init__(self) -> None:
        mu, sigma = check_finite("mu", self.mu), check_positive("sigma", self.sigma)
        if not sigma >= _MIN_SIGMA:
            raise ValueError(f"sigma must be a finite number ≥ {_MIN_SIGMA}; got {self.sigma!r}.")
        self._set(mu=mu, sigma=sigma)
        if not mu + 0.5 * sigma * sigma <= math.log(MAX_STEP):
            raise ValueError(f"{self!r} has a mean length above 2**53; mu or sigma must be smaller.")

    def _score(self, x: FloatArray) -> FloatArray:
        """Return (ln x − μ)/σ, where x = h − 1."""
        with np.errstate(divide="ignore"):
            return np.asarray((np.log(x) - self.mu) / self.sigma)

    def _log_survival(self, h: FloatArray) -> FloatArray:
        from scipy.special import log_ndtr  # noqa: PLC0415

        return np.maximum(log_ndtr(-self._score(h - 1.0)), -1e308)

    def _log_ratio(self, x: FloatArray, k: FloatArray | float) -> FloatArray:
        """Return ln γ(x + 1 + k)/γ(x + 1) without cancellation."""
        from scipy.special import log_ndtr  # noqa: PLC0415

        z = self._score(x)
        move = np.where(x > 0.0, np.log1p(k / np.where(x > 0.0, x, 1.0)) / self.sigma, math.inf)
        near = (move * (1.0 + np.abs(z)) < 1.0) & (x > 0.0)
        t, start = np.where(near, move, 0.0), np.where(near, z, 0.0)
        # The share that ends is ∫₀ᵗ exp(−z s − s²/2) ds, divided by Mills' ratio at z.
        nodes = 0.5 * t[..., None] * (1.0 + _NODES)
        share = 0.5 * t * (np.exp(-start[..., None] * nodes - 0.5 * nodes**2) @ _WEIGHTS) / _mills(start)
        with np.errstate(invalid="ignore"):
            far = log_ndtr(-self._score(x + k)) - log_ndtr(-z)
        return np.where(near, np.log1p(-share), np.maximum(far, -1e308))

    def _continuation(self, h: FloatArray) -> FloatArray:
        return np.exp(self._log_ratio(h - 1.0, 1.0))

    def _hazard(self, h: FloatArray) -> FloatArray:
        return -np.expm1(self._log_ratio(h - 1.0, 1.0))

    def _remaining(self, h: FloatArray) -> FloatArray:
        sigma = self.sigma

        def corrections(x: FloatArray) -> FloatArray:
            score = self._score(x)
            (z,) = unpack([score])
            # ln x grows by Σ logᵢ tⁱ; the density of x is exp(−z²/2 − ln x) but for a factor.
            log = unpack([np.zeros_like(x), *((-1.0) ** (i + 1) / (i * x**i) for i in range(1, 20))])
            square = [sum(log[i] * log[k - i] for i in range(k + 1)) for k in range(20)]
            density = exponential_taylor(
                [-(z / sigma + 1.0) * log[k] - square[k] / (2.0 * sigma**2) for k in range(20)]
            )
            fall = -1.0 / (sigma * x * _mills(score))
            return taylor_corrections([1.0, *(fall * density[k] / (k + 1) for k in range(19))])

        return scaled_sum(
            h - 1.0,
            log_ratio=self._log_ratio,
            settled=lambda x: (x >= 28.0) & (x * sigma >= np.maximum(16.0, 2.0 * self._score(x))),
            integral=self._integral,
            corrections=corrections,
        )

    def _integral(self, x: FloatArray) -> FloatArray:
        """Return ∫ₓ^∞ of γ, divided by γ(x + 1): E[T − x | T > x] of the time T."""
        from scipy.special import ndtr  # noqa: PLC0415

        z = self._score(x)
        early = math.exp(self.mu + 0.5 * self.sigma**2) * ndtr(self.sigma - z) / ndtr(-np.minimum(z, 0.0)) - x
        late = np.maximum(z, -5.0)
        return np.where(z < -5.0, early, x * (_mills(late - self.sigma) / _mills(late) - 1.0))

    def _invert(self, uniforms: FloatArray) -> FloatArray:
        from scipy.special import ndtri  # noqa: PLC0415

        logs = self.mu - self.sigma * ndtri(uniforms)
        guesses = 1.0 + np.floor(np.exp(np.minimum(logs, math.log(2.0**60))))
        return self._correct_guesses(guesses, uniforms)


def _mills(z: FloatArray) -> FloatArray:
    """Return Mills' ratio P(Z > z)/φ(z)."""
    from scipy.special import erfcx, ndtr  # noqa: PLC0415

    with np.errstate(over="ignore"):
        left = ndtr(-z) * np.exp(0.5 * np.minimum(z, 0.0) ** 2) * math.sqrt(2.0 * math.pi)
    right = erfcx(np.maximum(z, -5.0) / math.sqrt(2.0)) * math.sqrt(0.5 * math.pi)
    return np.where(z < -5.0, left, right)
