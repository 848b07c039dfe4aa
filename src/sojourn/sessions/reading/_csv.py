"""Logs from CSV files: plain cells are read by the million at once, all others one by one."""

from __future__ import annotations

import csv
import re
from typing import BinaryIO

import numpy as np

from sojourn._typing import BoolArray, IntArray
from sojourn.sessions._log import SessionLog
from sojourn.sessions.reading._cell_table import Bytes, Table
from sojourn.sessions.reading._cells import (
    FLAGS,
    TOO_LONG,
    UNCLOSED,
    delimiter_of,
    flag_rule,
    read_flag,
    read_whole,
    shown,
    whole_rule,
)
from sojourn.sessions.reading._columns import Columns, Wanted, find_columns
from sojourn.sessions.reading._ingest import Ledger
from sojourn.sessions.reading._line_blocks import MOST_IN_A_LINE, MOST_QUOTED, pieces

__all__ = ["read_csv"]

_NEWLINE, _RETURN, _QUOTE = 10, 13, 34


def read_csv(file: BinaryIO, head: bytes, wanted: Wanted, source: str) -> SessionLog:
    """Return the log in a CSV file.

    Args:
        file: The file, of which `head` was read already.
        head: Its first bytes.
        wanted: Which columns mean what.
        source: What the file is called in messages.

    Raises:
        ValueError: If there is no column of lengths, or not a single row that can be used.
    """
    head = head.removeprefix(b"\xef\xbb\xbf")
    reader: _Rows | None = None
    skipped = 0
    for piece in pieces(file, head):
        text = piece.text
        if reader is None:
            if piece.too_long:
                raise ValueError(
                    f"{source} must begin with a row of names of at most {MOST_IN_A_LINE:,} bytes."
                )
            line, text, skipped = _first_line(text, skipped)
            if not line:
                continue
            reader, keeps = _begin(line, wanted, source)
            reader.line = skipped if keeps else skipped + 1
            text = line + b"\n" + text if keeps else text
        if piece.too_long:
            reader.finish()
            reader.reject_line(TOO_LONG)
        else:
            reader.take(text)
    if reader is None:
        raise ValueError(f"{source} must have a row of names and one row a session; it is empty.")
    reader.finish()
    return reader.ledger.log(source)


def _first_line(text: bytes, skipped: int) -> tuple[bytes, bytes, int]:
    """Return the first line that is not blank, what follows, and how many lines stand before both."""
    blank = len(text) - len(text.lstrip())
    begin = text.rfind(b"\n", 0, blank) + 1
    skipped += text.count(b"\n", 0, begin)
    line, _, rest = text[begin:].partition(b"\n")
    return (line.rstrip(b"\r"), rest, skipped) if line.strip() else (b"", b"", skipped)


def _begin(line: bytes, wanted: Wanted, source: str) -> tuple[_Rows, bool]:
    """Return a reader for the rows under a row of names, and whether that row is one of numbers itself."""
    delimiter = delimiter_of(line)
    decoded = line.decode("utf-8", "replace")
    try:
        names = next(csv.reader([decoded], delimiter=chr(delimiter)))
    except csv.Error as error:
        raise ValueError(f"{source} must begin with a row of names; it cannot be read ({error}).") from None
    if len(names) == 1 and read_whole(names[0]) is not None and not wanted.names_any:
        return _Rows(Columns(("length",), 0), delimiter), True
    return _Rows(find_columns(names, wanted, source), delimiter), False


