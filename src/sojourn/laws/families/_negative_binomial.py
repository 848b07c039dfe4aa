"""Episodes that consist of several geometric stages."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sojourn._typing import BoolArray, FloatArray
from sojourn._validation import check_half_open_unit, check_positive
from sojourn.laws._base import LengthLaw
from sojourn.laws.numerics._power_means import power_means
from sojourn.laws.numerics._special import deviance, stirling_error, two_product, two_sum

__all__ = ["NegativeBinomial"]

_LEAST_STAGES = 1e-100
"""Least r: its powers and ratios stay above the smallest float."""


@dataclass(frozen=True, repr=False)
class NegativeBinomial(LengthLaw):
    """Episode lengths 1 + K with K negative binomial: r geometric stages in a row.

    P(H = k + 1) = C(k + r − 1, k) (1 − γ)^r γ^k; r = 1 is `Geometric(gamma)`.

    Args:
        r: Number of stages, any real number from 1e-100. The mean length must be at most 2**53.
        gamma: Probability of one more step within a stage, in [0, 1).

    Example:
        >>> law = NegativeBinomial(2.0, 0.5)
        >>> law.pmf([1, 2, 3])
        array([0.25  , 0.25  , 0.1875])
        >>> law.mean
        3.0
    """

    r: float
    gamma: float

    def __post_init__(self) -> None:
        self._set(r=check_positive("r", self.r), gamma=check_half_open_unit("gamma", self.gamma))
        if not self.r >= _LEAST_STAGES:
            raise ValueError(f"r must be at least {_LEAST_STAGES:g}; got {self.r!r}.")
        if not self.r * (self.gamma / (1.0 - self.gamma)) < 2.0**53:
            raise ValueError(f"{self!r} has a mean length above 2**53; r or gamma must be smaller.")

    @property
    def longest(self) -> int | None:
        """None, or 1 if gamma is 0."""
        return None if self.gamma > 0.0 else 1

    @property
    def memoryless_from(self) -> int | None:
        """1 if r is 1 (and gamma is not 0), else None."""
        return 1 if self.r == 1.0 and self.gamma > 0.0 else None

    def _survival(self, h: FloatArray) -> FloatArray:
        return self._parts(h)[0]

    def _log_survival(self, h: FloatArray) -> FloatArray:
        m, result = h - 1.0, np.zeros_like(h)
        upper = self._is_upper(m)
        result[~upper] = np.log1p(-self._below(m[~upper]))
        ratio = self._upper_means(m[upper])[0] / (1.0 - self.gamma)
        result[upper] = self._log_pmf(m[upper]) + np.log(ratio)
        return result

    def _continuation(self, h: FloatArray) -> FloatArray:
        hazard = self._hazard(h)
        result = 1.0 - hazard
        # Where 1 − hazard cancels: (m + 1) pmf(m + 1) = γ (m + r) pmf(m) makes ρ a ratio of two hazards.
        high = hazard > 0.5
        if high.any() and self.gamma > 0.0:
            growth = self.gamma * (h[high] - 1.0 + self.r) / h[high]
            result[high] = growth * hazard[high] / self._hazard(h[high] + 1.0)
        return result

    def _hazard(self, h: FloatArray) -> FloatArray:
        return self._parts(h)[1]

    def _remaining(self, h: FloatArray) -> FloatArray:
        return self._parts(h)[2]

    def _pmf(self, h: FloatArray) -> FloatArray:
        return np.exp(self._log_pmf(h - 1.0))

    def _is_upper(self, m: FloatArray) -> BoolArray:
        """Return where P(K ≥ m) is summed from m up; elsewhere it is 1 minus a sum from m down."""
        if self.r < 1.0:
            return m > 0.0
        return m >= max(1.0, self.r * self._odds)  # from the mean of K up, where 1 − P(K < m) would cancel

    @property
    def _odds(self) -> float:
        return self.gamma / (1.0 - self.gamma)

    def _parts(self, h: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return γ(h), the hazard and Γ(h)/γ(h)."""
        m, stop = h - 1.0, 1.0 - self.gamma
        pmf = np.exp(self._log_pmf(m))
        survival, hazard, remaining = np.empty_like(h), np.empty_like(h), np.empty_like(h)
        upper = self._is_upper(m)
        if upper.any():
            mean, weighted = self._upper_means(m[upper])
            survival[upper] = pmf[upper] / stop * mean
            hazard[upper] = stop / mean
            remaining[upper] = weighted / (mean * stop)
        lower = ~upper
        if lower.any():
            below = self._below(m[lower])
            survival[lower] = 1.0 - below
            hazard[lower] = pmf[lower] / survival[lower]
            remaining[lower] = (self.r * self._odds - m[lower] + 1.0) + m[lower] * hazard[lower] / stop
        return survival, hazard, remaining

    def _upper_means(self, m: FloatArray) -> tuple[FloatArray, FloatArray]:
        # P(K ≥ m) = pmf(m) ₂F₁(1, m+r; m+1; γ) and Γ = pmf(m) ₂F₁(2, m+r; m+1; γ), as positive integrals.
        return power_means(m, self._odds, self.r - 1.0)

    def _below(self, m: FloatArray) -> FloatArray:
        """Return P(K < m)."""
        result = np.zeros_like(m)
        some = m > 0.0
        if some.any():
            k = m[some]
            mean, _ = power_means(np.full_like(k, self.r), 1.0 / self._odds, k - 1.0)
            log_scale = self._log_pmf(k) + np.log(k / (self.r * self.gamma))
            result[some] = np.exp(log_scale + np.log(mean))
        return result

    def _log_pmf(self, m: FloatArray) -> FloatArray:
        """Return ln P(K = m) by Loader's saddle-point form: Stirling errors and deviances do not cancel."""
        r, gamma = self.r, self.gamma
        start = np.full_like(m, r * math.log1p(-gamma))
        if gamma == 0.0:
            return start
        k = np.where(m > 0.0, m, 1.0)
        n = r + k
        # k(1−γ) − rγ, the distance of k from its mean up to a factor, to full precision.
        high, low = two_product(gamma, k)
        high_r, low_r = two_product(gamma, np.full_like(k, r))
        gap, error = two_sum(k, -high)
        gap, error_r = two_sum(gap, -high_r)
        gap = gap + ((error + error_r) - (low + low_r))
        distance = r * deviance(gap / r, n * (1.0 - gamma) / r) + k * deviance(-gap / k, n * gamma / k)
        errors = stirling_error(n) - stirling_error(np.array([r])) - stirling_error(k)
        later = 0.5 * np.log(r / (2.0 * math.pi * n * k)) + errors - distance
        return np.where(m > 0.0, later, start)
