"""Splits CSV text into rows and columns, in blocks of lines of bounded size."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sojourn._typing import IntArray
from sojourn.sessions.reading._cells import guess_delimiter, parse_whole
from sojourn.sessions.reading._tables import Batch, BrokenRow, Column, CsvColumn, CsvText, Locate, Table

__all__ = ["Readable", "csv_table", "line_blocks"]

_NEWLINE, _RETURN, _QUOTE = 10, 13, 34
_EXCEL_LINE, _BLANK = re.compile(rb"sep=."), re.compile(rb"\s*")
_TOO_LONG, _UNCLOSED = "a row must have at most 1 MB", "a quote must be closed"

_BLOCK_BYTES = _MAX_LINE_BYTES = 1 << 20
"""Bytes per read, and in a line; longer lines are discarded while they are read.

Parsing lines of a single byte takes about fifty times the memory of the text.
"""

_MAX_QUOTED_BYTES = 1 << 16
"""Maximum size of a row whose quoted cell spans several lines."""

_FIRST_BYTES = 1 << 16
"""Bytes below the header row in which unused columns are searched for two values."""


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes; none at the end."""


def csv_table(file: Readable, head: bytes, source: str, *, row: str, headerless: bool) -> Table:
    """Return the rows of a CSV file, without blank lines, and without comments before the header row.

    A quote may be closed on a later line within 64 kB, if the resulting row is well formed and has as many
    cells as the first row. Otherwise the line that opens the quote is lost, and the next line starts a row.

    Args:
        file: The file, positioned after `head`.
        head: Its first bytes.
        source: Name of the file in messages.
        row: What a row stands for, in messages.
        headerless: Whether a file with a single column of numbers needs no header row.

    Raises:
        ValueError: If the file is empty or has no header row.
    """
    blocks = line_blocks(file, head)
    line, text, n_skipped = b"", b"", 0
    while not line:
        block = next(blocks, b"")
        if block is None:
            raise ValueError(f"{source} must begin with a header row of at most {_MAX_LINE_BYTES:,} bytes.")
        if not block:
            raise ValueError(f"{source} must have a header row and one row per {row}; it is empty.")
        line, text, n_skipped = _first_line(block, n_skipped)
    delimiter = guess_delimiter(line)
    try:
        names = next(csv.reader([line.decode("utf-8", "replace")], delimiter=chr(delimiter)))
    except csv.Error as error:
        raise ValueError(f"{source} must begin with a header row; it cannot be read ({error}).") from None
    lines = text[:_FIRST_BYTES].decode("utf-8", "replace").splitlines()[:-1]
    first_rows = [one.split(chr(delimiter)) for one in lines if '"' not in one]
    if headerless and len(names) == 1 and parse_whole(names[0]) is not None:
        names, text = ["length"], line + b"\n" + text
    else:
        n_skipped += 1
    pending = [text]
    del block, text

    def batches(locate: Locate) -> Iterator[Batch]:
        splitter = _RowSplitter(delimiter, len(names), locate(names), n_skipped)
        yield from splitter.split(pending.pop())
        for block in blocks:
            yield from splitter.split(block)
        yield from splitter.finish()

    return Table(source, tuple(names), first_rows, batches)


def line_blocks(file: Readable, head: bytes) -> Iterator[bytes | None]:
    """Yield `head` and the rest of a file in blocks of whole lines, and None for a line that is too long.

    Each line ends with a newline; carriage returns as line ends become newlines.

    Args:
        file: The file, positioned after `head`.
        head: The bytes that were already read.
    """
    only_returns = b"\n" not in head and b"\r" in head
    rest, is_skipping = b"", False
    for fresh in chain((head,), iter(lambda: file.read(_BLOCK_BYTES), b"")):
        text = fresh.replace(b"\r", b"\n") if only_returns else fresh
        if is_skipping:
            _, newline, text = text.partition(b"\n")
            is_skipping = not newline
        rest += text
        stop = rest.find(b"\n")
        if max(stop, 0) > _MAX_LINE_BYTES or (stop < 0 and len(rest) > _MAX_LINE_BYTES):
            yield None  # no other line can be too long, because a block is not larger than a line may be
            rest, is_skipping = rest[stop + 1 :] if stop >= 0 else b"", stop < 0
        cut = rest.rfind(b"\n") + 1
        if cut:
            yield rest[:cut]
            rest = rest[cut:]
    if rest:
        yield rest + b"\n"


