"""Splits CSV text into rows and columns, in vectorized blocks of lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import BinaryIO

import numpy as np

from sojourn._typing import BoolArray, IntArray
from sojourn.sessions.reading._cell_table import Bytes, CellTable, CsvColumn
from sojourn.sessions.reading._cells import TOO_LONG, UNCLOSED, guess_delimiter, parse_whole
from sojourn.sessions.reading._line_blocks import MAX_LINE_BYTES, MAX_QUOTED_BYTES, line_blocks
from sojourn.sessions.reading._rows import RowReader

__all__ = ["read_csv"]

_NEWLINE, _RETURN, _QUOTE = 10, 13, 34
_EXCEL_LINE, _BLANK = re.compile(rb"sep=."), re.compile(rb"\s*")
_FIRST_BYTES = 1 << 16
"""Bytes below the header row in which unused columns are searched for two values."""


def read_csv(file: BinaryIO, head: bytes, reader: RowReader, source: str) -> None:
    """Read the rows of a CSV file, without blank lines, and without comments before the header row.

    A quote may be closed on a later line within 64 kB, if the resulting row is well formed and has as many
    cells as the first row. Otherwise the line that opens the quote is lost, and the next line starts a row.

    Args:
        file: The file, positioned after `head`.
        head: Its first bytes.
        reader: Receives the rows.
        source: Name of the file in messages.

    Raises:
        ValueError: If the file is empty, or lacks a column.
    """
    head = head.removeprefix(b"\xef\xbb\xbf")
    splitter: _RowSplitter | None = None
    n_skipped = 0
    for block in line_blocks(file, head):
        text = block.text
        if splitter is None:
            if block.too_long:
                raise ValueError(
                    f"{source} must begin with a header row of at most {MAX_LINE_BYTES:,} bytes."
                )
            line, text, n_skipped = _first_line(text, n_skipped)
            if not line:
                continue
            splitter, is_data = _splitter_for(line, text, reader, source)
            splitter.line = n_skipped if is_data else n_skipped + 1
            text = line + b"\n" + text if is_data else text
        if block.too_long:
            splitter.finish()
            splitter.reject_line(TOO_LONG)
        else:
            splitter.feed(text)
    if splitter is None:
        raise ValueError(f"{source} must have a header row and one row per {reader.row}; it is empty.")
    splitter.finish()


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
        stop = len(text) if stop < 0 else stop
        line = text[start:stop].rstrip(b"\r")
        if line.strip() and not line.startswith(b"#") and not _EXCEL_LINE.fullmatch(line):
            return line, text[stop + 1 :], n_skipped
        start, n_skipped = stop + 1, n_skipped + 1
    return b"", b"", n_skipped


def _splitter_for(line: bytes, text: bytes, reader: RowReader, source: str) -> tuple[_RowSplitter, bool]:
    """Return a splitter for the rows of `text` below a first line, and whether that line is itself a row.

    A file with a single column of numbers needs no header row.
    """
    delimiter = guess_delimiter(line)
    decoded = line.decode("utf-8", "replace")
    try:
        names = next(csv.reader([decoded], delimiter=chr(delimiter)))
    except csv.Error as error:
        raise ValueError(f"{source} must begin with a header row; it cannot be read ({error}).") from None
    is_data = len(names) == 1 and parse_whole(names[0]) is not None and reader.headerless
    lines = text[:_FIRST_BYTES].decode("utf-8", "replace").splitlines()[:-1]
    first = [one.split(chr(delimiter)) for one in lines if '"' not in one]
    wanted = reader.begin(["length"] if is_data else names, source, first)
    return _RowSplitter(reader, delimiter, wanted), is_data


class _RowSplitter:
    """Splits blocks of lines into cells, and passes the rows to a `RowReader`."""

    def __init__(self, reader: RowReader, delimiter: int, wanted: Sequence[int]) -> None:
        self._reader, self._delimiter, self._wanted = reader, delimiter, wanted
        self._n_columns = len(reader.names)
        self._row_pattern = _row_pattern(delimiter, self._n_columns)
        self.line = 0
        """Number of lines read so far."""
        self._open = b""
        """Last lines so far, if one of them opens a quote that later lines may close."""

    def feed(self, text: bytes) -> None:
        """Read a block of whole lines."""
        text, self._open = self._open + text, b""
        self._open = self._read_lines(text, last=False)

    def finish(self) -> None:
        """Read the lines that were waiting for a closing quote."""
        text, self._open = self._open, b""
        self._read_lines(text, last=True)

    def reject_line(self, rule: str) -> None:
        """Count the next line as a rejected row."""
        self.line += 1
        self._reader.reject_row(self.line, rule)

    def _read_lines(self, text: bytes, *, last: bool) -> bytes:
        """Read whole lines, and return the last ones if they wait for a closing quote."""
        buffer = np.frombuffer(text, dtype=np.uint8)
        newlines = np.flatnonzero(buffer == _NEWLINE)
        quotes = np.flatnonzero(buffer == _QUOTE) if b'"' in text else None
        if quotes is None:
            self._read_rows(text, newlines, None, [])
            return b""
        n_quotes = np.searchsorted(quotes, newlines)
        odd = np.flatnonzero(np.diff(n_quotes, prepend=0) % 2).tolist()
        unclosed = self._unclosed_lines(text, newlines, odd)
        if not last and unclosed and unclosed[-1] == odd[-1]:
            cut = int(newlines[odd[-1] - 1]) + 1 if odd[-1] else 0
            if len(text) - cut <= MAX_QUOTED_BYTES:
                quotes, newlines = quotes[quotes < cut], newlines[: unclosed.pop()]
                self._read_rows(text[:cut], newlines, _drop_quotes_in(quotes, newlines, unclosed), unclosed)
                return text[cut:]
        self._read_rows(text, newlines, _drop_quotes_in(quotes, newlines, unclosed), unclosed)
        return b""

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
            if 0 < stop - start <= MAX_QUOTED_BYTES and self._row_pattern.fullmatch(text, start, stop):
                k += 2
            else:
                unclosed.append(odd[k])
                k += 1
        return unclosed

    def _read_rows(
        self, text: bytes, newlines: IntArray, quotes: IntArray | None, unclosed: list[int]
    ) -> None:
        """Read lines in which every quote is closed, except for the lines that are lost.

        Args:
            text: The lines.
            newlines: Positions of their newlines.
            quotes: Positions of the quotes outside lost lines; None if the text has no quotes.
            unclosed: Indices of the lost lines.
        """
        if not newlines.size:
            return
        buffer = np.frombuffer(text, dtype=np.uint8)
        delimiters = np.flatnonzero(buffer == self._delimiter)
        ends = newlines
        if quotes is not None:
            ends = newlines[np.searchsorted(quotes, newlines) % 2 == 0]
            delimiters = delimiters[np.searchsorted(quotes, delimiters) % 2 == 0]
        starts = np.concatenate(([0], ends[:-1] + 1))
        first_lines = np.searchsorted(newlines, starts) if quotes is not None else np.arange(ends.size)
        rows = self.line + 1 + first_lines
        self.line += newlines.size
        stops = ends - ((ends > starts) & (buffer[ends - 1] == _RETURN))
        first, after = np.searchsorted(delimiters, starts), np.searchsorted(delimiters, stops)
        # A row of delimiters only is not blank, even if the delimiter is a tab.
        blank = (after == first) & _blank_lines(text, buffer, starts, stops)
        whole = (after - first == self._n_columns - 1) & ~blank
        lost = np.isin(first_lines, unclosed) if unclosed else np.zeros(first_lines.size, dtype=bool)
        whole &= ~lost
        for i in np.flatnonzero(~whole & ~blank).tolist():
            wrong_size = f"a row must have {self._n_columns} cells", f"{after[i] - first[i] + 1}"
            cells = text[starts[i] : stops[i]].decode("utf-8", "replace").split(chr(self._delimiter))
            rule, got = (UNCLOSED, "") if lost[i] else wrong_size
            self._reader.reject_row(int(rows[i]), rule, got, [cell.strip().strip('"') for cell in cells])
        if not whole.all():
            starts, stops, rows, first = starts[whole], stops[whole], rows[whole], first[whole]
        if rows.size:
            cells_at = CellTable(
                buffer, starts, stops, delimiters, first, self._n_columns, quotes is not None
            )
            comma = self._delimiter != ord(",")
            self._reader.feed({i: CsvColumn(cells_at, i, comma) for i in self._wanted}, rows)


def _blank_lines(text: bytes, buffer: Bytes, starts: IntArray, stops: IntArray) -> BoolArray:
    """Return a mask of the lines that are empty or contain only whitespace."""
    blank = stops == starts
    for i in np.flatnonzero(~blank & (buffer[starts] <= 32)).tolist():
        blank[i] = not text[starts[i] : stops[i]].strip()
    return np.asarray(blank)


def _drop_quotes_in(quotes: IntArray, newlines: IntArray, lines: list[int]) -> IntArray:
    """Return the positions of the quotes that are not in the given lines."""
    return quotes[~np.isin(np.searchsorted(newlines, quotes), lines)] if lines else quotes


def _row_pattern(delimiter: int, n_cells: int) -> re.Pattern[bytes]:
    """Return a pattern for a row over several lines: quotes around whole cells, newlines only in quotes."""
    mark = re.escape(bytes([delimiter]))
    cell = rb'(?:"(?:[^"]|"")*+"|[^"\n' + mark + rb"]*+)"
    return re.compile(cell + rb"(?:" + mark + cell + rb"){%d}\r?" % (n_cells - 1))
