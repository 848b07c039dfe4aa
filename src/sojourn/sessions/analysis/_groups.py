"""Log-rank tests of whether leaving depends on a group, a state or an action."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sojourn._typing import FloatArray
from sojourn.laws import Sample
from sojourn.sessions._log import SessionLog

__all__ = ["MAX_GROUPS", "GroupTest", "compare_groups", "group_samples", "log_rank"]

MAX_GROUPS = 30
"""Maximum number of groups that are compared; the smallest ones are pooled."""

GROUP_LEVEL = 0.05
"""Level at which groups are said to differ."""

RANGE_LEVEL = 0.01
"""Level at which groups are said to differ from one range of steps to another."""

_RANGES = 4
"""Number of ranges of steps."""

_LEAST_EXPECTED = 10.0
"""Least number of expected ends of a group in a χ² test; smaller ones are pooled.

With 5, as usual for χ² tests, 15% of logs of many small groups with the same law are found to differ at the
5% level; with 10, from 5% to 7% (simulated with 2 to 100 groups and 50 to 1,000 sessions).
"""

_MAX_CELLS = 1 << 18
"""Maximum number of groups times steps per table, which bounds the memory."""


@dataclass(frozen=True)
class RangeTest:
    """The sum of log-rank tests in several ranges of steps: its χ², degrees of freedom and p-value."""

    statistic: float
    freedom: int
    p_value: float


@dataclass(frozen=True)
class GroupTest:
    """A log-rank test of whether all groups, or states, leave at the same rate.

    See Mantel (1966) and Peto and Peto (1972).

    Attributes:
        sizes: Number of sessions in each group, or of steps at risk in each state.
        ended: Number of observed ends in each.
        expected: Number of ends expected in each if all left at the same rate.
        statistic: The test statistic χ².
        freedom: Its degrees of freedom.
        p_value: Probability of a χ² at least this large if all groups leave at the same rate.
        pooled: Number of the smallest groups that the last one pools; 0 if the last one is a single group.
        n_tested: Number of groups that the test compares: groups with fewer than 10 expected ends are pooled
            for it; 0 if unknown.
        by_range: Log-rank tests in four ranges of steps with as many ends each, added up: they see groups
            that differ early and late in opposite ways. None if there are too few ends.
        other: The test of actions beside one of states, or the other way round, if both find a dependence.
        what: "group", which is fixed for a session, or "state" or "action", which change within it.
        numbers: For states and actions, the place of each in the alphabetical order of all names; without the
            last one if it pools several.
    """

    sizes: tuple[int, ...]
    ended: tuple[int, ...]
    expected: tuple[float, ...]
    statistic: float
    freedom: int
    p_value: float
    pooled: int = 0
    what: str = "group"
    by_range: RangeTest | None = None
    n_tested: int = 0
    other: GroupTest | None = None
    numbers: tuple[int, ...] = ()

    @property
    def names(self) -> list[str]:
        """The number of each group, state or action; "all others" for the last one if it pools several."""
        names = [str(i) for i in self.numbers or range(1, len(self.sizes) + 1)]
        return [*names[: len(self.sizes) - 1], "all others"] if self.pooled else names

    @property
    def crosses(self) -> bool:
        """Whether the groups, or states, differ only from one range of steps to another, at the 1% level."""
        return not self.depends and self.by_range is not None and self.by_range.p_value < RANGE_LEVEL

    @property
    def ratios(self) -> tuple[float, ...]:
        """Observed over expected ends of each group; NaN where none are expected."""
        pairs = zip(self.ended, self.expected, strict=True)
        return tuple(n_ended / n_expected if n_expected > 0.0 else math.nan for n_ended, n_expected in pairs)

    @property
    def depends(self) -> bool:
        """Whether the groups differ at the 5% level."""
        return self.p_value < GROUP_LEVEL

    @property
    def largest_difference(self) -> float:
        """The largest distance from 1 of observed over expected ends."""
        return max((abs(ratio - 1.0) for ratio in self.ratios if not math.isnan(ratio)), default=0.0)


def group_samples(log: SessionLog) -> tuple[Iterator[Sample], int]:
    """Return an iterator over the samples of a log's groups, and the number of pooled groups."""
    kept = log.n_groups if log.n_groups <= MAX_GROUPS else MAX_GROUPS - 1
    group = np.minimum(log.group, kept)
    merged = SessionLog(log.lengths, log.observed, log.entry, group, log.counts, log.labels)
    return merged.samples_by_group(range(min(log.n_groups, kept + 1))), log.n_groups - kept


