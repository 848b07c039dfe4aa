"""Reads session logs from tables: columns of Arrow, NumPy or plain Python values, in batches of rows."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Protocol

import numpy as np

from sojourn._typing import BoolArray, IntArray
from sojourn.laws import MAX_STEP
from sojourn.sessions._log import SessionLog
from sojourn.sessions.reading._cells import (
    describe_cell,
    equals_word,
    flag_rule,
    parse_flag,
    parse_whole,
    whole_number_rule,
)
from sojourn.sessions.reading._columns import ColumnMap, ColumnNames, find_columns, note_two_values
from sojourn.sessions.reading._ingest import LogBuilder

__all__ = ["TableColumn", "TableParser", "read_columns", "read_json_lines", "read_query"]

_BATCH_ROWS, _BATCH_BYTES = 1 << 14, 1 << 23
"""Rows per batch, and bytes of JSON: parsed, they take up to thirty times the memory."""

_FIRST_ROWS, _MOST_NAMES = 1_000, 1_000
"""Rows in which unused columns are searched for two values, and number of columns up to which they are."""


class TableColumn(Protocol):
    """A column of a batch of rows."""

    def numbers(self, *, flags: bool) -> Any:
        """Return an array with NaN for missing cells, or None if the column is not numeric.

        Args:
            flags: Whether a column of booleans counts as numeric.
        """

    def cells(self) -> Sequence[object]:
        """Return the cells as Python objects."""

    def words(self) -> tuple[list[str], IntArray]:
        """Return distinct words and the index of each cell's word; missing cells have the last index + 1."""


class TableParser:
    """Parses batches of rows, given as columns, and adds them to a `LogBuilder`."""

    def __init__(self, columns: ColumnMap) -> None:
        self._columns, self.builder = columns, LogBuilder(columns)
        self._n_rows = 0

    @property
    def names(self) -> list[str]:
        """Names of the columns that are used."""
        columns = self._columns
        indices = (columns.length, columns.observed, columns.entry, columns.group, columns.count)
        return [columns.names[index] for index in indices if index is not None]

    def feed(self, batch: Mapping[str, TableColumn], n_rows: int) -> None:
        """Read a batch of rows."""
        columns = self._columns
        good, ones = np.ones(n_rows, dtype=bool), np.ones(n_rows, dtype=np.int64)
        lengths = self._parse_wholes(batch, columns.name(columns.length), good)
        observed, entry, group = ones > 0, ones, ones - 1
        if columns.observed is not None:
            observed = self._parse_flags(batch, columns.name(columns.observed), good) != columns.is_open
        if columns.entry is not None:
            entry = self._parse_wholes(batch, columns.name(columns.entry), good)
            self.builder.reject_late_entries(entry, lengths, self._n_rows + np.cumsum(ones), good)
        counts = None
        if columns.count is not None:
            counts = self._parse_wholes(batch, columns.name(columns.count), good)
        if columns.group is not None:
            group = self._parse_groups(batch[columns.name(columns.group)], good)
        self.builder.add(lengths, observed, entry, group, good=good, counts=counts)
        self._n_rows += n_rows

    def _reject(self, good: BoolArray, i: int, rule: str, cell: object) -> None:
        """Reject row i of the batch."""
        good[i] = False
        self.builder.reject(self._n_rows + i + 1, rule, describe_cell(str(cell)))

    def _parse_wholes(self, batch: Mapping[str, TableColumn], name: str, good: BoolArray) -> IntArray:
        """Return the whole numbers in a column; rejects rows that have none."""
        values = np.ones(good.size, dtype=np.int64)
        numbers = batch[name].numbers(flags=False)
        if numbers is None:
            for i, cell in enumerate(batch[name].cells()):
                value = _whole_of(cell)
                if value is None and good[i]:
                    self._reject(good, i, whole_number_rule(name), cell)
                values[i] = value or 1
            return values
        valid = (numbers >= 1) & (numbers <= MAX_STEP) & (np.floor(numbers) == numbers)
        values[valid] = numbers[valid].astype(np.int64)
        wrong = np.flatnonzero(~valid & good).tolist()
        cells = batch[name].cells() if wrong else ()
        for i in wrong:
            self._reject(good, i, whole_number_rule(name), cells[i])
        return values

    def _parse_flags(self, batch: Mapping[str, TableColumn], name: str, good: BoolArray) -> BoolArray:
        """Return the flags in a column; rejects rows that have none."""
        ended = self._columns.ended
        numbers = None if ended else batch[name].numbers(flags=True)
        if numbers is None:
            cells = batch[name].cells()
            found = [_equals(cell, ended) if ended else _flag_of(cell) for cell in cells]
            valid = np.array([flag is not None for flag in found], dtype=bool)
            flags = np.array([flag is True for flag in found], dtype=bool)
        else:
            valid, flags = (numbers == 0) | (numbers == 1), numbers == 1
        wrong = np.flatnonzero(~valid & good).tolist()
        cells = batch[name].cells() if wrong else ()
        for i in wrong:
            self._reject(good, i, flag_rule(name, ended), cells[i])
        return flags

    def _parse_groups(self, column: TableColumn, good: BoolArray) -> IntArray:
        """Return the groups in a column as integer codes; the group of a missing cell is ""."""
        words, indices = column.words()
        codes = np.zeros(len(words) + 1, dtype=np.int64)
        for i in np.unique(indices[good]).tolist():
            codes[i] = self.builder.group_code(words[i] if i < len(words) else "")
        return np.asarray(codes[indices])


