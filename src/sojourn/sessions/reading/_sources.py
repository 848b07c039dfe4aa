"""Reads the rows of any supported source: files, folders, streams, tables and queries."""

from __future__ import annotations

import bz2
import contextlib
import glob
import gzip
import io
import json
import lzma
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from sojourn.sessions.reading._csv import read_csv
from sojourn.sessions.reading._line_blocks import line_blocks
from sojourn.sessions.reading._partition_keys import KeyedRows, keys_of
from sojourn.sessions.reading._rows import RowReader
from sojourn.sessions.reading._table_columns import (
    ArrayColumn,
    ObjectColumn,
    arrow_cells,
    arrow_column,
    text_of,
)

if TYPE_CHECKING:
    import sqlite3

__all__ = ["read_source"]

_HEAD_BYTES = 1 << 16
_BATCH_ROWS, _BATCH_BYTES = 1 << 14, 1 << 23
"""Rows per batch, and bytes of JSON: parsed, they take up to thirty times the memory."""

_FIRST_ROWS, _MOST_NAMES = 1_000, 1_000
"""Rows in which unused columns are searched for two values, and number of columns up to which they are."""

_ARROW_BATCH_ROWS, _ARROW_BUFFER_BYTES = 1 << 17, 1 << 18
"""Rows per batch and bytes per read; with its defaults pyarrow holds all columns of a million rows."""

_ARROW_TEXTS = ("string", "large_string", "binary", "large_binary")
_SQLITE = b"SQLite format 3\0"
_SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".parquet", ".pq")
_PACKED = (".gz", ".bz2", ".xz", ".zst")
_UNREADABLE = (OSError, EOFError, lzma.LZMAError, zlib.error)
"""Errors of files that cannot be opened, read or decompressed."""

_OTHER_FORMATS = {
    b"\xff\xfe": "UTF-16 text; save it as UTF-8 (in Excel: 'CSV UTF-8')",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8 (in Excel: 'CSV UTF-8')",
    b"PK\x03\x04": "a workbook or a zip archive; save the sheet as CSV, or unpack it",
    b"\xd0\xcf\x11\xe0": "an old workbook; save the sheet as CSV",
    b"PAR1": "Parquet within a stream, which must be a file of its own",
    b"%PDF": "a PDF; export the table as CSV",
    b"ARROW1": "a Feather file; in Python pass pyarrow.feather.read_table(path)",
    b"\x80\x04\x95": "a pickle, which cannot be read safely; save the table as CSV or Parquet",
    b"\x80\x05\x95": "a pickle, which cannot be read safely; save the table as CSV or Parquet",
}


def read_source(source: Any, reader: RowReader, query: str | None = None) -> str:
    """Read all rows of a source, and return its name for messages.

    Args:
        source: See `sojourn.sessions.read_sessions`.
        reader: Receives the rows.
        query: A query to run if the source is an SQLite file.
    """
    if isinstance(source, (str, os.PathLike)):
        return _read_paths(_paths_of(source), reader, query)
    if isinstance(source, (list, tuple)) and all(isinstance(one, (str, os.PathLike)) for one in source):
        return _read_paths([path for one in source for path in _paths_of(one)], reader, query)
    if query is not None:
        raise ValueError("query must come with an SQLite file; pass the cursor of another database instead.")
    if isinstance(source, Mapping):
        return _read_columns(list(source), source.__getitem__, reader, "the table")
    if hasattr(source, "description") and hasattr(source, "fetchmany"):
        return _read_query(source, reader, "the query")
    if hasattr(source, "read"):
        return _read_stream(source, reader)
    if hasattr(source, "iloc") and hasattr(source, "columns"):  # pandas, with or without pyarrow
        return _read_columns(list(source.columns), source.__getitem__, reader, "the table")
    if hasattr(source, "__arrow_c_stream__"):
        return _read_arrow_stream(source, reader, "the table")
    if isinstance(source, np.ndarray):
        table = {name: source[name] for name in source.dtype.names or ()} or {"length": source}
        return _read_columns(list(table), table.__getitem__, reader, "the array")
    raise TypeError(f"source must be a file, a table, a stream or a query; got {type(source).__name__}.")