def compare_groups(log: SessionLog) -> GroupTest | None:
    """Test a log's groups, with the smallest pooled; None if there are fewer than two."""
    if log.n_groups < 2:
        return None
    groups, pooled = group_samples(log)
    samples = list(groups)
    sizes, n_ends = [sample.n for sample in samples], sum(sample.n_observed for sample in samples)
    return log_rank(_risk_tables(samples), sizes=sizes, pooled=pooled, n_ends=n_ends)


def _risk_tables(samples: Sequence[Sample]) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the numbers at risk and of ends by group and step, for blocks of steps."""
    steps = np.sort(np.concatenate([sample.ends for sample in samples]))
    steps = steps[np.append(True, steps[1:] != steps[:-1])]
    begun, passed = np.zeros((len(samples), 1)), 0
    width = max(_MAX_CELLS // len(samples), 1)
    for first in range(0, steps.size, width):
        some = steps[first : first + width]
        last, n = int(some[-1]), some.size
        change, ended = np.zeros((len(samples), n + 1)), np.zeros((len(samples), n))
        for i, sample in enumerate(samples):
            for at, counts, sign in (
                (sample.entries, sample.entry_counts, 1.0),
                (sample.censored, sample.censored_counts, -1.0),
            ):
                here = slice(*np.searchsorted(at, (passed, last), side="right"))
                places = np.searchsorted(some, at[here])
                change[i] += sign * np.bincount(places, counts[here], minlength=n + 1)
            here = slice(*np.searchsorted(sample.ends, (passed, last), side="right"))
            ended[i, np.searchsorted(some, sample.ends[here])] = sample.end_counts[here]
        change[:, 1:] -= ended  # a session that ends at a step is at risk there
        at_risk = begun + np.cumsum(change, axis=1)
        begun, passed = at_risk[:, -1:], last
        yield at_risk[:, :-1], ended


def log_rank(
    tables: Iterable[tuple[FloatArray, FloatArray]],
    *,
    sizes: Sequence[int],
    pooled: int = 0,
    what: str = "group",
    n_ends: int = 0,
) -> GroupTest | None:
    """Compute a log-rank test from tables of risk; None if there is nothing to compare.

    Args:
        tables: Blocks of consecutive steps, each with the number at risk and the number of ends,
            `(groups, steps)`. A session may change its group from step to step.
        sizes: Number of sessions, or rows, of each group.
        pooled: Number of groups that the last one pools.
        what: "group", "state" or "action".
        n_ends: Number of ends in all tables, for `GroupTest.by_range`; 0 for none.
    """
    seen, expected = np.zeros(len(sizes)), np.zeros(len(sizes))
    covariance = np.zeros((len(sizes), len(sizes)))
    gaps = np.zeros((_RANGES, len(sizes)))
    covariances, n_before = np.zeros((_RANGES, len(sizes), len(sizes))), 0.0
    for at_risk, ended in tables:
        total, gone = at_risk.sum(axis=0), ended.sum(axis=0)
        shares = at_risk / np.where(total > 0.0, total, 1.0)
        spread = gone * np.where(total > 1.0, (total - gone) / np.maximum(total - 1.0, 1.0), 0.0)
        seen += ended.sum(axis=1)
        expected += shares @ gone
        covariance += np.diag(shares @ spread) - (shares * spread) @ shares.T
        if n_ends:
            before = n_before + np.cumsum(gone) - gone
            n_before += float(gone.sum())
            part = np.minimum(_RANGES * before // n_ends, _RANGES - 1).astype(int)
            for i in range(_RANGES):
                some = part == i
                here, share, width = gone[some], shares[:, some], spread[some]
                gaps[i] += ended[:, some].sum(axis=1) - share @ here
                covariances[i] += np.diag(share @ width) - (share * width) @ share.T
    pooling = _pooling(expected, _LEAST_EXPECTED)
    size = float(expected.sum())
    statistic, freedom = _quadratic_form(pooling @ (seen - expected), pooling @ covariance @ pooling.T, size)
    if not freedom:
        return None
    wide = _pooling(expected, _RANGES * _LEAST_EXPECTED)  # so that groups have enough ends in each range
    has_ranges = n_ends and (wide @ expected).min() >= _LEAST_EXPECTED
    return GroupTest(
        sizes=tuple(int(size) for size in sizes),
        ended=tuple(int(count) for count in seen),
        expected=tuple(expected.tolist()),
        statistic=statistic,
        freedom=freedom,
        p_value=_chance(statistic, freedom),
        pooled=pooled,
        what=what,
        by_range=_add_up(gaps @ wide.T, wide @ covariances @ wide.T, size) if has_ranges else None,
        n_tested=pooling.shape[0],
    )


def _pooling(expected: FloatArray, least: float) -> FloatArray:
    """Return the matrix of 0 and 1 that adds up small groups until each sum expects enough ends.

    What is left over stays alone if it expects half as many ends, else it joins the smallest sum. Two groups
    at least are left, which may be smaller.
    """
    bins: list[list[int]] = [[i] for i, one in enumerate(expected) if one >= least]
    small: list[list[int]] = []
    for i in np.flatnonzero(expected < least).tolist():
        if small and expected[small[-1]].sum() < least:
            small[-1].append(i)
        else:
            small.append([i])
    if len(bins) + len(small) > 2 and small and expected[small[-1]].sum() < 0.5 * least:
        rest = small.pop()
        min((*bins, *small), key=lambda members: float(expected[members].sum())).extend(rest)
    if not bins and len(small) == 1:  # hardly any ends
        half = expected.size // 2
        small = [small[0][:half], small[0][half:]]
    matrix = np.zeros((len(bins) + len(small), expected.size))
    for row, members in enumerate([*bins, *small]):
        matrix[row, members] = 1.0
    return matrix


def _add_up(gaps: FloatArray, covariances: FloatArray, size: float) -> RangeTest | None:
    """Return the sum of tests of independent differences; None if there is nothing to test."""
    pairs = zip(gaps, covariances, strict=True)
    parts = [_quadratic_form(gap, covariance, size) for gap, covariance in pairs]
    statistic, freedom = sum(one for one, _ in parts), sum(n for _, n in parts)
    return RangeTest(statistic, freedom, _chance(statistic, freedom)) if freedom else None


def _chance(statistic: float, freedom: int) -> float:
    """Return the probability that χ² is at least as large."""
    from scipy.special import gammaincc  # noqa: PLC0415

    return float(gammaincc(freedom / 2.0, statistic / 2.0))


def _quadratic_form(gap: FloatArray, covariance: FloatArray, size: float) -> tuple[float, int]:
    """Return gapᵀ C⁺ gap, with the pseudoinverse C⁺ of the covariance, and the rank of C.

    Variances that are tiny beside `size`, the number of ends, are rounding errors.
    """
    values, vectors = np.linalg.eigh(covariance)
    some = values > 1e-9 * max(float(values[-1]), size)
    if not some.any() or values[-1] <= 0.0:
        return 0.0, 0
    return float(((vectors[:, some].T @ gap) ** 2 / values[some]).sum()), int(some.sum())