def _whole_of(cell: object) -> int | None:
    """Return the whole number in a cell that is not part of a numeric column; None if there is none."""
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return int(cell) if 1 <= cell <= MAX_STEP and cell == int(cell) else None
    return parse_whole(str(cell)) if isinstance(cell, (str, Decimal)) else None


def _equals(cell: object, word: str) -> bool | None:
    """Whether a cell is a word, or the number that it stands for; None if it has no value."""
    if _is_missing(cell):
        return None
    text = f"{cell:g}" if isinstance(cell, float) else str(cell)
    return equals_word(text, word)


def _flag_of(cell: object) -> bool | None:
    """Return the flag in a cell that is not part of a numeric column; None if there is none."""
    if isinstance(cell, (bool, int, float, Decimal)):
        return bool(cell) if cell in (0, 1) else None
    return parse_flag(cell) if isinstance(cell, str) else None


class ArrayColumn:
    """A column of values in memory: a NumPy array, or what can be converted to one."""

    def __init__(self, values: Any) -> None:
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(object), np.nan)
        array = np.asarray(values)
        self._array = array if array.dtype.kind in "biuf" else np.asarray(values, dtype=object)
        if self._array.ndim != 1:
            raise ValueError(f"columns must have one dimension; got shape {self._array.shape}.")

    def __len__(self) -> int:
        return self._array.size

    def __getitem__(self, rows: slice) -> ArrayColumn:
        return ArrayColumn(self._array[rows])

    def numbers(self, *, flags: bool) -> Any:
        """Return the values if they are numbers; see `TableColumn`."""
        kind = self._array.dtype.kind
        if kind == "b":
            return self._array.astype(np.int8) if flags else None
        return None if kind == "O" else self._array.astype(np.float64) if kind == "f" else self._array

    def cells(self) -> Sequence[object]:
        """Return the values as Python objects."""
        found: list[object] = self._array.tolist()
        return found

    def words(self) -> tuple[list[str], IntArray]:
        """Return distinct words and the index of each; see `TableColumn`."""
        codes: dict[object, int] = {}
        raw = [None if _is_missing(cell) else str(cell) for cell in self.cells()]
        indices = [-1 if word is None else codes.setdefault(word, len(codes)) for word in raw]
        found = np.array(indices, dtype=np.int64)
        return [str(word) for word in codes], np.where(found < 0, len(codes), found)


def _is_missing(cell: object) -> bool:
    """Whether a cell has no value: None, NaN, or pandas' NA and NaT."""
    is_nan = isinstance(cell, float) and math.isnan(cell)
    return cell is None or is_nan or type(cell).__name__ in {"NAType", "NaTType"}


