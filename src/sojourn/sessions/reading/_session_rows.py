"""Reads rows that are sessions, and counts equal rows."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.laws import MAX_STEP
from sojourn.sessions._format import percent
from sojourn.sessions._log import OpenRule, SessionLog
from sojourn.sessions._row_counts import RowCounts
from sojourn.sessions.reading._cells import duration_words, has_zone, plain_word, unit_in
from sojourn.sessions.reading._names import (
    ColumnMap,
    ColumnNames,
    find_session_columns,
    notes_on_unused_columns,
)
from sojourn.sessions.reading._rejected_sessions import RejectedSessions
from sojourn.sessions.reading._rows import CheckedRows, RowReader, is_nothing
from sojourn.sessions.reading._tables import Table

__all__ = ["SessionRows"]

_MAX_GROUPS = 1000
_MAX_LABEL_CHARACTERS = 80

_MOST = 0.9
"""Share of the sessions from which on it is odd that they last one step only."""

_MANY_LATE = 20
"""Least number of late sessions of which some should end at the step of their entry."""

_ROUNDING = 1e-7
"""Relative error of durations, which may be numbers of 32 bits."""

_TIME_ERROR, _MOST_SLACK = 1e-6, 0.01
"""Seconds, and at most steps, by which differences of times may be off: they are floats since 1970."""

_MAX_OPEN_WORDS = 8
"""Number of different cells of open sessions that a note names."""

_NUMBER = re.compile(r"\d+(\.\d*)?")


class SessionRows(RowReader):
    """Collects the sessions of one or more files."""

    def __init__(self, wanted: ColumnNames) -> None:
        super().__init__()
        self._wanted, self._columns = wanted, ColumnMap({})
        self._used: dict[tuple[str, str], None] = {}
        self._counts, self._n_used, self._n_sessions = RowCounts(), 0, 0.0
        self._unlike = RejectedSessions()
        self._has_entries: set[bool] = set()
        self._counts_before = wanted.entry_after
        """Whether entries are numbers of steps before a session was seen."""
        self._n_late, self._ends_at_entry = 0, False
        """Number of rows with an entry after step 1, and whether any row has its length as its entry."""
        self._n_zero = 0
        """Number of sessions of duration 0."""
        self._unit, self._in_seconds = 1.0, False
        """Seconds of the unit of durations that are numbers alone, and whether any are taken for seconds."""
        self._n_with_duration = self._n_in_one_step = 0
        """Number of sessions with a duration that were seen to end, and of those of at most one step."""
        self._groups: dict[str, int] = {}
        self._files_with: dict[str, dict[bool, str]] = {"group": {}, "observed": {}}
        """The last files with and without a column."""
        self._too_many_groups = False
        self._open_words: Counter[str] = Counter()
        """What the column of ends holds for open sessions, with numbers of rows, if ends are words."""
        self._latest = -math.inf
        self._without_end: list[tuple[FloatArray, dict[str, IntArray]]] = []
        """Starts and other columns of sessions without an end, which are open."""

    def locate(self, names: Sequence[str]) -> dict[str, int]:
        """Return the indices of the columns, by what they hold."""
        self._columns = find_session_columns(names, self._wanted, self.source)
        return self._columns.indices

    def title(self, what: str) -> str:
        """Return the name of a column in messages."""
        return self.names[self.indices[what]]

    def begin(self, table: Table) -> None:
        """Make notes on columns that are not used."""
        notes = [*notes_on_unused_columns(self.names, self.indices, self._wanted, table.first_rows)]
        if self._wanted.step is not None:
            size = duration_words(self._wanted.step)
            if self._wanted.step_is_number and "length" in self.indices:
                size = f"{self._wanted.step:g}"
            unit = self._unit_words(table) if "length" in self.indices else ""
            if "start" in self.indices and _has_numbers(table.first_rows, self.indices["start"]):
                unit = " Times that are numbers are seconds since 1970."
                self._in_seconds = True
                notes += self._notes_on_starts(table)
            notes.append(
                f"Lengths are the number of steps of {size} that a session began: durations are rounded up."
                f"{unit}"
            )
        if {"start", "end"} <= self.indices.keys():
            notes += self._notes_on_zones(table)
        self.notes |= dict.fromkeys(notes)
        self._used |= dict.fromkeys(self._columns.used(self.names))
        self._has_entries.add("entry" in self.indices)
        self._check_alike("group", "have groups", "pass 'none' for no groups")
        self._check_alike("observed", "say which sessions ended", "pass 'none' if all did")

    def _check_alike(self, what: str, have: str, remedy: str) -> None:
        """Raise `ValueError` if only some files have a column."""
        found = self._files_with[what]
        found[what in self.indices] = self.source
        if len(found) > 1:
            raise ValueError(
                f"All files must {have}, or none ({remedy}); {found[True]} does, {found[False]} does not."
            )

    def _notes_on_starts(self, table: Table) -> list[str]:
        """Return a note if most starts are 0, as in start–stop data."""
        at, stop = self.indices["start"], self.names[self.indices["end"]].strip()[:40]
        cells = [row[at].strip() for row in table.first_rows if at < len(row)]
        if sum(plain_word(cell) == "0" for cell in cells) <= 0.5 * len(cells):
            return []
        name = self.names[at].strip()[:40]
        return [
            f"Most of {name!r} is 0. If {name!r} and {stop!r} are times since a session began (start–stop "
            f"data), pass --length {stop!r} --entry {name!r} instead."
        ]

    def _notes_on_zones(self, table: Table) -> list[str]:
        """Return a note if some times have a time zone and others have none."""
        columns = [self.indices[what] for what in ("start", "end")]
        zones = {has_zone(row[at]) for row in table.first_rows for at in columns if at < len(row)}
        if not {True, False} <= zones:
            return []
        start, end = (self.names[at].strip()[:40] for at in columns)
        return [
            f"Some times in {start!r} and {end!r} have a time zone, and others have none: these are read as "
            "UTC. If that is wrong, write all times with their zone."
        ]

    def _unit_words(self, table: Table) -> str:
        """Settle in which unit durations are that are numbers alone, and say so."""
        word, unit = unit_in(self.title("length"))
        if math.isnan(unit) and not self._wanted.step_is_number:
            raise ValueError(
                f"step must be a number of {word}, such as --step 1, because the lengths in "
                f"{self.title('length')!r} are {word}, which have no fixed length; got "
                f"{duration_words(self._wanted.step or 1.0)}."
            )
        self._unit = 1.0 if math.isnan(unit) else unit
        is_in_their_unit = self._wanted.step_is_number
        if self._wanted.step is not None and self._wanted.step_is_number:
            self._wanted = replace(self._wanted, step=self._wanted.step * self._unit, step_is_number=False)
        has_numbers = _has_numbers(table.first_rows, self.indices["length"])
        self._in_seconds = word == "seconds" and has_numbers
        if is_in_their_unit and self._in_seconds and not _has_units(table.first_rows, self.indices["length"]):
            return f" Steps are in the unit of {self.title('length')!r}."
        if not has_numbers:
            return ""
        says = "" if word == "seconds" else f", as the name {self.title('length')!r} says"
        return f" Numbers without a unit are {word}{says}."

    def take(self, rows: CheckedRows) -> None:
        """Read a batch of sessions."""
        starts, has_end = np.zeros(0), np.ones(len(rows), dtype=bool)
        others: dict[str, IntArray] = {"counts": rows.counts()} if "count" in rows else {}
        seconds: FloatArray | None = None
        if "start" in rows:
            seconds, starts, has_end = self._seconds_between(rows)
        elif self._wanted.step is not None:
            seconds = self._durations(rows, "length", self._unit)
        step, error = self._wanted.step or 1.0, _TIME_ERROR if "start" in rows else 0.0
        lengths = rows.wholes("length") if seconds is None else steps_in(seconds, step, error=error)
        observed = has_end
        if "observed" in rows:
            flags = self._are_ends(rows) if self._columns.ended else rows.flags("observed")
            observed = (flags != self._columns.is_open) & has_end
        if seconds is not None and not observed.all():
            lengths = np.where(observed, lengths, open_steps_in(seconds, step, error=error))
        if "entry" in rows:
            others["entry"] = entry = self._entries(rows)
            last = rows.titles.get("length", rows.titles.get("end"))
            rule = f"{rows.titles['entry']} must be at most {last}"
            rows.require((entry <= lengths) | ~has_end, rule, got=lambda i: f"{entry[i]} and {lengths[i]}")
        if "group" in rows:
            others["group"] = self._group_codes(rows)
        good = rows.good
        if not good.all():
            self._note_rejected(rows, others.get("counts"))
        self._count(others, good)
        if "entry" in rows:
            seen = good & has_end
            self._n_late += int((seen & (entry > 1)).sum())
            self._ends_at_entry |= bool((seen & (entry == lengths)).any())
        if seconds is not None:
            zero = good & has_end & (seconds == 0.0)
            counts = others.get("counts", np.ones(len(rows), dtype=np.int64))
            self._n_zero += int(counts[zero].sum())
            ended = good & observed
            self._n_with_duration += int(counts[ended].sum())
            self._n_in_one_step += int(counts[ended & (seconds <= (self._wanted.step or 1.0))].sum())
        if not has_end.all():
            is_open = good & ~has_end
            self._without_end.append((starts[is_open], {what: one[is_open] for what, one in others.items()}))
            good = good & has_end
        if not good.all():
            lengths, observed = lengths[good], observed[good]
            others = {what: column[good] for what, column in others.items()}
        self._counts.add(lengths, observed, **others)

    def _are_ends(self, rows: CheckedRows) -> BoolArray:
        """Return which rows have one of the cells that mean an end, and count what the others have."""
        words, where = rows.words("observed")
        plain = [plain_word(word) for word in words]
        title = rows.titles["observed"]
        rule = f"{title} must not be empty, as it says which sessions ended"
        rows.require(np.array([bool(word) for word in plain])[where], rule, "observed")
        for word, n in zip(plain, np.bincount(where[rows.good], minlength=len(words)).tolist(), strict=True):
            if n and word not in self._columns.ended and len(self._open_words) <= _MAX_OPEN_WORDS:
                self._open_words[word] += n
        return np.array([word in self._columns.ended for word in plain])[where]

    def _count(self, others: Mapping[str, IntArray], good: BoolArray) -> None:
        """Add up the rows that are used, and the sessions that they stand for."""
        n_used = int(good.sum())
        counts, entry = others.get("counts"), others.get("entry")
        self._n_used += n_used
        self._n_sessions += n_used if counts is None else float(counts[good].sum(dtype=np.float64))
        self.check_total(self._n_sessions)
        self._counts_before |= entry is not None and not entry[good].all()

    def _entry_unit(self) -> float:
        """Return the seconds of the unit of entries: that of lengths, unless their name says another.

        Raises:
            ValueError: If only one of them is in months or years, which have no fixed length.
        """
        (word, unit), (other, usual) = (unit_in(self.title(what)) for what in ("entry", "length"))
        if word in ("seconds", other):
            return self._unit
        if math.isnan(unit) or math.isnan(usual):
            titles = self.title("entry"), self.title("length")
            raise ValueError(f"{titles[0]} must be in {other}, as {titles[1]} is; its name says {word}.")
        return unit

    def _durations(self, rows: CheckedRows, what: str, unit: float) -> FloatArray:
        """Return the durations in a column, in seconds; 0 where they are too long."""
        seconds, step = rows.durations(what, unit), self._wanted.step or 1.0
        fits = seconds <= MAX_STEP * step
        rows.require(fits, f"{rows.titles[what]} must be at most {MAX_STEP:,} steps")
        return np.where(fits, seconds, 0.0)

    def _entries(self, rows: CheckedRows) -> IntArray:
        """Return the entries; those of sessions whose lengths are durations are durations, too.

        A step that had begun before a session was seen was not seen, so they are rounded up.
        """
        if self._wanted.step is None or "start" in rows:
            return rows.wholes("entry", least=0)
        seconds = self._durations(rows, "entry", self._entry_unit())
        self._counts_before = True
        return np.where(seconds > 0.0, steps_in(seconds, self._wanted.step), 0)

    def _seconds_between(self, rows: CheckedRows) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Return the seconds between starts and ends, the starts, and which sessions have an end."""
        starts, _ = rows.times("start")
        ends, empty = rows.times("end", may_be_empty=True)
        rule = f"{rows.titles['end']} must not be before {rows.titles['start']}"
        rows.require(~(ends < starts) | empty, rule)
        usable = rows.good & ~empty
        for seen in (starts[rows.good], ends[usable]):
            self._latest = max(self._latest, float(seen.max(initial=-np.inf)))
        return np.where(usable, ends - starts, 0.0), starts, ~empty

    def _group_codes(self, rows: CheckedRows) -> IntArray:
        """Return the groups of a batch as integer codes; only labels of good rows are numbered."""
        words, where = rows.words("group")
        codes = np.zeros(len(words), dtype=np.int64)
        for i in np.flatnonzero(np.bincount(where[rows.good], minlength=len(words))).tolist():
            codes[i] = self._group_code(words[i])
            if is_nothing(words[i]):
                cell = words[i].strip()
                which = f"whose group is {cell!r}" if cell else "without a group"
                self.notes[f"Sessions {which} count as a group of their own."] = None
        return np.asarray(codes[where])

    def _group_code(self, label: str) -> int:
        """Return the integer code of a group; 0 once there are too many groups."""
        if self._too_many_groups:
            return 0
        code = self._groups.setdefault(_shorten(label), len(self._groups))
        if code >= _MAX_GROUPS:
            name = self.title("group")
            note = (
                f"The column {name!r} has over {_MAX_GROUPS:,} values, too many for groups; it is not used."
            )
            self.notes[note] = None
            self._too_many_groups = True
            self._groups.clear()
        return code

    def _note_rejected(self, rows: CheckedRows, counts: IntArray | None) -> None:
        """Remember about how long the rejected sessions of a batch are."""
        length = rows.columns.get("length") if self._wanted.step is None else None
        entry = rows.columns.get("entry")
        for i in np.flatnonzero(~rows.good & ~rows.ignored).tolist():
            n = 1 if counts is None else max(int(counts[i]), 1)
            has_entry = entry is None or not is_nothing(entry.cell(i))
            self._unlike.add(n, None if length is None else length.cell(i), has_entry=has_entry)

    def build(self, name: str) -> SessionLog:
        """Return the log."""
        self._add_sessions_without_end()
        if self._too_many_groups:
            self._counts.drop_groups()
        self._settle_entries()
        self._note_entries()
        self._note_open_words()
        if self._n_zero:
            which = "session of duration 0 counts" if self._n_zero == 1 else "sessions of duration 0 count"
            self.notes[f"{self._n_zero:,} {which} as one step."] = None
        self._note_long_steps()
        account = self.account(name, self._n_used, self._used)
        rule = OpenRule.REACHED if self._wanted.step is None else OpenRule.DURATION
        log = SessionLog.from_counts(self._counts, list(self._groups), account, name, rule)
        if not account.n_rejected:
            return log
        difference = account.difference or self._unlike.difference(log.lengths, log.counts)
        return replace(log, account=replace(account, difference=difference))

    def _note_long_steps(self) -> None:
        """Note that most sessions last one step at most: the unit may be wrong, or the step too long."""
        share = self._n_in_one_step / max(self._n_with_duration, 1)
        if self._in_seconds and share > _MOST:
            self.notes[
                f"If the numbers are seconds, {percent(share)} of the sessions that were seen to end last at "
                "most one step. If they are in another unit, pass the step in that unit, as a number alone "
                "(--step 15)."
            ] = None
        elif share > _MOST:
            self.notes[
                f"{percent(share)} of the sessions that were seen to end last at most one step; a shorter "
                "one shows more."
            ] = None

    def _note_open_words(self) -> None:
        """Note which cells count as open, if there are several: some may mean an end."""
        if len(self._open_words) < 2:
            return
        name = self.title("observed")
        cells = ", ".join(f"{word[:40]!r} ({n:,})" for word, n in self._open_words.most_common())
        if len(self._open_words) > _MAX_OPEN_WORDS:
            cells = f"more than {_MAX_OPEN_WORDS} different ones"
        self.notes[
            f"Rows with these cells in {name!r} count as open: {cells}. If a session with one of them was "
            "seen to end, name that too: --ended may be repeated."
        ] = None

    def _add_sessions_without_end(self) -> None:
        """Count the sessions without an end as open up to the latest time seen."""
        n_open = 0
        for starts, others in self._without_end:
            lengths = open_steps_in(self._latest - starts, self._wanted.step or 1.0, error=_TIME_ERROR)
            if "entry" in others:
                others["entry"] = np.minimum(others["entry"], lengths)
            self._counts.add(lengths, np.zeros(lengths.size, dtype=bool), **others)
            n_open += int(others["counts"].sum()) if "counts" in others else lengths.size
        if n_open:
            counted = "session without an end counts" if n_open == 1 else "sessions without an end count"
            self.notes[f"{n_open:,} {counted} as open up to the latest time seen."] = None

    def _settle_entries(self) -> None:
        """Read entries as numbers of steps before sessions were seen, if one is 0 or the user says so.

        The first step seen is then the next one. Otherwise an entry is 0 only in files without entries, whose
        sessions were seen from their first step.
        """
        if not len(self._counts) or (not self._counts_before and len(self._has_entries) < 2):
            return
        rows = self._counts.take_rows()
        seen, entry = rows.entry < rows.lengths, rows.entry + 1
        if not self._counts_before:
            seen, entry = np.ones_like(seen), np.maximum(rows.entry, 1)
        else:
            note = "Entries count the steps before a session was seen, as one is 0."
            if self._wanted.entry_after:
                note = "Entries count the steps before a session was seen."
            if self._wanted.step is not None and "length" in self.indices:
                note = "Entries are the time before a session was seen, rounded up to whole steps."
            self.notes[note] = None
        if not seen.all():
            n_unseen = int(rows.counts[~seen].sum())
            who, are = ("session", "is") if n_unseen == 1 else ("sessions", "are")
            if self._wanted.step is not None:
                note = f"{n_unseen:,} {who} that came under observation within the last step {are} left out."
            else:
                note = f"{n_unseen:,} {who} of which no step was seen (entry = length) {are} left out."
            self.notes[note] = None
        if not seen.any():
            raise ValueError(f"{self.source} must have a session of which a step was seen: entry < length.")
        lengths, observed, groups, counts = rows.lengths, rows.observed, rows.group, rows.counts
        self._counts.add(lengths[seen], observed[seen], entry[seen], groups[seen], counts[seen])

    def _note_entries(self) -> None:
        """Say how entries are read, and point out if another reading is likely."""
        if self._counts_before or not self._n_late:
            return
        note = "An entry of e means that a session was seen from step e on."
        if self._n_late >= _MANY_LATE and not self._ends_at_entry:
            note += (
                " But no session ends at the step of its entry: if sessions were seen only after that step, "
                "as in start–stop data, pass --entry-after."
            )
        self.notes[note] = None


