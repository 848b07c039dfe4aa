"""Reads the rows of a source in batches: checks their cells, and keeps account of those that are rejected."""

from __future__ import annotations

import heapq
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np

from sojourn._files import is_utf8
from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.laws import MAX_STEP
from sojourn.sessions._log import Account, Rejection, rejection_hints
from sojourn.sessions.reading._cells import (
    DURATION_RULE,
    LATEST,
    LONG_CELL,
    NOTHING,
    TIME_RULE,
    ambiguous_points,
    describe_cell,
    parse_decimal,
    parse_duration,
    parse_flag,
    parse_time,
    parse_whole,
    with_decimal_point,
)
from sojourn.sessions.reading._tables import ArrayColumn, Batch, BrokenRow, Column, Table
from sojourn.sessions.reading.sources import open_source

__all__ = ["CheckedRows", "FirstRejections", "RowReader", "is_nothing", "read_rows"]

_WHOLE_OR_NOTHING = re.compile(r"(-?\d+(\.0)?|nan|none|)", re.ASCII | re.IGNORECASE)

_MAX_NAMED = 5
"""Number of rejected rows that are named in messages."""


def read_rows(
    source: Any,
    choose: Callable[[Sequence[str]], RowReader],
    *,
    query: str | None = None,
    row: str = "session",
    headerless: bool = False,
) -> Any:
    """Read all rows of a source, and return what is built from them.

    Args:
        source: See `sojourn.sessions.read_sessions`.
        choose: Returns the reader, given the names of the columns of the first file or table.
        query: A query to run if the source is an SQLite file.
        row: What a row stands for, in messages.
        headerless: Whether a CSV file with a single column of numbers needs no header row.
    """
    name, tables, notes = open_source(source, query=query, row=row, headerless=headerless)
    reader: RowReader | None = None
    for opened in tables:
        with opened as table:
            if reader is None:
                reader = choose(table.names)
                reader.many = len(tables) > 1
                reader.notes |= dict.fromkeys(notes)
            reader.read(table)
    return None if reader is None else reader.build(name)


class FirstRejections:
    """The number of rejected rows, and those with the smallest row numbers, added in any order."""

    def __init__(self) -> None:
        self.n = 0
        self._kept: list[tuple[int, int, int, Rejection]] = []
        """A heap with the last file and largest row on top. For one row, the first reason counts."""

    def add(self, row: int, rule: str, got: str = "", *, file: int = 0) -> None:
        """Add a row that cannot be used; files are numbered in the order of reading."""
        self.n += 1
        item = (-file, -row, -self.n, Rejection(row, rule, got))
        if len(self._kept) < _MAX_NAMED:
            heapq.heappush(self._kept, item)
        else:
            heapq.heappushpop(self._kept, item)

    def first(self) -> tuple[Rejection, ...]:
        """Return the first rejections, sorted by file and row."""
        return tuple(one for *_, one in sorted(self._kept, key=lambda item: item[:3], reverse=True))