def _paths_of(source: str | os.PathLike[str]) -> list[Path]:
    """Return the files that a path, a pattern or a folder stands for."""
    path = Path(source)
    if path.is_file():
        return [path]
    if not os.fspath(source):
        raise ValueError("source must be a file that exists; got an empty name.")
    if path.is_dir():
        found = sorted(one for one in path.rglob("*") if one.is_file() and _is_log(one.relative_to(path)))
        if not found:
            raise ValueError(f"source must be a folder with {', '.join(_SUFFIXES)} files; got {str(path)!r}.")
        return found
    if "**" in str(source):  # it would follow links, in circles or to anywhere
        raise ValueError(f"source must not have '**'; pass the folder, with its subfolders, for {source!r}.")
    if glob.has_magic(str(source)):
        matched = sorted(Path(one) for one in glob.glob(str(source)) if Path(one).is_file())
        if not matched:
            raise ValueError(f"source must match a file; nothing matches {str(source)!r}.")
        return matched
    if "://" in str(source):
        raise ValueError(f"source must be a file on this machine; download {str(source)!r} first.")
    raise ValueError(f"source must be a file that exists; got {str(source)!r}.")


def _is_log(path: Path) -> bool:
    """Whether a path in a folder has the name of a log, and no part of it is hidden or temporary."""
    lower = path.name.lower()
    for packed in _PACKED:
        lower = lower.removesuffix(packed)
    return lower.endswith(_SUFFIXES) and not any(part.startswith(("_", ".")) for part in path.parts)


def _read_paths(paths: list[Path], reader: RowReader, query: str | None) -> str:
    if not paths:
        raise ValueError("source must be at least one file; got none.")
    paths = _different_files(paths)
    reader.many = len(paths) > 1
    for path in paths:
        keys = keys_of(path)
        rows = KeyedRows(reader, keys) if keys else reader
        try:
            with path.open("rb") as file:
                magic = file.read(16)
                file.seek(0)
                if magic == _SQLITE:
                    _read_sqlite(path, query, rows)
                elif query is not None:
                    raise ValueError(f"{path.name} must be an SQLite file if a query is given.")
                elif magic.startswith(b"PAR1"):
                    _read_parquet(path, rows, path.name)
                else:
                    _read_text(file, rows, path.name)
        except _UNREADABLE as error:
            reason = getattr(error, "strerror", None) or error
            raise ValueError(f"{path.name} cannot be read: {reason}.") from error
    return f"{len(paths):,} files" if reader.many else paths[0].name


def _different_files(paths: list[Path]) -> list[Path]:
    """Return the paths without further names of the same file, such as a link "latest.csv"."""
    found: dict[tuple[int, int], Path] = {}
    for path in paths:
        about = path.stat()
        found.setdefault((about.st_dev, about.st_ino), path)
    return list(found.values())


def _read_sqlite(path: Path, query: str | None, reader: RowReader) -> None:
    """Read the result of a query on an SQLite file, or its only table.

    Views and computed columns are programs, which may never end or fill the memory: only a query reads them.
    """
    import sqlite3  # noqa: PLC0415

    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as base:
            base.execute("PRAGMA trusted_schema = OFF")
            _read_query(base.execute(query or _query_of_only_table(base, path.name)), reader, path.name)
    except sqlite3.Error as error:
        raise ValueError(f"{path.name} is an SQLite file that cannot be read so: {error}.") from error


def _query_of_only_table(base: sqlite3.Connection, source: str) -> str:
    """Return a query for the stored columns of the only table of an SQLite file."""
    found = base.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
    tables = {name: sql for name, sql in found if not name.startswith("sqlite_")}
    if len(tables) != 1 or not str(*tables.values()).startswith("CREATE TABLE"):
        listed = ", ".join(map(repr, list(tables)[:8])) or "none"
        raise ValueError(
            f"{source} is an SQLite file with the tables and views {listed}: say what to read with "
            "--query 'SELECT …' (query=…)."
        )
    (table,) = map(_quoted, tables)
    columns = [name for _, name, *_ in base.execute(f"PRAGMA table_info({table})")]
    return f"SELECT {', '.join(map(_quoted, columns))} FROM {table}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _read_stream(stream: Any, reader: RowReader) -> str:
    source = Path(str(getattr(stream, "name", "the stream"))).name
    if isinstance(stream, io.TextIOBase):
        raise TypeError("source must be a stream of bytes; got one of text (use its .buffer, or mode 'rb').")
    try:
        _read_text(cast(BinaryIO, stream), reader, source)
    except _UNREADABLE as error:
        raise ValueError(f"{source} cannot be read: {error}.") from error
    return source