def _first_line(text: bytes, n_skipped: int) -> tuple[bytes, bytes, int]:
    """Return the first line that is not blank, the text after it, and the number of lines before it.

    Comments, and the line `sep=;` that Excel writes, are skipped too.
    """
    start = 0
    while start < len(text):
        after_blank = text.rfind(b"\n", start, _BLANK.match(text, start).end()) + 1  # type: ignore[union-attr]
        if after_blank > start:
            start, n_skipped = after_blank, n_skipped + text.count(b"\n", start, after_blank)
            continue
        stop = text.find(b"\n", start)
        line = text[start:stop].rstrip(b"\r")
        if line.strip() and not line.startswith(b"#") and not _EXCEL_LINE.fullmatch(line):
            return line, text[stop + 1 :], n_skipped
        start, n_skipped = stop + 1, n_skipped + 1
    return b"", b"", n_skipped


class _RowSplitter:
    """Splits blocks of lines into batches of rows.

    Args:
        delimiter: The byte between cells.
        n_columns: Number of cells per row.
        wanted: Indices of the columns that are needed, by what they hold.
        n_lines: Number of lines before the first block.
    """

    def __init__(self, delimiter: int, n_columns: int, wanted: Mapping[str, int], n_lines: int) -> None:
        self._delimiter, self._n_columns, self._wanted = delimiter, n_columns, wanted
        self._n_lines = n_lines
        self._open = b""
        """Last lines so far, if one of them opens a quote that later lines may close."""
        mark = re.escape(bytes([delimiter]))
        cell = rb'(?:"(?:[^"]|"")*+"|[^"\n' + mark + rb"]*+)"
        self._row_pattern = re.compile(cell + rb"(?:" + mark + cell + rb"){%d}\r?" % (n_columns - 1))
        """A row over several lines: quotes around whole cells, newlines only in quotes."""

    def split(self, block: bytes | None) -> Iterator[Batch]:
        """Yield the rows of a block of whole lines, or of a line that is too long."""
        if block is None:
            yield from self.finish()
            self._n_lines += 1
            yield Batch({}, np.zeros(0, dtype=np.int64), [BrokenRow(self._n_lines, _TOO_LONG)])
            return
        text, self._open = self._open + block, b""
        yield from self._split_lines(text, last=False)

    def finish(self) -> Iterator[Batch]:
        """Yield the rows of the lines that were waiting for a closing quote."""
        text, self._open = self._open, b""
        yield from self._split_lines(text, last=True)

    def _split_lines(self, text: bytes, *, last: bool) -> Iterator[Batch]:
        """Yield the rows of whole lines; unless they are the last, some may wait for a closing quote."""
        buffer = np.frombuffer(text, dtype=np.uint8)
        newlines = np.flatnonzero(buffer == _NEWLINE)
        quotes: IntArray | None = None
        unclosed: list[int] = []
        if b'"' in text:
            quotes = np.flatnonzero(buffer == _QUOTE)
            odd = np.flatnonzero(np.diff(np.searchsorted(quotes, newlines), prepend=0) % 2).tolist()
            unclosed = self._unclosed_lines(text, newlines, odd)
            if not last and unclosed and unclosed[-1] == odd[-1]:
                cut = int(newlines[odd[-1] - 1]) + 1 if odd[-1] else 0
                if len(text) - cut <= _MAX_QUOTED_BYTES:
                    text, self._open = text[:cut], text[cut:]
                    quotes, newlines = quotes[quotes < cut], newlines[: unclosed.pop()]
            if unclosed:
                quotes = quotes[~np.isin(np.searchsorted(newlines, quotes), unclosed)]
        if newlines.size:
            yield self._rows_of(text, newlines, quotes, unclosed)

    def _unclosed_lines(self, text: bytes, newlines: IntArray, odd: list[int]) -> list[int]:
        """Return the lines that open a quote which is never closed.

        Each of these lines is lost, and the next line starts a new row.

        Args:
            text: The lines.
            newlines: Positions of their newlines.
            odd: Indices of the lines with an odd number of quotes. Such a line closes the quote opened by
                the previous one if the lines from there on form a row.
        """
        unclosed, k = [], 0
        while k < len(odd):
            start = int(newlines[odd[k] - 1]) + 1 if odd[k] else 0
            stop = int(newlines[odd[k + 1]]) if k + 1 < len(odd) else 0
            if 0 < stop - start <= _MAX_QUOTED_BYTES and self._row_pattern.fullmatch(text, start, stop):
                k += 2
            else:
                unclosed.append(odd[k])
                k += 1
        return unclosed

    def _rows_of(
        self, text: bytes, newlines: IntArray, quotes: IntArray | None, unclosed: list[int]
    ) -> Batch:
        """Return the rows of lines in which every quote is closed, except for the lines that are lost.

        Args:
            text: The lines.
            newlines: Positions of their newlines.
            quotes: Positions of the quotes outside lost lines; None if the text has no quotes.
            unclosed: Indices of the lost lines.
        """
        buffer = np.frombuffer(text, dtype=np.uint8)
        delimiters, ends = np.flatnonzero(buffer == self._delimiter), newlines
        if quotes is not None:
            ends = newlines[np.searchsorted(quotes, newlines) % 2 == 0]
            delimiters = delimiters[np.searchsorted(quotes, delimiters) % 2 == 0]
        starts = np.concatenate(([0], ends[:-1] + 1))
        first_lines = np.arange(ends.size) if quotes is None else np.searchsorted(newlines, starts)
        rows = first_lines + (self._n_lines + 1)
        self._n_lines += newlines.size
        stops = ends - ((ends > starts) & (buffer[ends - 1] == _RETURN))
        first, after = self._delimiters_of(starts, stops, delimiters)
        # A row of delimiters only is not blank, even if the delimiter is a tab.
        blank = stops == starts
        for i in np.flatnonzero(~blank & (after == first) & (buffer[starts] <= 32)).tolist():
            blank[i] = not text[starts[i] : stops[i]].strip()
        lost = np.isin(first_lines, unclosed) if unclosed else np.zeros(rows.size, dtype=bool)
        whole = (after - first == self._n_columns - 1) & ~blank & ~lost
        wrong = np.flatnonzero(~whole & ~blank)
        places = starts[wrong], stops[wrong], rows[wrong], (after - first + 1)[wrong], lost[wrong]
        broken = self._broken_rows(text, places)
        if not whole.all():
            starts, stops, rows, first = starts[whole], stops[whole], rows[whole], first[whole]
        content_of = CsvText(buffer, quotes is not None, decimal_comma=self._delimiter != ord(","))
        columns: dict[str, Column] = {}
        for what, at in self._wanted.items():
            start = delimiters[first + (at - 1)] + 1 if at else starts
            stop = delimiters[first + at] if at < self._n_columns - 1 else stops
            columns[what] = CsvColumn(content_of, start, stop)
        return Batch(columns, rows, broken)

    def _delimiters_of(
        self, starts: IntArray, stops: IntArray, delimiters: IntArray
    ) -> tuple[IntArray, IntArray]:
        """Return the index of each row's first delimiter, and of the first one after the row."""
        n = self._n_columns - 1
        if delimiters.size == n * starts.size and (
            not n or ((delimiters[::n] >= starts) & (delimiters[n - 1 :: n] < stops)).all()
        ):  # all rows have the right number, which takes a tenth of the time of searching to find out
            first = np.arange(0, delimiters.size, n) if n else np.zeros(starts.size, dtype=np.int64)
            return first, first + n
        return np.searchsorted(delimiters, starts), np.searchsorted(delimiters, stops)

    def _broken_rows(self, text: bytes, places: tuple[NDArray[Any], ...]) -> Iterator[BrokenRow]:
        """Yield the rows that cannot be used.

        Args:
            text: The lines.
            places: Where each row starts and stops, its number, its number of cells, and whether it is lost.
        """
        mark, rule = chr(self._delimiter), f"a row must have {self._n_columns} cells"
        for start, stop, row, n_cells, is_lost in zip(*places, strict=True):
            cells = [
                cell.strip().strip('"') for cell in text[start:stop].decode("utf-8", "replace").split(mark)
            ]
            reason = (_UNCLOSED, "") if is_lost else (rule, f"{n_cells}")
            yield BrokenRow(int(row), *reason, cells)
