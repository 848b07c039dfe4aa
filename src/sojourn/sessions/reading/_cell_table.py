"""Vectorized parsing of the cells in many CSV lines at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.laws import MAX_STEP
from sojourn.sessions.reading._cells import with_decimal_point

__all__ = ["Bytes", "CellTable", "CsvColumn"]

_QUOTE, _MINUS, _POINT, _ZERO = 34, 45, 46, 48

_MAX_DIGITS = 18
"""Longest number that is parsed here; `_cells.parse_whole` parses longer ones."""

_MAX_EXACT_DIGITS = 15
_POWERS_OF_TEN = 10.0 ** np.arange(_MAX_EXACT_DIGITS + 1)

_FEW_DISTINCT = 16
"""Up to this number of distinct values, comparing them one by one costs less than sorting."""

_PADDING = 24
"""Zero bytes on both sides of the buffer: three words of eight bytes may start before a cell."""

_ASCII_ZEROS, _ONES = np.uint64(0x3030303030303030), np.uint64(0x0101010101010101)

_ABOVE_NINE = np.uint64(0x7676767676767676)
"""Adding this sets the highest bit of every byte above 9."""

_HIGH_BITS = np.uint64(0x8080808080808080)

_DIGIT_JOINS = ((8, 10, 0x00FF00FF00FF00FF), (16, 100, 0x0000FFFF0000FFFF), (32, 10_000, 0xFFFFFFFF))
"""Shift, factor and mask of each round of `_join_digits`."""

_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_ALL_BITS = 2**64 - 1

_VECTOR_HASH_BYTES = 80
"""Bytes of each cell that are hashed for all cells together; the rest of longer cells is hashed in a loop."""

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class CellTable:
    """Positions of the cells of rows that all have the expected number of cells.

    Attributes:
        buffer: The text that contains the rows.
        starts: Position of the first byte of each row, `(n,)`.
        stops: Position after the last byte of each row, `(n,)`.
        delimiters: Positions of the delimiters of all rows.
        first_delimiter: Index into `delimiters` of each row's first delimiter, `(n,)`.
        n_columns: Number of cells per row.
        has_quotes: Whether there are any quotes in the text.
    """

    buffer: Bytes
    starts: IntArray
    stops: IntArray
    delimiters: IntArray
    first_delimiter: IntArray
    n_columns: int
    has_quotes: bool

    def _column_bounds(self, column: int) -> tuple[IntArray, IntArray]:
        """Return where the cells of a column start and stop, without the quotes around them."""
        start, stop = self.starts, self.stops
        if column:
            start = self.delimiters[self.first_delimiter + (column - 1)] + 1
        if column < self.n_columns - 1:
            stop = self.delimiters[self.first_delimiter + column]
        if self.has_quotes:
            in_quotes = (
                (stop - start >= 2) & (self.buffer[start] == _QUOTE) & (self.buffer[stop - 1] == _QUOTE)
            )
            start, stop = start + in_quotes, stop - in_quotes
        return start, stop

    def text(self, column: int, row: int) -> str:
        """Return the text of one cell; inside quotes, a doubled quote becomes a single one."""
        start, stop = self._cell_bounds(column, row)
        text = bytes(self.buffer.data[start:stop]).decode("utf-8", "replace")
        in_quotes = self.has_quotes and start > 0 and self.buffer[start - 1] == _QUOTE
        return text.replace('""', '"') if in_quotes else text

    def _cell_bounds(self, column: int, row: int) -> tuple[int, int]:
        """Return where one cell starts and stops, without the quotes around it."""
        first = self.first_delimiter[row]
        start = int(self.delimiters[first + column - 1]) + 1 if column else int(self.starts[row])
        is_last = column == self.n_columns - 1
        stop = int(self.stops[row]) if is_last else int(self.delimiters[first + column])
        if self.has_quotes and stop - start >= 2 and self.buffer[start] == self.buffer[stop - 1] == _QUOTE:
            return start + 1, stop - 1
        return start, stop

    def whole_numbers(self, column: int) -> tuple[IntArray, BoolArray]:
        """Parse a column of whole numbers.

        Returns:
            The values, and a mask of the cells that were parsed: those that consist of digits, optionally
            followed by ".0", with a value of at most 2**53.
        """
        start, stop = self._column_bounds(column)
        has_point = (
            (stop - start > 2)
            & (self.buffer[stop - 1] == _ZERO)
            & (self.buffer[np.maximum(stop - 2, 0)] == _POINT)
        )
        values, parsed = self._digits(start, stop - 2 * has_point)
        return values.astype(np.int64), parsed & (values <= MAX_STEP)

    def decimal_numbers(self, column: int) -> tuple[FloatArray, BoolArray]:
        """Parse a column of numbers with a sign and a decimal point.

        Returns:
            The values, and a mask of the cells that were parsed: those with at most 15 digits, for which
            the quotient of two exact numbers is the nearest float.
        """
        start, stop = self._column_bounds(column)
        first = self.buffer[np.minimum(start, self.buffer.size - 1)]
        is_negative = (first == _MINUS) & (stop > start)
        start = start + is_negative
        points = np.append(np.flatnonzero(self.buffer == _POINT), self.buffer.size)
        point = np.minimum(points[np.searchsorted(points, start)], stop)
        has_point = point < stop
        whole, is_whole = self._digits(start, point)
        part, is_part = self._digits(point + has_point, stop)
        n_digits = np.where(has_point, stop - point - 1, 0)
        parsed = is_whole & (is_part | ~has_point) & (point - start + n_digits <= _MAX_EXACT_DIGITS)
        powers = _POWERS_OF_TEN[np.where(parsed, n_digits, 0)]
        values = (np.where(parsed, whole, 0) * powers + np.where(parsed & has_point, part, 0)) / powers
        return np.where(is_negative, -values, values), parsed

    def _digits(self, start: IntArray, stop: IntArray) -> tuple[NDArray[np.uint64], BoolArray]:
        """Parse digits between positions; also return which of them are nothing but 1 to 18 digits."""
        width = stop - start
        values, parsed = np.zeros(width.size, dtype=np.uint64), (width > 0) & (width <= _MAX_DIGITS)
        for k in range(-(-int(width[parsed].max()) // 8) if parsed.any() else 0):
            digits = self._eight_byte_words[stop - 8 * (k + 1) + _PADDING] ^ _ASCII_ZEROS
            digits = _clear_low_bytes(digits, 8 - np.clip(width - 8 * k, 0, 8))
            parsed &= (((digits + _ABOVE_NINE) | digits) & _HIGH_BITS) == 0
            values += _join_digits(digits) * np.uint64(10 ** (8 * k))
        return values, parsed

    def distinct(self, column: int) -> tuple[list[str], IntArray]:
        """Return the distinct cells of a column in order of appearance, and the index of each row's cell."""
        words = self.words(column)
        first, where = _distinct(self.hashes(column, words))
        different = np.flatnonzero(~self.are_equal(column, words, first, where))
        if different.size:  # cells that share a hash with another one, which only a forger achieves
            numbers: dict[str, int] = {}
            for i in different.tolist():
                where[i] = first.size + numbers.setdefault(self.text(column, i), len(numbers))
            first = np.append(first, different[np.unique(where[different], return_index=True)[1]])
        if self.has_quotes:
            return [self.text(column, i) for i in first.tolist()], where
        start, stop = self._column_bounds(column)
        spans = zip(start[first].tolist(), stop[first].tolist(), strict=True)
        view = self.buffer.data
        return [bytes(view[a:b]).decode("utf-8", "replace") for a, b in spans], where

    def words(self, column: int) -> list[NDArray[np.uint64]]:
        """Return the first `_VECTOR_HASH_BYTES` bytes of each cell in a column, eight per integer."""
        start, stop = self._column_bounds(column)
        width = stop - start
        n_words = -(-min(int(width.max(initial=0)), _VECTOR_HASH_BYTES) // 8)
        words = []
        for k in range(n_words):
            word = self._eight_byte_words[np.minimum(start + 8 * k, stop) + _PADDING]
            words.append(_clear_high_bytes(word, 8 - np.clip(width - 8 * k, 0, 8)))
        return words

    def hashes(self, column: int, words: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
        """Return a 64-bit hash of each cell in a column.

        Different cells may share a hash, unless they have the same width of at most 8 bytes: `are_equal`
        compares cells.

        Args:
            column: The column.
            words: Its `words`.
        """
        start, stop = self._column_bounds(column)
        width = stop - start
        state = width.astype(np.uint64) * _HASH_MULTIPLIER
        for k, word in enumerate(words):
            mixed = (state ^ word) * _HASH_MULTIPLIER
            state = np.where(width > 8 * k, mixed ^ (mixed >> np.uint64(29)), state)
        for i in np.flatnonzero(width > _VECTOR_HASH_BYTES).tolist():
            state[i] ^= np.uint64(hash(self.buffer[start[i] : stop[i]].tobytes()) & _ALL_BITS)
        return state

    def are_equal(
        self, column: int, words: list[NDArray[np.uint64]], first: IntArray, where: IntArray
    ) -> BoolArray:
        """Return whether the cell of each row has the same bytes as the first cell with its hash.

        Args:
            column: The column.
            words: Its `words`.
            first: First row with each distinct hash.
            where: Index into `first` for each row.
        """
        start, stop = self._column_bounds(column)
        width = stop - start
        equal = np.asarray(width == width[first][where])
        if len(words) < 2:
            return equal
        for word in words:
            equal &= word == word[first][where]
        for i in np.flatnonzero(equal & (width > _VECTOR_HASH_BYTES)).tolist():
            a, b, n = int(start[i]), int(start[first[where[i]]]), int(width[i])
            equal[i] = a == b or self.buffer[a : a + n].tobytes() == self.buffer[b : b + n].tobytes()
        return equal

    @cached_property
    def _eight_byte_words(self) -> NDArray[np.uint64]:
        """Eight bytes from each position on as a little-endian integer, at index position + `_PADDING`."""
        padding = np.zeros(_PADDING, dtype=np.uint8)
        padded = np.concatenate((padding, self.buffer, padding))
        return np.ndarray(padded.size - 7, dtype="<u8", buffer=padded, strides=(1,))


@dataclass(frozen=True)
class CsvColumn:
    """A column of a `CellTable`; see `Column`.

    Attributes:
        table: The cells.
        index: Number of the column, from 0.
        decimal_comma: Whether numbers may have a decimal comma, because cells are not separated by commas.
    """

    table: CellTable
    index: int
    decimal_comma: bool

    def __len__(self) -> int:
        return self.table.starts.size

    def cell(self, i: int) -> str:
        """Return the text of a cell."""
        return self.table.text(self.index, i)

    def number(self, i: int) -> str:
        """Return the text of a number, with a decimal point."""
        return with_decimal_point(self.cell(i)) if self.decimal_comma else self.cell(i)

    def wholes(self) -> tuple[IntArray, BoolArray]:
        """Return the whole numbers of ordinary cells, and which cells these are."""
        return self.table.whole_numbers(self.index)

    def decimals(self) -> tuple[FloatArray, BoolArray]:
        """Return the numbers of ordinary cells, and which cells these are."""
        return self.table.decimal_numbers(self.index)

    def words(self) -> tuple[list[str], IntArray]:
        """Return distinct cells and the index of each row's cell."""
        return self.table.distinct(self.index)


def _distinct(keys: NDArray[np.uint64]) -> tuple[IntArray, IntArray]:
    """Return the first index of each distinct key, in order of appearance, and the number of each key."""
    first: list[int] = []
    where = np.full(keys.size, -1)
    are_few = np.unique(keys[: 16 * _FEW_DISTINCT]).size <= _FEW_DISTINCT
    for k in range(_FEW_DISTINCT + 1 if are_few else 0):
        rest = where < 0
        at = int(np.argmax(rest)) if keys.size else 0
        if not keys.size or not rest[at]:
            return np.array(first, dtype=np.int64), where
        first.append(at)
        where[keys == keys[at]] = k
    _, found, where = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(found)
    return found[order], np.argsort(order)[where]


def _clear_low_bytes(words: NDArray[np.uint64], n: IntArray) -> NDArray[np.uint64]:
    """Set the n lowest bytes of each word to 0, for n from 0 to 8."""
    shift = (8 * np.minimum(n, 7)).astype(np.uint64)
    return np.where(n < 8, words >> shift << shift, np.uint64(0))


def _clear_high_bytes(words: NDArray[np.uint64], n: IntArray) -> NDArray[np.uint64]:
    """Set the n highest bytes of each word to 0, for n from 0 to 8."""
    shift = (8 * np.minimum(n, 7)).astype(np.uint64)
    return np.where(n < 8, words << shift >> shift, np.uint64(0))


def _join_digits(digits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the number made of eight digits, one digit per byte, the leading digit in the lowest byte.

    Digits are joined to pairs, pairs to groups of four, and those to eight: each product adds 10, 100 or
    10,000 times the lower half to the upper half, where the shift extracts the sum.
    """
    for bits, factor, mask in _DIGIT_JOINS:
        digits = (digits * np.uint64(factor * 2**bits + 1) >> np.uint64(bits)) & np.uint64(mask)
    return digits