def _read_text(file: BinaryIO, reader: RowReader, source: str) -> None:
    """Read CSV or JSON lines, compressed or not."""
    head = _head_of(file)
    unpacked = _unpacked(head, file, source)
    if unpacked is not None:
        file, head = unpacked, _head_of(unpacked)
    _check_format(head, source)
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{":
        lines = _lines(file, head.removeprefix(b"\xef\xbb\xbf"))
        _read_records(_json_batches(lines, source), None, reader, source)
    else:
        read_csv(file, head, reader, source)


def _head_of(file: BinaryIO) -> bytes:
    """Return the first bytes of a stream, which may return fewer at a time than it is asked for."""
    head = b""
    while len(head) < _HEAD_BYTES and (more := file.read(_HEAD_BYTES - len(head))):
        head += more
    return head


def _unpacked(head: bytes, file: BinaryIO, source: str) -> BinaryIO | None:
    """Return a stream of what a compressed stream contains, or None if it is not compressed."""
    rest = cast(BinaryIO, _Joined(head, file))
    if head.startswith(b"\x1f\x8b"):
        return cast(BinaryIO, gzip.GzipFile(fileobj=rest))
    if head.startswith(b"BZh"):
        return io.BufferedReader(_Members(rest, bz2.BZ2Decompressor))
    if head.startswith(b"\xfd7zXZ\0"):
        return io.BufferedReader(_Members(rest, lzma.LZMADecompressor))
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        try:
            import pyarrow as pa  # noqa: PLC0415
        except ImportError as error:
            raise ValueError(
                f"{source} is compressed with zstd, which needs pyarrow: pip install pyarrow."
            ) from error
        return cast(BinaryIO, pa.CompressedInputStream(pa.PythonFile(rest, mode="r"), "zstd"))
    return None


class _Members(io.RawIOBase):
    """What all members of a compressed stream contain; Python's own readers ignore any that are damaged."""

    def __init__(
        self, file: BinaryIO, decompressor: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor]
    ) -> None:
        super().__init__()
        self._file, self._new, self._member = file, decompressor, decompressor()

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with at least one byte, and return their number; 0 at the end."""
        found = b""
        while not found:
            packed = b""
            if self._member.eof:
                packed = self._member.unused_data or self._file.read(_HEAD_BYTES)
                if not packed:
                    return 0
                self._member = self._new()
            elif self._member.needs_input:
                packed = self._file.read(_HEAD_BYTES)
                if not packed:
                    raise EOFError("Compressed file ended before the end-of-stream marker was reached")
            found = self._member.decompress(packed, len(buffer))
        buffer[: len(found)] = found
        return len(found)


class _Joined(io.RawIOBase):
    """A stream of bytes that were already read and of the rest of their stream."""

    def __init__(self, head: bytes, file: BinaryIO) -> None:
        super().__init__()
        self._head, self._file = head, file

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes, or all of them."""
        if size is None or size < 0:
            found, self._head = self._head + self._file.read(), b""
            return found
        if not self._head:
            return self._file.read(size)
        found, self._head = self._head[:size], self._head[size:]
        return found


def _lines(file: BinaryIO, head: bytes) -> Iterator[bytes]:
    for block in line_blocks(file, head):
        if block.too_long:
            yield b"?"  # not an object, and so refused with its line number
        else:
            yield from block.text.split(b"\n")[:-1]


def _check_format(head: bytes, source: str) -> None:
    for magic, kind in _OTHER_FORMATS.items():
        if head.startswith(magic):
            raise ValueError(f"{source} must be a CSV, JSON lines or Parquet file; it is {kind}.")
    if head.lstrip()[:1] == b"[":
        raise ValueError(f"{source} must have one JSON object per line; it is one JSON list.")
    if source.lower().endswith((".parquet", ".pq")):
        raise ValueError(f"{source} must be a Parquet file; it does not begin like one.")


def _read_columns(
    names: Sequence[object], column: Callable[[Any], Any], reader: RowReader, source: str
) -> str:
    """Read columns in memory, such as those of a dictionary or a data frame."""
    heads = [np.atleast_1d(np.asarray(column(name), dtype=object))[:_FIRST_ROWS].tolist() for name in names]
    first_rows = [[text_of(cell) for cell in row] for row in zip(*heads, strict=False)]
    wanted = reader.begin([str(name) for name in names], source, first_rows)
    table = {i: ArrayColumn(column(names[i])) for i in wanted}
    sizes = {str(names[i]): len(values) for i, values in table.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"{source} must have columns of the same length; got {sizes}.")
    reader.feed(table, np.arange(1, next(iter(sizes.values())) + 1))
    return source


def _json_batches(lines: Iterable[bytes], source: str) -> Iterator[list[dict[str, object]]]:
    batch: list[dict[str, object]] = []
    n_bytes = 0
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                record = None
            if not isinstance(record, dict):
                raise ValueError(f"{source} must have one JSON object per line; line {number:,} has none.")
            batch.append(record)
            n_bytes += len(line)
        if len(batch) == _BATCH_ROWS or n_bytes >= _BATCH_BYTES:
            yield batch
            batch, n_bytes = [], 0
    if batch:
        yield batch


