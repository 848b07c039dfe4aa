"""Tables as batches of columns of cells: of CSV text, NumPy arrays, Arrow columns and Python objects."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.laws import MAX_STEP

__all__ = [
    "ArrayColumn",
    "Batch",
    "BrokenRow",
    "Column",
    "CsvColumn",
    "CsvText",
    "Locate",
    "ObjectColumn",
    "Table",
    "arrow_column",
    "text_of",
]

_Words: TypeAlias = NDArray[np.uint64]

_QUOTE, _MINUS, _POINT, _ZERO = 34, 45, 46, 48

_MAX_DIGITS = 18
"""Longest number that is parsed for all cells at once; `_cells.parse_whole` parses longer ones."""

_MAX_EXACT_DIGITS = 15
_POWERS_OF_TEN = 10.0 ** np.arange(_MAX_EXACT_DIGITS + 1)

_FEW_DISTINCT = 16
"""Up to this number of distinct values, comparing them one by one costs less than sorting."""

_PADDING = 24
"""Zero bytes on both sides of the buffer: three words of eight bytes may start before a cell."""

_ASCII_ZEROS = np.uint64(0x3030303030303030)
_ABOVE_NINE, _HIGH_BITS = np.uint64(0x7676767676767676), np.uint64(0x8080808080808080)
"""Adding the first sets the highest bit of every byte above 9."""

_DIGIT_JOINS = ((8, 10, 0x00FF00FF00FF00FF), (16, 100, 0x0000FFFF0000FFFF), (32, 10_000, 0xFFFFFFFF))
"""Shift, factor and mask of each round of `_join_digits`."""

_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_ALL_BITS = 2**64 - 1

_VECTOR_HASH_BYTES = 80
"""Bytes of each cell that are hashed for all cells together; the rest of longer cells is hashed in a loop."""


class Column(Protocol):
    """A column of a batch of rows."""

    @property
    def decimal_comma(self) -> bool:
        """Whether texts may write numbers with a decimal comma."""

    def cell(self, i: int) -> object:
        """Return a cell as a text or another Python object; None if it has no value."""

    def wholes(self) -> tuple[IntArray, BoolArray]:
        """Return whole numbers ≥ 0, and which cells have one for sure; `cell` decides the others."""

    def decimals(self) -> tuple[FloatArray, BoolArray]:
        """Return finite numbers, and which cells have one for sure; `cell` decides the others."""

    def words(self) -> tuple[list[str], IntArray]:
        """Return distinct words and the index of each cell's word; a cell without a value is ""."""


class BrokenRow(NamedTuple):
    """A row that cannot be split into cells: its line, the rule that it breaks, and its likely cells."""

    row: int
    rule: str
    got: str = ""
    cells: Sequence[str] = ()


@dataclass
class Batch:
    """Some rows of a table.

    Attributes:
        columns: The columns that are needed, by what they hold.
        rows: Line or row numbers, `(n,)`.
        broken: Yields the rows between them that cannot be split into cells.
    """

    columns: dict[str, Column]
    rows: IntArray
    broken: Iterable[BrokenRow] = ()


Locate: TypeAlias = Callable[[Sequence[str]], Mapping[str, int]]
"""Returns the indices of the columns that are needed, by what they hold, given the names of all columns."""


@dataclass(frozen=True)
class Table:
    """A file or table, of which the names of the columns and the first rows are known.

    Attributes:
        source: Its name in messages.
        names: Names of all columns.
        first_rows: The first rows as texts.
        batches: Yields the rows; it can be called once.
    """

    source: str
    names: Sequence[str]
    first_rows: Sequence[Sequence[str]]
    batches: Callable[[Locate], Iterator[Batch]]


@dataclass(frozen=True)
class CsvText:
    """Lines of CSV text, and how their cells are written.

    Attributes:
        buffer: The bytes.
        has_quotes: Whether there are any quotes in the text.
        decimal_comma: Whether numbers may have a decimal comma, because cells are not separated by commas.
    """

    buffer: NDArray[np.uint8]
    has_quotes: bool
    decimal_comma: bool

    @cached_property
    def eight_byte_words(self) -> _Words:
        """Eight bytes from each position on as a little-endian integer, at index position + `_PADDING`."""
        padding = np.zeros(_PADDING, dtype=np.uint8)
        padded = np.concatenate((padding, self.buffer, padding))
        return np.ndarray(padded.size - 7, dtype="<u8", buffer=padded, strides=(1,))


