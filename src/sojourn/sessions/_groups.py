"""Whether leaving depends on a group or a state."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sojourn._typing import FloatArray
from sojourn.laws import Sample
from sojourn.sessions._log import SessionLog

__all__ = ["MOST_GROUPS", "GroupTest", "compare_groups", "group_samples", "log_rank"]

MOST_GROUPS = 30
"""How many groups are compared; the smaller ones are put together."""

_MOST_CELLS = 1 << 18
"""So many groups times steps are looked at together."""


@dataclass(frozen=True)
class GroupTest:
    """A log-rank test of whether all groups, or states, leave alike (Mantel 1966; Peto and Peto 1972).

    Attributes:
        sizes: Sessions in each group; steps at risk in each state.
        ended: How many of them were seen to end.
        expected: How many would have been, had all groups left alike.
        statistic: χ².
        freedom: Its degrees of freedom.
        p_value: The chance of so large a χ² if all groups left alike.
        pooled: How many of the smallest groups the last one puts together; 0 if it is one of its own.
        what: "group", which a session keeps, or "state", which changes within it.
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
        """How many times as often as expected each group left; NaN where nothing was expected."""
        pairs = zip(self.ended, self.expected, strict=True)
        return tuple(seen / due if due > 0.0 else math.nan for seen, due in pairs)

    @property
    def depends(self) -> bool:
        """Whether leaving depends on the group: surely (p < 0.001), and by more than two in a hundred."""
        apart = [abs(ratio - 1.0) for ratio in self.ratios if not math.isnan(ratio)]
        return self.p_value < 1e-3 and max(apart, default=0.0) > 0.02


def group_samples(log: SessionLog) -> tuple[Iterator[Sample], int]:
    """Return a log's groups as counts, one by one, the smallest put together, and how many these are."""
    kept = log.n_groups if log.n_groups <= MOST_GROUPS else MOST_GROUPS - 1
    group = np.minimum(log.group, kept)
    merged = SessionLog(log.lengths, log.observed, log.entry, group, log.counts, log.labels)
    return merged.only(range(min(log.n_groups, kept + 1))), log.n_groups - kept


def compare_groups(log: SessionLog) -> GroupTest | None:
    """Return the test of a log's groups, the smallest put together; None where there is none to compare."""
    if log.n_groups < 2:
        return None
    groups, pooled = group_samples(log)
    samples = list(groups)
    return log_rank(_tables(samples), sizes=[sample.n for sample in samples], pooled=pooled)


def _tables(samples: Sequence[Sample]) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield how many of each group were at risk and how many ended, for some steps at a time."""
    steps = np.sort(np.concatenate([sample.ends for sample in samples]))
    steps = steps[np.append(True, steps[1:] != steps[:-1])]
    begun, passed = np.zeros((len(samples), 1)), 0
    width = max(_MOST_CELLS // len(samples), 1)
    for first in range(0, steps.size, width):
        some = steps[first : first + width]
        last, n = int(some[-1]), some.size
        change, ended = np.zeros((len(samples), n + 1)), np.zeros((len(samples), n))
        for i, sample in enumerate(samples):
            for at, counts, sign in ((sample.entries, sample.entered, 1.0), (sample.cuts, sample.cut, -1.0)):
                here = slice(*np.searchsorted(at, (passed, last), side="right"))
                places = np.searchsorted(some, at[here])
                change[i] += sign * np.bincount(places, counts[here], minlength=n + 1)
            here = slice(*np.searchsorted(sample.ends, (passed, last), side="right"))
            ended[i, np.searchsorted(some, sample.ends[here])] = sample.ended[here]
        change[:, 1:] -= ended  # who ends at a step is at risk there
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
    """Return the test of how many were at risk and how many ended, by group and step; None if nothing ended.

    Args:
        tables: Those at risk and those that ended, `(groups, steps)` each, for some steps after others; a
            session may change its group from step to step.
        sizes: How many sessions, or rows, each group has.
        pooled: How many groups the last one puts together.
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
    statistic, freedom = _quadratic(seen - expected, covariance)
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


def _quadratic(gap: FloatArray, covariance: FloatArray) -> tuple[float, int]:
    """Return gapᵀ C⁻ gap and the rank of C."""
    values, vectors = np.linalg.eigh(covariance)
    some = values > 1e-9 * max(float(values[-1]), 1e-300)
    if not some.any() or values[-1] <= 0.0:
        return 0.0, 0
    return float(((vectors[:, some].T @ gap) ** 2 / values[some]).sum()), int(some.sum())
