"""The cells of many lines of a CSV file at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sojourn._typing import BoolArray, IntArray
from sojourn.laws import MAX_STEP

__all__ = ["Bytes", "Table"]

_QUOTE, _POINT, _ZERO = 34, 46, 48
_MOST_DIGITS, _MARGIN = 18, 24
"""Digits that are read at once, and the bytes that three looks at eight of them reach back."""

_ZEROS, _ONES = np.uint64(0x3030303030303030), np.uint64(0x0101010101010101)
_TO_TOP, _HIGH_BITS = np.uint64(0x7676767676767676), np.uint64(0x8080808080808080)
"""What takes a byte above 9 to its highest bit, and that bit of each byte."""

_STAGES = ((8, 10, 0x00FF00FF00FF00FF), (16, 100, 0x0000FFFF0000FFFF), (32, 10_000, 0xFFFFFFFF))
_ODD = np.uint64(0x9E3779B97F4A7C15)
_ALL_BITS = 2**64 - 1
_SHORT = 80
"""Bytes of a word that all words are looked at together for; what follows, one by one."""

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
        """Return a cell as text, a doubled quote in quotes as one."""
        begin, stop = self._bounds_of(column, row)
        text = self.buffer[begin:stop].tobytes().decode("utf-8", "replace")
        in_quotes = self.quoted and begin > 0 and self.buffer[begin - 1] == _QUOTE
        return text.replace('""', '"') if in_quotes else text

    def _bounds_of(self, column: int, row: int) -> tuple[int, int]:
        begin = int(self.marks[self.first[row] + column - 1]) + 1 if column else int(self.begins[row])
        at_end = column == self.n_columns - 1
        stop = int(self.stops[row]) if at_end else int(self.marks[self.first[row] + column])
        if self.quoted and stop - begin >= 2 and self.buffer[begin] == self.buffer[stop - 1] == _QUOTE:
            return begin + 1, stop - 1
        return begin, stop

    def digits(self, column: int) -> tuple[IntArray, BoolArray]:
        """Return numbers, and where cells are digits alone, or with ".0", that make one from 1 to 2**53."""
        begin, stop = self._bounds(column)
        pointed = (
            (stop - begin > 2)
            & (self.buffer[stop - 1] == _ZERO)
            & (self.buffer[np.maximum(stop - 2, 0)] == _POINT)
        )
        stop = stop - 2 * pointed
        width = stop - begin
        values, plain = np.zeros(width.size, dtype=np.uint64), (width > 0) & (width <= _MOST_DIGITS)
        for k in range(-(-int(width[plain].max()) // 8) if plain.any() else 0):
            eight = self._eights[stop - 8 * (k + 1) + _MARGIN] ^ _ZEROS
            eight = _without_low(eight, 8 - np.clip(width - 8 * k, 0, 8))
            plain &= (((eight + _TO_TOP) | eight) & _HIGH_BITS) == 0
            values += _number(eight) * np.uint64(10 ** (8 * k))
        plain &= (values >= 1) & (values <= MAX_STEP)
        return values.astype(np.int64), plain

    def words(self, column: int) -> NDArray[np.uint64]:
        """Return cells of at most 8 printable characters as numbers, small letters for capitals; else 0."""
        begin, stop = self._bounds(column)
        width = stop - begin
        eight = _without_high(self._eights[begin + _MARGIN], 8 - np.clip(width, 0, 8))
        filled = _without_high(np.full(width.size, _ONES), 8 - np.clip(width, 0, 8))
        printable = (
            (eight >> np.uint64(5) | eight >> np.uint64(6) | eight >> np.uint64(7)) & _ONES
        ) == filled
        return np.where((width <= 8) & printable, eight | filled << np.uint64(5), np.uint64(0))

    def hashes(self, column: int) -> NDArray[np.uint64]:
        """Return cells as numbers that differ where the cells do."""
        begin, stop = self._bounds(column)
        width = stop - begin
        state = width.astype(np.uint64) * _ODD
        for k in range(-(-min(int(width.max()), _SHORT) // 8) if width.size else 0):
            left = np.clip(width - 8 * k, 0, 8)
            eight = _without_high(self._eights[np.minimum(begin + 8 * k, stop) + _MARGIN], 8 - left)
            mixed = (state ^ eight) * _ODD
            state = np.where(left > 0, mixed ^ (mixed >> np.uint64(29)), state)
        for i in np.flatnonzero(width > _SHORT).tolist():
            state[i] ^= np.uint64(hash(self.buffer[begin[i] : stop[i]].tobytes()) & _ALL_BITS)
        return state

    @cached_property
    def _eights(self) -> NDArray[np.uint64]:
        """The eight bytes from each place on as one number, the first byte lowest; shifted by a margin."""
        edge = np.zeros(_MARGIN, dtype=np.uint8)
        padded = np.concatenate((edge, self.buffer, edge))
        return np.ndarray(padded.size - 7, dtype="<u8", buffer=padded, strides=(1,))


def _without_low(eights: NDArray[np.uint64], n: IntArray) -> NDArray[np.uint64]:
    """Return numbers of eight bytes with the n lowest ones, 0 to 8 of them, made 0."""
    shift = (8 * np.minimum(n, 7)).astype(np.uint64)
    return np.where(n < 8, eights >> shift << shift, np.uint64(0))


def _without_high(eights: NDArray[np.uint64], n: IntArray) -> NDArray[np.uint64]:
    """Return numbers of eight bytes with the n highest ones, 0 to 8 of them, made 0."""
    shift = (8 * np.minimum(n, 7)).astype(np.uint64)
    return np.where(n < 8, eights << shift >> shift, np.uint64(0))


def _number(digits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the number that eight digits make, one a byte, the highest in the lowest byte.

    Neighbours become pairs, pairs fours, and fours eight: each product has 10, 100 or 10,000 times the lower
    half and once the upper one where the shift finds them.
    """
    for bits, ten, mask in _STAGES:
        digits = (digits * np.uint64(ten * 2**bits + 1) >> np.uint64(bits)) & np.uint64(mask)
    return digits
