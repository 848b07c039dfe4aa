"""Log-rank tests of whether leaving depends on a group or a state."""

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

_MAX_CELLS = 1 << 18
"""Maximum number of groups times steps per table, which bounds the memory."""


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
        what: "group", which is fixed for a session, or "state", which changes within it.
    """

    sizes: tuple[int, ...]
    ended: tuple[int, ...]
    expected: tuple[float, ...]
    statistic: float
    freedom: int
    p_value: float
    pooled: int = 0
    what: str = "group"

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
    return log_rank(_risk_tables(samples), sizes=[sample.n for sample in samples], pooled=pooled)


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
) -> GroupTest | None:
    """Compute a log-rank test from tables of risk; None if there is nothing to compare.

    Args:
        tables: Blocks of consecutive steps, each with the number at risk and the number of ends,
            `(groups, steps)`. A session may change its group from step to step.
        sizes: Number of sessions, or rows, of each group.
        pooled: Number of groups that the last one pools.
        what: "group" or "state".
    """
    from scipy.special import gammaincc  # noqa: PLC0415

    seen, expected = np.zeros(len(sizes)), np.zeros(len(sizes))
    covariance = np.zeros((len(sizes), len(sizes)))
    for at_risk, ended in tables:
        total, gone = at_risk.sum(axis=0), ended.sum(axis=0)
        shares = at_risk / np.where(total > 0.0, total, 1.0)
        spread = gone * np.where(total > 1.0, (total - gone) / np.maximum(total - 1.0, 1.0), 0.0)
        seen += ended.sum(axis=1)
        expected += shares @ gone
        covariance += np.diag(shares @ spread) - (shares * spread) @ shares.T
    statistic, freedom = _quadratic_form(seen - expected, covariance)
    if not freedom:
        return None
    return GroupTest(
        sizes=tuple(int(size) for size in sizes),
        ended=tuple(int(count) for count in seen),
        expected=tuple(expected.tolist()),
        statistic=statistic,
        freedom=freedom,
        p_value=float(gammaincc(freedom / 2.0, statistic / 2.0)),
        pooled=pooled,
        what=what,
    )


def _quadratic_form(gap: FloatArray, covariance: FloatArray) -> tuple[float, int]:
    """Return gapᵀ C⁺ gap, with the pseudoinverse C⁺ of the covariance, and the rank of C."""
    values, vectors = np.linalg.eigh(covariance)
    some = values > 1e-9 * max(float(values[-1]), 1e-300)
    if not some.any() or values[-1] <= 0.0:
        return 0.0, 0
    return float(((vectors[:, some].T @ gap) ** 2 / values[some]).sum()), int(some.sum())
