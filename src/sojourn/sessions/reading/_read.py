"""Reads session logs from any supported source: files, folders, streams, tables and queries."""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from sojourn.sessions._log import SessionLog
from sojourn.sessions.reading._arrow import read_arrow_stream, read_parquet
from sojourn.sessions.reading._columns import ColumnNames
from sojourn.sessions.reading._csv import read_csv
from sojourn.sessions.reading._line_blocks import line_blocks
from sojourn.sessions.reading._tables import read_columns, read_json_lines, read_query

__all__ = ["read_sessions"]

_HEAD_BYTES = 1 << 16
_SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".parquet", ".pq")
_PACKED = (".gz", ".bz2", ".xz", ".zst")
_UNREADABLE = (OSError, EOFError, lzma.LZMAError, zlib.error)
"""Errors of files that cannot be opened, read or decompressed."""

_OTHER_FORMATS = {
    b"\xff\xfe": "UTF-16 text; save it as UTF-8 (in Excel: 'CSV UTF-8')",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8 (in Excel: 'CSV UTF-8')",
    b"PK\x03\x04": "a workbook or a zip archive; save the sheet as CSV, or unpack it",
    b"\xd0\xcf\x11\xe0": "an old workbook; save the sheet as CSV",
    b"%PDF": "a PDF; export the table as CSV",
    b"SQLite format 3\0": "an SQLite database; in Python pass a query: "
    "read_sessions(sqlite3.connect(path).execute('SELECT …'))",
    b"ARROW1": "a Feather file; in Python pass pyarrow.feather.read_table(path)",
    b"\x80\x04\x95": "a pickle, which cannot be read safely; save the table as CSV or Parquet",
    b"\x80\x05\x95": "a pickle, which cannot be read safely; save the table as CSV or Parquet",
}


def read_sessions(
    source: Any,
    *,
    length: str | None = None,
    observed: str | None = None,
    entry: str | None = None,
    group: str | None = None,
    count: str | None = None,
    ended: str | None = None,
    open_survived: bool = False,
) -> SessionLog:
    """Read a session log with one row per session.

    A row has the session's length in steps and optionally whether the session was seen to end: an open
    session of n steps means H ≥ n. `log.account` counts the rows that cannot be used and names the first of
    them. Only the columns below are kept.

    Args:
        source: One of

            - a file: CSV (delimited by commas, semicolons, tabs or bars), JSON lines, or Parquet; text may be
              compressed (.gz, .bz2, .xz, .zst). A CSV file with a single column of numbers needs no header;
            - several files, a pattern such as "logs/*.csv", or a folder, which is searched for such files
              (names with a leading "." or "_" are skipped). A file with several names is read once;
            - a stream of bytes with such text, such as `sys.stdin.buffer`;
            - a dictionary of columns, a pandas data frame, any table with Arrow's interface (polars, DuckDB,
              pyarrow), or a NumPy array of lengths or of records;
            - a cursor with the result of a database query (Python's DB-API).
        length: Name of the column of lengths; by default "length", "steps", "duration" or similar.
        observed: Name of the column that says whether the session was seen to end; by default "observed",
            "ended" or similar, or, with the opposite meaning, "open" or "censored". "none" means that all
            sessions were seen to end.
        entry: Name of the column with the step from which a session was under observation (left
            truncation); by default "entry". "none" means that all were observed from their first step.
        group: Name of the column with the session's group; by default "group", "state" or "segment". "none"
            means that there are no groups.
        count: Name of the column with the number of sessions that a row stands for, as a query with GROUP BY
            returns it; by default every row is one session.
        ended: What the `observed` column holds for sessions that were seen to end, if it is not true or 1:
            such as "2" (R's code) or "churned". All other cells mean that the session is open.
        open_survived: Whether an open session of n steps was seen to go on after step n, so that H ≥ n + 1.
            This is what lifelines and R assume.

    Raises:
        ValueError: If the source cannot be read, has no column of lengths, or no row that can be used.

    Example:
        >>> log = read_sessions({"steps": [3, 1, 8], "ended": [True, True, False]})
        >>> len(log), log.n_open
        (3, 1)
    """
    log = _read_source(source, ColumnNames(length, observed, entry, group, count, ended))
    return log.with_open_sessions_one_longer() if open_survived else log


def _read_source(source: Any, wanted: ColumnNames) -> SessionLog:
    if isinstance(source, (str, os.PathLike)):
        return _read_paths(_paths_of(source), wanted)
    if isinstance(source, Mapping):
        return read_columns(list(source), source.__getitem__, wanted, "the table")
    if hasattr(source, "description") and hasattr(source, "fetchmany"):
        return read_query(source, wanted, "the query")
    if hasattr(source, "read"):
        return _read_stream(source, wanted)
    if hasattr(source, "iloc") and hasattr(source, "columns"):  # pandas, with or without pyarrow
        return read_columns(list(source.columns), source.__getitem__, wanted, "the table")
    if hasattr(source, "__arrow_c_stream__"):
        return read_arrow_stream(source, wanted, "the table")
    if isinstance(source, np.ndarray):
        table = {name: source[name] for name in source.dtype.names or ()} or {"length": source}
        return read_columns(list(table), table.__getitem__, wanted, "the array")
    if isinstance(source, (list, tuple)) and all(isinstance(one, (str, os.PathLike)) for one in source):
        return _read_paths([path for one in source for path in _paths_of(one)], wanted)
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


def _read_paths(paths: list[Path], wanted: ColumnNames) -> SessionLog:
    if not paths:
        raise ValueError("source must be at least one file; got none.")
    logs = [_read_path(path, wanted) for path in _different_files(paths)]
    return logs[0] if len(logs) == 1 else SessionLog.joined(logs, f"{len(logs):,} files")


def _different_files(paths: list[Path]) -> list[Path]:
    """Return the paths without further names of the same file, such as a link "latest.csv"."""
    found: dict[tuple[int, int], Path] = {}
    for path in paths:
        about = path.stat()
        found.setdefault((about.st_dev, about.st_ino), path)
    return list(found.values())


def _read_path(path: Path, wanted: ColumnNames) -> SessionLog:
    try:
        with path.open("rb") as file:
            if file.read(4) == b"PAR1":
                return read_parquet(path, wanted, path.name)
            file.seek(0)
            return _read_text(file, wanted, path.name)
    except _UNREADABLE as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"{path.name} cannot be read: {reason}.") from error


def _read_stream(stream: Any, wanted: ColumnNames) -> SessionLog:
    source = Path(str(getattr(stream, "name", "the stream"))).name
    if isinstance(stream, io.TextIOBase):
        raise TypeError("source must be a stream of bytes; got one of text (use its .buffer, or mode 'rb').")
    try:
        return _read_text(cast(BinaryIO, stream), wanted, source)
    except _UNREADABLE as error:
        raise ValueError(f"{source} cannot be read: {error}.") from error


def _read_text(file: BinaryIO, wanted: ColumnNames, source: str) -> SessionLog:
    """Read CSV or JSON lines, compressed or not."""
    head = file.read(_HEAD_BYTES)
    unpacked = _unpacked(head, file, source)
    if unpacked is not None:
        file, head = unpacked, unpacked.read(_HEAD_BYTES)
    _check_format(head, source)
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{":
        return read_json_lines(_lines(file, head.removeprefix(b"\xef\xbb\xbf")), wanted, source)
    return read_csv(file, head, wanted, source)


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
