"""What all readers of logs share: columns of cells, rejected rows, and the checks of whole columns."""

from __future__ import annotations

import heapq
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Protocol

import numpy as np

from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.laws import MAX_STEP
from sojourn.sessions._log import Account, Rejection, rejection_hints
from sojourn.sessions.reading._cells import (
    describe_cell,
    equals_word,
    flag_rule,
    parse_decimal,
    parse_flag,
    parse_whole,
    whole_number_rule,
)

__all__ = ["Column", "FirstRejections", "RowReader"]

_MAX_NAMED = 5
"""Number of rejected rows that are named in messages."""


class Column(Protocol):
    """A column of a batch of rows."""

    def __len__(self) -> int: ...

    def cell(self, i: int) -> object:
        """Return a cell as a text or another Python object; None if it has no value."""

    def number(self, i: int) -> object:
        """Return a cell that should be a number; texts have a decimal point."""

    def wholes(self) -> tuple[IntArray, BoolArray]:
        """Return whole numbers ≥ 0, and which cells have one for sure; `number` decides the others."""

    def decimals(self) -> tuple[FloatArray, BoolArray]:
        """Return finite numbers, and which cells have one for sure; `number` decides the others."""

    def words(self) -> tuple[list[str], IntArray]:
        """Return distinct words and the index of each cell's word; a cell without a value is ""."""


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
    """Receives the rows of a log, in batches of columns, from one or more files or tables."""

    headerless = False
    """Whether a CSV file with a single column of numbers is accepted without a header row."""

    row = "session"
    """What a row stands for."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        """Names of all columns of the current file."""
        self.many = False
        """Whether there are several files, so that messages must name them."""
        self._source, self._file, self._n_rows = "", -1, 0
        self._sources: list[str] = []
        self._indices: dict[str, int] = {}
        self._rejected = FirstRejections()
        self._notes: dict[str, None] = {}

    def begin(self, names: Sequence[str], source: str, first_rows: Sequence[Sequence[str]]) -> list[int]:
        """Begin a file or table, and return the indices of the columns that are needed.

        Args:
            names: Names of all columns.
            source: Name of the file in messages.
            first_rows: The first rows as texts, from which notes on unused columns are made.

        Raises:
            ValueError: If a column is missing or ambiguous; one line says which.
        """
        self._file += 1
        self.names, self._source = tuple(names), source
        self._sources.append(source)
        self._indices = self.locate(names, source)
        return list(self._indices.values())

    @abstractmethod
    def locate(self, names: Sequence[str], source: str) -> dict[str, int]:
        """Return the indices of the columns that are needed, by what they hold; see `begin`."""

    @abstractmethod
    def feed(self, columns: Mapping[int, Column], rows: IntArray) -> None:
        """Read a batch of rows, given as columns; `rows` are their line or row numbers."""

    @abstractmethod
    def build(self, name: str) -> Any:
        """Return the log; raises `ValueError` if not a single row can be used."""

    def reject_row(self, row: int, rule: str, got: str = "", cells: Sequence[str] = ()) -> None:
        """Count a row that cannot be split into cells; `cells` are what it may consist of."""
        self._n_rows += 1
        self._reject(row, rule, got)

    def _reject(self, row: int, rule: str, got: str = "", *, file: int | None = None) -> None:
        """Record that a row, by default of the current file, cannot be used; `_n_rows` must count it too."""
        at = self._file if file is None else file
        where = f"in {self._sources[at]}: " if self.many else ""
        self._rejected.add(row, where + rule, got, file=at)

    def _reject_cells(
        self, column: Column, rule: str, rows: IntArray, good: BoolArray, valid: BoolArray
    ) -> None:
        """Reject the rows whose cell in a column breaks a rule, and clear `good` for them.

        Args:
            column: The column.
            rule: The rule.
            rows: Line or row numbers.
            good: Which rows are valid so far.
            valid: Which rows keep to the rule.
        """
        for i in np.flatnonzero(~valid & good).tolist():
            self._reject(int(rows[i]), rule, _shown(column.cell(i)))
        good &= valid

    def _account(self, name: str, n_used: int, columns: tuple[tuple[str, str], ...] = ()) -> Account:
        """Return the numbers of rows; raises `ValueError` if none was used."""
        first = self._rejected.first()
        if not n_used:
            why = f"all {self._n_rows:,} are rejected, {first[0]}" if first else "it has only a header row."
            raise ValueError(
                " ".join([f"{name} must have a row that can be used: {why}", *rejection_hints(first)])
            )
        return Account(self._n_rows, n_used, self._rejected.n, first, tuple(self._notes), columns)

    def _check_total(self, total: float) -> None:
        """Raise `ValueError` if counts add up to more than can be counted."""
        if total > MAX_STEP:
            raise ValueError(f"All rows together must stand for at most {MAX_STEP:,} {self.row}s; got more.")

    def _wholes(self, column: Column, name: str, rows: IntArray, good: BoolArray, least: int = 1) -> IntArray:
        """Return the whole numbers in a column; clears `good` for rows that have none."""
        values, parsed = column.wholes()
        for i in np.flatnonzero(~(parsed & (values >= least)) & good).tolist():
            value = _whole_of(column.number(i), least)
            if value is None:
                good[i] = False
                self._reject(int(rows[i]), whole_number_rule(name, least), _shown(column.cell(i)))
            else:
                values[i] = value
        return values

    def _decimals(self, column: Column, name: str, rows: IntArray, good: BoolArray) -> FloatArray:
        """Return the numbers in a column; clears `good` for rows that have none."""
        values, parsed = column.decimals()
        for i in np.flatnonzero(~parsed & good).tolist():
            cell = column.number(i)
            value = parse_decimal(str(cell)) if isinstance(cell, (str, int, float, Decimal)) else None
            if value is None or isinstance(cell, bool):
                good[i] = False
                self._reject(int(rows[i]), f"{name} must be a finite number", _shown(column.cell(i)))
            else:
                values[i] = value
        return values

    def _flags(
        self, column: Column, name: str, rows: IntArray, good: BoolArray, ended: str = ""
    ) -> BoolArray:
        """Return the flags in a column; clears `good` for rows that have none.

        Args:
            column: The column.
            name: Its name.
            rows: Line or row numbers.
            good: Which rows are valid so far.
            ended: The cell that means true; empty for the usual words.
        """
        words, where = column.words()
        found = [equals_word(word, ended) if ended else parse_flag(word) for word in words]
        flags = np.array([flag is True for flag in found], dtype=bool)[where]
        if None in found:
            valid = np.array([flag is not None for flag in found], dtype=bool)[where]
            self._reject_cells(column, flag_rule(name, ended), rows, good, valid)
        return flags


def _whole_of(cell: object, least: int) -> int | None:
    """Return the whole number in a cell; None if there is none."""
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return int(cell) if least <= cell <= MAX_STEP and cell == int(cell) else None
    return parse_whole(str(cell), least) if isinstance(cell, (str, Decimal)) else None


def _shown(cell: object) -> str:
    is_nan = isinstance(cell, float) and math.isnan(cell)
    return describe_cell("None" if is_nan else str(cell))
