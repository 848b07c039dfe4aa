"""Session logs in memory: distinct rows with counts, and an account of what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sojourn._typing import ArrayLike, BoolArray, IntArray
from sojourn.laws import Sample, take_sample
from sojourn.laws._sample import Columns, sample_of

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
        columns: What was taken from which column: ("lengths", "steps"), …
    """

    n_rows: int = 0
    n_used: int = 0
    n_rejected: int = 0
    first_rejected: tuple[Rejection, ...] = ()
    notes: tuple[str, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()


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
        return sample_of(Columns(self.lengths, self.observed, self._late, self.counts))

    @property
    def _late(self) -> IntArray | None:
        """The entries, or None if all are 1."""
        return self.entry if (self.entry > 1).any() else None

    def only(self, group: int) -> Sample:
        """Return the sessions of one group as counts."""
        here = self.group == group
        late = None if self._late is None else self.entry[here]
        return sample_of(Columns(self.lengths[here], self.observed[here], late, self.counts[here]))


@dataclass(frozen=True)
class _Part:
    """Rows that differ, sorted, with their counts: 2 · length + observed, entry and group if they vary."""

    key: IntArray
    entry: IntArray | None
    group: IntArray | None
    counts: IntArray


class Tally:
    """Rows as they are read, those alike counted together."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []

    def add(self, lengths: IntArray, observed: BoolArray, entry: IntArray, group: IntArray) -> None:
        """Add rows that are good."""
        if not lengths.size:
            return
        self._parts.append(
            _alike(
                2 * lengths + observed,
                entry if (entry != 1).any() else None,
                group if group.any() else None,
                np.ones(lengths.size, dtype=np.int64),
            )
        )
        self._merge_last()

    def forget_groups(self) -> None:
        """Put all rows into one group."""
        self._parts = [_Part(part.key, part.entry, None, part.counts) for part in self._parts]

    def _merge_last(self) -> None:
        """Merge the last parts while they are of like size, so that each row is merged few times."""
        while len(self._parts) > 1 and self._parts[-2].key.size <= 2 * self._parts[-1].key.size:
            other, one = self._parts.pop(), self._parts.pop()
            self._parts.append(_merged(one, other))

    def log(self, labels: Sequence[str], account: Account, name: str) -> SessionLog:
        """Return the log, its groups numbered by size."""
        while len(self._parts) > 1:
            other, one = self._parts.pop(), self._parts.pop()
            self._parts.append(_merged(one, other))
        part = self._parts.pop()
        size = part.key.size
        entry = np.broadcast_to(np.int64(1), size) if part.entry is None else part.entry
        group = np.broadcast_to(np.int64(0), size) if part.group is None else part.group
        order = np.zeros(0, dtype=np.int64)
        if labels:
            sizes = np.bincount(group, part.counts, minlength=len(labels)).tolist()
            order = np.array(sorted(range(len(labels)), key=lambda i: (-sizes[i], labels[i])))
            group = np.argsort(order)[group]
        named = tuple(labels[i] for i in order.tolist())
        return SessionLog(part.key // 2, part.key % 2 == 1, entry, group, part.counts, named, account, name)


def _merged(one: _Part, other: _Part) -> _Part:
    both: list[IntArray | None] = []
    for mine, theirs, usual in ((one.entry, other.entry, 1), (one.group, other.group, 0)):
        if mine is None and theirs is None:
            both.append(None)
            continue
        sides = ((mine, one.key.size), (theirs, other.key.size))
        both.append(np.concatenate([np.full(n, usual) if column is None else column for column, n in sides]))
    key, counts = np.concatenate((one.key, other.key)), np.concatenate((one.counts, other.counts))
    return _alike(key, both[0], both[1], counts)


def _alike(key: IntArray, entry: IntArray | None, group: IntArray | None, counts: IntArray) -> _Part:
    """Return rows that differ, with the sums of their counts."""
    extras = [column for column in (group, entry) if column is not None]
    order = np.lexsort((*extras, key)) if extras else np.argsort(key, kind="stable")
    key = key[order]
    fresh = np.append(True, key[1:] != key[:-1])
    for column in extras:
        fresh[1:] |= np.diff(column[order]) != 0
    begins = np.flatnonzero(fresh)
    totals = np.add.reduceat(counts[order], begins)
    first = order[begins]
    return _Part(
        key[begins],
        None if entry is None else entry[first],
        None if group is None else group[first],
        totals,
    )
