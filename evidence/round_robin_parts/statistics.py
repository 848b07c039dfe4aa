"""Statistics of the round robin: ranks with ties, and paired tests with Holm's correction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtr, stdtrit

import sojourn as sj

__all__ = [
    "RATIO_OFFSET",
    "RESAMPLES",
    "bold_texts",
    "certified_width",
    "holm",
    "is_significantly_below",
    "mean_ranks",
    "paired_test",
    "rank_with_ties",
    "regret_ratios",
    "regret_texts",
    "share_of_leads",
    "totals",
]

RESAMPLES = 1_000
"""Number of bootstrap samples of seeds."""

RATIO_OFFSET = 0.01
"""Added to both regrets of a ratio, so that it is defined if they are 0."""


def totals(comparison: sj.Comparison) -> np.ndarray:
    """Return the total regret of every learner on every seed, `(learners, seeds)`."""
    return np.asarray(comparison.cumulative_regret[:, :, -1])


def certified_width(comparison: sj.Comparison) -> float:
    """Return the certified width of a total regret; totals that differ by at most this are tied."""
    return float(np.max(comparison.regret_width))


def rank_with_ties(means: Sequence[float], width: float) -> np.ndarray:
    """Return ranks from 1 for the smallest mean; means within `width` of each other share their rank."""
    order = np.argsort(means, kind="stable")
    ranks = np.empty(len(order))
    first = 0
    for i in range(1, len(order) + 1):
        if i == len(order) or means[order[i]] - means[order[i - 1]] > width:
            ranks[order[first:i]] = (first + 1 + i) / 2.0
            first = i
    return ranks


def mean_ranks(comparisons: Sequence[sj.Comparison], learners: Sequence[int]) -> np.ndarray:
    """Return the mean ranks of some learners, ranked among themselves."""
    means = [comparison.total_regret.mean[list(learners)] for comparison in comparisons]
    found = [rank_with_ties(row, certified_width(one)) for row, one in zip(means, comparisons, strict=True)]
    return np.asarray(np.mean(found, axis=0))


def regret_ratios(means: np.ndarray) -> np.ndarray:
    """Return mean regrets, `(comparisons, learners)`, relative to the smallest of each comparison."""
    return np.asarray((means + RATIO_OFFSET) / (means.min(axis=1, keepdims=True) + RATIO_OFFSET))


def share_of_leads(comparisons: Sequence[sj.Comparison]) -> np.ndarray:
    """Return the share of bootstrap samples of seeds in which each learner has the best mean rank."""
    rng, leads = np.random.default_rng(0), np.zeros(len(comparisons[0].names))
    for _ in range(RESAMPLES):
        seeds = rng.integers(len(comparisons[0].seeds), size=len(comparisons[0].seeds))
        means = [totals(comparison)[:, seeds].mean(axis=1) for comparison in comparisons]
        found = [rank_with_ties(row, certified_width(c)) for row, c in zip(means, comparisons, strict=True)]
        mean = np.mean(found, axis=0)
        leads += (mean == mean.min()) / (mean == mean.min()).sum()
    return leads / RESAMPLES


def paired_test(comparison: sj.Comparison) -> tuple[np.ndarray, np.ndarray]:
    """Return each other learner's mean difference from the first, paired by seed, and its p-value (Student).

    A difference within the certified width counts as none and has the p-value 1.
    """
    found = totals(comparison)
    differences = found[1:] - found[0]
    means, n = differences.mean(axis=1), differences.shape[1]
    errors = np.maximum(differences.std(axis=1, ddof=1) / np.sqrt(n), np.finfo(float).tiny)
    p_values = 2.0 * stdtr(n - 1, -np.abs(means) / errors)
    return means, np.where(np.abs(means) <= certified_width(comparison), 1.0, p_values)


def is_significantly_below(regrets: np.ndarray, baseline: np.ndarray, width: float) -> np.ndarray:
    """Return which learners' total regrets, `(learners, seeds)`, are below those of a baseline, `(seeds,)`.

    They are if Student's 95% interval of the mean paired difference is below −`width`.
    """
    differences = regrets - baseline
    n = differences.shape[1]
    halves = stdtrit(n - 1, 0.975) * differences.std(axis=1, ddof=1) / np.sqrt(n)
    return np.asarray(differences.mean(axis=1) + halves < -width)


def holm(p_values: np.ndarray) -> np.ndarray:
    """Return Holm's adjusted p-values: with probability at least 1 − α, none is falsely ≤ α."""
    flat = np.ravel(p_values)
    order = np.argsort(flat)
    adjusted = np.empty(flat.size)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(flat[order] * np.arange(flat.size, 0, -1)))
    return adjusted.reshape(np.shape(p_values))


def regret_texts(comparison: sj.Comparison) -> list[str]:
    """Return mean total regrets as text with intervals; without an interval if all seeds agree."""
    estimate, width = comparison.total_regret, certified_width(comparison)
    cells = zip(estimate.texts(), estimate.mean, estimate.half_width, strict=True)
    return [text if half > width else f"{mean:,.4g}" for text, mean, half in cells]


def bold_texts(comparison: sj.Comparison) -> list[str]:
    """Return `regret_texts` with the best in bold."""
    means, width = comparison.total_regret.mean, certified_width(comparison)
    cells = zip(regret_texts(comparison), means, strict=True)
    return [f"**{text}**" if mean - means.min() <= width else text for text, mean in cells]
