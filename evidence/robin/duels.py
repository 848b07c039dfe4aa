"""Who is better than whom beyond chance: ranks with ties, and paired duels, all judged together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtr, stdtrit

import sojourn as sj

__all__ = [
    "LITTLE",
    "RESAMPLES",
    "certified",
    "duel",
    "holm",
    "is_below",
    "leading",
    "mean_ranks",
    "plain_texts",
    "ranked",
    "ratios",
    "texts",
    "totals",
]

RESAMPLES = 1_000
LITTLE = 0.01
"""Added to both parts of a ratio of regrets, so that there is one where nobody has any."""


def totals(comparison: sj.Comparison) -> np.ndarray:
    """Return the total regret of every learner on every seed, `(learners, seeds)`."""
    return np.asarray(comparison.cumulative_regret[:, :, -1])


def certified(comparison: sj.Comparison) -> float:
    """Return the certified width of a total regret: totals that differ by no more than this are tied."""
    return float(np.max(comparison.regret_width))


def ranked(means: Sequence[float], width: float) -> np.ndarray:
    """Return ranks from 1, the smallest mean first; means within `width` of each other share their rank."""
    order = np.argsort(means, kind="stable")
    ranks = np.empty(len(order))
    first = 0
    for i in range(1, len(order) + 1):
        if i == len(order) or means[order[i]] - means[order[i - 1]] > width:
            ranks[order[first:i]] = (first + 1 + i) / 2.0
            first = i
    return ranks


def mean_ranks(comparisons: Sequence[sj.Comparison], learners: Sequence[int]) -> np.ndarray:
    """Return the mean rank of some learners among each other."""
    means = [comparison.total_regret.mean[list(learners)] for comparison in comparisons]
    found = [ranked(row, certified(one)) for row, one in zip(means, comparisons, strict=True)]
    return np.asarray(np.mean(found, axis=0))


def ratios(means: np.ndarray) -> np.ndarray:
    """Return mean regrets, `(comparisons, learners)`, relative to the smallest of each comparison."""
    return np.asarray((means + LITTLE) / (means.min(axis=1, keepdims=True) + LITTLE))


def leading(comparisons: Sequence[sj.Comparison]) -> np.ndarray:
    """Return in which share of draws of seeds, with replacement, each learner has the best mean rank."""
    rng, leads = np.random.default_rng(0), np.zeros(len(comparisons[0].names))
    for _ in range(RESAMPLES):
        seeds = rng.integers(len(comparisons[0].seeds), size=len(comparisons[0].seeds))
        means = [totals(comparison)[:, seeds].mean(axis=1) for comparison in comparisons]
        found = [ranked(row, certified(c)) for row, c in zip(means, comparisons, strict=True)]
        mean = np.mean(found, axis=0)
        leads += (mean == mean.min()) / (mean == mean.min()).sum()
    return leads / RESAMPLES


def duel(comparison: sj.Comparison) -> tuple[np.ndarray, np.ndarray]:
    """Return every other learner's mean difference to the first, paired by seed, and its p-value (Student).

    A difference within the certified width is none, and has the p-value 1.
    """
    found = totals(comparison)
    differences = found[1:] - found[0]
    means, n = differences.mean(axis=1), differences.shape[1]
    errors = np.maximum(differences.std(axis=1, ddof=1) / np.sqrt(n), np.finfo(float).tiny)
    p_values = 2.0 * stdtr(n - 1, -np.abs(means) / errors)
    return means, np.where(np.abs(means) <= certified(comparison), 1.0, p_values)


def is_below(found: np.ndarray, mark: np.ndarray, width: float) -> np.ndarray:
    """Tell whose total regrets, `(learners, seeds)`, lie below those of a mark, paired by seed.

    They do if all of Student's 95% interval of the mean difference lies below 0, by more than `width`.
    """
    differences = found - mark
    n = differences.shape[1]
    halves = stdtrit(n - 1, 0.975) * differences.std(axis=1, ddof=1) / np.sqrt(n)
    return np.asarray(differences.mean(axis=1) + halves < -width)


def holm(p_values: np.ndarray) -> np.ndarray:
    """Return Holm's adjusted p-values: at most a share α of such families has one that is falsely ≤ α."""
    flat = np.ravel(p_values)
    order = np.argsort(flat)
    adjusted = np.empty(flat.size)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(flat[order] * np.arange(flat.size, 0, -1)))
    return adjusted.reshape(np.shape(p_values))


def plain_texts(comparison: sj.Comparison) -> list[str]:
    """Return mean total regrets with their intervals; no interval where seeds agree."""
    estimate, width = comparison.total_regret, certified(comparison)
    told = zip(estimate.texts(), estimate.mean, estimate.half_width, strict=True)
    return [text if half > width else f"{mean:,.4g}" for text, mean, half in told]


def texts(comparison: sj.Comparison) -> list[str]:
    """Return the same with the best in bold."""
    means, width = comparison.total_regret.mean, certified(comparison)
    told = zip(plain_texts(comparison), means, strict=True)
    return [f"**{text}**" if mean - means.min() <= width else text for text, mean in told]
