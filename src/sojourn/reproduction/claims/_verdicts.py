"""Rules that turn measured numbers into verdicts on claims; all thresholds are set here, before the runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from sojourn._typing import ArrayLike, FloatArray
from sojourn.learning import Comparison
from sojourn.reports import ClaimVerdict

__all__ = [
    "Interval",
    "bootstrap_ratio",
    "bootstrap_slope",
    "describe_growth",
    "judge_improvement",
    "won_and_lost",
]

_N_RESAMPLES = 10_000
_LINEAR = 0.95
"""If a whole interval for a log-log slope is at least this, growth is called linear."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95% interval.

    Attributes:
        value: The estimate.
        low: Lower end.
        high: Upper end.
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} … {self.high:.2f})"


def bootstrap_ratio(numerator: ArrayLike, denominator: ArrayLike) -> Interval:
    """Return the ratio of two means over the same seeds, with a bootstrap interval.

    Seeds are resampled in pairs: both trials of a seed have the same lengths.

    Example:
        >>> bootstrap_ratio([2.0, 4.0, 6.0], [1.0, 2.0, 3.0])
        Interval(value=2.0, low=2.0, high=2.0)
    """
    above, below = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    drawn = np.random.default_rng(0).integers(above.size, size=(_N_RESAMPLES, above.size))
    ratios = above[drawn].mean(axis=1) / below[drawn].mean(axis=1)
    return _interval(float(above.mean() / below.mean()), ratios)


def bootstrap_slope(episodes: Sequence[int], regrets: Sequence[FloatArray]) -> Interval:
    """Return the log-log slope of mean regret over the number of episodes T, with a bootstrap interval.

    It is a least-squares fit. The seeds of each T are resampled separately, so the trials of different T must
    have different seeds.

    Args:
        episodes: The numbers of episodes, at least two.
        regrets: For each of them, the total regrets of its trials.

    Example:
        >>> bootstrap_slope([100, 10_000], [np.array([3.0, 3.0]), np.array([30.0, 30.0])])
        Interval(value=0.5, low=0.5, high=0.5)
    """
    rng, log_t = np.random.default_rng(0), np.log(np.asarray(episodes, dtype=np.float64))
    centered = log_t - log_t.mean()

    def slopes(means: FloatArray) -> FloatArray:
        return np.asarray(centered @ np.log(means) / (centered @ centered)).round(12)

    resampled = [
        values[rng.integers(values.size, size=(_N_RESAMPLES, values.size))].mean(axis=1) for values in regrets
    ]
    return _interval(
        float(slopes(np.array([values.mean() for values in regrets]))), slopes(np.array(resampled))
    )


def _interval(value: float, resampled: FloatArray) -> Interval:
    low, high = np.quantile(resampled, [0.025, 0.975])
    return Interval(value, float(low), float(high))


def describe_growth(slope: Interval, printed: float) -> str:
    """Return whether a slope is "consistent" with that of the printed bound, "linear", or "not decided".

    A bound for large T cannot be refuted by runs of finite length, so there is no fourth case.

    Args:
        slope: Log-log slope of the measured regret.
        printed: Slope of the printed bound over the same numbers of episodes, logarithms included.
    """
    if slope.high <= printed:
        return "consistent"
    return "linear" if slope.low >= _LINEAR else "not decided"


def won_and_lost(comparison: Comparison, n_learners: int) -> tuple[bool, bool]:
    """Return whether the first learner beats all of the first `n_learners`, and whether one of them beats it.

    Both use 95% intervals of differences that are paired by seed. "Beats all" requires every interval, so no
    adjustment is needed; "one beats it" requires only one, so its intervals are widened by Bonferroni's rule.
    """
    others, n_seeds = slice(1, n_learners), len(comparison.seeds)
    mean, half_width = comparison.difference.mean[others], comparison.difference.half_width[others]
    n = max(1, mean.size)
    wider = stdtrit(n_seeds - 1, 1.0 - 0.025 / n) / stdtrit(n_seeds - 1, 0.975)
    return bool((mean - half_width > 0.0).all()), bool((mean + wider * half_width < 0.0).any())


def judge_improvement(won: Sequence[bool], lost: Sequence[bool], improved: Sequence[bool]) -> ClaimVerdict:
    """Judge the claim that the first learner beats all others in some panels and is beaten in none.

    Args:
        won: Whether it beats all others, by panel.
        lost: Whether another one beats it, by panel.
        improved: Whether the paper reports an improvement, by panel.
    """
    as_reported = all(w for w, said in zip(won, improved, strict=True) if said) and not any(lost)
    return ClaimVerdict.CONSISTENT if as_reported else ClaimVerdict.NOT_REPRODUCED
