"""Opens any supported source as tables: files, folders, streams, tables in memory and queries."""

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
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

import numpy as np

from sojourn.sessions.reading._csv import Readable, csv_table, line_blocks
from sojourn.sessions.reading._tables import (
    ArrayColumn,
    Batch,
    Column,
    Locate,
    ObjectColumn,
    Table,
    arrow_column,
    text_of,
)

if TYPE_CHECKING:
    import sqlite3

__all__ = ["open_source"]

_HEAD_BYTES = 1 << 16
_BATCH_ROWS, _BATCH_BYTES = 1 << 14, 1 << 23
"""Rows per batch, and bytes of JSON: parsed, they take up to thirty times the memory."""

_FIRST_ROWS, _MOST_NAMES = 1_000, 1_000
"""Rows in which unused columns are searched for two values, and number of columns up to which they are."""

_ARROW_BATCH_ROWS, _ARROW_BUFFER_BYTES = 1 << 17, 1 << 18
"""Rows per batch and bytes per read; with its defaults pyarrow holds all columns of a million rows."""

_STEPS_BETWEEN_CHECKS = 10_000
"""Instructions of SQLite's machine, about a tenth of a millisecond, between two checks for Ctrl-C."""

_MOST_ARROW_BYTES = 1 << 27  # of rows that are read at a time; Python objects take ten times as much
_ARROW_TEXTS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
_SHORT_CELL = 1 << 10  # bytes
_SQLITE, _BYTE_ORDER_MARK = b"SQLite format 3\0", b"\xef\xbb\xbf"
_SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".parquet", ".pq")
_MAX_UNPACKED, _MAX_RATIO = 1 << 28, 1_000
"""A compressed stream of more bytes than this must not be larger than its source by more than a factor."""