class _Rows:
    """Rows as they come."""

    def __init__(self, columns: Columns, delimiter: int) -> None:
        self.columns, self.delimiter = columns, delimiter
        self.ledger = Ledger(columns)
        self._form = _form(delimiter, len(columns.names))
        self.line = 0
        """How many lines were passed."""
        self._open = b""
        """Lines at the end of what came, of which one opens a quote that what is to come may close."""

    def take(self, text: bytes) -> None:
        """Read whole lines."""
        text, self._open = self._open + text, b""
        self._open = self._read(text, last=False)

    def finish(self) -> None:
        """Read what was waiting for a quote to be closed."""
        text, self._open = self._open, b""
        self._read(text, last=True)

    def reject_line(self, rule: str) -> None:
        """Reject the next line as a row."""
        self.line += 1
        self.ledger.count(1)
        self.ledger.reject(self.line, rule)

    def _read(self, text: bytes, *, last: bool) -> bytes:
        """Read whole lines, and return those at the end that wait for a quote to be closed."""
        buffer = np.frombuffer(text, dtype=np.uint8)
        newlines = np.flatnonzero(buffer == _NEWLINE)
        quotes = np.flatnonzero(buffer == _QUOTE) if b'"' in text else None
        if quotes is None:
            self._read_rows(text, newlines, None, [])
            return b""
        passed = np.searchsorted(quotes, newlines)
        odd = np.flatnonzero(np.diff(passed, prepend=0) % 2).tolist()
        unclosed = self._unclosed(text, newlines, odd)
        if not last and unclosed and unclosed[-1] == odd[-1]:
            cut = int(newlines[odd[-1] - 1]) + 1 if odd[-1] else 0
            if len(text) - cut <= MOST_QUOTED:
                quotes, newlines = quotes[quotes < cut], newlines[: unclosed.pop()]
                self._read_rows(text[:cut], newlines, _without(quotes, newlines, unclosed), unclosed)
                return text[cut:]
        self._read_rows(text, newlines, _without(quotes, newlines, unclosed), unclosed)
        return b""

    def _unclosed(self, text: bytes, newlines: IntArray, odd: list[int]) -> list[int]:
        """Return which lines open a quote that is not closed: each is lost, and the next begins anew.

        Args:
            text: The lines.
            newlines: Where they end.
            odd: Which of them have an odd number of quotes: each closes the quote of the one before, if the
                lines from there on make a row.
        """
        unclosed, k = [], 0
        while k < len(odd):
            begin = int(newlines[odd[k] - 1]) + 1 if odd[k] else 0
            stop = int(newlines[odd[k + 1]]) if k + 1 < len(odd) else 0
            if 0 < stop - begin <= MOST_QUOTED and self._form.fullmatch(text, begin, stop):
                k += 2
            else:
                unclosed.append(odd[k])
                k += 1
        return unclosed

    def _read_rows(
        self, text: bytes, newlines: IntArray, quotes: IntArray | None, unclosed: list[int]
    ) -> None:
        """Read lines in which every quote is closed, but for those lines that are lost.

        Args:
            text: The lines.
            newlines: Where they end.
            quotes: Where quotes are, those of lost lines left out; None if there are none at all.
            unclosed: Which lines are lost.
        """
        if not newlines.size:
            return
        buffer = np.frombuffer(text, dtype=np.uint8)
        marks = np.flatnonzero(buffer == self.delimiter)
        ends = newlines
        if quotes is not None:
            ends = newlines[np.searchsorted(quotes, newlines) % 2 == 0]
            marks = marks[np.searchsorted(quotes, marks) % 2 == 0]
        begins = np.concatenate(([0], ends[:-1] + 1))
        places = np.searchsorted(newlines, begins) if quotes is not None else np.arange(ends.size)
        rows = self.line + 1 + places
        self.line += newlines.size
        stops = ends - ((ends > begins) & (buffer[ends - 1] == _RETURN))
        first, after = np.searchsorted(marks, begins), np.searchsorted(marks, stops)
        blank = (after == first) & _blank(text, buffer, begins, stops)  # a row of tabs alone is a row
        whole = (after - first == len(self.columns.names) - 1) & ~blank
        lost = np.isin(places, unclosed) if unclosed else np.zeros(places.size, dtype=bool)
        whole &= ~lost
        for i in np.flatnonzero(~whole & ~blank).tolist():
            many = f"a row must have {len(self.columns.names)} cells", f"{after[i] - first[i] + 1}"
            self.ledger.reject(int(rows[i]), *((UNCLOSED,) if lost[i] else many))
        self.ledger.count(int((~whole & ~blank).sum()))
        if not whole.all():
            begins, stops, rows, first = begins[whole], stops[whole], rows[whole], first[whole]
        cells = Table(buffer, begins, stops, marks, first, len(self.columns.names), quotes is not None)
        self._read_cells(cells, rows)

    def _read_cells(self, cells: Table, rows: IntArray) -> None:
        columns, good = self.columns, np.ones(rows.size, dtype=bool)
        ones = np.ones(rows.size, dtype=np.int64)
        lengths = self._wholes(cells, columns.length, rows, good)
        observed = ones > 0
        if columns.observed is not None:
            observed = self._flags(cells, columns.observed, rows, good) != columns.is_open
        entry = ones if columns.entry is None else self._wholes(cells, columns.entry, rows, good)
        self.ledger.refuse_late(entry, lengths, rows, good)
        group = ones - 1 if columns.group is None else self._groups(cells, columns.group, good)
        self.ledger.add(lengths, observed, entry, group, good=good)

    def _wholes(self, cells: Table, column: int, rows: IntArray, good: BoolArray) -> IntArray:
        """Return the whole numbers in a column; rows where there is none are no longer good."""
        values, plain = cells.digits(column)
        for i in np.flatnonzero(~plain & good).tolist():
            cell = cells.text(column, i)
            value = read_whole(cell)
            if value is None:
                good[i] = False
                self.ledger.reject(int(rows[i]), whole_rule(self.columns.name(column)), shown(cell))
            else:
                values[i] = value
        return values

    def _flags(self, cells: Table, column: int, rows: IntArray, good: BoolArray) -> BoolArray:
        """Return the flags in a column; rows where there is none are no longer good."""
        words = cells.words(column)
        flags, plain = np.zeros(words.size, dtype=bool), np.zeros(words.size, dtype=bool)
        for word, meaning in FLAGS.items():
            same = words == Table.pack(word)
            plain |= same
            flags |= same & meaning
        for i in np.flatnonzero(~plain & good).tolist():
            cell = cells.text(column, i)
            flag = read_flag(cell)
            if flag is None:
                good[i] = False
                self.ledger.reject(int(rows[i]), flag_rule(self.columns.name(column)), shown(cell))
            else:
                flags[i] = flag
        return flags

    def _groups(self, cells: Table, column: int, good: BoolArray) -> IntArray:
        """Return the groups in a column as numbers, in the order in which they appear."""
        distinct, first, where = np.unique(cells.hashes(column), return_index=True, return_inverse=True)
        used = np.zeros(distinct.size, dtype=bool)
        used[where[good]] = True
        codes = np.zeros(distinct.size, dtype=np.int64)
        for i in np.flatnonzero(used)[np.argsort(first[used])].tolist():
            codes[i] = self.ledger.code(cells.text(column, int(first[i])).strip())
        return np.asarray(codes[where])


def _blank(text: bytes, buffer: Bytes, begins: IntArray, stops: IntArray) -> BoolArray:
    """Return which lines are empty, or nothing but spaces."""
    blank = stops == begins
    for i in np.flatnonzero(~blank & (buffer[begins] <= 32)).tolist():
        blank[i] = not text[begins[i] : stops[i]].strip()
    return np.asarray(blank)


def _without(quotes: IntArray, newlines: IntArray, lines: list[int]) -> IntArray:
    """Return where quotes are, those in some lines left out."""
    return quotes[~np.isin(np.searchsorted(newlines, quotes), lines)] if lines else quotes


def _form(delimiter: int, n_cells: int) -> re.Pattern[bytes]:
    """Return what a row over several lines looks like: quotes around cells, newlines in quotes only."""
    mark = re.escape(bytes([delimiter]))
    cell = rb'(?:"(?:[^"]|"")*+"|[^"\n' + mark + rb"]*+)"
    return re.compile(cell + rb"(?:" + mark + cell + rb"){%d}\r?" % (n_cells - 1))
