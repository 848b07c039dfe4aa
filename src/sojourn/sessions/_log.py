"""Session logs in memory: distinct rows with counts, and an account of the rows that were not used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import cast

import numpy as np

from sojourn._typing import ArrayLike, BoolArray, IndexArray, IntArray
from sojourn.laws import MAX_STEP, Sample, take_sample
from sojourn.sessions._cards import log_card, log_text
from sojourn.sessions._row_counts import RowCounts
from sojourn.sessions._word_codes import WordCodes

__all__ = ["Account", "OpenRule", "Rejection", "SessionLog", "rejection_hints"]


@dataclass(frozen=True)
class Rejection:
    """A row that cannot be used.

    Attributes:
        row: Its line number in a CSV file, where the header is usually line 1; its row number in a table.
        rule: The rule that it breaks, without the content of the row.
        got: The offending content, shortened; never shown in a report.
    """

    row: int
    rule: str
    got: str = ""

    def __str__(self) -> str:
        return f"row {self.row}: {self.rule}" + (f"; got {self.got}." if self.got else ".")


_EMPTY = re.compile(r"'\s*(nan|nat|none|null|n/?a)?\s*'", re.IGNORECASE)
_EMPTY_END = (
    "An empty cell says neither that a session ended nor that it is open: write what other cells hold for "
    "the one or the other."
)

_HINTS = (
    (
        "must be a whole number ≥ 1",
        re.compile(r"'\s*0+(\.0*)?\s*'"),
        "Lengths count steps from 1 on. If yours count from 0, add 1 to all of them; if they are durations, "
        "say how long a step is (--step 1min), and a duration of 0 counts as one step.",
    ),
    (
        "must be a whole number ≥ 1",
        re.compile(
            r"'\s*\d*[.,]\d*[1-9]\d*\s*'|a number of .*|'.*\d:\d\d:\d\d.*'|'[\d. ]+[a-z]+\s*'|'\s*pt?\d.*'",
            re.IGNORECASE,
        ),
        "Lengths are whole numbers of steps: if they are durations, say how long a step is (--step 1min).",
    ),
    (
        "must be a whole number ≥",
        re.compile(r"'\s*\d{1,3}([.,’ ]\d{3})+\s*'"),
        "If they have thousands separators, leave these out.",
    ),
    (
        "must be a duration",
        re.compile(r"'\s*\d{1,3},\d{3}\s*'"),
        "A number such as 1,184 may have a decimal comma or a thousands separator: write it with a point, or "
        "without a separator.",
    ),
    (
        "must be at most",
        re.compile(r"\d+ and \d+"),
        "If the column of entries is not the step from which a session was seen, pass --entry none.",
    ),
    (
        "must be true or false",
        _EMPTY,
        _EMPTY_END,
    ),
    (
        "must not be empty, as it says which sessions ended",
        _EMPTY,
        _EMPTY_END,
    ),
    (
        "must be true or false",
        re.compile(rf"(?!{_EMPTY.pattern}$).*", re.IGNORECASE),
        "If another word or number means that a session was seen to end, name it: --ended 2, --ended "
        "churned.",
    ),
)
"""What may be the matter with a row: part of the rule that it breaks, what it holds, and a hint."""


def rejection_hints(rejections: Iterable[Rejection]) -> list[str]:
    """Return what may be the matter with rejected rows."""
    rows = list(rejections)
    return [
        hint
        for part, content, hint in _HINTS
        if any(part in one.rule and content.fullmatch(one.got) for one in rows)
    ]


@dataclass(frozen=True)
class Account:
    """How many rows of a file were used and rejected: `n_rows` = `n_used` + `n_rejected`.

    Attributes:
        n_rows: Rows in the file, without blank lines.
        n_used: Rows that could be used.
        n_rejected: Rows that could not be used.
        first_rejected: The first rejected rows.
        notes: Other notes about how the file was read.
        columns: Pairs of a meaning and the column it was read from, such as ("lengths", "steps").
        difference: In which way the rejected rows are unlike the others; empty if in none.
        rejected_sessions: Share of the sessions, or steps, that the rejected rows stand for; None without
            counts, or if some cannot be read.
    """

    n_rows: int = 0
    n_used: int = 0
    n_rejected: int = 0
    first_rejected: tuple[Rejection, ...] = ()
    notes: tuple[str, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()
    difference: str = ""
    rejected_sessions: float | None = None

    @property
    def hints(self) -> list[str]:
        """What may be the matter with the rejected rows."""
        return rejection_hints(self.first_rejected)


class OpenRule(Enum):
    """What an open session shows, and so how its length was counted."""

    REACHED = "a session of n steps reached step n; whether it went on is unknown, or was not asked"
    EVENTS = "a session of n steps reached step n; steps and events leave no other reading"
    SURVIVED = "a session of n steps went on after step n, and is counted as one of n + 1"
    DURATION = "a session survived each step of which half or more was seen"


@dataclass(frozen=True, eq=False)
class SessionLog:
    """A log of sessions: the length of each, whether it was seen to end, its entry step and its group.

    Equal rows are stored once with a count. Groups are numbered from 0, the largest group first. Their names
    in the log are in `labels`, which are printed only on request.

    Attributes:
        lengths: Number of steps of each session, `(m,)`.
        observed: Whether the session was seen to end there; if not, it may have continued, `(m,)`.
        entry: Step from which the session was under observation, `(m,)`.
        group: Number of the session's group, `(m,)`; all 0 if there are no groups.
        counts: Number of sessions with this row, `(m,)`.
        labels: Names of the groups in the log; empty if there are no groups.
        account: How many rows of the file were used and rejected.
        name: Name of the source of the log.
        open_rule: What an open session of n steps shows.
    """

    lengths: IntArray
    observed: BoolArray
    entry: IntArray
    group: IndexArray
    counts: IntArray
    labels: tuple[str, ...] = ()
    account: Account = Account()
    name: str = "sessions"
    open_rule: OpenRule = OpenRule.REACHED

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
        """Build a log from columns in memory; see `sojourn.fit` for their rules.

        Example:
            >>> log = SessionLog.from_columns([3, 1, 3, 8], [True, True, True, False])
            >>> len(log), log.n_open, log.lengths
            (4, 1, array([1, 3, 8]))
        """
        sample = take_sample(lengths, observed, entry=entry)  # checks the columns
        column = np.asarray(lengths).astype(np.int64)
        seen = np.ones(column.size, dtype=bool) if observed is None else np.asarray(observed).astype(bool)
        began = None if entry is None else np.asarray(entry).astype(np.int64)
        labels: tuple[str, ...] = ()
        codes: IntArray | None = None
        if group is not None:
            if len(group) != column.size:
                raise ValueError(
                    f"group must be as many as lengths; got {len(group)} groups for {column.size} lengths."
                )
            words = WordCodes()
            labels, codes = words.sorted([words.code(str(one)) for one in group])
        rows = RowCounts()
        rows.add(column, seen, began, codes)
        return cls.from_counts(rows, labels, Account(sample.n, sample.n), name)

    def with_open_sessions_one_longer(self) -> SessionLog:
        """Return the log in which an open session of n steps was seen to go on after step n: H ≥ n + 1."""
        lengths = np.minimum(self.lengths + ~self.observed, MAX_STEP)
        return replace(self, lengths=lengths, open_rule=OpenRule.SURVIVED)

    def __repr__(self) -> str:
        return log_text(self)

    def _repr_html_(self) -> str:
        return log_card(self)

    def __len__(self) -> int:
        return int(self.counts.sum())

    @property
    def n_open(self) -> int:
        """Number of sessions that were not seen to end."""
        return int(self.counts[~self.observed].sum())

    @property
    def longest(self) -> int:
        """The largest length, including open sessions."""
        return int(self.lengths.max())

    @property
    def n_groups(self) -> int:
        """Number of groups; 0 if the log has none."""
        return len(self.labels)

    @property
    def sample(self) -> Sample:
        """The sessions as counts of lengths, for fits and confidence bands."""
        return Sample.from_checked_columns(self.lengths, self.observed, self._late_entries, self._repeats)

    @property
    def _late_entries(self) -> IntArray | None:
        """The entry steps, or None if all are 1."""
        return self.entry if (self.entry > 1).any() else None

    @property
    def _repeats(self) -> IntArray | None:
        """The counts, or None if all are 1."""
        return self.counts if (self.counts > 1).any() else None

    def samples_by_group(self, groups: Iterable[int]) -> Iterator[Sample]:
        """Yield the sessions of each group as counts of lengths."""
        late, counts = self._late_entries, self._repeats
        for group in groups:
            here = self.group == group
            entry, repeated = (None if column is None else column[here] for column in (late, counts))
            yield Sample.from_checked_columns(self.lengths[here], self.observed[here], entry, repeated)

    @classmethod
    def from_counts(
        cls,
        rows: RowCounts,
        labels: Sequence[str],
        account: Account,
        name: str,
        open_rule: OpenRule = OpenRule.REACHED,
    ) -> SessionLog:
        """Build a log from counted rows, with groups renumbered by size; releases the counts.

        Without entries, which are 0 then, all sessions were seen from their first step.
        """
        distinct = rows.take_rows()
        entry = distinct.entry if distinct.entry[0] else np.broadcast_to(np.int64(1), distinct.entry.size)
        order, group = np.zeros(0, dtype=np.int64), cast(IndexArray, distinct.group)
        if labels:
            sizes = np.bincount(group, distinct.counts, minlength=len(labels)).tolist()
            order = np.array(sorted(range(len(labels)), key=lambda i: (-sizes[i], labels[i])))
            group = np.argsort(order).astype(np.min_scalar_type(-len(labels)))[group]
        named = tuple(labels[i] for i in order.tolist())
        columns = (distinct.lengths, distinct.observed, entry, group, distinct.counts)
        return cls(*columns, named, account, name, open_rule)
