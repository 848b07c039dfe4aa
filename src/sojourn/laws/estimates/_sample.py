"""Lengths as counts: all that likelihoods, Kaplan–Meier and bands need of any number of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn._typing import ArrayLike, BoolArray, FloatArray, IntArray
from sojourn.laws._checks import check_column, check_flags
from sojourn.laws.estimates._empirical import add_up, tally

__all__ = ["Columns", "Sample", "check_columns", "take_sample"]

MOST_DISTINCT = 1 << 15
"""So many distinct values are always kept apart where laws are fitted."""


@dataclass(frozen=True)
class Columns:
    """Checked columns of a log, `(n,)` each; `entry` and `counts` are None where they say nothing."""

    lengths: IntArray
    observed: BoolArray
    entry: IntArray | None
    counts: IntArray | None


@dataclass(frozen=True)
class Sample:
    """Lengths by how they ended and how they began, as distinct values (rising) with counts.

    An observed length n was at risk of ending at steps entry … n and ended at n; a length n that was cut off
    means H ≥ n, and was at risk at steps entry … n − 1.

    Attributes:
        ends: Observed lengths, `(e,)`.
        ended: How often each was seen, `(e,)`.
        cuts: Lengths that were cut off, `(c,)`.
        cut: How often each was seen, `(c,)`.
        entries: Steps at which rows came under observation, `(s,)`.
        entered: How many did at each, `(s,)`.
    """

    ends: IntArray
    ended: IntArray
    cuts: IntArray
    cut: IntArray
    entries: IntArray
    entered: IntArray

    @classmethod
    def from_checked_columns(
        cls,
        lengths: IntArray,
        observed: BoolArray,
        entry: IntArray | None = None,
        counts: IntArray | None = None,
    ) -> Sample:
        """Count the rows of columns that are known to be valid; `take_sample` checks them first.

        Args:
            lengths: Lengths ≥ 1, `(n,)`.
            observed: Whether each row was seen to end, `(n,)`.
            entry: Step at which each row came under observation, `(n,)`; None means step 1.
            counts: Number of times that each row occurs, `(n,)`; None means once.
        """
        ends = _tally(lengths[observed], None if counts is None else counts[observed])
        cuts = _tally(lengths[~observed], None if counts is None else counts[~observed])
        if entry is not None:
            return cls(*ends, *cuts, *_tally(entry, counts))
        n = lengths.size if counts is None else int(counts.sum())
        return cls(*ends, *cuts, np.ones(1, dtype=np.int64), np.array([n]))

    @property
    def n(self) -> int:
        """How many rows there are."""
        return int(self.entered.sum())

    @property
    def n_observed(self) -> int:
        """How many of them were seen to end."""
        return int(self.ended.sum())

    @property
    def longest(self) -> int:
        """The largest length, observed or not."""
        return int(max(values[-1] for values in (self.ends, self.cuts) if values.size))

    @property
    def is_complete(self) -> bool:
        """Whether every row was seen from its first step to its end."""
        return not self.cuts.size and int(self.entries[-1]) == 1

    @property
    def survived(self) -> float:
        """How many steps were survived while at risk: Σ (n − 1) − (entry − 1)."""
        parts = ((self.ends, self.ended, 1.0), (self.cuts, self.cut, 1.0), (self.entries, self.entered, -1.0))
        return float(sum(sign * np.dot(at - 1.0, counts) for at, counts, sign in parts))

    def thinned(self, most: int = MOST_DISTINCT) -> Sample:
        """Return the sample with at most so many distinct values of each kind: itself, if it has no more.

        Otherwise neighbours are put together at their mean, small values never, and large ones the less the
        more may be kept. By default those of some hundred steps stay apart, and later ones are put together
        within two in a thousand: that moves an estimate by about a millionth, far below its standard error.
        """
        if max(self.ends.size, self.cuts.size, self.entries.size) <= most:
            return self
        return Sample(
            *_thin(self.ends, self.ended, most),
            *_thin(self.cuts, self.cut, most),
            *_thin(self.entries, self.entered, most),
        )

    def at_risk(self, h: IntArray) -> IntArray:
        """Return how many rows were at risk of ending at each step."""
        return (
            _total_below(self.entries, self.entered, h, side="right")
            - _total_below(self.ends, self.ended, h, side="left")
            - _total_below(self.cuts, self.cut, h, side="right")
        )

    def exposure(self, h: IntArray) -> FloatArray:
        """Return how many steps up to h were spent at risk, all rows together: Σ_{j≤h} of `at_risk`."""
        return (
            _sum_below(self.entries - 1, self.entered, h)
            - _sum_below(self.ends, self.ended, h)
            - _sum_below(self.cuts - 1, self.cut, h)
        )

    def ended_by(self, h: IntArray) -> IntArray:
        """Return how many rows were seen to end at step h or before."""
        return _total_below(self.ends, self.ended, h, side="right")

    def marks(self) -> tuple[FloatArray, FloatArray]:
        """Return the steps whose ln γ counts by itself, and how much: + where cut off, − where entered."""
        steps = np.concatenate((self.cuts, self.entries))
        distinct, places = np.unique(steps, return_inverse=True)
        weights = np.bincount(places, np.concatenate((self.cut, -self.entered)), minlength=distinct.size)
        some = (distinct > 1) & (weights != 0.0)  # ln γ(1) is 0
        return distinct[some].astype(np.float64), weights[some]


def take_sample(
    lengths: ArrayLike,
    observed: ArrayLike | None = None,
    *,
    entry: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> Sample:
    """Return rows as counts; all of them observed and from step 1 unless said otherwise."""
    columns = check_columns(lengths, observed, entry=entry, counts=counts)
    return Sample.from_checked_columns(columns.lengths, columns.observed, columns.entry, columns.counts)


def check_columns(
    lengths: ArrayLike,
    observed: ArrayLike | None = None,
    *,
    entry: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> Columns:
    """Return columns of one and the same size, or say in one line what is wrong with them."""
    column = check_column("lengths", lengths, least=1)
    flags = np.ones(column.size, dtype=bool) if observed is None else check_flags("observed", observed)
    if column.size != flags.size:
        raise ValueError(
            f"observed must be as many as lengths; got {flags.size} flags for {column.size} lengths."
        )
    begun = None if entry is None else check_column("entry", entry, least=1)
    if begun is not None:
        if begun.size != column.size:
            raise ValueError(
                f"entry must be as many as lengths; got {begun.size} entries for {column.size} lengths."
            )
        if (late := begun > column).any():
            at = int(np.argmax(late))
            raise ValueError(f"entry[{at}] must be at most lengths[{at}] = {column[at]}; got {begun[at]}.")
        if not (begun > 1).any():
            begun = None
    times = None if counts is None else check_column("counts", counts, least=0)
    if times is not None and times.size != column.size:
        raise ValueError(
            f"counts must be as many as lengths; got {times.size} counts for {column.size} lengths."
        )
    if times is not None and not times.any():
        raise ValueError("counts must not all be 0.")
    return Columns(column, flags, begun, times)


def _tally(keys: IntArray, counts: IntArray | None) -> tuple[IntArray, IntArray]:
    if not keys.size or (counts is not None and not counts.any()):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    return tally(keys, None) if counts is None else add_up(keys, counts)


def _thin(at: IntArray, counts: IntArray, most: int) -> tuple[IntArray, IntArray]:
    """Put neighbouring values together, each at the mean of its rows, if there are too many."""
    if at.size <= most:
        return at, counts
    edges = np.unique(np.geomspace(1.0, float(at[-1]) + 1.0, most).round())
    begins = np.unique(np.searchsorted(at, edges))
    begins = begins[begins < at.size]
    totals = np.add.reduceat(counts, begins)
    means = np.add.reduceat(at.astype(np.float64) * counts, begins) / totals
    return means.round().astype(np.int64), totals


def _total_below(at: IntArray, counts: IntArray, h: IntArray, *, side: str) -> IntArray:
    """Return how many are below each step (side "left"), or at or below it ("right")."""
    places = np.searchsorted(at, h, side="left" if side == "left" else "right")
    first, last = (int(places.min()), int(places.max())) if places.size else (0, 0)
    # Of many counts those before the steps are only summed.
    totals = np.append(0, np.cumsum(counts[first:last])) + counts[:first].sum()
    return np.asarray(totals[places - first])


def _sum_below(at: IntArray, counts: IntArray, h: IntArray) -> FloatArray:
    """Return Σ counts · max(h − at, 0) for each h."""
    weights = np.concatenate(([0.0], np.cumsum(counts, dtype=np.float64)))
    moments = np.concatenate(([0.0], np.cumsum(at.astype(np.float64) * counts)))
    places = np.searchsorted(at, h)
    return np.asarray(h * weights[places] - moments[places])
