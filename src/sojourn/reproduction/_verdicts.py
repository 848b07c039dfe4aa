"""Rules that turn measured numbers into verdicts on claims."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from sojourn._typing import ArrayLike
from sojourn.learning import Comparison, Estimate, estimate_mean
from sojourn.reports import ClaimVerdict

__all__ = ["half_decades", "judge_panels", "judge_ratio", "judge_slopes", "paired_ratio", "won_and_lost"]

_LINEAR = 0.95
"""Log-log slopes above this count as linear growth."""

_SLACK = 0.05
"""A slope may exceed that of the bound by this much, because the bound ignores logarithmic factors."""


def paired_ratio(numerator: ArrayLike, denominator: ArrayLike) -> Estimate:
    """Return the mean over seeds of the ratio of two totals, with its interval."""
    return estimate_mean(np.asarray(numerator, dtype=np.float64) / np.asarray(denominator, dtype=np.float64))


def judge_ratio(ratio: Estimate, most: float) -> ClaimVerdict:
    """Judge the claim that a ratio is at most `most`: DEPENDS if the interval contains `most`."""
    if float(ratio.high) <= most:
        return ClaimVerdict.HOLDS
    return ClaimVerdict.FAILS if float(ratio.low) > most else ClaimVerdict.DEPENDS


def judge_slopes(slopes: Sequence[float], promised: float) -> ClaimVerdict:
    """Judge the claim that regret grows at most with power `promised`, by its log-log slopes.

    The verdict is OPEN if regret still grows linearly.
    """
    if slopes[-1] > _LINEAR:
        return ClaimVerdict.OPEN
    return ClaimVerdict.HOLDS if slopes[-1] <= promised + _SLACK else ClaimVerdict.DEPENDS


def half_decades(comparison: Comparison) -> list[tuple[int, int, float]]:
    """Return the log-log slopes of the first learner's mean regret as (first episode, last episode, slope).

    There is one slope per half decade of episodes.
    """
    k, total = comparison.checkpoints, comparison.cumulative_regret[0].mean(axis=0)
    last = np.log10(comparison.episodes)
    ends = [int(np.argmin(np.abs(np.log10(k) - x))) for x in np.arange(last % 0.5 + 2.0, last + 0.01, 0.5)]
    return [
        (int(k[a]), int(k[b]), float(np.log(total[b] / total[a]) / np.log(k[b] / k[a])))
        for a, b in itertools.pairwise(ends)
        if k[b] > k[a] and total[a] > 0.0
    ]


def won_and_lost(comparisons: Sequence[Comparison], n_learners: int) -> tuple[int, int]:
    """Return in how many panels the first learner beats all others, and in how many another beats it.

    Only the first `n_learners` are compared, by 95% intervals of differences that are paired by seed.
    """
    others = slice(1, n_learners)
    won = sum(bool((c.difference.low[others] > 0.0).all()) for c in comparisons)
    return won, sum(bool((c.difference.high[others] < 0.0).any()) for c in comparisons)


def judge_panels(won: int, lost: int, n_panels: int) -> ClaimVerdict:
    """Judge the claim that the first learner is best in most panels and beaten in none."""
    if lost > 0:
        return ClaimVerdict.FAILS
    return ClaimVerdict.HOLDS if 2 * won > n_panels else ClaimVerdict.DEPENDS
