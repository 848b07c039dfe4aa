"""Reads rows that are sessions: checks their cells, numbers their groups and counts equal rows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.laws import MAX_STEP
from sojourn.sessions._log import SessionLog
from sojourn.sessions.reading._names import (
    ColumnMap,
    ColumnNames,
    find_session_columns,
    notes_on_two_values,
)
from sojourn.sessions.reading._rejected_rows import RejectedRows
from sojourn.sessions.reading._row_counts import RowCounts
from sojourn.sessions.reading._rows import Column, RowReader
from sojourn.sessions.reading._times import (
    DURATION_RULE,
    TIME_RULE,
    duration_words,
    durations,
    steps_in,
    times,
)

__all__ = ["SessionRows"]

_MAX_GROUPS = 1000
_MAX_LABEL_CHARACTERS = 80


class SessionRows(RowReader):
    """Collects the sessions of one or more files."""

    def __init__(self, wanted: ColumnNames) -> None:
        super().__init__()
        self._wanted, self.headerless = wanted, not wanted.names_any
        self._columns = ColumnMap({})
        self._used: dict[tuple[str, str], None] = {}
        self._counts, self._n_used, self._n_sessions = RowCounts(), 0, 0.0
        self._unused = RejectedRows()
        self._from_zero = RowCounts()
        """Rows with entry 0, which counts the steps before a session was seen."""
        self._groups: dict[str, int] = {}
        self._has_groups: dict[bool, str] = {}
        self._too_many_groups = False
        self._latest = -np.inf
        self._without_end: list[tuple[FloatArray, IntArray, IntArray, IntArray]] = []
        """Starts, entries, groups and counts of sessions without an end, which are open."""

    def locate(self, names: Sequence[str], source: str) -> dict[str, int]:
        """Return the indices of the columns, by what they hold."""
        return find_session_columns(names, self._wanted, source).indices

    def begin(self, names: Sequence[str], source: str, first_rows: Sequence[Sequence[str]]) -> list[int]:
        """Begin a file or table, and make notes on columns that are not used; see `RowReader`."""
        wanted = super().begin(names, source, first_rows)
        self._columns = columns = find_session_columns(self.names, self._wanted, self._source)
        notes = list(columns.notes)
        if not {"observed", "end"} & columns.indices.keys() and self._wanted.observed is None:
            notes += notes_on_two_values(self.names, columns.indices.values(), first_rows)
        if self._wanted.step is not None:
            notes.append(
                f"Lengths are the number of steps of {duration_words(self._wanted.step)} that a session "
                "began: durations are rounded up."
            )
        self._notes |= dict.fromkeys(notes)
        self._used |= dict.fromkeys(columns.used(self.names))
        self._has_groups["group" in columns.indices] = self._source
        if len(self._has_groups) > 1:
            raise ValueError(
                f"All files must have groups, or none (pass 'none' for no groups); {self._has_groups[True]} "
                f"has some, {self._has_groups[False]} has none."
            )
        return wanted

    def feed(self, columns: Mapping[int, Column], rows: IntArray) -> None:
        """Read a batch of sessions."""
        given = {what: columns[at] for what, at in self._columns.indices.items()}
        names = {what: self.names[at] for what, at in self._columns.indices.items()}
        good, ones = np.ones(rows.size, dtype=bool), np.ones(rows.size, dtype=np.int64)
        starts, has_end = np.zeros(0), ones > 0
        if "start" in given:
            lengths, starts, has_end = self._lengths_between(given, names, rows, good)
        elif self._wanted.step is not None:
            seconds, known = durations(given["length"])
            self._check_cells(known, f"{names['length']} {DURATION_RULE}", rows, good)
            fits = seconds <= MAX_STEP * self._wanted.step
            self._check_cells(fits, f"{names['length']} must be at most {MAX_STEP:,} steps", rows, good)
            lengths = steps_in(np.where(fits, seconds, 0.0), self._wanted.step)
        else:
            lengths = self._wholes(given["length"], names["length"], rows, good)
        observed = has_end
        if "observed" in given:
            flags = self._flags(given["observed"], names["observed"], rows, good, self._columns.ended)
            observed = (flags != self._columns.is_open) & has_end
        entry, counts = ones, None
        if "entry" in given:
            entry = self._wholes(given["entry"], names["entry"], rows, good, least=0)
            late = good & (entry > lengths) & has_end
            for i in np.flatnonzero(late).tolist():
                rule = f"{names['entry']} must be at most {names.get('length', names.get('end'))}"
                self._reject(int(rows[i]), rule, f"{entry[i]} and {lengths[i]}")
            good &= ~late
        if "count" in given:
            counts = self._wholes(given["count"], names["count"], rows, good)
        group = ones - 1 if "group" not in given else self._group_codes(given["group"], good)
        for i in np.flatnonzero(~good).tolist():
            n = 1 if counts is None else max(int(counts[i]), 1)
            length = given["length"].cell(i) if "length" in given and self._wanted.step is None else None
            has_entry = "entry" not in given or not _is_empty(given["entry"].cell(i))
            self._unused.add(n, length, has_entry=has_entry)
        self._n_rows += rows.size
        self._n_used += int(good.sum())
        self._n_sessions += float(good.sum() if counts is None else counts[good].sum(dtype=np.float64))
        self._check_total(self._n_sessions)
        if not has_end.all():
            late_end = good & ~has_end
            repeated = ones if counts is None else counts
            self._without_end.append((starts[late_end], entry[late_end], group[late_end], repeated[late_end]))
            good = good & has_end
        self._add(
            lengths[good], observed[good], entry[good], group[good], None if counts is None else counts[good]
        )

    def _add(
        self,
        lengths: IntArray,
        observed: BoolArray,
        entry: IntArray,
        group: IntArray,
        counts: IntArray | None,
    ) -> None:
        """Count valid rows, those with entry 0 separately."""
        for rows, here in ((self._counts, entry > 0), (self._from_zero, entry == 0)):
            if here.all():
                rows.add(lengths, observed, np.maximum(entry, 1), group, counts)
            elif here.any():
                repeated = None if counts is None else counts[here]
                rows.add(lengths[here], observed[here], np.maximum(entry[here], 1), group[here], repeated)

    def _lengths_between(
        self, given: Mapping[str, Column], names: Mapping[str, str], rows: IntArray, good: BoolArray
    ) -> tuple[IntArray, FloatArray, BoolArray]:
        """Return the steps between starts and ends, the starts, and which sessions have an end."""
        starts, known = times(given["start"])
        self._check_cells(known, f"{names['start']} {TIME_RULE}", rows, good)
        ends, known = times(given["end"])
        words, where = given["end"].words()
        empty = np.array([not word.strip() or word.strip().lower() in _NOTHING for word in words])[where]
        self._check_cells(known | empty, f"{names['end']} {TIME_RULE}", rows, good)
        backward = good & known & (ends < starts)
        for i in np.flatnonzero(backward).tolist():
            self._reject(int(rows[i]), f"{names['end']} must not be before {names['start']}")
        good &= ~backward
        usable = good & known
        for seen in (starts[good], ends[usable]):
            self._latest = max(self._latest, float(seen.max(initial=-np.inf)))
        lengths = np.ones(rows.size, dtype=np.int64)
        lengths[usable] = steps_in((ends - starts)[usable], self._wanted.step or 1.0)
        return lengths, starts, np.asarray(known | ~empty)

    def _check_cells(self, known: BoolArray, rule: str, rows: IntArray, good: BoolArray) -> None:
        """Reject the rows whose cell is not known; clears `good` for them."""
        for i in np.flatnonzero(~known & good).tolist():
            self._reject(int(rows[i]), rule)
        good &= known

    def _group_codes(self, column: Column, good: BoolArray) -> IntArray:
        """Return the groups in a column as integer codes; only labels of good rows are numbered."""
        words, where = column.words()
        codes = np.zeros(len(words), dtype=np.int64)
        for i in np.unique(where[good]).tolist():
            codes[i] = self._group_code(words[i].strip())
        return np.asarray(codes[where])

    def _group_code(self, label: str) -> int:
        """Return the integer code of a group; 0 once there are too many groups."""
        if self._too_many_groups:
            return 0
        code = self._groups.setdefault(_shorten(label), len(self._groups))
        if code >= _MAX_GROUPS:
            name = self.names[self._columns.indices["group"]]
            note = (
                f"The column {name!r} has over {_MAX_GROUPS:,} values, too many for groups; it is not used."
            )
            self._notes[note] = None
            self._too_many_groups = True
            self._groups.clear()
        return code

    def build(self, name: str) -> SessionLog:
        """Return the log."""
        for starts, entry, group, counts in self._without_end:
            lengths = steps_in(self._latest - starts, self._wanted.step or 1.0)
            self._add(lengths, np.zeros(lengths.size, dtype=bool), np.minimum(entry, lengths), group, counts)
        if self._without_end:
            n = sum(int(counts.sum()) for *_, counts in self._without_end)
            counted = "session without an end counts" if n == 1 else "sessions without an end count"
            note = f"{n:,} {counted} as open up to the latest time seen."
            self._notes[note] = None
        if self._too_many_groups:
            self._counts.drop_groups()
            self._from_zero.drop_groups()
        if len(self._from_zero):
            self._count_entries_from_zero()
        account = self._account(name, self._n_used, tuple(self._used))
        log = SessionLog.from_counts(self._counts, list(self._groups), account, name)
        if not account.n_rejected:
            return log
        return replace(
            log, account=replace(account, difference=self._unused.difference(log.lengths, log.counts))
        )

    def _count_entries_from_zero(self) -> None:
        """Read entries as the numbers of steps before sessions were seen: the first step seen is the next."""
        self._notes["Entries begin at 0: they count the steps before a session was seen."] = None
        if len(self._counts):
            rows = self._counts.take_rows()
            seen = rows.entry < rows.lengths
            n_unseen = int(rows.counts[~seen].sum())
            if n_unseen:
                note = f"{n_unseen:,} sessions of which no step was seen (entry = length) are left out."
                self._notes[note] = None
            self._from_zero.add(
                rows.lengths[seen],
                rows.observed[seen],
                rows.entry[seen] + 1,
                rows.group[seen],
                rows.counts[seen],
            )
        self._counts = self._from_zero


_NOTHING = ("nan", "nat", "none", "null", "na", "n/a")


def _is_empty(cell: object) -> bool:
    """Whether a cell has no value."""
    return cell is None or str(cell).strip().lower() in ("", *_NOTHING)


def _shorten(label: str) -> str:
    """Return a label; a long one is cut and gets a hash, which keeps labels with the same start apart."""
    if len(label) <= _MAX_LABEL_CHARACTERS:
        return label
    digest = hashlib.blake2b(label.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return f"{label[:_MAX_LABEL_CHARACTERS]}… ({digest})"
