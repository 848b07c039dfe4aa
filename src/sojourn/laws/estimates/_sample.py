"""Rows of lengths as counts of distinct values: the common input of fits, Kaplan–Meier and bands."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sojourn._typing import ArrayLike, BoolArray, FloatArray, IntArray
from sojourn.laws._checks import check_column, check_flags
from sojourn.laws.estimates._empirical import add_up, tally

__all__ = ["Columns", "Sample", "check_columns", "take_sample"]

MAX_DISTINCT = 1 << 15
"""Fits merge neighboring values only if there are more distinct ones than this."""


@dataclass(frozen=True)
class Columns:
    """Validated columns, `(n,)` each; `entry` and `counts` are None if all their values are 1."""

    lengths: IntArray
    observed: BoolArray
    entry: IntArray | None
    counts: IntArray | None


@dataclass(frozen=True)
class Sample:
    """Lengths as distinct values in increasing order, with counts; observed and censored ones separately.

    An observed length n was at risk of ending at steps entry … n and ended at n. A censored length n means
    H ≥ n; it was at risk at steps entry … n − 1.

    Attributes:
        ends: Distinct observed lengths, `(e,)`.
        end_counts: Number of rows with each of them, `(e,)`.
        censored: Distinct censored lengths, `(c,)`.
        censored_counts: Number of rows with each of them, `(c,)`.
        entries: Distinct steps at which rows came under observation, `(s,)`.
        entry_counts: Number of rows that came under observation at each of these steps, `(s,)`.
    """

    ends: IntArray
    end_counts: IntArray
    censored: IntArray
    censored_counts: IntArray
    entries: IntArray
    entry_counts: IntArray

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
        censored = _tally(lengths[~observed], None if counts is None else counts[~observed])
        if entry is not None:
            return cls(*ends, *censored, *_tally(entry, counts))
        n = lengths.size if counts is None else int(counts.sum())
        return cls(*ends, *censored, np.ones(1, dtype=np.int64), np.array([n]))

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.entry_counts.sum())

    @property
    def n_observed(self) -> int:
        """Number of rows that were observed to end."""
        return int(self.end_counts.sum())

    @property
    def longest(self) -> int:
        """The largest length, observed or not."""
        return int(max(values[-1] for values in (self.ends, self.censored) if values.size))

    @property
    def is_complete(self) -> bool:
        """Whether every row was observed from its first step to its end."""
        return not self.censored.size and int(self.entries[-1]) == 1

    @property
    def steps_survived(self) -> float:
        """Number of steps at risk that were survived, over all rows: Σ (n − 1) − (entry − 1)."""
        parts = (
            (self.ends, self.end_counts, 1.0),
            (self.censored, self.censored_counts, 1.0),
            (self.entries, self.entry_counts, -1.0),
        )
        return float(sum(sign * np.dot(at - 1.0, counts) for at, counts, sign in parts))

    def thinned(self, most: int = MAX_DISTINCT) -> Sample:
        """Return a sample with at most `most` distinct values of each kind, or itself if it has no more.

        Neighboring large values are merged at their mean; small values are never merged. By default, values
        up to a few hundred steps stay unchanged and larger ones are merged if they differ by less than two in
        a thousand. That changes an estimate by about a millionth, far less than its standard error.
        """
        if max(self.ends.size, self.censored.size, self.entries.size) <= most:
            return self
        return Sample(
            *_thin(self.ends, self.end_counts, most),
            *_thin(self.censored, self.censored_counts, most),
            *_thin(self.entries, self.entry_counts, most),
        )

    def kept_at_risk(self) -> Sample:
        """Return the same rows with a censored length n at risk at step n too."""
        return replace(self, censored=self.censored + 1)

    def at_risk(self, h: IntArray) -> IntArray:
        """Return the number of rows that were at risk of ending at each step."""
        return (
            _total_below(self.entries, self.entry_counts, h, side="right")
            - _total_below(self.ends, self.end_counts, h, side="left")
            - _total_below(self.censored, self.censored_counts, h, side="right")
        )

    def exposure(self, h: IntArray) -> FloatArray:
        """Return the number of steps at risk up to step h, summed over rows: Σ_{j≤h} of `at_risk`."""
        return (
            _sum_below(self.entries - 1, self.entry_counts, h)
            - _sum_below(self.ends, self.end_counts, h)
            - _sum_below(self.censored - 1, self.censored_counts, h)
        )

    def ended_by(self, h: IntArray) -> IntArray:
        """Return the number of rows that were observed to end at step h or before."""
        return _total_below(self.ends, self.end_counts, h, side="right")

    def survival_terms(self) -> tuple[FloatArray, FloatArray]:
        """Return the steps h and weights w of the terms w·ln γ(h) of the log-likelihood.

        Each censored row at step h adds 1 to the weight, and each row that entered at step h subtracts 1.
        """
        steps = np.concatenate((self.censored, self.entries))
        distinct, places = np.unique(steps, return_inverse=True)
        weights = np.bincount(
            places, np.concatenate((self.censored_counts, -self.entry_counts)), minlength=distinct.size
        )
        some = (distinct > 1) & (weights != 0.0)  # ln γ(1) is 0
        return distinct[some].astype(np.float64), weights[some]


def take_sample(
    lengths: ArrayLike,
    observed: ArrayLike | None = None,
    *,
    entry: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> Sample:
    """Validate columns of rows and count them; by default all rows are observed, from step 1 on."""
    columns = check_columns(lengths, observed, entry=entry, counts=counts)
    return Sample.from_checked_columns(columns.lengths, columns.observed, columns.entry, columns.counts)


def check_columns(
    lengths: ArrayLike,
    observed: ArrayLike | None = None,
    *,
    entry: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> Columns:
    """Validate columns of equal size; the error says in one line what is wrong."""
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
    """Merge neighboring values at their mean if there are more than `most`."""
    if at.size <= most:
        return at, counts
    edges = np.unique(np.geomspace(1.0, float(at[-1]) + 1.0, most).round())
    begins = np.unique(np.searchsorted(at, edges))
    begins = begins[begins < at.size]
    totals = np.add.reduceat(counts, begins)
    means = np.add.reduceat(at.astype(np.float64) * counts, begins) / totals
    return means.round().astype(np.int64), totals


def _total_below(at: IntArray, counts: IntArray, h: IntArray, *, side: str) -> IntArray:
    """Return the count of values below each step (side "left"), or at or below it ("right")."""
    places = np.searchsorted(at, h, side="left" if side == "left" else "right")
    first, last = (int(places.min()), int(places.max())) if places.size else (0, 0)
    # Counts before the first step of interest are only summed, not accumulated.
    totals = np.append(0, np.cumsum(counts[first:last])) + counts[:first].sum()
    return np.asarray(totals[places - first])


def _sum_below(at: IntArray, counts: IntArray, h: IntArray) -> FloatArray:
    """Return Σ counts · max(h − at, 0) for each h."""
    weights = np.concatenate(([0.0], np.cumsum(counts, dtype=np.float64)))
    moments = np.concatenate(([0.0], np.cumsum(at.astype(np.float64) * counts)))
    places = np.searchsorted(at, h)
    return np.asarray(h * weights[places] - moments[places])
