"""Reads the CSV rows of step logs one by one, including quoted cells that span lines."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sojourn.sessions.reading._cells import BARE_RETURN, TOO_LONG, UNCLOSED, UNREADABLE, guess_delimiter
from sojourn.sessions.reading._line_blocks import MAX_QUOTED_BYTES, line_blocks

__all__ = ["HEAD_BYTES", "CsvRow", "read_rows", "split_row"]

HEAD_BYTES = 1 << 16
"""Number of bytes read first, from which the kind of a file is recognized."""


class CsvRow(NamedTuple):
    """A row of a CSV file.

    Attributes:
        line: Number of its first line, from 1.
        cells: Its cells; if the row cannot be read, its text split without regard to quotes.
        wrong: The rule that the row breaks if it cannot be read; otherwise empty.
    """

    line: int
    cells: list[str]
    wrong: str = ""


def read_rows(path: Path) -> Iterator[CsvRow]:
    """Yield the rows of a CSV file, without blank lines.

    A quote may be closed on a later line within 64 kB, if the resulting row is well formed and has as many
    cells as the first row. Otherwise the line that opens the quote is lost, and the next line starts a row.

    Raises:
        ValueError: If the file cannot be read.
    """
    try:
        yield from _RowAssembler().read_rows(path)
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error.strerror or error}.") from error


def split_row(line: str, delimiter: str, *, strict: bool = False) -> list[str] | None:
    """Return the cells of a row, or None if it is malformed.

    Args:
        line: The text of the row.
        delimiter: The character between cells.
        strict: Whether quotes are allowed only around whole cells.
    """
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=strict), None)
    except csv.Error:
        return None


class _RowAssembler:
    """Assembles rows from lines, and keeps the lines that wait for a closing quote."""

    def __init__(self) -> None:
        self._delimiter, self._n_cells = "", 0
        self._waiting: list[tuple[int, str]] = []
        self._waiting_bytes = 0

    def read_rows(self, path: Path) -> Iterator[CsvRow]:
        """Yield the rows of a file."""
        for number, line in _lines(path):
            if line is None:
                yield from self._reject_waiting()
                yield CsvRow(number, [], TOO_LONG)
            else:
                yield from self._add_line(number, line)
        yield from self._reject_waiting()

    def _add_line(self, number: int, line: str) -> Iterator[CsvRow]:
        """Add a line, and yield the rows that it completes."""
        is_odd = line.count('"') % 2 == 1
        if not self._waiting and not is_odd:
            yield from self._complete_row(number, line)
            return
        self._waiting_bytes = len(line.encode()) + (self._waiting_bytes + 1 if self._waiting else 0)
        self._waiting.append((number, line))
        if self._waiting_bytes > MAX_QUOTED_BYTES:
            yield from self._reject_waiting()
        elif is_odd and len(self._waiting) > 1:
            yield from self._join_waiting()

    def _complete_row(self, number: int, line: str) -> Iterator[CsvRow]:
        """Yield the row of a line whose quotes are all closed; a blank line has none."""
        if not line.strip():
            return
        self._delimiter = self._delimiter or chr(guess_delimiter(line.encode()))
        cells = split_row(line, self._delimiter)
        wrong = BARE_RETURN if "\r" in line.rstrip("\r") else UNREADABLE
        yield CsvRow(number, cells) if cells else self._unreadable_row(number, line, wrong)
        self._n_cells = self._n_cells or len(cells or ())

    def _join_waiting(self) -> Iterator[CsvRow]:
        """Yield the waiting lines as one row if they form one."""
        cells = split_row("\n".join(line for _, line in self._waiting), self._delimiter or ",", strict=True)
        if cells is None or len(cells) != self._n_cells:  # a quote was closed by chance
            yield from self._reject_waiting()
        else:
            yield CsvRow(self._waiting[0][0], cells)
            self._waiting = []

    def _reject_waiting(self) -> Iterator[CsvRow]:
        """Yield the line with the open quote as an unreadable row, and process the others again."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            yield self._unreadable_row(*waiting[0], UNCLOSED)
        for number, line in waiting[1:]:
            yield from self._add_line(number, line)

    def _unreadable_row(self, number: int, line: str, wrong: str) -> CsvRow:
        cells = [cell.strip().strip('"') for cell in line.split(self._delimiter or ",")]
        return CsvRow(number, cells, wrong)


def _lines(path: Path) -> Iterator[tuple[int, str | None]]:
    """Yield the lines of a file with their numbers; None for a line that is too long."""
    number = 0
    with path.open("rb") as file:
        for block in line_blocks(file, file.read(HEAD_BYTES).removeprefix(b"\xef\xbb\xbf")):
            if block.too_long:
                number += 1
                yield number, None
                continue
            for line in block.text.decode("utf-8", "replace").split("\n")[:-1]:
                number += 1
                yield number, line