def _read_query(cursor: Any, reader: RowReader, source: str) -> str:
    """Read the result of a database query, a cursor of Python's DB-API 2.0."""
    if cursor.description is None:
        raise ValueError(f"{source} must be the result of a query that returns rows; it returns none.")
    names = [str(column[0]) for column in cursor.description]
    rows = cursor if hasattr(cursor, "__iter__") else iter(cursor.fetchone, None)
    cells = (row.values() if isinstance(row, Mapping) else row for row in rows)
    records = (dict(zip(names, row, strict=True)) for row in cells)
    _read_records(iter(lambda: list(islice(records, _BATCH_ROWS)), []), names, reader, source)
    return source


def _read_records(
    batches: Iterable[list[dict[str, object]]], names: list[str] | None, reader: RowReader, source: str
) -> None:
    """Read rows that are dictionaries; by default the names of the columns are those of the first batch."""
    wanted: list[int] | None = None
    n_rows = 0
    for batch in batches:
        if wanted is None:
            known = names or _names_in(batch)
            first = batch[:_FIRST_ROWS] if len(known) <= _MOST_NAMES else ()
            wanted = reader.begin(
                known, source, [[text_of(one.get(name)) for name in known] for one in first]
            )
        elif names is None and (new := set(_names_in(batch)).difference(known)):
            _check_no_new_column(reader, known, new, wanted, source)
        columns = {i: ObjectColumn([one.get(known[i]) for one in batch]) for i in wanted}
        reader.feed(columns, np.arange(n_rows + 1, n_rows + len(batch) + 1))
        n_rows += len(batch)
    if wanted is None:
        raise ValueError(f"{source} must have one row per {reader.row}; it is empty.")


def _names_in(batch: list[dict[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for one in batch for name in one))


def _check_no_new_column(
    reader: RowReader, known: list[str], new: set[str], wanted: list[int], source: str
) -> None:
    """Raise `ValueError` if names that the first rows lack would be read as another column."""
    names = known + sorted(new)
    for at in reader.locate(names, source).values():
        if at not in wanted:
            raise ValueError(
                f"{source} must have the same names in every line; {names[at]!r} is missing in all of its "
                "first lines."
            )


def _read_parquet(path: Path, reader: RowReader, source: str) -> None:
    try:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise ValueError(
            f"{source} is a Parquet file, which needs pyarrow: pip install 'sojourn[parquet]'."
        ) from error
    try:
        # An absolute path: pyarrow takes a relative one such as "s3:/log.parquet" for an address.
        schema = pq.read_schema(path.absolute())
        names = schema.names
        with pq.ParquetFile(
            path.absolute(),
            pre_buffer=False,
            buffer_size=_ARROW_BUFFER_BYTES,
            # A long text that is repeated in every row then takes memory only once.
            read_dictionary=[one.name for one in schema if str(one.type) in _ARROW_TEXTS],
        ) as file:
            head = next(file.iter_batches(batch_size=_FIRST_ROWS), None)
            wanted = reader.begin(names, source, _first_arrow_rows(head))
            used = [names[i] for i in wanted]
            _feed_arrow(reader, wanted, used, file.iter_batches(batch_size=_ARROW_BATCH_ROWS, columns=used))
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        reason = lines[0][:200].rstrip(".")
        raise ValueError(f"{source} cannot be read as Parquet: {reason}.") from error


def _read_arrow_stream(table: Any, reader: RowReader, source: str) -> str:
    """Read an object with Arrow's PyCapsule interface, such as a polars data frame."""
    try:
        import pyarrow as pa  # noqa: PLC0415
    except ImportError as error:
        raise ValueError(f"{source} is an Arrow table, which needs pyarrow: pip install pyarrow.") from error
    stream = pa.RecordBatchReader.from_stream(table)
    head = next(stream, None)
    wanted = reader.begin(stream.schema.names, source, _first_arrow_rows(head))
    used = [stream.schema.names[i] for i in wanted]
    _feed_arrow(reader, wanted, used, chain(() if head is None else (head,), stream))
    return source


def _first_arrow_rows(batch: Any) -> list[list[str]]:
    if batch is None:
        return []
    columns = [arrow_cells(column.slice(0, _FIRST_ROWS)) for column in batch.columns]
    return [[text_of(cell) for cell in row] for row in zip(*columns, strict=True)]


def _feed_arrow(reader: RowReader, wanted: list[int], used: list[str], batches: Iterable[Any]) -> None:
    n_rows = 0
    for batch in batches:
        columns = {i: arrow_column(batch.column(name)) for i, name in zip(wanted, used, strict=True)}
        reader.feed(columns, np.arange(n_rows + 1, n_rows + batch.num_rows + 1))
        n_rows += batch.num_rows
