"""Means over seeds with their confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from sojourn._typing import ArrayLike, FloatArray

__all__ = ["LEVEL", "Estimate", "estimate_mean"]

LEVEL = 0.95
"""Confidence level of all intervals."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Means and their 95% intervals; all arrays have the same shape.

    Attributes:
        mean: The means.
        half_width: Half the width of Student's interval; NaN for a single value.
    """

    mean: FloatArray
    half_width: FloatArray

    @property
    def low(self) -> FloatArray:
        """Lower end of the interval."""
        return np.asarray(self.mean - self.half_width)

    @property
    def high(self) -> FloatArray:
        """Upper end of the interval."""
        return np.asarray(self.mean + self.half_width)

    def texts(self) -> list[str]:
        """Return each as "mean ± half width", rounded to two digits of the half width; "—" for NaN."""
        pairs = zip(np.ravel(self.mean).tolist(), np.ravel(self.half_width).tolist(), strict=True)
        return [_text(mean, half_width) for mean, half_width in pairs]


def estimate_mean(values: ArrayLike, axis: int = -1) -> Estimate:
    """Return the mean over an axis of independent values, with Student's 95% interval.

    The interval is mean ± t · s/√n, where s² is the variance with n − 1 in its denominator and t the 97.5%
    quantile of Student's law with n − 1 degrees of freedom. NaN anywhere on the axis makes both NaN.

    Example:
        >>> estimate_mean([1.0, 2.0, 3.0]).texts()  # t = 4.303, s = 1
        ['2.0 ± 2.5']
    """
    array = np.asarray(values, dtype=np.float64)
    n = array.shape[axis]
    mean = array.mean(axis=axis)
    if n < 2:
        return Estimate(mean, np.full_like(mean, np.nan))
    t = float(stdtrit(n - 1, (1.0 + LEVEL) / 2.0))
    return Estimate(mean, np.asarray(t * array.std(axis=axis, ddof=1) / math.sqrt(n)))


def _text(mean: float, half_width: float) -> str:
    if math.isnan(mean):
        return "—"
    if math.isnan(half_width):
        return f"{mean:.6g}"
    if half_width == 0.0:
        return f"{mean:.6g} ± 0"
    if not 1e-6 <= half_width < 1e12:
        return f"{mean:.3g} ± {half_width:.2g}"
    decimals = max(0, 1 - math.floor(math.log10(half_width)))
    return f"{mean:,.{decimals}f} ± {half_width:,.{decimals}f}"