_PACKED = (".gz", ".bz2", ".xz", ".zst")
_UNREADABLE = (OSError, EOFError, lzma.LZMAError, zlib.error)
"""Errors of files that cannot be opened, read or decompressed."""

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""The value of a key of a partitioned folder that means that there is none."""

_UTF_16 = "UTF-16 text; save it as UTF-8 (in Excel: 'CSV UTF-8')"
_PICKLE = "a pickle, which cannot be read safely; save the table as CSV or Parquet"
_OTHER_FORMATS = {
    b"\xff\xfe": _UTF_16,
    b"\xfe\xff": _UTF_16,
    b"PK\x03\x04": "a workbook or a zip archive; save the sheet as CSV, or unpack it",
    b"\xd0\xcf\x11\xe0": "an old workbook; save the sheet as CSV",
    b"PAR1": "Parquet within a stream, which must be a file of its own",
    b"%PDF": "a PDF; export the table as CSV",
    b"ARROW1": "a Feather file; in Python pass pyarrow.feather.read_table(path)",
    b"\x80\x04\x95": _PICKLE,
    b"\x80\x05\x95": _PICKLE,
}

_Opened = AbstractContextManager[Table]


def open_source(
    source: Any, *, query: str | None, row: str, headerless: bool
) -> tuple[str, list[AbstractContextManager[Table]]]:
    """Return the name of a source for messages, and its tables, which are opened one after the other.

    Args:
        source: See `sojourn.sessions.read_sessions`.
        query: A query to run if the source is an SQLite file.
        row: What a row stands for, in messages.
        headerless: Whether a CSV file with a single column of numbers needs no header row.
    """
    form = _Form(row, headerless)
    several = isinstance(source, (list, tuple)) and all(isinstance(one, (str, os.PathLike)) for one in source)
    if several or isinstance(source, (str, os.PathLike)):
        paths = [path for one in (source if several else [source]) for path in _paths_of(one)]
        if not paths:
            raise ValueError("source must be at least one file; got none.")
        paths = _different_files(paths)
        name = f"{len(paths):,} files" if len(paths) > 1 else paths[0].name
        return name, [_open_file(path, query, form) for path in paths]
    if query is not None:
        raise ValueError("query must come with an SQLite file; pass the cursor of another database instead.")
    name, opened = _open_object(source, form)
    return name, [opened]


@dataclass(frozen=True)
class _Form:
    """What the rows of a source should be; see `open_source`."""

    row: str
    headerless: bool


def _open_object(source: Any, form: _Form) -> tuple[str, _Opened]:
    """Return the name of a stream, a query or a table in memory, and its rows."""
    is_mapping = isinstance(source, Mapping)
    if not is_mapping and hasattr(source, "description") and hasattr(source, "fetchmany"):
        return "the query", nullcontext(_table_of_query(source, "the query", form))
    if not is_mapping and hasattr(source, "read"):
        name = Path(str(getattr(source, "name", "the stream"))).name
        return name, _open_stream(source, name, form)
    if is_mapping or (hasattr(source, "iloc") and hasattr(source, "columns")):  # pandas, even without pyarrow
        return "the table", nullcontext(_table_of_columns(source, "the table"))
    if hasattr(source, "__arrow_c_stream__"):
        return "the table", nullcontext(_table_of_arrow_stream(source, "the table"))
    if isinstance(source, np.ndarray):
        columns = {name: source[name] for name in source.dtype.names or ()} or {"length": source}
        return "the array", nullcontext(_table_of_columns(columns, "the array"))
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
        for one in found:
            if not one.resolve().is_relative_to(path.resolve()):
                raise ValueError(
                    f"{one} must not be a link to a file outside its folder; name that file itself."
                )
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


def _different_files(paths: list[Path]) -> list[Path]:
    """Return the paths without further names of the same file, such as a link "latest.csv"."""
    found: dict[tuple[int, int], Path] = {}
    for path in paths:
        about = path.stat()
        found.setdefault((about.st_dev, about.st_ino), path)
    return list(found.values())


@contextmanager
def _open_file(path: Path, query: str | None, form: _Form) -> Iterator[Table]:
    """Open a file; the keys of its folders, such as country=DE, are columns too."""
    pairs = [part.split("=", 1) for part in path.parent.parts if "=" in part]
    keys = {unquote(name): "" if value == _NO_VALUE else unquote(value) for name, value in pairs if name}
    try:
        with path.open("rb") as file:
            magic = file.read(16)
            file.seek(0)
            opened: _Opened
            if magic == _SQLITE:
                opened = _open_sqlite(path, query, form)
            elif query is not None:
                raise ValueError(f"{path.name} must be an SQLite file if a query is given.")
            elif magic.startswith(b"PAR1"):
                opened = _open_parquet(path)
            else:
                opened = nullcontext(_table_of_text(file, path.name, form))
            with opened as table:
                yield _with_keys(table, keys) if keys else table
    except _UNREADABLE as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"{path.name} cannot be read: {reason}.") from error


def _with_keys(table: Table, keys: Mapping[str, str]) -> Table:
    """Return a table with a column for each key; a column of the file itself comes first."""

    def names_of(own: Sequence[str]) -> list[str]:
        return [*own, *(name for name in keys if name not in own)]

    def batches(locate: Locate) -> Iterator[Batch]:
        def locate_own(own: Sequence[str]) -> Mapping[str, int]:
            return {what: at for what, at in locate(names_of(own)).items() if at < len(own)}

        names = names_of(table.names)
        constant = {what: keys[names[at]] for what, at in locate(names).items() if at >= len(table.names)}
        for batch in table.batches(locate_own):
            for what, value in constant.items():
                batch.columns[what] = ObjectColumn([value] * batch.rows.size)
            yield batch

    return replace(table, names=names_of(table.names), batches=batches)


@contextmanager
def _open_sqlite(path: Path, query: str | None, form: _Form) -> Iterator[Table]:
    """Open the result of a query on an SQLite file, or its only table.

    Views and computed columns are programs, which may never end or fill the memory: only a query reads them.
    A query may only read: the file is opened so, but VACUUM and ATTACH could write other files.
    """
    import sqlite3  # noqa: PLC0415

    raised: list[BaseException] = []
    refused: list[int] = []
    watch = _keep_exceptions(raised)
    next(watch)
    allowed = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)

    def authorize(action: int, first: object, second: object, *_: object) -> int:
        if action in allowed and str(second).lower() != "load_extension":
            return sqlite3.SQLITE_OK
        if (action, first) == (
            sqlite3.SQLITE_UPDATE,
            "sqlite_master",
        ):  # so json_each begins; nothing is written
            return sqlite3.SQLITE_OK
        refused.append(action)
        return sqlite3.SQLITE_DENY

    try:
        with contextlib.closing(sqlite3.connect(_sqlite_address(path), uri=True)) as base:
            base.set_progress_handler(watch.__next__, _STEPS_BETWEEN_CHECKS)
            base.execute("PRAGMA trusted_schema = OFF")
            most = None if query else path.stat().st_size  # a row takes more than a byte
            query = query or f"{_query_of_only_table(base, path.name)} LIMIT {most} + 1"
            base.set_authorizer(authorize)
            table = _table_of_query(base.execute(query), path.name, form)
            yield table if most is None else _with_few_rows(table, most, path.name)
    except (sqlite3.Error, sqlite3.Warning) as error:
        if raised:
            raise raised[0] from None
        if refused:
            raise ValueError(f"query must only read tables, with SELECT; got {query!r:.200}.") from error
        raise ValueError(
            f"{path.name} is an SQLite file that cannot be read so: {str(error).rstrip('.')}."
        ) from error


def _with_few_rows(table: Table, most: int, source: str) -> Table:
    """Return a table that raises `ValueError` once it has more rows than its file can hold.

    The pages of a forged file may refer to each other, so that a few of them hold billions of rows.
    """

    def batches(locate: Locate) -> Iterator[Batch]:
        n_rows = 0
        for batch in table.batches(locate):
            n_rows += batch.rows.size
            if n_rows > most:
                raise ValueError(f"{source} is a damaged SQLite file: it has more rows than bytes.")
            yield batch

    return replace(table, batches=batches)


def _keep_exceptions(raised: list[BaseException]) -> Iterator[int]:
    """Yield 0 for SQLite to go on; keep what Ctrl-C raises here, which SQLite would drop, and yield 1.

    It is a generator because a signal that arrived earlier raises its exception as soon as Python code goes
    on: at the `yield`, but before the `try` of a function.
    """
    try:
        while True:
            yield 0
    except GeneratorExit:
        raise
    except BaseException as error:
        raised.append(error)
    yield 1


def _sqlite_address(path: Path) -> str:
    """Return the address with which SQLite opens a file to read it, and creates no file beside it.

    SQLite creates two files beside one in WAL mode even if it only reads. If there is no log of writes to
    take into account, the address says that the file does not change.
    """
    with path.open("rb") as file:
        is_wal = file.read(20)[18:] == b"\x02\x02"
    has_log = path.with_name(f"{path.name}-wal").exists()
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' * (is_wal and not has_log)}"


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


@contextmanager
def _open_stream(stream: Any, source: str, form: _Form) -> Iterator[Table]:
    if isinstance(stream, io.TextIOBase):
        raise TypeError("source must be a stream of bytes; got one of text (use its .buffer, or mode 'rb').")
    try:
        yield _table_of_text(stream, source, form)
    except _UNREADABLE as error:
        raise ValueError(f"{source} cannot be read: {error}.") from error


def _table_of_text(file: Readable, source: str, form: _Form) -> Table:
    """Return the rows of CSV or of JSON lines, compressed or not."""
    head = _head_of(file)
    rest = _Joined(head, file)
    unpacked = _unpacked(head, rest, source)
    if unpacked is not None:
        file = _Bounded(unpacked, rest, source)
        head = _head_of(file)
    _check_format(head, source)
    head = head.removeprefix(_BYTE_ORDER_MARK)
    if head.lstrip()[:1] == b"{":
        return _table_of_records(_json_chunks(file, head, source), None, source, form)
    return csv_table(file, head, source, row=form.row, headerless=form.headerless)


def _head_of(file: Readable) -> bytes:
    """Return the first bytes of a stream, which may return fewer at a time than it is asked for."""
    head = b""
    while len(head) < _HEAD_BYTES and (more := file.read(_HEAD_BYTES - len(head))):
        head += more
    return head


def _check_format(head: bytes, source: str) -> None:
    for magic, kind in _OTHER_FORMATS.items():
        if head.startswith(magic):
            raise ValueError(f"{source} must be a CSV, JSON lines or Parquet file; it is {kind}.")
    if head.lstrip()[:1] == b"[":
        raise ValueError(f"{source} must have one JSON object per line; it is one JSON list.")
    if source.lower().endswith((".parquet", ".pq")):
        raise ValueError(f"{source} must be a Parquet file; it does not begin like one.")


def _unpacked(head: bytes, rest: _Joined, source: str) -> Readable | None:
    """Return a stream of what a compressed stream contains, or None if it is not compressed."""
    if head.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=rest)
    if head.startswith(b"BZh"):
        return _Members(rest, bz2.BZ2Decompressor)
    if head.startswith(b"\xfd7zXZ\0"):
        return _Members(rest, lzma.LZMADecompressor)
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        try:
            import pyarrow as pa  # noqa: PLC0415
        except ImportError as error:
            raise ValueError(
                f"{source} is compressed with zstd, which needs pyarrow: pip install pyarrow."
            ) from error
        return cast(Readable, pa.CompressedInputStream(pa.PythonFile(rest, mode="r"), "zstd"))
    return None


class _Joined(io.RawIOBase):
    """A stream of bytes that were already read and of the rest of their stream."""

    def __init__(self, head: bytes, file: Readable) -> None:
        super().__init__()
        self._head, self._file = head, file
        self.n_read = 0
        """Number of bytes that were read from the stream."""

    def readable(self) -> bool:
        """Return True, which pyarrow asks for."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes."""
        if self._head:
            found, self._head = self._head[:size], self._head[size:]
        else:
            found = self._file.read(size)
        self.n_read += len(found)
        return found


