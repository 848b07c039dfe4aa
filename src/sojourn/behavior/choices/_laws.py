"""Hyperbolic discount functions with a finite sum, as laws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import hyp2f1, zeta

from sojourn._typing import FloatArray
from sojourn._validation import check_positive
from sojourn.laws import LengthLaw

__all__ = ["GreenMyersonLaw", "RachlinLaw"]

_SUMMED = 400
"""Number of terms that are summed one by one, before the Euler–Maclaurin formula takes over."""


@dataclass(frozen=True, repr=False)
class GreenMyersonLaw(LengthLaw):
    """The generalized hyperbola γ(h) = (1 + k (h − 1))^(−s) of Green, Fry and Myerson (1994).

    Args:
        k: Rate, > 0.
        s: Power, > 1; otherwise the sum is infinite.

    Example:
        >>> law = GreenMyersonLaw(1.0, 2.0)  # 1/h²
        >>> law.survival([1, 2, 4]), round(law.mean, 6)
        (array([1.    , 0.25  , 0.0625]), 1.644934)
    """

    k: float
    s: float

    def __post_init__(self) -> None:
        s = check_positive("s", self.s, rule="a finite number > 1")
        if not s > 1.0:
            raise ValueError(f"s must be > 1, or the sum of 1/(1 + k t)^s is infinite; got {self.s!r}.")
        self._set(k=check_positive("k", self.k), s=s)

    def _log_survival(self, h: FloatArray) -> FloatArray:
        return -self.s * np.log1p(self.k * (h - 1.0))

    def _log_continuation(self, h: FloatArray) -> FloatArray:
        return -self.s * np.log1p(self.k / (1.0 + self.k * (h - 1.0)))

    def _remaining(self, h: FloatArray) -> FloatArray:
        q = 1.0 / self.k + (h - 1.0)  # Σ_j (q + j)^(−s) / q^(−s)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            exact = zeta(self.s, q) * q**self.s
            # Euler–Maclaurin for large q, where powers overflow or lose digits.
            far = q / (self.s - 1.0) + 0.5 + self.s / (12.0 * q)
        return np.where((q < 1e4) & np.isfinite(exact), exact, far)


@dataclass(frozen=True, repr=False)
class RachlinLaw(LengthLaw):
    """The hyperbola γ(h) = 1/(1 + k (h − 1)^s) of Rachlin (2006).

    Args:
        k: Rate, > 0.
        s: Power of the delay, > 1; otherwise the sum is infinite.

    Example:
        >>> law = RachlinLaw(1.0, 2.0)  # Σ 1/(1 + j²) = (1 + π coth π)/2
        >>> round(law.mean, 6)
        2.076674
    """

    k: float
    s: float

    def __post_init__(self) -> None:
        s = check_positive("s", self.s, rule="a finite number > 1")
        if not s > 1.0:
            raise ValueError(f"s must be > 1, or the sum of 1/(1 + k t^s) is infinite; got {self.s!r}.")
        self._set(k=check_positive("k", self.k), s=s)

    def _survival(self, h: FloatArray) -> FloatArray:
        return np.asarray(1.0 / (1.0 + self.k * (h - 1.0) ** self.s))

    def _log_survival(self, h: FloatArray) -> FloatArray:
        return -np.log1p(self.k * (h - 1.0) ** self.s)

    def _tail(self, h: FloatArray) -> FloatArray:
        delays = h[:, np.newaxis] - 1.0 + np.arange(_SUMMED)
        near = (1.0 / (1.0 + self.k * delays**self.s)).sum(axis=1)
        t = h - 1.0 + _SUMMED
        f, power = 1.0 / (1.0 + self.k * t**self.s), self.k * t**self.s
        integral = (
            t / (power * (self.s - 1.0)) * hyp2f1(1.0, 1.0 - 1.0 / self.s, 2.0 - 1.0 / self.s, -1.0 / power)
        )
        slope = -f * (power * f) * self.s / t
        third = -self.s * (self.s + 1.0) * (self.s + 2.0) * f / t**3  # of the power law that it is far out
        return np.asarray(near + integral + f / 2.0 - slope / 12.0 + third / 720.0)

    def _remaining(self, h: FloatArray) -> FloatArray:
        return self._tail(h) / self._survival(h)
