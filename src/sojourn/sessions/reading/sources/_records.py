"""Rows and columns of Python objects: lines of JSON, results of queries, dictionaries and data frames."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from sojourn.sessions.reading._csv import Readable, line_blocks
from sojourn.sessions.reading._tables import ArrayColumn, Batch, Column, Locate, ObjectColumn, Table, text_of

__all__ = [
    "FIRST_ROWS",
    "emptied",
    "json_chunks",
    "numbered",
    "table_of_columns",
    "table_of_query",
    "table_of_records",
]

_BATCH_ROWS, _BATCH_BYTES = 1 << 14, 1 << 23
"""Rows per batch, and bytes of JSON: parsed, they take up to thirty times the memory."""

FIRST_ROWS, _MOST_NAMES = 1_000, 1_000
"""Rows in which unused columns are searched for two values, and number of columns up to which they are."""


def json_chunks(file: Readable, head: bytes, source: str) -> Iterator[list[dict[str, object]]]:
    """Yield the objects of lines of JSON, some at a time."""
    return _chunks(_json_records(file, head, source))


def _json_records(file: Readable, head: bytes, source: str) -> Iterator[tuple[dict[str, object], int]]:
    """Yield the objects of lines of JSON with the lengths of the lines."""
    n_lines = 0
    for block in line_blocks(file, head):
        # A line that is too long is not an object, and so refused with its number.
        for line in (b"?",) if block is None else block.split(b"\n")[:-1]:
            n_lines += 1
            if line.strip():
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    record = None
                if not isinstance(record, dict):
                    raise ValueError(
                        f"{source} must have one JSON object per line; line {n_lines:,} has none."
                    )
                yield record, len(line)


def text_size(record: Mapping[str, object]) -> int:
    """Return the number of characters of the texts in a row of a database, which may be long."""
    return sum([len(cell) for cell in record.values() if type(cell) is str or type(cell) is bytes])


def table_of_query(
    cursor: Any, source: str, row: str, *, measure: Callable[[dict[str, object]], int] = text_size
) -> Table:
    """Return the result of a database query, a cursor of Python's DB-API 2.0.

    Args:
        cursor: The cursor.
        source: Its name in messages.
        row: What a row stands for, in messages.
        measure: Returns `text_size` of each row that is read; it may raise an error to stop.
    """
    if cursor.description is None:
        raise ValueError(f"{source} must be the result of a query that returns rows; it returns none.")
    names = [str(column[0]) for column in cursor.description]
    rows = cursor if hasattr(cursor, "__iter__") else iter(cursor.fetchone, None)
    cells = (one.values() if isinstance(one, Mapping) else one for one in rows)
    records = (dict(zip(names, one, strict=True)) for one in cells)
    return table_of_records(_chunks((one, measure(one)) for one in records), names, source, row)


def _chunks(records: Iterable[tuple[dict[str, object], int]]) -> Iterator[list[dict[str, object]]]:
    """Yield records some at a time; fewer if they are long."""
    chunk: list[dict[str, object]] = []
    n_bytes = 0
    for record, size in records:
        chunk.append(record)
        n_bytes += size
        if len(chunk) == _BATCH_ROWS or n_bytes >= _BATCH_BYTES:
            yield chunk
            chunk, n_bytes = [], 0
    if chunk:
        yield chunk


def table_of_records(
    chunks: Iterator[list[dict[str, object]]], names: list[str] | None, source: str, row: str
) -> Table:
    """Return rows that are dictionaries; by default the names of the columns are those of the first chunk."""
    pending = list(islice(chunks, 1))
    if not pending:
        raise ValueError(f"{source} must have one row per {row}; it is empty.")
    known = names or _names_in(pending[0])
    first = pending[0][:FIRST_ROWS] if len(known) <= _MOST_NAMES else ()
    first_rows = [[text_of(one.get(name)) for name in known] for one in first]

    def checked(locate: Locate) -> Iterator[list[dict[str, object]]]:
        """Yield the chunks; raises `ValueError` if a column that is needed begins in a later one."""
        wanted = locate(known).values()
        for chunk in emptied(pending, chunks):
            new = () if names else sorted(set(_names_in(chunk)).difference(known))
            for at in locate([*known, *new]).values() if new else ():
                if at not in wanted:
                    raise ValueError(
                        f"{source} must have the same names in every line; {[*known, *new][at]!r} is missing "
                        "in all of its first lines."
                    )
            yield chunk

    def column(chunk: list[dict[str, object]], at: int) -> Column:
        return ObjectColumn([one.get(known[at]) for one in chunk])

    return Table(source, known, first_rows, lambda locate: numbered(checked(locate), locate(known), column))


def _names_in(chunk: list[dict[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for one in chunk for name in one))


def table_of_columns(columns: Any, source: str) -> Table:
    """Return columns in memory, of a dictionary or a data frame, as one batch."""
    names = list(columns)
    arrays = (np.atleast_1d(np.asarray(columns[name], dtype=object)) for name in names)
    heads = [array[:FIRST_ROWS].tolist() for array in arrays]
    first_rows = [[text_of(cell) for cell in row] for row in zip(*heads, strict=False)]
    texts = [str(name) for name in names]

    def batches(locate: Locate) -> Iterator[Batch]:
        wanted = locate(texts)
        found = {what: ArrayColumn(columns[names[at]]) for what, at in wanted.items()}
        sizes = {texts[at]: found[what].array.size for what, at in wanted.items()}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"{source} must have columns of the same length; got {sizes}.")
        yield Batch({**found}, np.arange(1, next(iter(sizes.values())) + 1))

    return Table(source, texts, first_rows, batches)


def emptied(pending: list[Any], rest: Iterable[Any]) -> Iterator[Any]:
    """Yield the items of a list, which does not keep them in memory, and the rest."""
    while pending:
        yield pending.pop()
    yield from rest


def numbered(
    chunks: Iterable[Any], wanted: Mapping[str, int], column: Callable[[Any, int], Column]
) -> Iterator[Batch]:
    """Yield chunks of rows, numbered from 1, as batches of the columns that are wanted."""
    n_rows = 0
    for chunk in chunks:
        columns = {what: column(chunk, at) for what, at in wanted.items()}
        yield Batch(columns, np.arange(n_rows + 1, n_rows + len(chunk) + 1))
        n_rows += len(chunk)