class _Bounded:
    """What a compressed stream contains, up to a multiple of its size."""

    def __init__(self, file: Readable, packed: _Joined, source: str) -> None:
        self._file, self._packed, self._source, self._n = file, packed, source, 0

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes."""
        found = self._file.read(size)
        self._n += len(found)
        if self._n > _MAX_UNPACKED and self._n > _MAX_RATIO * self._packed.n_read:
            raise ValueError(
                f"{self._source} must unpack to at most {_MAX_RATIO:,} times its size; unpack it first if it "
                "is sound."
            )
        return found


class _Members:
    """What all members of a compressed stream contain; Python's own readers ignore any that are damaged."""

    def __init__(
        self, file: Readable, decompressor: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor]
    ) -> None:
        self._file, self._new, self._member = file, decompressor, decompressor()

    def read(self, size: int) -> bytes:
        """Return at least one byte and at most `size`; none at the end."""
        found = b""
        while not found:
            packed = b""
            if self._member.eof:
                packed = self._member.unused_data or self._file.read(_HEAD_BYTES)
                if not packed:
                    break
                self._member = self._new()
            elif self._member.needs_input:
                packed = self._file.read(_HEAD_BYTES)
                if not packed:
                    raise EOFError("Compressed file ended before the end-of-stream marker was reached")
            found = self._member.decompress(packed, size)
        return found


