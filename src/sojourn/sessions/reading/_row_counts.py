"""Counting rows that are alike, of any number of rows, in little memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sojourn._typing import BoolArray, IntArray

__all__ = ["Rows", "Tally"]

_FEWEST = 1 << 20
"""So many rows are kept as they come before those alike are looked for."""

_Column: TypeAlias = NDArray[np.unsignedinteger[Any]]
"""Whole numbers ≥ 0 in as few bytes as the largest of them needs."""


@dataclass(frozen=True)
class Rows:
    """Rows that differ, the shortest first, with their counts; see `SessionLog`."""

    lengths: IntArray
    observed: BoolArray
    entry: IntArray
    group: IntArray
    counts: IntArray


class Tally:
    """Rows as they are read, those alike counted together whenever twice as many are kept as before.

    So each row is sorted a few times at most, and no more rows are kept than a million, or twice those that
    differ.
    """

    def __init__(self) -> None:
        self._pieces: tuple[list[_Column], ...] = ([], [], [], [])
        """Of 2 · (length − 1) + observed, entry − 1, group and count − 1."""
        self._kept, self._most = 0, _FEWEST

    def add(self, lengths: IntArray, observed: BoolArray, entry: IntArray, group: IntArray) -> None:
        """Add rows that are good."""
        if not lengths.size:
            return
        once = np.zeros(lengths.size, dtype=np.uint8)
        columns: tuple[NDArray[Any], ...] = (2 * (lengths - 1) + observed, entry - 1, group, once)
        for pieces, column in zip(self._pieces, columns, strict=True):
            pieces.append(_narrow(column))
        self._kept += lengths.size
        if self._kept >= self._most:
            self._merge()
            self._most = max(2 * self._kept, _FEWEST)

    def forget_groups(self) -> None:
        """Put all rows into one group."""
        groups = self._pieces[2]
        groups[:] = [np.zeros(piece.size, dtype=np.uint8) for piece in groups]

    def rows(self) -> Rows:
        """Return the rows that differ, and let go of them."""
        self._merge()
        key, entry, group, counts = (pieces.pop() for pieces in self._pieces)
        observed = (key & 1).astype(np.bool_)
        key >>= 1
        return Rows(_wide(key, 1), observed, _wide(entry, 1), _wide(group, 0), _wide(counts, 1))

    def _merge(self) -> None:
        """Sort all rows, and keep those that differ."""
        columns = [_joined(pieces) for pieces in self._pieces]
        key, entry, group, _ = columns
        order = _order((group, entry, key))
        del key, entry, group  # so that each column is let go as soon as it is sorted
        for i, column in enumerate(columns):
            columns[i] = column[order]
        del column, order
        begins = _begins(columns[:-1])
        if begins.size < self._kept:
            totals = np.add.reduceat(columns.pop().astype(np.int64) + 1, begins)
            columns = [column[begins] for column in columns] + [_narrow(totals - 1)]
        self._kept = begins.size
        for pieces, column in zip(self._pieces, columns, strict=True):
            pieces.append(column)


def _narrow(column: NDArray[Any]) -> _Column:
    return column.astype(np.min_scalar_type(int(column.max())), copy=False)


def _wide(column: _Column, more: int) -> IntArray:
    """Return numbers in full, and so much larger; where all are 0, in no more room than one takes."""
    if not column.any():
        return np.broadcast_to(np.int64(more), column.size)
    wide = column.astype(np.int64)
    wide += more
    return wide


def _joined(pieces: list[_Column]) -> _Column:
    """Return pieces as one column, and let go of them."""
    whole = np.concatenate(pieces)
    pieces.clear()
    return whole


def _order(columns: Sequence[_Column]) -> IntArray:
    """Return the order by columns, the last one first, as many of them at a time as 64 bits hold."""
    words: list[NDArray[np.uint64]] = []
    used = 0
    for column in columns:
        bits = int(column.max()).bit_length()
        if not words or used + bits > 64:
            words.append(column.astype(np.uint64))
            used = bits
        elif bits:
            words[-1] |= column.astype(np.uint64) << np.uint64(used)
            used += bits
    order = np.argsort(words[-1])
    if len(words) > 1:
        first = words[-1][order]
        same = first[1:] == first[:-1]
        tied = np.append(same, False) | np.append(False, same)
        some = order[tied]
        order[tied] = some[np.lexsort([word[some] for word in words])]
    return order


def _begins(columns: Sequence[_Column]) -> IntArray:
    """Return where sorted rows differ from the one before."""
    differs = np.zeros(columns[0].size, dtype=np.bool_)
    differs[0] = True
    for column in columns:
        differs[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(differs)
