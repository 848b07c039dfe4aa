"""The rows of a CSV file one by one, whatever stands between its quotes."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sojourn.sessions.reading._cells import RETURNED, TOO_LONG, UNCLOSED, UNREADABLE, delimiter_of
from sojourn.sessions.reading._line_blocks import MOST_QUOTED, pieces

__all__ = ["HEAD", "Record", "records", "split"]

HEAD = 1 << 16
"""Bytes that are enough to know a file by."""


class Record(NamedTuple):
    """A row of a file.

    Attributes:
        line: The line in which it begins, from 1.
        cells: What stands in it; where it cannot be read, what it would be without quotes.
        wrong: The rule that it breaks, if it cannot be read.
    """

    line: int
    cells: list[str]
    wrong: str = ""


def records(path: Path) -> Iterator[Record]:
    """Yield the rows of a CSV file; blank lines are none.

    A quote may be closed in a later line within 64 kB, if the row is well formed then and has as many cells
    as the first one. Otherwise the line that opens it is lost, and the next one begins anew.

    Raises:
        ValueError: If the file cannot be read.
    """
    try:
        yield from _Lines().records(path)
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error.strerror or error}.") from error


def split(line: str, delimiter: str, *, strict: bool = False) -> list[str] | None:
    """Return the cells of a row, or None if it cannot be one; a strict one has quotes around cells only."""
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=strict), None)
    except csv.Error:
        return None


class _Lines:
    """Lines as they come, and those that wait for a quote to be closed."""

    def __init__(self) -> None:
        self._delimiter, self._n_cells = "", 0
        self._open: list[tuple[int, str]] = []
        self._size = 0

    def records(self, path: Path) -> Iterator[Record]:
        for number, line in _lines(path):
            if line is None:
                yield from self._give_up()
                yield Record(number, [], TOO_LONG)
            else:
                yield from self._take(number, line)
        yield from self._give_up()

    def _take(self, number: int, line: str) -> Iterator[Record]:
        is_odd = line.count('"') % 2 == 1
        if not self._open and not is_odd:
            yield from self._row(number, line)
            return
        self._size = len(line.encode()) + (self._size + 1 if self._open else 0)
        self._open.append((number, line))
        if self._size > MOST_QUOTED:
            yield from self._give_up()
        elif is_odd and len(self._open) > 1:
            yield from self._joined()

    def _row(self, number: int, line: str) -> Iterator[Record]:
        if not line.strip():
            return
        self._delimiter = self._delimiter or chr(delimiter_of(line.encode()))
        cells = split(line, self._delimiter)
        wrong = RETURNED if "\r" in line.rstrip("\r") else UNREADABLE
        yield Record(number, cells) if cells else self._unread(number, line, wrong)
        self._n_cells = self._n_cells or len(cells or ())

    def _joined(self) -> Iterator[Record]:
        """Yield what waited as one row, its quotes closed, if it can be one."""
        cells = split("\n".join(line for _, line in self._open), self._delimiter or ",", strict=True)
        if cells is None or len(cells) != self._n_cells:  # a quote was closed by chance
            yield from self._give_up()
        else:
            yield Record(self._open[0][0], cells)
            self._open = []

    def _give_up(self) -> Iterator[Record]:
        """Yield the line whose quote is not closed as lost, and begin anew with the next one."""
        waited, self._open = self._open, []
        if waited:
            yield self._unread(*waited[0], UNCLOSED)
        for number, line in waited[1:]:
            yield from self._take(number, line)

    def _unread(self, number: int, line: str, wrong: str) -> Record:
        cells = [cell.strip().strip('"') for cell in line.split(self._delimiter or ",")]
        return Record(number, cells, wrong)


def _lines(path: Path) -> Iterator[tuple[int, str | None]]:
    """Yield the lines of a file with their numbers; None for one that is too long to be kept."""
    number = 0
    with path.open("rb") as file:
        for piece in pieces(file, file.read(HEAD).removeprefix(b"\xef\xbb\xbf")):
            if piece.too_long:
                number += 1
                yield number, None
                continue
            for line in piece.text.decode("utf-8", "replace").split("\n")[:-1]:
                number += 1
                yield number, line