class RowReader(ABC):
    """Receives the rows of a log, in batches, from one or more files or tables."""

    row = "session"
    """What a row stands for."""

    def __init__(self) -> None:
        self.many = False
        """Whether there are several files, so that messages must name them."""
        self.names: Sequence[str] = ()
        """Names of all columns of the current file."""
        self.indices: Mapping[str, int] = {}
        """Indices of the columns that are needed in the current file, by what they hold."""
        self.notes: dict[str, None] = {}
        """Notes for the user, each once and in order."""
        self._sources: list[str] = []
        self._n_rows = self._n_ignored = 0
        self._rejected = FirstRejections()
        self._n_uncounted = 0
        """Number of rows that have a count that cannot be read."""
        self._total_used = self._total_rejected = 0.0
        """Sums of the counts of the rows that are used, and of those that are rejected, as far as known."""

    @property
    def file(self) -> int:
        """Number of the current file, from 0."""
        return len(self._sources) - 1

    @property
    def source(self) -> str:
        """Name of the current file in messages."""
        return self._sources[-1]

    def read(self, table: Table) -> None:
        """Read a file or table.

        Raises:
            ValueError: If it cannot be read, or if a column is missing or ambiguous; one line says which.
        """
        self._sources.append(table.source)
        self.names, self.indices = table.names, self.locate(table.names)
        self.begin(table)
        for batch in table.batches(self.locate):
            for broken in batch.broken:
                self.reject_broken(broken)
            if batch.rows.size:
                self._n_rows += batch.rows.size
                rows = CheckedRows(batch, {what: self.title(what) for what in batch.columns}, self.reject)
                self.take(rows)
                self._n_ignored += int(rows.ignored.sum())
                self._n_uncounted += rows.n_uncounted
                if rows.weights is not None:
                    self._total_used += float(rows.weights[rows.good].sum(dtype=np.float64))
                    self._total_rejected += float(rows.weights[~rows.good].sum(dtype=np.float64))
                del rows
            del batch  # the next batch is split into cells before the loop would release this one

    @abstractmethod
    def locate(self, names: Sequence[str]) -> Mapping[str, int]:
        """Return the indices of the columns that are needed in the current file, by what they hold."""

    @abstractmethod
    def take(self, rows: CheckedRows) -> None:
        """Read a batch of rows."""

    @abstractmethod
    def build(self, name: str) -> Any:
        """Return the log; raises `ValueError` if not a single row can be used."""

    def begin(self, table: Table) -> None:  # noqa: B027
        """Make notes on a file or table, whose columns have been located."""

    def title(self, what: str) -> str:
        """Return the name of a column in messages."""
        return what

    def reject_broken(self, broken: BrokenRow) -> None:
        """Count a row that cannot be split into cells."""
        self._n_rows += 1
        self._n_uncounted += "count" in self.indices
        self.reject(broken.row, broken.rule, broken.got)

    def reject(self, row: int, rule: str, got: str = "", *, file: int | None = None) -> None:
        """Record that a row, by default of the current file, cannot be used."""
        at = self.file if file is None else file
        where = f"in {self._sources[at]}: " if self.many else ""
        self._rejected.add(row, where + rule, got, file=at)

    def account(
        self, name: str, n_used: int, columns: Iterable[tuple[str, str]] = (), difference: str = ""
    ) -> Account:
        """Return the numbers of rows; raises `ValueError` if none was used."""
        first, n_ignored = self._rejected.first(), self._n_ignored
        if not n_used:
            why = "all counts are 0." if n_ignored else "it has only a header row."
            why = f"all {self._n_rows - n_ignored:,} are rejected, {first[0]}" if first else why
            raise ValueError(
                " ".join([f"{name} must have a row that can be used: {why}", *rejection_hints(first)])
            )
        if n_ignored:
            rows = "row has" if n_ignored == 1 else "rows have"
            self.notes[f"{n_ignored:,} {rows} a count of 0, which stands for no {self.row}."] = None
        share = None
        if self._n_uncounted:
            whose = "count of 1 row" if self._n_uncounted == 1 else f"counts of {self._n_uncounted:,} rows"
            difference = f"the {whose} cannot be read, which may stand for any number of {self.row}s"
        elif self._total_used:
            share = self._total_rejected / (self._total_rejected + self._total_used)
        n_rejected, notes = self._rejected.n, tuple(self.notes)
        return Account(
            self._n_rows - n_ignored, n_used, n_rejected, first, notes, tuple(columns), difference, share
        )

    def check_total(self, total: float) -> None:
        """Raise `ValueError` if counts add up to more than can be counted."""
        if total > MAX_STEP:
            raise ValueError(f"All rows together must stand for at most {MAX_STEP:,} {self.row}s; got more.")


