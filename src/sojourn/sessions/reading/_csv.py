"""Reads session logs from CSV files: ordinary cells in vectorized blocks, unusual cells one by one."""

from __future__ import annotations

import csv
import re
from typing import BinaryIO

import numpy as np

from sojourn._typing import BoolArray, IntArray
from sojourn.sessions._log import SessionLog
from sojourn.sessions.reading._cell_table import Bytes, CellTable
from sojourn.sessions.reading._cells import (
    FLAGS,
    TOO_LONG,
    UNCLOSED,
    describe_cell,
    equals_word,
    flag_rule,
    guess_delimiter,
    parse_flag,
    parse_whole,
    whole_number_rule,
)
from sojourn.sessions.reading._columns import ColumnMap, ColumnNames, find_columns, note_two_values
from sojourn.sessions.reading._ingest import LogBuilder
from sojourn.sessions.reading._line_blocks import MAX_LINE_BYTES, MAX_QUOTED_BYTES, line_blocks

__all__ = ["read_csv"]

_NEWLINE, _RETURN, _QUOTE = 10, 13, 34
_EXCEL_LINE, _BLANK = re.compile(rb"sep=."), re.compile(rb"\s*")
_FIRST_BYTES = 1 << 16
"""Bytes below the header row in which unused columns are searched for two values."""


def read_csv(file: BinaryIO, head: bytes, wanted: ColumnNames, source: str) -> SessionLog:
    """Read a session log from a CSV file.

    Args:
        file: The file, positioned after `head`.
        head: Its first bytes.
        wanted: Column names given by the user.
        source: Name of the file in messages.

    Raises:
        ValueError: If there is no column of lengths, or not a single row that can be used.
    """
    head = head.removeprefix(b"\xef\xbb\xbf")
    parser: _CsvParser | None = None
    n_skipped = 0
    for block in line_blocks(file, head):
        text = block.text
        if parser is None:
            if block.too_long:
                raise ValueError(
                    f"{source} must begin with a header row of at most {MAX_LINE_BYTES:,} bytes."
                )
            line, text, n_skipped = _first_line(text, n_skipped)
            if not line:
                continue
            parser, is_data = _parser_for(line, text, wanted, source)
            parser.line = n_skipped if is_data else n_skipped + 1
            text = line + b"\n" + text if is_data else text
        if block.too_long:
            parser.finish()
            parser.reject_line(TOO_LONG)
        else:
            parser.feed(text)
    if parser is None:
        raise ValueError(f"{source} must have a header row and one row per session; it is empty.")
    parser.finish()
    return parser.builder.build(source)


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


def _parser_for(line: bytes, text: bytes, wanted: ColumnNames, source: str) -> tuple[_CsvParser, bool]:
    """Return a parser for the rows of `text` below a first line, and whether that line is itself a row.

    A file with a single column of numbers needs no header row.
    """
    delimiter = guess_delimiter(line)
    decoded = line.decode("utf-8", "replace")
    try:
        names = next(csv.reader([decoded], delimiter=chr(delimiter)))
    except csv.Error as error:
        raise ValueError(f"{source} must begin with a header row; it cannot be read ({error}).") from None
    if len(names) == 1 and parse_whole(names[0]) is not None and not wanted.names_any:
        return _CsvParser(ColumnMap(("length",), 0), delimiter), True
    lines = text[:_FIRST_BYTES].decode("utf-8", "replace").splitlines()[:-1]
    first = [one.split(chr(delimiter)) for one in lines if '"' not in one]
    columns = note_two_values(find_columns(names, wanted, source), wanted, first)
    return _CsvParser(columns, delimiter), False