class CsvColumn:
    """A column of CSV text, which parses all of its cells at once; see `Column`.

    Args:
        text: The text.
        start: Position of the first byte of each cell, `(n,)`.
        stop: Position after the last byte of each cell, `(n,)`.
    """

    def __init__(self, text: CsvText, start: IntArray, stop: IntArray) -> None:
        if text.has_quotes:
            first, last = text.buffer[start], text.buffer[stop - 1]
            in_quotes = (stop - start >= 2) & (first == _QUOTE) & (last == _QUOTE)
            start, stop = start + in_quotes, stop - in_quotes
        self._text, self._start, self._stop = text, start, stop
        self.decimal_comma = text.decimal_comma

    def cell(self, i: int) -> str:
        """Return the text of a cell; inside quotes, a doubled quote becomes a single one.

        Bytes that are not UTF-8 become lone surrogates, so that different cells stay different.
        """
        buffer, start = self._text.buffer, int(self._start[i])
        text = bytes(buffer.data[start : int(self._stop[i])]).decode("utf-8", "surrogateescape")
        in_quotes = self._text.has_quotes and start > 0 and buffer[start - 1] == _QUOTE
        return text.replace('""', '"') if in_quotes else text

    def wholes(self) -> tuple[IntArray, BoolArray]:
        """Return whole numbers up to 2**53, and which cells are digits, optionally followed by ".0"."""
        buffer, start, stop = self._text.buffer, self._start, self._stop
        has_point = (buffer[np.maximum(stop - 2, 0)] == _POINT) & (stop - start > 2)
        if has_point.any():
            stop = stop - 2 * (has_point & (buffer[stop - 1] == _ZERO))
        values, parsed = self._digits(start, stop)
        return values.astype(np.int64), parsed & (values <= MAX_STEP)

    def decimals(self) -> tuple[FloatArray, BoolArray]:
        """Return numbers with a sign and a decimal point, and which cells have one of at most 15 digits.

        For these the quotient of two exact numbers is the nearest float.
        """
        buffer, start, stop = self._text.buffer, self._start, self._stop
        is_negative = (buffer[np.minimum(start, buffer.size - 1)] == _MINUS) & (stop > start)
        start = start + is_negative
        points = np.append(np.flatnonzero(buffer == _POINT), buffer.size)
        point = np.minimum(points[np.searchsorted(points, start)], stop)
        has_point = point < stop
        whole, is_whole = self._digits(start, point)
        part, is_part = self._digits(point + has_point, stop)
        n_digits = np.where(has_point, stop - point - 1, 0)
        parsed = is_whole & (is_part | ~has_point) & (point - start + n_digits <= _MAX_EXACT_DIGITS)
        powers = _POWERS_OF_TEN[np.where(parsed, n_digits, 0)]
        values = (np.where(parsed, whole, 0) * powers + np.where(parsed & has_point, part, 0)) / powers
        return np.where(is_negative, -values, values), parsed

    def _digits(self, start: IntArray, stop: IntArray) -> tuple[_Words, BoolArray]:
        """Parse digits between positions; also return which of them are nothing but 1 to 18 digits."""
        width = stop - start
        values, parsed = np.zeros(width.size, dtype=np.uint64), (width > 0) & (width <= _MAX_DIGITS)
        for k in range(-(-int(width[parsed].max()) // 8) if parsed.any() else 0):
            digits = self._text.eight_byte_words[stop - 8 * (k + 1) + _PADDING] ^ _ASCII_ZEROS
            digits = _clear_low_bytes(digits, 8 - np.clip(width - 8 * k, 0, 8))
            parsed &= (((digits + _ABOVE_NINE) | digits) & _HIGH_BITS) == 0
            values += _join_digits(digits) * np.uint64(10 ** (8 * k))
        return values, parsed

    def words(self) -> tuple[list[str], IntArray]:
        """Return the distinct cells in order of appearance, and the index of each row's cell."""
        words = self._first_bytes()
        first, where = _distinct(self._hashes(words))
        different = np.flatnonzero(~self._are_equal(words, first, where))
        if different.size:  # cells that share a hash with another one, which only a forger achieves
            numbers: dict[str, int] = {}
            for i in different.tolist():
                where[i] = first.size + numbers.setdefault(self.cell(i), len(numbers))
            first = np.append(first, different[np.unique(where[different], return_index=True)[1]])
        if self._text.has_quotes:
            return [self.cell(i) for i in first.tolist()], where
        view = self._text.buffer.data
        spans = zip(self._start[first].tolist(), self._stop[first].tolist(), strict=True)
        return [bytes(view[a:b]).decode("utf-8", "surrogateescape") for a, b in spans], where

    def _first_bytes(self) -> list[_Words]:
        """Return the first `_VECTOR_HASH_BYTES` bytes of each cell, eight per integer."""
        width = self._stop - self._start
        n_words = -(-min(int(width.max(initial=0)), _VECTOR_HASH_BYTES) // 8)
        words = []
        for k in range(n_words):
            word = self._text.eight_byte_words[np.minimum(self._start + 8 * k, self._stop) + _PADDING]
            words.append(_clear_high_bytes(word, 8 - np.clip(width - 8 * k, 0, 8)))
        return words

    def _hashes(self, words: list[_Words]) -> _Words:
        """Return a 64-bit hash of each cell, given its first bytes.

        Different cells may share a hash, unless they have the same width of at most 8 bytes: `_are_equal`
        compares cells.
        """
        start, stop = self._start, self._stop
        width = stop - start
        state = width.astype(np.uint64) * _HASH_MULTIPLIER
        for k, word in enumerate(words):
            mixed = (state ^ word) * _HASH_MULTIPLIER
            state = np.where(width > 8 * k, mixed ^ (mixed >> np.uint64(29)), state)
        for i in np.flatnonzero(width > _VECTOR_HASH_BYTES).tolist():
            state[i] ^= np.uint64(hash(self._text.buffer[start[i] : stop[i]].tobytes()) & _ALL_BITS)
        return state

    def _are_equal(self, words: list[_Words], first: IntArray, where: IntArray) -> BoolArray:
        """Return whether each cell has the same bytes as the first cell with its hash.

        Args:
            words: The first bytes of each cell.
            first: First cell with each distinct hash.
            where: Index into `first` for each cell.
        """
        start, buffer = self._start, self._text.buffer
        width = self._stop - start
        equal = np.asarray(width == width[first][where])
        if len(words) < 2:
            return equal
        for word in words:
            equal &= word == word[first][where]
        for i in np.flatnonzero(equal & (width > _VECTOR_HASH_BYTES)).tolist():
            a, b, n = int(start[i]), int(start[first[where[i]]]), int(width[i])
            equal[i] = a == b or buffer[a : a + n].tobytes() == buffer[b : b + n].tobytes()
        return equal


def _distinct(keys: _Words) -> tuple[IntArray, IntArray]:
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


def _clear_low_bytes(words: _Words, n: IntArray) -> _Words:
    """Set the n lowest bytes of each word to 0, for n from 0 to 8."""
    shift = (8 * np.minimum(n, 7)).astype(np.uint64)
    return np.where(n < 8, words >> shift << shift, np.uint64(0))


def _clear_high_bytes(words: _Words, n: IntArray) -> _Words:
    """Set the n highest bytes of each word to 0, for n from 0 to 8."""
    shift = (8 * np.minimum(n, 7)).astype(np.uint64)
    return np.where(n < 8, words << shift >> shift, np.uint64(0))


def _join_digits(digits: _Words) -> _Words:
    """Return the number made of eight digits, one digit per byte, the leading digit in the lowest byte.

    Digits are joined to pairs, pairs to groups of four, and those to eight: each product adds 10, 100 or
    10,000 times the lower half to the upper half, where the shift extracts the sum.
    """
    for bits, factor, mask in _DIGIT_JOINS:
        digits = (digits * np.uint64(factor * 2**bits + 1) >> np.uint64(bits)) & np.uint64(mask)
    return digits


def text_of(cell: object) -> str:
    """Return a cell as text: empty for None, NaN, NA and NaT, and without a point for whole numbers."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "surrogateescape")
    if isinstance(cell, float):
        is_whole = cell.is_integer() and abs(cell) <= MAX_STEP
        return "" if math.isnan(cell) else str(int(cell)) if is_whole else str(cell)
    return str(cell)


class ArrayColumn:
    """A column of values in memory: a NumPy array, or what can be converted to one; see `Column`."""

    decimal_comma = False

    def __init__(self, values: Any) -> None:
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(object), np.nan)
        array = np.asarray(values)
        exact = array.dtype.kind in "biufMm" and not _may_be_rounded(array, values)
        self.array = array if exact else np.asarray(values, dtype=object)
        if self.array.dtype == np.float16:  # ends at 65,504
            self.array = self.array.astype(np.float64)
        if self.array.ndim != 1:
            raise ValueError(f"columns must have one dimension; got shape {self.array.shape}.")

    def cell(self, i: int) -> object:
        """Return a value as a Python object."""
        value = self.array[i]
        if self.array.dtype.kind in "Mm":  # as a text: `item` would return a number of nanoseconds
            return None if np.isnat(value) else str(value)
        return value.item() if isinstance(value, np.generic) else value

    def wholes(self) -> tuple[IntArray, BoolArray]:
        """Return the whole numbers of a numeric array, and which values these are."""
        if self.array.dtype.kind not in "iuf":
            return np.zeros(self.array.size, dtype=np.int64), np.zeros(self.array.size, dtype=bool)
        valid = (self.array >= 0) & (self.array <= MAX_STEP)
        if self.array.dtype.kind == "f":
            valid &= np.floor(self.array) == self.array
        return np.where(valid, self.array, 0).astype(np.int64), valid

    def decimals(self) -> tuple[FloatArray, BoolArray]:
        """Return the numbers of a numeric array, and which values these are."""
        if self.array.dtype.kind not in "iuf":
            return np.zeros(self.array.size), np.zeros(self.array.size, dtype=bool)
        values = self.array.astype(np.float64)
        return values, np.isfinite(values)

    def words(self) -> tuple[list[str], IntArray]:
        """Return distinct words and the index of each cell's word."""
        if self.array.dtype.kind in "biuf":
            distinct, where = np.unique(self.array, return_inverse=True)
            return [text_of(value) for value in distinct.tolist()], where
        codes: dict[str, int] = {}
        is_time = self.array.dtype.kind in "Mm"
        cells = map(self.cell, range(self.array.size)) if is_time else self.array.tolist()
        where = np.array([codes.setdefault(text_of(cell), len(codes)) for cell in cells])
        return list(codes), where.astype(np.int64)


def _may_be_rounded(array: NDArray[Any], values: Any) -> bool:
    """Whether values may be whole numbers that lost digits: some above 2**53 next to a missing value."""
    is_new = array.dtype.kind == "f" and not isinstance(values, np.ndarray)
    return is_new and bool((np.abs(array) >= MAX_STEP).any())


class ObjectColumn(ArrayColumn):
    """A column of Python objects of any kind, which are never converted to a common type."""

    def __init__(self, values: list[Any]) -> None:
        self.array = np.empty(len(values), dtype=object)
        self.array[:] = values


def arrow_column(column: Any) -> ArrayColumn:
    """Return a column of an Arrow table."""
    import pyarrow.types as arrow_types  # noqa: PLC0415

    kind = column.type
    is_time = arrow_types.is_timestamp(kind) or arrow_types.is_duration(kind)
    is_number = arrow_types.is_boolean(kind) or arrow_types.is_integer(kind) or arrow_types.is_floating(kind)
    if is_time or is_number:
        array = column.to_numpy(zero_copy_only=False)
        if arrow_types.is_integer(kind) and _may_be_rounded(array, column):
            return ObjectColumn(column.to_pylist())
        return ArrayColumn(array)
    return _ArrowWords(column)


class _ArrowWords(ArrayColumn):
    """An Arrow column of texts or other objects, which become Python objects only where they are needed."""

    def __init__(self, column: Any) -> None:
        self._column = column
        self.array = np.broadcast_to(np.array(None, dtype=object), len(column))

    def cell(self, i: int) -> object:
        """Return a value as a Python object; equal texts of a dictionary are one object."""
        if not hasattr(self._column, "dictionary"):
            value: object = self._column[i].as_py()
            return value
        at = self._column.indices[i].as_py()
        return None if at is None else self._dictionary[at]

    @cached_property
    def _dictionary(self) -> list[object]:
        return list(self._column.dictionary.to_pylist())

    def words(self) -> tuple[list[str], IntArray]:
        """Return distinct words and the index of each cell's word."""
        column = self._column
        try:
            encoded = column.dictionary_encode() if hasattr(column, "dictionary_encode") else column
        except NotImplementedError:  # lists and other values that are not simple
            return ObjectColumn(column.to_pylist()).words()
        words = [text_of(word) for word in encoded.dictionary.to_pylist()]
        raw = encoded.indices.to_numpy(zero_copy_only=False)
        where = np.where(np.isnan(raw), len(words), raw) if raw.dtype.kind == "f" else raw
        return [*words, ""], where.astype(np.int64)
