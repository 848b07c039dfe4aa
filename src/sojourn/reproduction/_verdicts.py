"""What measured numbers say of a claim: each rule in one place, told apart from the measuring."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from sojourn._typing import ArrayLike
from sojourn.learning import Comparison, Estimate, estimate_mean
from sojourn.reports import Verdict

__all__ = ["half_decades", "judge_panels", "judge_ratio", "judge_slopes", "paired_ratio", "won_and_lost"]

_LINEAR = 0.95
"""Log-log slopes above it are taken for linear growth."""

_SLACK = 0.05
"""By which a slope may be above the promised one: logarithms are left out of that."""


def paired_ratio(above: ArrayLike, below: ArrayLike) -> Estimate:
    """Return the mean ratio of two totals that are paired by seeds, with its interval."""
    return estimate_mean(np.asarray(above, dtype=np.float64) / np.asarray(below, dtype=np.float64))


def judge_ratio(ratio: Estimate, most: float) -> Verdict:
    """Judge that a ratio is at most so large: by its whole interval, or it depends."""
    if float(ratio.high) <= most:
        return Verdict.HOLDS
    return Verdict.FAILS if float(ratio.low) > most else Verdict.DEPENDS


def judge_slopes(slopes: Sequence[float], promised: float) -> Verdict:
    """Judge that regret grows at most with a power, by its log-log slopes: open while it grows linearly."""
    if slopes[-1] > _LINEAR:
        return Verdict.OPEN
    return Verdict.HOLDS if slopes[-1] <= promised + _SLACK else Verdict.DEPENDS


def half_decades(comparison: Comparison) -> list[tuple[int, int, float]]:
    """Return the log-log slope of the first learner's mean regret, half a decade at a time."""
    k, total = comparison.checkpoints, comparison.cumulative_regret[0].mean(axis=0)
    last = np.log10(comparison.episodes)
    ends = [int(np.argmin(np.abs(np.log10(k) - x))) for x in np.arange(last % 0.5 + 2.0, last + 0.01, 0.5)]
    return [
        (int(k[a]), int(k[b]), float(np.log(total[b] / total[a]) / np.log(k[b] / k[a])))
        for a, b in itertools.pairwise(ends)
        if k[b] > k[a] and total[a] > 0.0
    ]


def won_and_lost(comparisons: Sequence[Comparison], n_learners: int) -> tuple[int, int]:
    """Return in how many panels the first learner beats all others, and another it, by paired intervals."""
    others = slice(1, n_learners)
    won = sum(bool((c.difference.low[others] > 0.0).all()) for c in comparisons)
    return won, sum(bool((c.difference.high[others] < 0.0).any()) for c in comparisons)


def judge_panels(won: int, lost: int, n_panels: int) -> Verdict:
    """Judge that the first learner is the best in most panels and beaten in none."""
    if lost > 0:
        return Verdict.FAILS
    return Verdict.HOLDS if 2 * won > n_panels else Verdict.DEPENDS
