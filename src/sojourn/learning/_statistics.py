"""Statistics over seeds beyond the mean, for comparisons and experiments.

They live in `learning` and not in `experiments` because `Comparison` uses them and imports go one way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sojourn._typing import ArrayLike, FloatArray
from sojourn._validation import check_open_unit, check_whole, to_floats
from sojourn.learning._estimate import FEWEST_SEEDS, LEVEL, Estimate, estimate_mean, format_number

__all__ = [
    "Interval",
    "bootstrap_interval",
    "fewest_seeds",
    "interquartile_mean",
    "mean_without_worst",
    "paired_difference",
    "percentile_interval",
    "probability_of_improvement",
    "simultaneous_intervals",
    "standard_error",
]

_BATCH = 100
"""Resamples drawn at a time: constant, so that the draws depend on the seed alone."""

_MOST_AT_ONCE = 10**8
"""Most values that are drawn at a time."""

_MOST_DRAWN, _FEWEST_RESAMPLES = 10**9, 1_000
"""Most values that are drawn in all, unless that gives too few resamples."""


@dataclass(frozen=True, eq=False)
class Interval:
    """A statistic and an interval that need not be centered on it; all arrays have the same shape.

    Attributes:
        value: The statistic.
        low: Lower end of the interval.
        high: Upper end of the interval.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray

    def texts(self) -> list[str]:
        """Return each as "value [low, high]", rounded to two digits of half the width; "—" for NaN.

        An interval that is unknown (NaN) or a single point is not printed.
        """
        parts = (np.ravel(part).tolist() for part in (self.value, self.low, self.high))
        return [_text(*numbers) for numbers in zip(*parts, strict=True)]


def _text(value: float, low: float, high: float) -> str:
    if math.isnan(value):
        return "—"
    half_width = (high - low) / 2.0
    if not half_width > 0.0:
        return format_number(value, half_width)
    middle, first, last = (format_number(number, half_width) for number in (value, low, high))
    return f"{middle} [{first}, {last}]"


def standard_error(values: ArrayLike, axis: int = -1) -> FloatArray:
    """Return the standard error of the mean, s/√n with n − 1 in the denominator of s²; NaN for one value.

    Example:
        >>> float(standard_error([1.0, 2.0, 3.0, 4.0]).round(6))  # s² = 5/3
        0.645497
    """
    array = to_floats("values", values)
    n = array.shape[axis]
    if n < 2:
        return np.full(np.delete(array.shape, axis), np.nan)
    return np.asarray(array.std(axis=axis, ddof=1) / np.sqrt(n))


def interquartile_mean(values: ArrayLike, axis: int = -1) -> FloatArray:
    """Return the mean without the lowest and the highest quarter of the values, rounded down.

    A few extreme seeds move it less than the mean, and it uses more seeds than the median.

    Example:
        >>> float(interquartile_mean([0.0, 1.0, 2.0, 3.0, 1000.0]))  # the middle three
        2.0
    """
    array = np.sort(to_floats("values", values), axis=axis)  # NaN sorts last; see below
    n = array.shape[axis]
    out = n // 4
    middle = np.moveaxis(array, axis, -1)[..., out : n - out].mean(axis=-1)
    return np.asarray(np.where(np.isnan(array).any(axis=axis), np.nan, middle))


