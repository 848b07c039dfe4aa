"""Statistics over seeds, beyond the mean: what `compare` and experiments both say of their trials.

They live beside `learn` and not with experiments, because comparisons use them and imports go one way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sojourn._typing import ArrayLike, FloatArray
from sojourn._validation import check_open_unit, check_whole
from sojourn.learning._estimate import LEVEL, Estimate, estimate_mean

__all__ = [
    "Interval",
    "bootstrap_interval",
    "interquartile_mean",
    "paired_difference",
    "probability_of_improvement",
    "standard_error",
]

_AT_ONCE = 100  # draws; always so many, for what is drawn to be a function of the seed alone


@dataclass(frozen=True, eq=False)
class Interval:
    """A statistic and an interval around it, not necessarily in its middle; all arrays have the same shape.

    Attributes:
        value: The statistic of the values themselves.
        low: Lower end.
        high: Upper end.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray


def standard_error(values: ArrayLike, axis: int = -1) -> FloatArray:
    """Return the standard error of the mean, s/√n with n − 1 in the denominator of s²; NaN for one value.

    Example:
        >>> float(standard_error([1.0, 2.0, 3.0, 4.0]).round(6))  # s² = 5/3
        0.645497
    """
    array = np.asarray(values, dtype=np.float64)
    n = array.shape[axis]
    if n < 2:
        return np.full(np.delete(array.shape, axis), np.nan)
    return np.asarray(array.std(axis=axis, ddof=1) / np.sqrt(n))


def interquartile_mean(values: ArrayLike, axis: int = -1) -> FloatArray:
    """Return the mean of the middle half: a quarter of the values, rounded down, is left out at each end.

    It is less at the mercy of a few seeds than the mean, and uses more of them than the median.

    Example:
        >>> float(interquartile_mean([0.0, 1.0, 2.0, 3.0, 1000.0]))  # the middle three
        2.0
    """
    array = np.sort(np.asarray(values, dtype=np.float64), axis=axis)  # NaN goes last, and stays in the mean
    n = array.shape[axis]
    out = n // 4
    middle = np.take(array, np.arange(out, n - out), axis=axis).mean(axis=axis)
    return np.asarray(np.where(np.isnan(array).any(axis=axis), np.nan, middle))


def bootstrap_interval(
    values: ArrayLike,
    statistic: Callable[..., FloatArray] = interquartile_mean,
    *,
    level: float = LEVEL,
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Return a statistic over the last axis, with the percentile interval of the bootstrap.

    Seeds are drawn with replacement, as many as there are, the same ones in every row: so rows stay paired.
    The interval goes from the (1 − level)/2 to the (1 + level)/2 quantile of the statistic over all such
    draws. It is a function of the values and `seed`.

    Args:
        values: `(..., seeds)`.
        statistic: A function of an array and an `axis`, such as `interquartile_mean` or `numpy.mean`.
        level: How often the interval is to cover, in (0, 1).
        resamples: Number of draws.
        seed: Seed of the draws.

    Example:
        >>> found = bootstrap_interval([3.0, 3.0, 3.0], np.mean)
        >>> float(found.low), float(found.high)
        (3.0, 3.0)
    """
    array = np.asarray(values, dtype=np.float64)
    check_open_unit("level", level)
    check_whole("resamples", resamples, least=1)
    n = array.shape[-1]
    rng = np.random.default_rng(seed)
    found = []
    for first in range(0, resamples, _AT_ONCE):
        drawn = rng.integers(n, size=(min(_AT_ONCE, resamples - first), n))
        found.append(statistic(array[..., drawn], axis=-1))
    again = np.concatenate(found, axis=-1)
    low, high = np.quantile(again, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=-1)
    return Interval(np.asarray(statistic(array, axis=-1)), low, high)


def paired_difference(values: ArrayLike, baseline: ArrayLike) -> Estimate:
    """Return the mean of `values` − `baseline` over the last axis, seed by seed, with Student's 95% interval.

    Under common random numbers both met the same lengths and start states on a seed, so that the difference
    is known better than either.

    Example:
        >>> found = paired_difference([2.0, 3.0, 5.0], [1.0, 1.0, 2.0])
        >>> float(found.mean), found.texts()  # differences 1, 2, 3: t = 4.303, s = 1
        (2.0, ['2.0 ± 2.5'])
    """
    return estimate_mean(np.asarray(values, dtype=np.float64) - np.asarray(baseline, dtype=np.float64))


def probability_of_improvement(
    values: ArrayLike, baseline: ArrayLike, *, less_is_better: bool = True
) -> FloatArray:
    """Return how often one of `values` is better than one of `baseline`, over all pairs; a tie is half.

    This is the Mann–Whitney statistic over the number of pairs, along the last axis. For regret less is
    better.

    Example:
        >>> float(probability_of_improvement([1.0, 2.0], [2.0, 3.0]))  # better, better, tie, better
        0.875
    """
    ours = np.asarray(values, dtype=np.float64)[..., :, np.newaxis]
    theirs = np.asarray(baseline, dtype=np.float64)[..., np.newaxis, :]
    if not less_is_better:
        ours, theirs = -ours, -theirs
    wins = (ours < theirs) + 0.5 * (ours == theirs)
    unknown = np.isnan(ours) | np.isnan(theirs)
    return np.asarray(np.where(unknown.any(axis=(-2, -1)), np.nan, wins.mean(axis=(-2, -1))))