class _CsvParser:
    """Parses blocks of lines and adds the rows to a `LogBuilder`."""

    def __init__(self, columns: ColumnMap, delimiter: int) -> None:
        self.columns, self.delimiter = columns, delimiter
        self.builder = LogBuilder(columns)
        self._row_pattern = _row_pattern(delimiter, len(columns.names))
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
        self.builder.count(1)
        self.builder.reject(self.line, rule)

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
        delimiters = np.flatnonzero(buffer == self.delimiter)
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
        whole = (after - first == len(self.columns.names) - 1) & ~blank
        lost = np.isin(first_lines, unclosed) if unclosed else np.zeros(first_lines.size, dtype=bool)
        whole &= ~lost
        for i in np.flatnonzero(~whole & ~blank).tolist():
            wrong_size = f"a row must have {len(self.columns.names)} cells", f"{after[i] - first[i] + 1}"
            self.builder.reject(int(rows[i]), *((UNCLOSED,) if lost[i] else wrong_size))
        self.builder.count(int((~whole & ~blank).sum()))
        if not whole.all():
            starts, stops, rows, first = starts[whole], stops[whole], rows[whole], first[whole]
        n_columns = len(self.columns.names)
        cells = CellTable(buffer, starts, stops, delimiters, first, n_columns, quotes is not None)
        self._read_cells(cells, rows)

    def _read_cells(self, cells: CellTable, rows: IntArray) -> None:
        """Parse the cells of rows and add the rows to the log; `rows` are their line numbers."""
        columns, good = self.columns, np.ones(rows.size, dtype=bool)
        ones = np.ones(rows.size, dtype=np.int64)
        lengths = self._parse_wholes(cells, columns.length, rows, good)
        observed = ones > 0
        if columns.observed is not None:
            observed = self._parse_flags(cells, columns.observed, rows, good) != columns.is_open
        entry = ones if columns.entry is None else self._parse_wholes(cells, columns.entry, rows, good)
        self.builder.reject_late_entries(entry, lengths, rows, good)
        counts = None if columns.count is None else self._parse_wholes(cells, columns.count, rows, good)
        group = ones - 1 if columns.group is None else self._parse_groups(cells, columns.group, good)
        self.builder.add(lengths, observed, entry, group, good=good, counts=counts)

    def _parse_wholes(self, cells: CellTable, column: int, rows: IntArray, good: BoolArray) -> IntArray:
        """Return the whole numbers in a column; clears `good` for rows that have none."""
        values, parsed = cells.whole_numbers(column)
        for i in np.flatnonzero(~parsed & good).tolist():
            cell = cells.text(column, i)
            value = parse_whole(cell)
            if value is None:
                good[i] = False
                rule = whole_number_rule(self.columns.name(column))
                self.builder.reject(int(rows[i]), rule, describe_cell(cell))
            else:
                values[i] = value
        return values

    def _parse_flags(self, cells: CellTable, column: int, rows: IntArray, good: BoolArray) -> BoolArray:
        """Return the flags in a column; clears `good` for rows that have none."""
        words, ended = cells.packed_words(column), self.columns.ended
        flags, parsed = np.zeros(words.size, dtype=bool), np.zeros(words.size, dtype=bool)
        if ended:
            distinct, place = np.unique(words, return_inverse=True)
            found = [equals_word(CellTable.unpack_word(word), ended) for word in distinct.tolist()]
            flags = np.array([flag is True for flag in found])[place]
            parsed = np.array([flag is not None for flag in found])[place]
        for word, meaning in () if ended else FLAGS.items():
            same = words == CellTable.pack_word(word)
            parsed |= same
            flags |= same & meaning
        for i in np.flatnonzero(~parsed & good).tolist():
            cell = cells.text(column, i)
            flag = equals_word(cell, ended) if ended else parse_flag(cell)
            if flag is None:
                good[i] = False
                rule = flag_rule(self.columns.name(column), ended)
                self.builder.reject(int(rows[i]), rule, describe_cell(cell))
            else:
                flags[i] = flag
        return flags

    def _parse_groups(self, cells: CellTable, column: int, good: BoolArray) -> IntArray:
        """Return the groups in a column as integer codes, in order of appearance."""
        words = cells.words(column)
        _, first, where = np.unique(cells.hashes(column, words), return_index=True, return_inverse=True)
        different = np.flatnonzero(~cells.are_equal(column, words, first, where))
        if different.size:  # cells that share a hash with another one, which only a forger achieves
            numbers: dict[str, int] = {}
            for i in different.tolist():
                where[i] = first.size + numbers.setdefault(cells.text(column, i), len(numbers))
            first = np.append(first, different[np.unique(where[different], return_index=True)[1]])
        used = np.zeros(first.size, dtype=bool)
        used[where[good]] = True
        codes = np.zeros(first.size, dtype=np.int64)
        for i in np.flatnonzero(used)[np.argsort(first[used])].tolist():
            codes[i] = self.builder.group_code(cells.text(column, int(first[i])).strip())
        return np.asarray(codes[where])


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
