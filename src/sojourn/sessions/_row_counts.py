"""Counts of equal sessions, in little memory for any number of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sojourn._typing import BoolArray, IntArray

__all__ = ["DistinctRows", "RowCounts"]

_MIN_BUFFERED = 1 << 20
"""Number of rows that are buffered before equal rows are merged for the first time."""

_Column: TypeAlias = NDArray[np.unsignedinteger[Any]]
"""Whole numbers ≥ 0, in the smallest unsigned type that holds the largest of them."""


@dataclass(frozen=True)
class DistinctRows:
    """Distinct rows with their counts, sorted by length; see `SessionLog` for the columns."""

    lengths: IntArray
    observed: BoolArray
    entry: IntArray
    group: IntArray
    counts: IntArray


class RowCounts:
    """Counts equal rows as they are read.

    Equal rows are merged whenever the number of buffered rows has doubled. Each row is therefore sorted only
    a few times, and the buffer holds at most a million rows or twice the number of distinct rows.
    """

    def __init__(self) -> None:
        self._pieces: tuple[list[_Column], ...] = ([], [], [], [])
        """Pieces of four columns: 2 · (length − 1) + observed, entry, group, and count − 1."""
        self._n_buffered, self._merge_at = 0, _MIN_BUFFERED

    def __len__(self) -> int:
        return self._n_buffered

    def add(
        self,
        lengths: IntArray,
        observed: BoolArray,
        entry: IntArray | None = None,
        group: IntArray | None = None,
        counts: IntArray | None = None,
    ) -> None:
        """Add valid rows, once or as often as `counts` says; without entries or groups these are 0."""
        if not lengths.size:
            return
        key, more = 2 * (lengths - 1) + observed, None if counts is None else counts - 1
        for pieces, column in zip(self._pieces, (key, entry, group, more), strict=True):
            pieces.append(np.zeros(lengths.size, dtype=np.uint8) if column is None else _narrow(column))
        self._n_buffered += lengths.size
        if self._n_buffered >= self._merge_at:
            self._merge()
            self._merge_at = max(2 * self._n_buffered, _MIN_BUFFERED)

    def drop_groups(self) -> None:
        """Put all rows into group 0."""
        groups = self._pieces[2]
        groups[:] = [np.zeros(piece.size, dtype=np.uint8) for piece in groups]

    def take_rows(self) -> DistinctRows:
        """Return the distinct rows, and release them."""
        self._merge()
        key, entry, group, counts = (pieces.pop() for pieces in self._pieces)
        self._n_buffered = 0
        observed = (key & 1).astype(np.bool_)
        key >>= 1
        return DistinctRows(_widen(key, 1), observed, _widen(entry, 0), _widen(group, 0), _widen(counts, 1))

    def _merge(self) -> None:
        """Sort the buffered rows and merge equal ones."""
        columns = [_join(pieces) for pieces in self._pieces]
        key, entry, group, _ = columns
        order = _sort_order((group, entry, key))
        del key, entry, group  # so that each unsorted column is freed as soon as it is sorted
        for i, column in enumerate(columns):
            columns[i] = column[order]
        del column, order
        starts = _run_starts(columns[:-1])
        if starts.size < self._n_buffered:
            totals = np.add.reduceat(columns.pop().astype(np.int64) + 1, starts)
            columns = [column[starts] for column in columns] + [_narrow(totals - 1)]
        self._n_buffered = starts.size
        for pieces, column in zip(self._pieces, columns, strict=True):
            pieces.append(column)


def _narrow(column: NDArray[Any]) -> _Column:
    """Return the column in the smallest unsigned type that holds it."""
    return column.astype(np.min_scalar_type(int(column.max())), copy=False)


def _widen(column: _Column, offset: int) -> IntArray:
    """Return column + offset as 64-bit integers; a column of zeros takes the memory of one number."""
    if not column.any():
        return np.broadcast_to(np.int64(offset), column.size)
    wide = column.astype(np.int64)
    wide += offset
    return wide


def _join(pieces: list[_Column]) -> _Column:
    """Return the pieces as one column and clear the list, which frees them."""
    whole = np.concatenate(pieces)
    pieces.clear()
    return whole


def _sort_order(columns: Sequence[_Column]) -> IntArray:
    """Return the order that sorts rows by the last column, then the one before it, and so on.

    Columns are packed into 64-bit words, so that most logs are sorted by a single key.
    """
    words: list[NDArray[np.uint64]] = []
    used = 0
    for column in columns:
        bits = int(column.max()).bit_length()
        if not words or used + bits > 64:
            words.append(column.astype(np.uint64, copy=False))
            used = bits
        elif bits:
            words[-1] = words[-1] | column.astype(np.uint64) << np.uint64(used)
            used += bits
    if len(words) == 1 and used <= 16:  # radix sort, at a tenth of the time
        return np.argsort(words[0].astype(np.uint16), kind="stable")
    order = np.argsort(words[-1])
    if len(words) > 1:
        first = words[-1][order]
        same = first[1:] == first[:-1]
        tied = np.append(same, False) | np.append(False, same)
        some = order[tied]
        order[tied] = some[np.lexsort([word[some] for word in words])]
    return order


def _run_starts(columns: Sequence[_Column]) -> IntArray:
    """Return the indices of sorted rows that differ from the row before them."""
    differs = np.zeros(columns[0].size, dtype=np.bool_)
    differs[0] = True
    for column in columns:
        differs[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(differs)