def _json_chunks(file: Readable, head: bytes, source: str) -> Iterator[list[dict[str, object]]]:
    """Yield the objects of lines of JSON, some at a time."""
    chunk: list[dict[str, object]] = []
    n_lines = n_bytes = 0
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
                chunk.append(record)
                n_bytes += len(line)
            if len(chunk) == _BATCH_ROWS or n_bytes >= _BATCH_BYTES:
                yield chunk
                chunk, n_bytes = [], 0
    if chunk:
        yield chunk


def _table_of_query(cursor: Any, source: str, form: _Form) -> Table:
    """Return the result of a database query, a cursor of Python's DB-API 2.0."""
    if cursor.description is None:
        raise ValueError(f"{source} must be the result of a query that returns rows; it returns none.")
    names = [str(column[0]) for column in cursor.description]
    rows = cursor if hasattr(cursor, "__iter__") else iter(cursor.fetchone, None)
    cells = (row.values() if isinstance(row, Mapping) else row for row in rows)
    records = (dict(zip(names, row, strict=True)) for row in cells)
    return _table_of_records(_chunks_of(records), names, source, form)


def _chunks_of(records: Iterator[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    """Yield rows of a database, some at a time; fewer if their texts are long."""
    chunk: list[dict[str, object]] = []
    n_bytes = 0
    for record in records:
        chunk.append(record)
        for cell in record.values():
            if type(cell) is str or type(cell) is bytes:
                n_bytes += len(cell)
        if len(chunk) == _BATCH_ROWS or n_bytes >= _BATCH_BYTES:
            yield chunk
            chunk, n_bytes = [], 0
    if chunk:
        yield chunk


def _table_of_records(
    chunks: Iterator[list[dict[str, object]]], names: list[str] | None, source: str, form: _Form
) -> Table:
    """Return rows that are dictionaries; by default the names of the columns are those of the first chunk."""
    pending = list(islice(chunks, 1))
    if not pending:
        raise ValueError(f"{source} must have one row per {form.row}; it is empty.")
    known = names or _names_in(pending[0])
    first = pending[0][:_FIRST_ROWS] if len(known) <= _MOST_NAMES else ()
    first_rows = [[text_of(one.get(name)) for name in known] for one in first]

    def checked(locate: Locate) -> Iterator[list[dict[str, object]]]:
        """Yield the chunks; raises `ValueError` if a column that is needed begins in a later one."""
        wanted = locate(known).values()
        for chunk in _emptied(pending, chunks):
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

    return Table(source, known, first_rows, lambda locate: _numbered(checked(locate), locate(known), column))


def _names_in(chunk: list[dict[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for one in chunk for name in one))


def _emptied(pending: list[Any], rest: Iterable[Any]) -> Iterator[Any]:
    """Yield the items of a list, which does not keep them in memory, and the rest."""
    while pending:
        yield pending.pop()
    yield from rest


def _numbered(
    chunks: Iterable[Any], wanted: Mapping[str, int], column: Callable[[Any, int], Column]
) -> Iterator[Batch]:
    """Yield chunks of rows, numbered from 1, as batches of the columns that are wanted."""
    n_rows = 0
    for chunk in chunks:
        columns = {what: column(chunk, at) for what, at in wanted.items()}
        yield Batch(columns, np.arange(n_rows + 1, n_rows + len(chunk) + 1))
        n_rows += len(chunk)


def _table_of_columns(columns: Any, source: str) -> Table:
    """Return columns in memory, of a dictionary or a data frame, as one batch."""
    names = list(columns)
    arrays = (np.atleast_1d(np.asarray(columns[name], dtype=object)) for name in names)
    heads = [array[:_FIRST_ROWS].tolist() for array in arrays]
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


@contextmanager
def _open_parquet(path: Path) -> Iterator[Table]:
    source = path.name
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
        with pq.ParquetFile(
            path.absolute(),
            pre_buffer=False,
            buffer_size=_ARROW_BUFFER_BYTES,
            # A long text that is repeated in every row then takes memory only once.
            read_dictionary=[one.name for one in schema if str(one.type) in _ARROW_TEXTS],
        ) as file:

            def chunks(wanted: Iterable[int]) -> Iterator[Any]:
                used = [schema.names[at] for at in wanted]
                for name in used:
                    kind = schema.field(name).type
                    if not (_is_plain(pa, kind) or pa.types.is_dictionary(kind) or pa.types.is_decimal(kind)):
                        raise ValueError(
                            f"{source} must have numbers, flags, times or text in {name!r}; it has {kind}."
                        )
                return _short_rows(file.iter_batches(batch_size=_ARROW_BATCH_ROWS, columns=used), source)

            head = _parquet_head(pa, file, schema, source)
            yield _table_of_arrow(schema.names, head, chunks, source)
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        reason = lines[0][:200].rstrip(".")
        raise ValueError(f"{source} cannot be read as Parquet: {reason}.") from error


def _parquet_head(pa: Any, file: Any, schema: Any, source: str) -> Any:
    """Return the first rows of a Parquet file as a record batch; None if it has none.

    Columns of lists, structures and other long cells are null in it: a cell that is written once may be
    repeated in every row. The columns that are needed are checked as they are read.
    """
    is_plain = [_is_plain(pa, one.type) for one in schema]
    names = [name for name, plain in zip(schema.names, is_plain, strict=True) if plain]
    first = next(_short_rows(file.iter_batches(batch_size=_FIRST_ROWS, columns=names), source), None)
    if first is None or all(is_plain):
        return first
    columns = [
        first.column(first.schema.get_field_index(name)) if plain else pa.nulls(len(first))
        for name, plain in zip(schema.names, is_plain, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=schema.names)


def _is_plain(pa: Any, kind: Any) -> bool:
    """Whether cells of an Arrow type are single numbers, flags, times or texts."""
    is_short = pa.types.is_fixed_size_binary(kind) and kind.byte_width <= _SHORT_CELL
    return (
        bool(is_short or pa.types.is_primitive(kind) or pa.types.is_null(kind)) or str(kind) in _ARROW_TEXTS
    )


def _short_rows(batches: Iterable[Any], source: str) -> Iterator[Any]:
    """Yield Arrow's record batches; raise `ValueError` for cells so long that they would fill the memory."""
    for batch in batches:
        if batch.nbytes > _MOST_ARROW_BYTES:
            size = f"{batch.nbytes >> 20:,} MB for {len(batch):,} rows"
            raise ValueError(f"{source} must have short rows; got {size}.")
        yield batch


def _table_of_arrow_stream(table: Any, source: str) -> Table:
    """Return an object with Arrow's PyCapsule interface, such as a polars data frame."""
    try:
        import pyarrow as pa  # noqa: PLC0415
    except ImportError as error:
        raise ValueError(f"{source} is an Arrow table, which needs pyarrow: pip install pyarrow.") from error
    stream = pa.RecordBatchReader.from_stream(table)
    pending = list(islice(stream, 1))
    head = pending[0] if pending else None
    return _table_of_arrow(stream.schema.names, head, lambda _: _emptied(pending, stream), source)


def _table_of_arrow(
    names: list[str], head: Any, chunks: Callable[[Iterable[int]], Iterable[Any]], source: str
) -> Table:
    """Return a table of Arrow's record batches, given the first one and a function that yields them all."""
    columns = [] if head is None else [_arrow_cells(one.slice(0, _FIRST_ROWS)) for one in head.columns]
    first_rows = [[text_of(cell) for cell in row] for row in zip(*columns, strict=True)]

    def batches(locate: Locate) -> Iterator[Batch]:
        wanted = locate(names)
        return _numbered(
            chunks(wanted.values()), wanted, lambda chunk, at: arrow_column(chunk.column(names[at]))
        )

    return Table(source, names, first_rows, batches)


def _arrow_cells(column: Any) -> list[object]:
    """Return the cells of an Arrow column as Python objects; equal texts of a dictionary are one object."""
    if not hasattr(column, "dictionary"):
        return list(column.to_pylist())
    words = column.dictionary.to_pylist()
    return [None if at is None else words[at] for at in column.indices.to_pylist()]
