"""Means over seeds with their confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sojourn._typing import ArrayLike, FloatArray
from sojourn._validation import to_floats

__all__ = ["FEWEST_SEEDS", "LEVEL", "Estimate", "estimate_mean", "format_number"]

LEVEL = 0.95
"""Confidence level of all intervals."""

FEWEST_SEEDS = 5
"""With fewer seeds no interval is printed: it would say more about its assumptions than about the data."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Means and their 95% intervals; all arrays have the same shape.

    Attributes:
        mean: The means.
        half_width: Half the width of Student's interval; NaN for a single value.
        n_values: Number of values behind each mean.
        least: The smallest of these values.
        most: The largest of these values.
    """

    mean: FloatArray
    half_width: FloatArray
    n_values: int
    least: FloatArray
    most: FloatArray

    @property
    def low(self) -> FloatArray:
        """Lower end of the interval."""
        return np.asarray(self.mean - self.half_width)

    @property
    def high(self) -> FloatArray:
        """Upper end of the interval."""
        return np.asarray(self.mean + self.half_width)

    def texts(self) -> list[str]:
        """Return each as "mean ± half width", rounded to two digits of the half width; "—" for NaN.

        Means of fewer than five values are printed as "mean (least … most)" instead, rounded likewise.
        """
        if self.n_values >= FEWEST_SEEDS:
            pairs = zip(np.ravel(self.mean).tolist(), np.ravel(self.half_width).tolist(), strict=True)
            return [_text(mean, half_width) for mean, half_width in pairs]
        columns = (np.ravel(part).tolist() for part in (self.mean, self.least, self.most))
        return [_range_text(*numbers) for numbers in zip(*columns, strict=True)]


def estimate_mean(values: ArrayLike, axis: int = -1) -> Estimate:
    """Return the mean over an axis of independent values, with Student's 95% interval.

    The interval is mean ± t · s/√n, where s² is the variance with n − 1 in its denominator and t the 97.5%
    quantile of Student's law with n − 1 degrees of freedom. NaN anywhere on the axis makes both NaN.

    Example:
        >>> estimate_mean([1.0, 2.0, 3.0, 4.0, 5.0]).texts()  # t = 2.776, s = 1.581
        ['3.0 ± 2.0']
        >>> estimate_mean([1.0, 2.0, 6.0]).texts()
        ['3.0 (1.0 … 6.0)']
    """
    array = to_floats("values", values)
    n = array.shape[axis]
    mean, ends = array.mean(axis=axis), (array.min(axis=axis), array.max(axis=axis))
    if n < 2:
        return Estimate(mean, np.full_like(mean, np.nan), n, *ends)
    from scipy.special import stdtrit  # noqa: PLC0415

    t = float(stdtrit(n - 1, (1.0 + LEVEL) / 2.0))
    return Estimate(mean, np.asarray(t * array.std(axis=axis, ddof=1) / math.sqrt(n)), n, *ends)


def _text(mean: float, half_width: float) -> str:
    if math.isnan(mean):
        return "—"
    if not half_width > 1e-12 * abs(mean):  # NaN, or equal values up to rounding
        return format_number(mean, half_width)
    return f"{format_number(mean, half_width)} ± {format_number(half_width, half_width)}"


def _range_text(mean: float, least: float, most: float) -> str:
    half_width = (most - least) / 2.0
    if math.isnan(mean) or not half_width > 1e-6 * abs(mean):
        return _text(mean, math.nan)
    middle, low, high = (format_number(value, half_width) for value in (mean, least, most))
    return f"{middle} ({low} … {high})"


def format_number(value: float, half_width: float) -> str:
    """Return a number rounded to two digits of the half width of its interval.

    Without an interval (NaN, or negligible), it has five significant digits.
    """
    if value == 0.0 and not half_width > 0.0:
        return "0"
    size = half_width if half_width > 1e-6 * abs(value) else abs(value) / 1_000.0
    if not 1e-6 <= size < 1e12:
        return f"{value:.3g}"
    return f"{value:,.{max(0, 1 - math.floor(math.log10(size)))}f}"