def bootstrap_interval(
    values: ArrayLike,
    statistic: Callable[..., FloatArray] = interquartile_mean,
    *,
    level: float = LEVEL,
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Return a statistic over the last axis with its expanded percentile bootstrap interval.

    Each resample draws as many seeds as there are, with replacement, and the same ones for every row, so that
    rows stay paired. The interval goes from the α to the 1 − α quantile of the statistic over all resamples.
    The plain choice α = (1 − level)/2 is too narrow for few seeds. As Hesterberg (2015) proposes,
    α = Φ(√(n/(n−1)) · t), where t is that quantile of Student's law with n − 1 degrees of freedom: for the
    mean of normal values this restores Student's interval. The result depends only on the values and `seed`.

    Args:
        values: `(..., seeds)`.
        statistic: A function of an array and an `axis`, such as `interquartile_mean` or `numpy.mean`.
        level: Confidence level, in (0, 1).
        resamples: Number of resamples. If these would draw more than 10⁹ values, there are fewer, but at
            least 1,000.
        seed: Seed of the resampling.

    Returns:
        The statistic and its interval, whose ends are NaN for a single seed.

    Example:
        >>> found = bootstrap_interval([3.0, 3.0, 3.0], np.mean)
        >>> float(found.low), float(found.high)
        (3.0, 3.0)
    """
    array = to_floats("values", values)
    check_open_unit("level", level)
    check_whole("resamples", resamples, least=1)
    n = array.shape[-1]
    value = np.asarray(statistic(array, axis=-1))
    if n < 2:
        return Interval(value, np.full_like(value, np.nan), np.full_like(value, np.nan))
    rng = np.random.default_rng(seed)
    resamples = min(resamples, max(_FEWEST_RESAMPLES, _MOST_DRAWN // array.size))
    batch = max(1, min(_BATCH, _MOST_AT_ONCE // array.size))
    found = []
    for first in range(0, resamples, batch):
        drawn = rng.integers(n, size=(min(batch, resamples - first), n))
        found.append(statistic(np.take(array, drawn, axis=-1), axis=-1))
    return percentile_interval(value, np.concatenate(found, axis=-1), n, level=level)


def percentile_interval(
    value: ArrayLike, again: ArrayLike, n: int, *, level: float = LEVEL, axis: int = -1
) -> Interval:
    """Return the expanded percentile interval (Hesterberg 2015) of a statistic from its resampled values.

    Args:
        value: The statistic.
        again: The statistic of each resample, along `axis`.
        n: Number of values that each resample draws, at least 2.
        level: Confidence level, in (0, 1).
        axis: Axis of the resamples.

    Example:
        >>> found = percentile_interval(0.5, np.linspace(0.0, 1.0, 101), 1_000_000)
        >>> float(found.low.round(3)), float(found.high.round(3))  # for large n the plain quantiles
        (0.025, 0.975)
    """
    from scipy.special import ndtr, stdtrit  # noqa: PLC0415

    alpha = float(ndtr(math.sqrt(n / (n - 1)) * stdtrit(n - 1, (1.0 - level) / 2.0)))
    low, high = np.quantile(to_floats("again", again), [alpha, 1.0 - alpha], axis=axis)
    return Interval(to_floats("value", value), np.asarray(low), np.asarray(high))


def simultaneous_intervals(values: ArrayLike, n_intervals: int = 1, *, resamples: int = 10_000) -> Interval:
    """Return interquartile means over the last axis with 95% intervals, of which `n_intervals` hold together.

    Each is a `bootstrap_interval` at the level 1 − 0.05/`n_intervals` (Bonferroni). No interval within the
    range of n values has a level above 1 − 2^(1−n) for every distribution, so more intervals need more
    seeds: the ends are NaN for fewer than 5 + log₂(n_intervals) seeds.

    Example:
        >>> simultaneous_intervals([1.0, 2.0, 3.0, 4.0, 9.0]).texts()
        ['3.0 [1.0, 9.0]']
        >>> simultaneous_intervals([1.0, 2.0, 3.0, 4.0, 9.0], 2).texts()  # two intervals need six seeds
        ['3.0000']
    """
    array = to_floats("values", values)
    if array.shape[-1] < fewest_seeds(n_intervals):
        value = interquartile_mean(array)
        return Interval(value, np.full_like(value, np.nan), np.full_like(value, np.nan))
    return bootstrap_interval(array, level=1.0 - (1.0 - LEVEL) / n_intervals, resamples=resamples)


def fewest_seeds(n_intervals: int) -> int:
    """Return the number of seeds from which `simultaneous_intervals` has intervals."""
    return FEWEST_SEEDS + math.ceil(math.log2(n_intervals))


def mean_without_worst(values: ArrayLike) -> tuple[float, int]:
    """Return the mean without the largest tenth of the values, rounded up, and how many those are.

    Example:
        >>> mean_without_worst([1.0, 2.0, 3.0, 100.0])
        (2.0, 1)
    """
    array = np.sort(to_floats("values", values))
    n_worst = math.ceil(array.size / 10)
    return float(array[: array.size - n_worst].mean()), n_worst


def paired_difference(values: ArrayLike, baseline: ArrayLike) -> Estimate:
    """Return the mean of `values` − `baseline` over the last axis, seed by seed, with Student's 95% interval.

    With common random numbers both have the same lengths and start states on each seed, so the difference is
    more precise than either mean.

    Example:
        >>> found = paired_difference([2.0, 3.0, 5.0], [1.0, 1.0, 2.0])
        >>> float(found.mean), float(found.half_width.round(3))  # differences 1, 2, 3: t = 4.303, s = 1
        (2.0, 2.484)
    """
    return estimate_mean(to_floats("values", values) - to_floats("baseline", baseline))


def probability_of_improvement(
    values: ArrayLike, baseline: ArrayLike, *, less_is_better: bool = True
) -> FloatArray:
    """Return the share of pairs in which `values` is better than `baseline`; a tie counts as half.

    This is the Mann–Whitney statistic divided by the number of pairs, along the last axis. Lower is better by
    default, as for regret.

    Example:
        >>> float(probability_of_improvement([1.0, 2.0], [2.0, 3.0]))  # better, better, tie, better
        0.875
    """
    ours, theirs = to_floats("values", values), to_floats("baseline", baseline)
    if not less_is_better:
        ours, theirs = -ours, -theirs
    shape = np.broadcast_shapes(ours.shape[:-1], theirs.shape[:-1])
    rows = (
        np.broadcast_to(one, (*shape, one.shape[-1])).reshape(math.prod(shape), one.shape[-1])
        for one in (ours, theirs)
    )
    shares = [_share_of_wins(one, other) for one, other in zip(*rows, strict=True)]
    return np.array(shares, dtype=np.float64).reshape(shape)


def _share_of_wins(ours: FloatArray, theirs: FloatArray) -> float:
    """Return the share of pairs in which the first value is less, and half of those in which they tie."""
    if not ours.size or not theirs.size or np.isnan(ours).any() or np.isnan(theirs).any():
        return math.nan
    ordered = np.sort(theirs)
    less, least = (ordered.size - np.searchsorted(ordered, ours, side=side) for side in ("right", "left"))
    return float((less + least).sum() / (2 * ours.size * theirs.size))
