"""Keeping count while a log is read: rows used, rows rejected, groups as they appear."""

from __future__ import annotations

import hashlib
import heapq

import numpy as np

from sojourn._typing import BoolArray, IntArray
from sojourn.sessions._log import Account, Rejection, SessionLog
from sojourn.sessions.reading._columns import Columns
from sojourn.sessions.reading._row_counts import Tally

__all__ = ["FirstRejected", "Ledger"]

_MOST_GROUPS = 1000
_MOST_IN_A_LABEL = 80
_NAMED = 5
"""How many of the rejected rows are named."""


class FirstRejected:
    """The rejected rows with the smallest numbers, in whatever order they come, and how many there are."""

    def __init__(self) -> None:
        self.n = 0
        self._kept: list[tuple[int, int, Rejection]] = []
        """A heap with the largest row on top; of one row, what was said first counts."""

    def add(self, row: int, rule: str, got: str = "") -> None:
        """Note that a row cannot be used."""
        self.n += 1
        item = (-row, -self.n, Rejection(row, rule, got))
        if len(self._kept) < _NAMED:
            heapq.heappush(self._kept, item)
        else:
            heapq.heappushpop(self._kept, item)

    def named(self) -> tuple[Rejection, ...]:
        """Return them by row."""
        return tuple(one for *_, one in sorted(self._kept, reverse=True))


class Ledger:
    """What has been read of a log so far."""

    def __init__(self, columns: Columns) -> None:
        self._columns, self._tally = columns, Tally()
        self._n_rows = self._n_used = 0
        self._rejected = FirstRejected()
        self._groups: dict[str, int] = {}
        self._notes: list[str] = []

    def reject(self, row: int, rule: str, got: str = "") -> None:
        """Note that a row cannot be used; it must be counted with `count` or `add` as well."""
        self._rejected.add(row, rule, got)

    def count(self, rows: int) -> None:
        """Count rows, good or bad."""
        self._n_rows += rows

    def refuse_late(self, entry: IntArray, lengths: IntArray, rows: IntArray, good: BoolArray) -> None:
        """Reject rows that entered after their end."""
        columns = self._columns
        rule = f"{columns.name(columns.entry)} must be at most {columns.name(columns.length)}"
        for i in np.flatnonzero(good & (entry > lengths)).tolist():
            good[i] = False
            self.reject(int(rows[i]), rule, f"{entry[i]} and {lengths[i]}")

    def add(
        self, lengths: IntArray, observed: BoolArray, entry: IntArray, group: IntArray, *, good: BoolArray
    ) -> None:
        """Count rows, and use those that are good."""
        self._n_rows += good.size
        self._n_used += int(good.sum())
        self._tally.add(lengths[good], observed[good], entry[good], group[good])

    def code(self, label: str) -> int:
        """Return the number of a group; 0 once there are too many of them."""
        if self._notes:
            return 0
        number = self._groups.setdefault(_short(label), len(self._groups))
        if number >= _MOST_GROUPS:
            name = self._columns.name(self._columns.group)
            self._notes.append(
                f"The column {name!r} has over {_MOST_GROUPS:,} values, too many for groups; it is left out."
            )
            self._groups.clear()
        return number

    def log(self, source: str) -> SessionLog:
        """Return the log of all that was read, or refuse one that has not a single good row."""
        first = self._rejected.named()
        if not self._n_used:
            why = f"all {self._n_rows:,} are rejected, {first[0]}" if first else "it has names only."
            raise ValueError(f"{source} must have a row that can be used: {why}")
        if self._notes:
            self._tally.forget_groups()
        columns = self._columns
        notes = (*columns.notes, *self._notes)
        account = Account(self._n_rows, self._n_used, self._rejected.n, first, notes, columns.used)
        return SessionLog.from_tally(self._tally, list(self._groups), account, source)


def _short(label: str) -> str:
    """Return a label; of a long one the beginning, and a hash that tells it from others that begin alike."""
    if len(label) <= _MOST_IN_A_LABEL:
        return label
    digest = hashlib.blake2b(label.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return f"{label[:_MOST_IN_A_LABEL]}… ({digest})"