def _shorten(label: str) -> str:
    """Return a label; a long one is cut and gets a hash, which keeps labels with the same start apart."""
    if len(label) <= _MAX_LABEL_CHARACTERS:
        return label
    digest = hashlib.blake2b(label.encode("utf-8", "replace"), digest_size=16).hexdigest()
    return f"{label[:_MAX_LABEL_CHARACTERS]}… ({digest})"


def steps_in(seconds: FloatArray, step: float, *, error: float = 0.0) -> IntArray:
    """Return the number of steps that have begun within durations: at least 1, rounded up.

    Args:
        seconds: The durations.
        step: Seconds per step.
        error: Seconds by which durations may be off because of rounding.

    Example:
        >>> steps_in(np.array([0.0, 59.0, 60.0, 61.0]), 60.0)
        array([1, 1, 1, 2])
    """
    ratio = seconds / step
    if (ratio > MAX_STEP).any():
        raise ValueError(f"step must be so long that no session has over {MAX_STEP:,}; got {step:g} s.")
    nearest = np.round(ratio)
    slack = np.minimum(np.maximum(_ROUNDING * nearest, error / step), _MOST_SLACK)
    whole = np.where(np.abs(ratio - nearest) <= slack, nearest, np.ceil(ratio))
    return np.maximum(whole, 1.0).astype(np.int64)


def open_steps_in(seconds: FloatArray, step: float, *, error: float = 0.0) -> IntArray:
    """Return the least lengths of sessions that are open after durations, in steps; see `steps_in`.

    The last step counts as survived if half of it or more was seen, else it does not count: so that sessions
    that end within a step and sessions that stay open within it are compared as in a life table.

    Example:
        >>> open_steps_in(np.array([0.0, 20.0, 40.0, 60.0, 61.0]), 60.0)
        array([1, 1, 2, 2, 2])
    """
    begun = steps_in(seconds, step, error=error)
    is_survived = seconds / step - (begun - 1) >= 0.5 - min(error / step, _MOST_SLACK)
    return np.asarray(np.minimum(begun + is_survived, MAX_STEP))


def _has_units(rows: Sequence[Sequence[str]], index: int) -> bool:
    """Whether one of the first cells of a column is more than a number."""
    cells = (row[index].strip() for row in rows if index < len(row))
    return any(cell and not _NUMBER.fullmatch(cell) for cell in cells)


def _has_numbers(rows: Sequence[Sequence[str]], index: int) -> bool:
    """Whether a column has a cell that is a plain number."""
    return any(index < len(row) and _NUMBER.fullmatch(row[index].strip()) for row in rows)
