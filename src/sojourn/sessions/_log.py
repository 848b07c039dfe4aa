"""Session logs in memory: distinct rows with counts, and an account of what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from sojourn._typing import ArrayLike, BoolArray, IndexArray, IntArray
from sojourn.laws import Sample, take_sample
from sojourn.sessions.reading._row_counts import Tally
from sojourn.sessions.reading._word_numbers import Numbering

__all__ = ["Account", "Rejection", "SessionLog"]


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
    group: IndexArray
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
        labels: tuple[str, ...] = ()
        codes = np.zeros(column.size, dtype=np.int64)
        if group is not None:
            if len(group) != column.size:
                raise ValueError(
                    f"group must be as many as lengths; got {len(group)} groups for {column.size} lengths."
                )
            words = Numbering()
            labels, codes = words.sorted([words.code(str(one)) for one in group])
        tally = Tally()
        tally.add(column, seen, began, codes)
        return cls.from_tally(tally, labels, Account(sample.n, sample.n), name)

    def __len__(self) -> int:
        return int(self.counts.sum())

    @property
    def n_open(self) -> int:
        """How many sessions were not seen to end."""
        return int(self.counts[~self.observed].sum())

    @property
    def longest(self) -> int:
        """The largest length, of an open session too."""
        return int(self.lengths.max())

    @property
    def n_groups(self) -> int:
        """How many groups there are; 0 where the log has none."""
        return len(self.labels)

    @property
    def sample(self) -> Sample:
        """The sessions as counts, for fits and bands."""
        return Sample.from_checked_columns(self.lengths, self.observed, self._late, self._repeated)

    @property
    def _late(self) -> IntArray | None:
        """The entries, or None if all are 1."""
        return self.entry if (self.entry > 1).any() else None

    @property
    def _repeated(self) -> IntArray | None:
        """The counts, or None if all are 1."""
        return self.counts if (self.counts > 1).any() else None

    def only(self, groups: Iterable[int]) -> Iterator[Sample]:
        """Yield the sessions of groups as counts."""
        late, counts = self._late, self._repeated
        for group in groups:
            here = self.group == group
            entry, repeated = (None if column is None else column[here] for column in (late, counts))
            yield Sample.from_checked_columns(self.lengths[here], self.observed[here], entry, repeated)

    @classmethod
    def from_tally(cls, tally: Tally, labels: Sequence[str], account: Account, name: str) -> SessionLog:
        """Return the log of counted rows, its groups numbered anew by size; the tally is empty then."""
        rows = tally.rows()
        order, group = np.zeros(0, dtype=np.int64), cast(IndexArray, rows.group)
        if labels:
            sizes = np.bincount(group, rows.counts, minlength=len(labels)).tolist()
            order = np.array(sorted(range(len(labels)), key=lambda i: (-sizes[i], labels[i])))
            group = np.argsort(order).astype(np.min_scalar_type(-len(labels)))[group]
        named = tuple(labels[i] for i in order.tolist())
        return cls(rows.lengths, rows.observed, rows.entry, group, rows.counts, named, account, name)
