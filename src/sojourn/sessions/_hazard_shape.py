"""Checks by the data alone whether the chance of leaving rises or falls as a law says.

A law of a family can only have the shapes of that family, so what a fit says about the change of leaving may
be a property of the family and not of the data. The data contradict "it falls" if there are two successive
ranges of steps with a clearly larger share of ends in the second one. They are looked for in the blocks in
which isotonic regression (pool adjacent violators) has to average over a rise. Sessions that are open at a
step count as at risk there in this comparison: if many are open at the last step, few ends there would look
like a rise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.laws import LengthLaw, Sample

__all__ = ["FEW_ENDS", "Change", "change_against", "ends_until", "hazard_shape"]

FEW_ENDS = 10
"""With fewer ends before its peak, a rise of the hazard is only a property of its family."""

_CLEAR = 16.0
"""Least likelihood ratio statistic of two shares against one common share.

The ranges are chosen where the difference is largest, so it has to be larger than for a single comparison. If
leaving is equally likely at every step, at most about one log in twenty shows such a change (simulated with
20 to 10,000 sessions, from 2 to 100 steps long on average).
"""

_MAX_DISTINCT = 1 << 12
"""Logs with more distinct lengths are thinned to this number."""


class Change(NamedTuple):
    """A change of the share of sessions that leave per step, from one range of steps to the next."""

    first: int  # first step of the first range
    middle: int  # last step of the first range
    last: int  # last step of the second range
    before: float  # share of the sessions at risk that leave, per step of the first range
    after: float  # the same for the second range


def ends_until(sample: Sample, step: int) -> int:
    """Return the number of sessions that were seen to end at a step or before."""
    return int(sample.ended_by(np.array([step]))[0])


def hazard_shape(sample: Sample, law: LengthLaw, early: int, late: int) -> tuple[str, int]:
    """Return how a law's chance of leaving changes between two steps, and the step of its peak or dip.

    It is "flat", "up", "down", "peak" or "dip".
    """
    steps = np.unique(np.geomspace(early, late, 200).round())
    some = law.hazard(steps)
    begin, end = float(some[0]), float(some[-1])
    if some.max() < 1.1 * some.min():
        return "flat", early
    peak = int(steps[np.argmax(some)])
    is_seen = ends_until(sample, peak) >= FEW_ENDS  # else only its family says that leaving speeds up
    if some.max() > 1.1 * max(begin, end) and (is_seen or end >= begin):
        return "peak", peak
    if some.min() < 0.9 * min(begin, end):
        return "dip", int(steps[np.argmin(some)])
    return ("down", late) if end < begin else ("up", late)


def change_against(sample: Sample, shape: str, turn: int, first: int, last: int) -> Change | None:
    """Return the clearest change in the data against a shape of the chance of leaving, or None.

    Args:
        sample: The sessions.
        shape: A shape of `hazard_shape`; nothing is against "flat", which allows for small changes.
        turn: The step of the peak or dip.
        first: First step to consider.
        last: Last step to consider.
    """
    sample = sample.thinned(_MAX_DISTINCT)
    parts = {
        "up": ((first, last, False),),
        "down": ((first, last, True),),
        "peak": ((first, turn, False), (turn + 1, last, True)),
        "dip": ((first, turn, True), (turn + 1, last, False)),
    }.get(shape, ())
    found = (_clearest(sample, begin, end, rises=rises) for begin, end, rises in parts)
    return next((change for change in found if change is not None), None)


def _clearest(sample: Sample, first: int, last: int, *, rises: bool) -> Change | None:
    """Return the clearest change between two successive ranges of steps within `first` … `last`."""
    edges = _edges(sample, first, last, rises=rises)
    ends = np.diff(sample.ended_by(edges)).astype(float)
    risks = np.diff(sample.kept_at_risk().exposure(edges)).astype(float)
    kept = risks > 0.0
    ends, risks, edges = ends[kept], risks[kept], np.concatenate([edges[:1], edges[1:][kept]])
    best, found = _CLEAR, None
    for start, stop in _blocks(ends if rises else -ends, risks):
        sums, at_risk = np.cumsum(ends[start:stop]), np.cumsum(risks[start:stop])
        if sums.size < 2:
            continue
        n, d = at_risk[:-1], sums[:-1]
        n_rest, d_rest = at_risk[-1] - n, sums[-1] - d
        grows = d_rest / n_rest > d / n
        ratio = 2.0 * (_fit(d, n) + _fit(d_rest, n_rest) - _fit(sums[-1:], at_risk[-1:]))
        ratio[grows != rises] = 0.0
        i = int(np.argmax(ratio))
        if ratio[i] > best:
            best = float(ratio[i])
            where = edges[[start, start + i + 1, stop]]
            before, after = (np.diff(sample.ended_by(where)) / np.diff(sample.exposure(where))).tolist()
            found = Change(int(where[0]) + 1, int(where[1]), int(where[2]), before, after)
    return found


def _edges(sample: Sample, first: int, last: int, *, rises: bool) -> IntArray:
    """Return the last steps of ranges with ends at one step each: the last one if `rises`, else the first."""
    ends = sample.ends[(sample.ends >= first) & (sample.ends <= last)]
    return np.unique(np.concatenate([[first - 1], ends if rises else ends - 1, [max(last, first - 1)]]))


def _blocks(values: FloatArray, weights: FloatArray) -> list[tuple[int, int]]:
    """Return the blocks of isotonic regression, for shares values/weights that should not rise."""
    blocks: list[tuple[int, int, float, float]] = []
    for i, (value, weight) in enumerate(zip(values.tolist(), weights.tolist(), strict=True)):
        start, total, size = i, value, weight
        while blocks and blocks[-1][2] * size <= total * blocks[-1][3]:  # the share before is not larger
            start, _, more, other = blocks.pop()
            total, size = total + more, size + other
        blocks.append((start, i + 1, total, size))
    return [(start, stop) for start, stop, _, _ in blocks]


def _fit(ends: FloatArray, risks: FloatArray) -> FloatArray:
    """Return the maximal log-likelihood of numbers of ends among numbers at risk."""
    stays = risks - ends
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(ends > 0, ends * np.log(ends / risks), 0.0)
        return np.asarray(parts + np.where(stays > 0, stays * np.log(stays / risks), 0.0))