class CheckedRows:
    """A batch of rows, with the checks of its cells: each rejects the rows that break its rule.

    Args:
        batch: The rows.
        titles: Names of the columns in messages, by what they hold.
        reject: Records a row that cannot be used, the rule that it breaks and what it holds.
    """

    def __init__(
        self, batch: Batch, titles: Mapping[str, str], reject: Callable[[int, str, str], None]
    ) -> None:
        self.columns, self.numbers, self.titles, self._reject = batch.columns, batch.rows, titles, reject
        self.good = np.ones(batch.rows.size, dtype=bool)
        """Which rows are valid so far, and not ignored."""
        self.ignored = np.zeros(batch.rows.size, dtype=bool)
        """Which rows have a count of 0."""
        self.weights: IntArray | None = None
        """What `counts` has returned."""
        self.n_uncounted = 0
        """Number of rows that were rejected because of their count."""

    def __len__(self) -> int:
        return self.numbers.size

    def __contains__(self, what: str) -> bool:
        return what in self.columns

    def require(
        self, valid: BoolArray, rule: str, what: str = "", *, got: str | Callable[[int], str] = ""
    ) -> None:
        """Reject the rows that are not valid, unless they are rejected already.

        Args:
            valid: Which rows keep to the rule.
            rule: The rule.
            what: The column whose cell is shown in messages, if any.
            got: What else to show, or a function that returns it for a row.
        """
        if valid.all():
            return
        for i in np.flatnonzero(~valid & self.good).tolist():
            shown = _shown(self.columns[what].cell(i)) if what else got if isinstance(got, str) else got(i)
            self._reject(int(self.numbers[i]), rule, shown)
        self.good &= valid

    def wholes(self, what: str, least: int = 1) -> IntArray:
        """Return the whole numbers in a column; 0 where there is none."""
        column = self.columns[what]
        values, parsed = column.wholes()
        valid = parsed & (values >= least)
        for i in np.flatnonzero(~valid & self.good).tolist():
            value = _whole_of(_number(column, i), least)
            if value is not None:
                valid[i], values[i] = True, value
        if not parsed.all():
            valid &= _has_clear_points(column, are_whole=True)
        if not valid.all():
            values[~valid] = 0
        self.require(valid, f"{self.titles[what]} must be a whole number ≥ {least}", what)
        return values

    def counts(self) -> IntArray:
        """Return the numbers that rows stand for, and ignore the rows with a count of 0."""
        before = self.good.sum()
        self.weights = values = self.wholes("count", least=0)
        self.n_uncounted = int(before - self.good.sum())
        self.ignored = self.good & (values == 0)
        self.good &= ~self.ignored
        return values

    def decimals(self, what: str) -> FloatArray:
        """Return the finite numbers in a column."""
        column = self.columns[what]
        values, parsed = column.decimals()
        valid = parsed.copy()
        for i in np.flatnonzero(~valid & self.good).tolist():
            value = _decimal_of(_number(column, i))
            if value is not None:
                valid[i], values[i] = True, value
        if not parsed.all():
            valid &= _has_clear_points(column)
        self.require(valid, f"{self.titles[what]} must be a finite number", what)
        return values

    def flags(self, what: str) -> BoolArray:
        """Return the flags in a column."""
        words, where = self._texts(what)
        found = [parse_flag(word) for word in words]
        if None in found:
            valid = np.array([flag is not None for flag in found], dtype=bool)[where]
            self.require(valid, f"{self.titles[what]} must be true or false, 1 or 0", what)
        return np.array([flag is True for flag in found], dtype=bool)[where]

    def words(self, what: str) -> tuple[list[str], IntArray]:
        """Return the words in a column, without spaces around them, and the index of each row's.

        If all are whole numbers, they have no ".0", which pandas adds where one is missing.
        """
        words, where = self._texts(what)
        words = [word.strip() for word in words]
        if any(word.endswith(".0") for word in words) and all(map(_WHOLE_OR_NOTHING.fullmatch, words)):
            words = [word.removesuffix(".0") for word in words]
        return words, where

    def _texts(self, what: str) -> tuple[list[str], IntArray]:
        """Return the distinct texts in a column, and the index of each row's; reject what is not UTF-8."""
        words, where = self.columns[what].words()
        if not is_utf8("".join(words)):
            valid = np.array([is_utf8(word) for word in words], dtype=bool)[where]
            self.require(valid, f"{self.titles[what]} must be text in UTF-8 (save the file as UTF-8)")
        return words, where

    def durations(self, what: str, unit: float) -> FloatArray:
        """Return the durations in a column, in seconds; numbers alone are in units of so many seconds."""
        values, known = _seconds(self.columns[what], "m", partial(parse_duration, unit=unit), unit)
        self.require(known, f"{self.titles[what]} {DURATION_RULE}", what)
        return values

    def times(self, what: str, *, may_be_empty: bool = False) -> tuple[FloatArray, BoolArray]:
        """Return the points in time in a column, in seconds since 1970, and which cells have none."""
        column = self.columns[what]
        values, known = _seconds(column, "M", parse_time)
        empty = np.zeros(len(self), dtype=bool)
        if may_be_empty and not known.all():
            words, where = column.words()
            empty = ~known & np.array([is_nothing(word) for word in words], dtype=bool)[where]
        self.require(known | empty, f"{self.titles[what]} {TIME_RULE}", what)
        return values, empty


