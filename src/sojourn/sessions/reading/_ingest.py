"""Builds a session log row by row: counts rows, remembers rejections, numbers groups."""

from __future__ import annotations

import hashlib
import heapq

import numpy as np

from sojourn._typing import BoolArray, IntArray
from sojourn.laws import MAX_STEP
from sojourn.sessions._log import Account, Rejection, SessionLog
from sojourn.sessions.reading._columns import ColumnMap
from sojourn.sessions.reading._row_counts import RowCounts

__all__ = ["FirstRejections", "LogBuilder"]

_MAX_GROUPS = 1000
_MAX_LABEL_CHARACTERS = 80

_MAX_NAMED = 5
"""Number of rejected rows that are named in messages."""


class FirstRejections:
    """The number of rejected rows, and those with the smallest row numbers, added in any order."""

    def __init__(self) -> None:
        self.n = 0
        self._kept: list[tuple[int, int, Rejection]] = []
        """A heap with the largest row number on top. For one row, the first reason counts."""

    def add(self, row: int, rule: str, got: str = "") -> None:
        """Add a row that cannot be used."""
        self.n += 1
        item = (-row, -self.n, Rejection(row, rule, got))
        if len(self._kept) < _MAX_NAMED:
            heapq.heappush(self._kept, item)
        else:
            heapq.heappushpop(self._kept, item)

    def first(self) -> tuple[Rejection, ...]:
        """Return the first rejections, sorted by row number."""
        return tuple(one for *_, one in sorted(self._kept, reverse=True))


class LogBuilder:
    """Collects the rows of a log while it is read."""

    def __init__(self, columns: ColumnMap) -> None:
        self._columns, self._counts = columns, RowCounts()
        self._n_rows = self._n_used = 0
        self._n_sessions = 0.0
        self._rejected = FirstRejections()
        self._groups: dict[str, int] = {}
        self._notes: list[str] = []

    def reject(self, row: int, rule: str, got: str = "") -> None:
        """Record that a row cannot be used; the row must also be counted by `count` or `add`."""
        self._rejected.add(row, rule, got)

    def count(self, rows: int) -> None:
        """Count rows, valid or not."""
        self._n_rows += rows

    def reject_late_entries(
        self, entry: IntArray, lengths: IntArray, rows: IntArray, good: BoolArray
    ) -> None:
        """Reject sessions whose entry is after their last step; clears their flags in `good`."""
        columns = self._columns
        rule = f"{columns.name(columns.entry)} must be at most {columns.name(columns.length)}"
        for i in np.flatnonzero(good & (entry > lengths)).tolist():
            good[i] = False
            self.reject(int(rows[i]), rule, f"{entry[i]} and {lengths[i]}")

    def add(
        self,
        lengths: IntArray,
        observed: BoolArray,
        entry: IntArray,
        group: IntArray,
        *,
        good: BoolArray,
        counts: IntArray | None = None,
    ) -> None:
        """Count rows, and add those that are good to the log, once or as often as `counts` says."""
        self._n_rows += good.size
        self._n_used += int(good.sum())
        repeated = None if counts is None else counts[good]
        self._n_sessions += float(good.sum() if repeated is None else repeated.sum(dtype=np.float64))
        if self._n_sessions > MAX_STEP:
            raise ValueError(f"All rows together must stand for at most {MAX_STEP:,} sessions; got more.")
        self._counts.add(lengths[good], observed[good], entry[good], group[good], repeated)

    def group_code(self, label: str) -> int:
        """Return the integer code of a group; 0 once there are too many groups."""
        if self._notes:
            return 0
        code = self._groups.setdefault(_shorten(label), len(self._groups))
        if code >= _MAX_GROUPS:
            name = self._columns.name(self._columns.group)
            self._notes.append(
                f"The column {name!r} has over {_MAX_GROUPS:,} values, too many for groups; it is not used."
            )
            self._groups.clear()
        return code

    def build(self, source: str) -> SessionLog:
        """Return the log.

        Raises:
            ValueError: If not a single row can be used.
        """
        first = self._rejected.first()
        if not self._n_used:
            why = f"all {self._n_rows:,} are rejected, {first[0]}" if first else "it has only a header row."
            raise ValueError(f"{source} must have a row that can be used: {why}")
        if self._notes:
            self._counts.drop_groups()
        columns = self._columns
        notes = (*columns.notes, *self._notes)
        account = Account(self._n_rows, self._n_used, self._rejected.n, first, notes, columns.used)
        return SessionLog.from_counts(self._counts, list(self._groups), account, source)


def _shorten(label: str) -> str:
    """Return a label; a long one is cut and gets a hash, which keeps labels with the same start apart."""
    if len(label) <= _MAX_LABEL_CHARACTERS:
        return label
    digest = hashlib.blake2b(label.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return f"{label[:_MAX_LABEL_CHARACTERS]}… ({digest})"
