"""Session logs in memory: distinct rows with counts, and an account of what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sojourn._typing import ArrayLike, BoolArray, IntArray
from sojourn.laws import Sample, take_sample

__all__ = ["Account", "Rejection", "SessionLog", "Tally"]


@dataclass(frozen=True)
class Rejection:
    """A row that cannot be used.

    Attributes:
        row: Its number: the line in a CSV file, whose names are usually line 1; the row in a table, from 1.
        rule: What it breaks, without what stands in it.
        got: What stands in it, cut short; never in a report.
    """

    row: int
    rule: str
    got: str = ""

    def __str__(self) -> str:
        return f"row {self.row}: {self.rule}" + (f"; got {self.got}." if self.got else ".")


@dataclass(frozen=True)
class Account:
    """Where a log's rows went: `n_rows` = `n_used` + `n_rejected`.

    Attributes:
        n_rows: Rows in the file; blank lines are none.
        n_used: Rows that could be used.
        n_rejected: Rows that could not.
        first_rejected: The first of these.
        notes: What else should be known about how the file was read.
    """

    n_rows: int = 0
    n_used: int = 0
    n_rejected: int = 0
    first_rejected: tuple[Rejection, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class SessionLog:
    """Sessions: how long each was, whether it was seen to end, from which step it was seen, and its group.

    Rows that are alike are kept once, with their number. Groups are numbers only, the largest group first:
    what a log calls them is in `labels`, which nothing prints unless it is asked to.

    Attributes:
        lengths: Steps of each session, `(m,)`.
        observed: Whether it was seen to end there; otherwise it may have gone on, `(m,)`.
        entry: Step from which it was under observation, `(m,)`.
        group: Which group it belongs to, `(m,)`; all 0 where there are none.
        counts: How many such sessions there are, `(m,)`.
        labels: What the groups are called in the log; empty where there are none.
        account: Where the rows of the file went.
        name: Where the log came from.
    """

    lengths: IntArray
    observed: BoolArray
    entry: IntArray
    group: IntArray
    counts: IntArray
    labels: tuple[str, ...] = ()
    account: Account = Account()
    name: str = "sessions"

    @classmethod
    def from_columns(
        cls,
        lengths: ArrayLike,
        observed: ArrayLike | None = None,
        *,
        entry: ArrayLike | None = None,
        group: Sequence[object] | None = None,
        name: str = "sessions",
    ) -> SessionLog:
        """Return a log from columns in memory; see `sojourn.fit` for what they must be.

        Example:
            >>> log = SessionLog.from_columns([3, 1, 3, 8], [True, True, True, False])
            >>> len(log), log.n_open, log.lengths
            (4, 1, array([1, 3, 8]))
        """
        sample = take_sample(lengths, observed, entry=entry)  # refuses what is wrong
        column = np.asarray(lengths).astype(np.int64)
        seen = np.ones(column.size, dtype=bool) if observed is None else np.asarray(observed).astype(bool)
        began = np.ones(column.size, dtype=np.int64) if entry is None else np.asarray(entry).astype(np.int64)
        words, codes = np.zeros(0, dtype=np.str_), np.zeros(column.size, dtype=np.int64)
        if group is not None:
            if len(group) != column.size:
                raise ValueError(
                    f"group must be as many as lengths; got {len(group)} groups for {column.size} lengths."
                )
            words, codes = np.unique([str(one) for one in group], return_inverse=True)
        tally = Tally()
        tally.add(column, seen, began, codes)
        return tally.log([str(word) for word in words], Account(sample.n, sample.n), name)

    def __len__(self) -> int:
        return int(self.counts.sum())

    @property
    def n_open(self) -> int:
        """How many sessions were not seen to end."""
        return int(self.counts[~self.observed].sum())

    @property
    def n_groups(self) -> int:
        """How many groups there are; 0 where the log has none."""
        return len(self.labels)

    @property
    def sample(self) -> Sample:
        """The sessions as counts, for fits and bands."""
        return take_sample(self.lengths, self.observed, entry=self.entry, counts=self.counts)

    def only(self, group: int) -> Sample:
        """Return the sessions of one group as counts."""
        here = self.group == group
        return take_sample(
            self.lengths[here], self.observed[here], entry=self.entry[here], counts=self.counts[here]
        )


class Tally:
    """Rows as they are read, those alike counted together."""

    def __init__(self) -> None:
        self._parts: list[IntArray] = []
        self._size = 0

    def add(self, lengths: IntArray, observed: BoolArray, entry: IntArray, group: IntArray) -> None:
        """Add rows that are good."""
        if not lengths.size:
            return
        rows = np.stack((lengths, observed.astype(np.int64), entry, group))
        self._parts.append(_alike(rows, np.ones(lengths.size, dtype=np.int64)))
        self._size += self._parts[-1].shape[1]
        if self._size > 4 * self._parts[0].shape[1] + 1_000_000:
            self._merge()

    def forget_groups(self) -> None:
        """Put all rows into one group."""
        for part in self._parts:
            part[3] = 0

    def _merge(self) -> IntArray:
        if len(self._parts) > 1:
            together = np.concatenate(self._parts, axis=1)
            self._parts = [_alike(together[:-1], together[-1])]
        self._size = self._parts[0].shape[1] if self._parts else 0
        return self._parts[0] if self._parts else np.zeros((5, 0), dtype=np.int64)

    def log(self, labels: Sequence[str], account: Account, name: str) -> SessionLog:
        """Return the log, its groups numbered by size."""
        lengths, observed, entry, group, counts = self._merge()
        sizes = np.bincount(group, counts, minlength=len(labels)) if labels else np.zeros(0)
        order = np.argsort(-sizes, kind="stable")
        if labels:
            place = np.empty(order.size, dtype=np.int64)
            place[order] = np.arange(order.size)
            group = place[group]
        named = tuple(labels[i] for i in order.tolist())
        return SessionLog(lengths, observed == 1, entry, group, counts, named, account, name)


def _alike(rows: IntArray, counts: IntArray) -> IntArray:
    """Return distinct columns of `rows`, `(4, n)`, with the sum of their counts below, `(5, m)`."""
    key = 2 * rows[0] + rows[1]
    for extra in rows[2:]:
        if np.any(extra != extra[0]):
            key = np.unique(key, return_inverse=True)[1]
            words, places = np.unique(extra, return_inverse=True)
            key = key * words.size + places
    _, first, where = np.unique(key, return_index=True, return_inverse=True)
    totals = np.zeros(first.size, dtype=np.int64)
    np.add.at(totals, where, counts)
    return np.concatenate((rows[:, first], totals[None, :]))