def is_nothing(cell: object) -> bool:
    """Whether a cell has no value."""
    return cell is None or str(cell).strip().lower() in NOTHING


def _number(column: Column, i: int) -> object:
    """Return a cell that should be a number; texts have a decimal point, and long ones are none."""
    cell = column.cell(i)
    if isinstance(cell, str) and len(cell) > LONG_CELL:
        return None
    return with_decimal_point(cell) if column.decimal_comma and isinstance(cell, str) else cell


def _has_clear_points(column: Column, *, are_whole: bool = False) -> BoolArray:
    """Return which cells have no point that may separate thousands."""
    if not column.decimal_comma:
        return np.array(True)
    words, where = column.words()
    odd = ambiguous_points(words, are_whole=are_whole)
    return np.array([word.strip() not in odd for word in words], dtype=bool)[where]


def _whole_of(cell: object, least: int) -> int | None:
    """Return the whole number in a cell; None if there is none."""
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return int(cell) if least <= cell <= MAX_STEP and cell == int(cell) else None
    return parse_whole(str(cell), least) if isinstance(cell, (str, Decimal)) else None


def _decimal_of(cell: object) -> float | None:
    """Return the finite number in a cell; None if there is none."""
    is_number = isinstance(cell, (str, int, float, Decimal)) and not isinstance(cell, bool)
    return parse_decimal(str(cell)) if is_number else None


def _shown(cell: object) -> str:
    is_nan = isinstance(cell, float) and math.isnan(cell)
    return describe_cell("None" if is_nan else str(cell))


def _seconds(
    column: Column, kind: str, parse: Callable[[str], float | None], unit: float = 1.0
) -> tuple[FloatArray, BoolArray]:
    """Return times (kind "M") or durations ("m") in a column, in seconds, and which cells have one."""
    if isinstance(column, ArrayColumn) and column.array.dtype.kind == kind:
        array = column.array
        rounded = array.astype(f"{kind}8[us]")
        known = ~np.isnat(array)
        if np.datetime_data(array.dtype)[0] not in ("ns", "ps", "fs", "as"):  # a coarse unit may overflow
            known &= rounded.astype(array.dtype) == array
        seconds = rounded.astype(np.int64) / 1e6
        return seconds, known if kind == "M" else known & (seconds >= 0.0)
    values, parsed = column.decimals()
    parsed = parsed & (values >= 0.0) & (values <= (LATEST if kind == "M" else math.inf))
    values = values * unit if unit != 1.0 else values
    if parsed.all():
        return values, parsed
    words, where = column.words()
    if column.decimal_comma:
        odd = ambiguous_points(words)
        words = ["" if word.strip() in odd else with_decimal_point(word) for word in words]
        parsed &= _has_clear_points(column)
    found = [parse(word) for word in words]
    known = np.array([one is not None for one in found], dtype=bool)[where]
    texts = np.array([0.0 if one is None else one for one in found])[where]
    return np.where(parsed, values, texts), parsed | known
