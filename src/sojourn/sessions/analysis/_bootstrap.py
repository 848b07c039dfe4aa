"""Intervals from resampled logs, which include the choice of the family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.laws import Fit, Sample, refit_sample
from sojourn.sessions._log import SessionLog
from sojourn.sessions._row_counts import RowCounts
from sojourn.sessions.analysis._coverage import share_beyond

__all__ = ["Bootstrap", "resample", "resample_sessions"]

_MAX_DISTINCT = 256
"""Number of distinct lengths to which resampled logs are thinned."""

_OUT_OF_REACH = 50.0
"""Families whose BIC is larger by more than this are not refitted: practically no resample chooses them."""

_UNSEEN = 0.02
"""Largest share of a mean that may lie beyond the data if the fit is at the edge of its family."""

_MANY, _ROUGH = 1_000, 1.5
"""With fewer resampled logs, the upper end of an interval is rough if its neighbors differ by this factor."""

_MAX_STEPS = 100
"""Number of steps for which the discount of every resample is computed."""


@dataclass(frozen=True)
class Bootstrap:
    """What the whole procedure finds in resampled logs, of sessions drawn with replacement.

    Attributes:
        n: Number of resampled logs.
        families: How often each family was chosen.
        remaining: 95% interval of the mean number of steps from the log's first step on; its upper end is
            infinite if too many resampled logs determine no mean.
        steps: Steps, `(k,)`.
        discount: 95% intervals of the discount ρ(h) at these steps, `(2, k)`.
        is_rough: Whether the upper end of `remaining` would change much with more resampled logs.
    """

    n: int
    families: dict[str, int]
    remaining: tuple[float, float]
    steps: IntArray
    discount: FloatArray
    is_rough: bool = False


def resample(
    log: SessionLog,
    fits: Sequence[Fit],
    choose: Callable[[list[Fit]], Fit],
    *,
    first: int,
    n: int,
    seed: int,
) -> Bootstrap:
    """Repeat the choice of a law on resampled logs.

    Args:
        log: The log; its table of counts is resampled, so that the cost does not grow with its rows.
        fits: The fits of all families to the log.
        choose: Returns the best of several fits.
        first: The smallest entry step.
        n: Number of resampled logs.
        seed: Seed of the random draws.
    """
    rng = np.random.default_rng(seed)
    log = _without_groups(log)  # so that groups do not change the draws
    least = min(fit.bic for fit in fits)
    within_reach = [fit for fit in fits if fit.bic <= least + _OUT_OF_REACH]
    steps = np.unique(np.geomspace(first, max(log.longest, first + 1), _MAX_STEPS).round().astype(np.int64))
    found: list[Fit] = []
    means: list[float] = []
    while len(found) < n:
        sample = resample_sessions(log, rng).thinned(_MAX_DISTINCT)
        found.append(choose([refit_sample(sample, fit) for fit in within_reach]))
        means.append(_remaining(found[-1], sample, first))
    discounts = np.array([fit.law.continuation(steps) for fit in found])
    names = [fit.family for fit in found]
    low, high = np.percentile(means, (2.5, 97.5), method="linear" if np.isfinite(means).all() else "nearest")
    return Bootstrap(
        n=n,
        families={name: names.count(name) for name in sorted(set(names), key=lambda one: -names.count(one))},
        remaining=(float(low), float(high)),
        steps=steps,
        discount=np.percentile(discounts, (2.5, 97.5), axis=0),
        is_rough=n < _MANY and _spread_above(means) > _ROUGH,
    )


def resample_sessions(log: SessionLog, rng: np.random.Generator) -> Sample:
    """Draw as many sessions as a log has, with replacement, until one of them is seen to end."""
    shares = log.counts / log.counts.sum()
    while True:
        counts = rng.multinomial(len(log), shares)
        kept = counts > 0
        if log.observed[kept].any():
            break
    return Sample.from_checked_columns(log.lengths[kept], log.observed[kept], log.entry[kept], counts[kept])


def _without_groups(log: SessionLog) -> SessionLog:
    """Return a log with equal sessions counted together, also those of different groups."""
    has_entries = bool((log.entry > 1).any())  # a log that was cut at its first steps may repeat rows
    if not log.labels and not has_entries:
        return log
    rows = RowCounts()
    rows.add(log.lengths, log.observed, log.entry if has_entries else None, counts=log.counts)
    return SessionLog.from_counts(rows, [], log.account, log.name)


def _spread_above(means: list[float]) -> float:
    """Return how many times larger the 99% quantile of means is than the 95% quantile."""
    below, above = np.percentile(means, (95.0, 99.0), method="nearest")
    return float(above / below) if np.isfinite(above) else 1.0


def _remaining(fit: Fit, sample: Sample, first: int) -> float:
    """Return the mean number of steps from step `first` on that a resampled log determines, or infinity.

    If the fit is at the edge of its family, its tail beyond the data is an artifact of the family's range.
    Then the mean is that of the resampled data themselves, if all of the longest sessions have ended.
    """
    whole = float(fit.law.remaining(first))
    if not fit.edge or share_beyond(fit.law, first, sample.longest) <= _UNSEEN:
        return whole
    if sample.censored.size and int(sample.censored[-1]) >= int(sample.ends[-1]):
        return np.inf
    ends = sample.ends[sample.ends >= first]
    stays = 1.0 - sample.end_counts[sample.ends >= first] / sample.at_risk(ends)
    survival = np.concatenate(([1.0], np.cumprod(stays)[:-1]))
    return float(np.dot(survival, np.diff(ends, prepend=first - 1)))