def read_columns(
    names: Sequence[object], column: Callable[[Any], Any], wanted: ColumnNames, source: str
) -> SessionLog:
    """Read a session log from columns in memory, such as those of a dictionary or a data frame.

    Args:
        names: Names of all columns.
        column: Returns the values of a column by its name.
        wanted: Column names given by the user.
        source: Name of the table in messages.
    """
    texts = [str(name) for name in names]
    by_text = dict(zip(texts, names, strict=True))
    columns = find_columns(texts, wanted, source)
    columns = note_two_values(columns, wanted, _first_rows([column(name) for name in names]))
    parser = TableParser(columns)
    table = {name: ArrayColumn(column(by_text[name])) for name in parser.names}
    sizes = {name: len(values) for name, values in table.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"{source} must have columns of the same length; got {sizes}.")
    n_rows = next(iter(sizes.values()))
    parser.feed(table, n_rows)
    return parser.builder.build(source)


def _first_rows(columns: Sequence[Any]) -> list[list[str]]:
    """Return the first rows of columns as text; missing cells are empty."""
    heads = [np.asarray(one, dtype=object)[:_FIRST_ROWS].tolist() for one in columns]
    texts = [["" if _is_missing(cell) else str(cell) for cell in head] for head in heads]
    return [list(row) for row in zip(*texts, strict=False)]


def read_json_lines(lines: Iterable[bytes], wanted: ColumnNames, source: str) -> SessionLog:
    """Read a session log from text with one JSON object per line; blank lines are skipped."""
    return _read_records(_json_batches(lines, source), None, wanted, source)


def _json_batches(lines: Iterable[bytes], source: str) -> Iterator[list[dict[str, object]]]:
    batch: list[dict[str, object]] = []
    n_bytes = 0
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                record = None
            if not isinstance(record, dict):
                raise ValueError(f"{source} must have one JSON object per line; line {number:,} has none.")
            batch.append(record)
            n_bytes += len(line)
        if len(batch) == _BATCH_ROWS or n_bytes >= _BATCH_BYTES:
            yield batch
            batch, n_bytes = [], 0
    if batch:
        yield batch


def read_query(cursor: Any, wanted: ColumnNames, source: str) -> SessionLog:
    """Read a session log from the result of a database query, a cursor of Python's DB-API 2.0."""
    if cursor.description is None:
        raise ValueError(f"{source} must be the result of a query that returns rows; it returns none.")
    names = [str(column[0]) for column in cursor.description]
    records = (dict(zip(names, row, strict=True)) for row in cursor)
    batches = iter(lambda: list(itertools.islice(records, _BATCH_ROWS)), [])
    return _read_records(batches, names, wanted, source)


def _read_records(
    batches: Iterable[list[dict[str, object]]], names: list[str] | None, wanted: ColumnNames, source: str
) -> SessionLog:
    """Read rows that are dictionaries; by default the names of the columns are those of the first batch."""
    parser: TableParser | None = None
    for batch in batches:
        if parser is None:
            known = names or _names_in(batch)
            columns = find_columns(known, wanted, source)
            first = batch[:_FIRST_ROWS] if len(known) <= _MOST_NAMES else ()
            rows = [["" if one.get(name) is None else str(one[name]) for name in known] for one in first]
            parser = TableParser(note_two_values(columns, wanted, rows))
        elif names is None:
            _check_no_new_column(columns, _names_in(batch), wanted, source)
        parser.feed(
            {name: _ObjectColumn([one.get(name) for one in batch]) for name in parser.names}, len(batch)
        )
    if parser is None:
        raise ValueError(f"{source} must have one row per session; it is empty.")
    return parser.builder.build(source)


def _names_in(batch: list[dict[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for one in batch for name in one))


def _check_no_new_column(columns: ColumnMap, names: Sequence[str], wanted: ColumnNames, source: str) -> None:
    """Raise `ValueError` if names that the first rows lack would be read as another column."""
    known = set(columns.names)
    new = [name for name in names if name not in known]
    used = find_columns([*columns.names, *new], wanted, source).used if new else columns.used
    if used != columns.used:
        name = next(name for what, name in used if (what, name) not in columns.used)
        raise ValueError(
            f"{source} must have the same names in every line; {name!r} is missing in all of its first lines."
        )


class _ObjectColumn(ArrayColumn):
    """A column of Python objects of any kind, which are never converted to a common type."""

    def __init__(self, values: list[object]) -> None:
        self._array = np.empty(len(values), dtype=object)
        self._array[:] = values
