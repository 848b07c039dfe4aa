"""What the sessions of a log show by themselves, without a fitted law, and how far they go."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.laws import MAX_STEP, Band, LengthLaw, Sample

__all__ = [
    "FEWEST_ENDS",
    "FEW_AT_RISK",
    "MAX_TABLE_STEPS",
    "SMALL_DIFFERENCE",
    "StepRange",
    "Unknown",
    "data_quantile",
    "find_hole",
    "first_of_many",
    "is_thin",
    "last_of_many",
    "late_rate",
    "mean_up_to",
    "share_beyond",
    "step_ranges",
    "still_open",
    "unended",
]

SMALL_DIFFERENCE = 0.02
"""A share of the mean, of the sessions, of expected ends or of those who may leave that matters little."""

FEW_AT_RISK = 10
"""With fewer sessions at risk, a step hardly shows whether sessions end there."""

FEWEST_ENDS = 10
"""With fewer observed ends, a log or a group is too small to choose a law."""

MAX_TABLE_STEPS = 1_000_000
"""Largest number of steps of a table of survival."""

_MANY_AT_RISK = 100
"""Enough sessions at risk to say how many get through the first steps.

With fewer, the band around the survival of geometric logs with late entries misses them too often (simulated
with 60 to 5,000 sessions).
"""

_MAX_RANGES = 4
_LEAST_ENDS = 5
"""Least number of ends in a range of steps, if the log has as many."""


class Unknown(Enum):
    """Why a log does not determine the mean length."""

    TOO_SMALL = "fewer than 10 sessions were seen to end"
    MOST_OPEN = "most sessions reach the longest length, and many are open there"
    NO_MEAN = "a law that fits about as well has no mean"
    NO_FIT = "no law fits, and the data hardly show when many sessions end"
    UNBOUNDED = "the interval from resampled logs has no upper end"
    EDGE = "the fit is at the edge of its family, and its tail beyond the data matters"
    BEYOND = "most of the mean lies beyond the longest session"
    TIED_BEYOND = "most of the mean of a law that fits about as well lies beyond the longest session"
    TOO_LONG = "no law fits, and the log has too many steps for a table of the data"
    UNENDED = "the data hardly show when most sessions end"
    HOLE = "hardly any session was observed at some steps, before others at which many were"


class StepRange(NamedTuple):
    """Successive steps, and the share of the sessions at risk that end, per step."""

    first: int
    last: int | None  # None for all steps from `first` on
    share: float


def _numbers_at_risk(sample: Sample) -> tuple[IntArray, FloatArray]:
    """Return the steps at which the number of sessions at risk changes, and the new numbers."""
    at = np.concatenate([sample.entries, sample.censored, sample.ends + 1])
    changes = np.concatenate([sample.entry_counts, -sample.censored_counts, -sample.end_counts])
    steps, where = np.unique(at, return_inverse=True)
    at_risk = np.cumsum(np.bincount(where, weights=changes))
    return steps, np.asarray(at_risk, dtype=np.float64)


def first_of_many(sample: Sample) -> int:
    """Return the first step at which enough sessions are at risk.

    If sessions came under observation late, hardly any may show the first steps. Enough are 100, or half of
    the largest number at risk. Without late entries it is the first step.
    """
    steps, at_risk = _numbers_at_risk(sample)
    return int(steps[int(np.argmax(at_risk >= min(_MANY_AT_RISK, 0.5 * at_risk.max())))])


def step_ranges(sample: Sample) -> list[StepRange]:
    """Return up to four ranges of steps with about as many ends each, from the first step with an end on."""
    n = sample.n_observed
    count = max(min(_MAX_RANGES, n // _LEAST_ENDS), 1)
    wanted = np.ceil(n * np.arange(1, count + 1) / count)
    lasts = sample.ends[np.unique(np.searchsorted(np.cumsum(sample.end_counts), wanted))]
    edges = np.append(lasts[:-1], max(int(lasts[-1]), sample.longest))
    edges = np.concatenate([[int(sample.ends[0]) - 1], edges])
    ends, risks = np.diff(sample.ended_by(edges)), np.diff(sample.exposure(edges))
    return [
        StepRange(
            int(edges[i]) + 1, None if i == ends.size - 1 else int(edges[i + 1]), float(ends[i] / risks[i])
        )
        for i in range(ends.size)
    ]


def still_open(sample: Sample, band: Band) -> float:
    """Return the estimated share of the sessions that are open at the longest length.

    Of the sessions that get that far, it is the share that was not seen to end there.
    """
    n_open = int(sample.censored_counts[sample.censored == sample.longest].sum())
    n_end = int(sample.end_counts[sample.ends == sample.longest].sum())
    return float(band.estimate[-1]) * n_open / max(n_open + n_end, 1)


def unended(sample: Sample, band: Band) -> float:
    """Return the estimated share of the sessions whose end the data hardly show.

    It is `still_open`, or the share that outlasts the last step at which 10 sessions are at risk, less the
    sessions that are still seen there.
    """
    left, (last, n_after) = still_open(sample, band), last_of_many(sample)
    if last >= sample.longest:
        return left
    return max(left, float(band.of(last + 1)) - n_after / int(sample.entry_counts.sum()))


def find_hole(sample: Sample) -> tuple[int, int] | None:
    """Return the first and last step of a range that hardly any session shows, before many later ones.

    Fewer than 10 sessions are at risk there, and at least 20 at a later step; or none is (and 10 may never
    be), and one at a later step. None if there is no such range.
    """
    steps, at_risk = _numbers_at_risk(sample)
    few = at_risk < (FEW_AT_RISK if at_risk.max() >= FEW_AT_RISK else 1)
    later = np.maximum.accumulate(at_risk[::-1])[::-1]
    is_hole = few & (later >= np.where(at_risk > 0, 2 * FEW_AT_RISK, 1))
    is_hole[: int(np.argmax(~few))] = False  # `first_of_many` deals with the first steps
    if not is_hole.any():
        return None
    inside = int(np.argmax(is_hole))
    start = inside - int(np.argmax(~few[inside::-1])) + 1
    rises = ~few[inside:] if (~few[inside:]).any() else at_risk[inside:] > at_risk[inside]
    return int(steps[start]), int(steps[inside + int(np.argmax(rises))]) - 1


def is_thin(sample: Sample) -> bool:
    """Whether fewer than 10 sessions are at risk at every step."""
    return bool(_numbers_at_risk(sample)[1].max() < FEW_AT_RISK)


def last_of_many(sample: Sample) -> tuple[int, int]:
    """Return the last step at which 10 sessions are at risk, and how many are at the next one.

    If 10 never are, it is the longest length.
    """
    steps, at_risk = _numbers_at_risk(sample)
    enough = np.flatnonzero(at_risk >= FEW_AT_RISK)
    if not enough.size:
        return sample.longest, 0
    few = enough[-1] + 1
    return min(int(steps[few]) - 1, sample.longest), int(at_risk[few])


def share_beyond(law: LengthLaw, first: int, longest: int) -> float:
    """Return which share of a law's mean, from step `first` on, lies beyond the longest session."""
    past = longest + 1
    if past > MAX_STEP:
        return 0.0
    # By logarithms, because chances to get to step `first` may be too small for a float.
    weight = float(np.exp(law.log_survival(past) - law.log_survival(first)))
    return weight * float(law.remaining(past)) / float(law.remaining(first))


def late_rate(sample: Sample) -> float:
    """Return the share of the sessions at risk that end, per step, in the last quarter of the steps."""
    edges = np.array([sample.longest - max(sample.longest // 4, 1), sample.longest])
    ends, risk = np.diff(sample.ended_by(edges)), np.diff(sample.exposure(edges))
    return float(ends[0] / risk[0]) if risk[0] > 0.0 else 0.0


def mean_up_to(band: Band, step: int) -> float:
    """Return the Kaplan–Meier mean of min(H, step), for a step up to the longest session."""
    return float(np.dot(band.estimate, np.diff(np.minimum(band.steps, step), prepend=0)))


def data_quantile(band: Band, share: float, *, last: int) -> int | None:
    """Return the smallest step after which at most a share of the sessions remains, by Kaplan–Meier.

    Args:
        band: The estimate.
        share: The share, up to rounding errors.
        last: Largest step to consider, at most the longest length. All sessions that get to the longest
            length are taken to end there.

    Returns:
        The step; None if it is beyond `last`.
    """
    after = np.append(band.estimate[1:], 0.0)  # P(H > h) for the last step h of each stair
    step = int(band.steps[int(np.argmax(after <= share * (1.0 + 1e-9)))])
    return step if step <= last else None
