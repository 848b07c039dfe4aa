"""The cells of many lines of a CSV file at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn._typing import BoolArray, IntArray

__all__ = ["Bytes", "Table"]

_QUOTE = 34

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Table:
    """Rows that all have as many cells as they should.

    Attributes:
        buffer: The text that they are in.
        begins: Where each row begins, `(n,)`.
        stops: Where each row stops, `(n,)`.
        marks: Where delimiters are.
        first: Which of them is each row's first, `(n,)`.
        n_columns: How many cells a row has.
        quoted: Whether there are quotes at all.
    """

    buffer: Bytes
    begins: IntArray
    stops: IntArray
    marks: IntArray
    first: IntArray
    n_columns: int
    quoted: bool

    @staticmethod
    def pack(word: str) -> int:
        """Return a word as `words` does."""
        return int.from_bytes(word.encode(), "little")

    def _bounds(self, column: int) -> tuple[IntArray, IntArray]:
        """Return where the cells of a column begin and stop, without quotes around them."""
        begin, stop = self.begins, self.stops
        if column:
            begin = self.marks[self.first + (column - 1)] + 1
        if column < self.n_columns - 1:
            stop = self.marks[self.first + column]
        if self.quoted:
            in_quotes = (
                (stop - begin >= 2) & (self.buffer[begin] == _QUOTE) & (self.buffer[stop - 1] == _QUOTE)
            )
            begin, stop = begin + in_quotes, stop - in_quotes
        return begin, stop

    def text(self, column: int, row: int) -> str:
        """Return a cell as text."""
        begin, stop = self._bounds_of(column, row)
        return self.buffer[begin:stop].tobytes().decode("utf-8", "replace")

    def _bounds_of(self, column: int, row: int) -> tuple[int, int]:
        begin = int(self.marks[self.first[row] + column - 1]) + 1 if column else int(self.begins[row])
        at_end = column == self.n_columns - 1
        stop = int(self.stops[row]) if at_end else int(self.marks[self.first[row] + column])
        if self.quoted and stop - begin >= 2 and self.buffer[begin] == self.buffer[stop - 1] == _QUOTE:
            return begin + 1, stop - 1
        return begin, stop

    def digits(self, column: int) -> tuple[IntArray, BoolArray]:
        """Return numbers, and where cells are nothing but digits that make one from 1 to 10^15."""
        begin, stop = self._bounds(column)
        width = stop - begin
        plain = (width > 0) & (width <= 15)
        values = np.zeros(width.size, dtype=np.int64)
        for k in range(int(width[plain].max()) if plain.any() else 0):
            inside = k < width
            digit = self.buffer[np.minimum(begin + k, self.buffer.size - 1)] - np.uint8(48)
            plain &= ~inside | (digit < 10)
            values = np.where(inside, 10 * values + digit, values)
        return values, plain & (values >= 1)

    def words(self, column: int) -> NDArray[np.uint64]:
        """Return cells of at most 8 printable characters as numbers, small letters for capitals; else 0."""
        begin, stop = self._bounds(column)
        width = stop - begin
        packed, plain = np.zeros(width.size, dtype=np.uint64), width <= 8
        for k in range(min(int(width.max()) if width.size else 0, 8)):
            inside = k < width
            raw = self.buffer[np.minimum(begin + k, self.buffer.size - 1)]
            plain &= ~inside | (raw >= 32)
            packed |= np.where(inside, (raw | 32).astype(np.uint64) << np.uint64(8 * k), np.uint64(0))
        return np.where(plain, packed, np.uint64(0))

    def hashes(self, column: int) -> NDArray[np.uint64]:
        """Return cells as numbers that differ where the first 80 bytes or the widths do."""
        begin, stop = self._bounds(column)
        width = stop - begin
        state = width.astype(np.uint64)
        for k in range(min(int(width.max()) if width.size else 0, 80)):
            raw = self.buffer[np.minimum(begin + k, self.buffer.size - 1)].astype(np.uint64)
            mixed = (state ^ raw) * np.uint64(0x9E3779B97F4A7C15)
            state = np.where(k < width, mixed ^ (mixed >> np.uint64(29)), state)
        return state
