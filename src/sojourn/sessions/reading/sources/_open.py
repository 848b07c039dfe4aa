"""Opens any supported source as tables: files, folders, streams, tables in memory and queries."""

from __future__ import annotations

import glob
import io
import lzma
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from sojourn.sessions.reading._csv import Readable, csv_table
from sojourn.sessions.reading._tables import Batch, Locate, ObjectColumn, Table
from sojourn.sessions.reading.sources._arrow import open_parquet, table_of_arrow_stream
from sojourn.sessions.reading.sources._packed import PACKED, unpack
from sojourn.sessions.reading.sources._records import (
    json_chunks,
    table_of_columns,
    table_of_query,
    table_of_records,
)
from sojourn.sessions.reading.sources._sqlite import open_sqlite

__all__ = ["open_source"]

_SQLITE, _BYTE_ORDER_MARK = b"SQLite format 3\0", b"\xef\xbb\xbf"

_SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".parquet", ".pq")

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
) -> tuple[str, list[AbstractContextManager[Table]], list[str]]:
    """Return the name of a source for messages, its tables and notes; tables are opened one after the other.

    Args:
        source: See `sojourn.sessions.read_sessions`.
        query: A query to run if the source is an SQLite file.
        row: What a row stands for, in messages.
        headerless: Whether a CSV file with a single column of numbers needs no header row.
    """
    form = _Form(row, headerless)
    several = isinstance(source, (list, tuple)) and all(isinstance(one, (str, os.PathLike)) for one in source)
    if several or isinstance(source, (str, os.PathLike)):
        notes: list[str] = []
        paths = [path for one in (source if several else [source]) for path in _paths_of(one, notes)]
        if not paths:
            raise ValueError("source must be at least one file; got none.")
        paths = _different_files(paths)
        name = f"{len(paths):,} files" if len(paths) > 1 else paths[0].name
        return name, [_open_file(path, query, form) for path in paths], notes
    if query is not None:
        raise ValueError("query must come with an SQLite file; pass the cursor of another database instead.")
    name, opened = _open_object(source, form)
    return name, [opened], []


@dataclass(frozen=True)
class _Form:
    """What the rows of a source should be; see `open_source`."""

    row: str
    headerless: bool


def _open_object(source: Any, form: _Form) -> tuple[str, _Opened]:
    """Return the name of a stream, a query or a table in memory, and its rows."""
    is_mapping = isinstance(source, Mapping)
    if not is_mapping and hasattr(source, "description") and hasattr(source, "fetchmany"):
        return "the query", nullcontext(table_of_query(source, "the query", form.row))
    if not is_mapping and hasattr(source, "read"):
        name = Path(str(getattr(source, "name", "the stream"))).name
        return name, _open_stream(source, name, form)
    if is_mapping or (hasattr(source, "iloc") and hasattr(source, "columns")):  # pandas, even without pyarrow
        return "the table", nullcontext(table_of_columns(source, "the table"))
    if hasattr(source, "__arrow_c_stream__"):
        return "the table", nullcontext(table_of_arrow_stream(source, "the table"))
    if isinstance(source, np.ndarray):
        columns = {name: source[name] for name in source.dtype.names or ()} or {"length": source}
        return "the array", nullcontext(table_of_columns(columns, "the array"))
    raise TypeError(f"source must be a file, a table, a stream or a query; got {type(source).__name__}.")


def _paths_of(source: str | os.PathLike[str], notes: list[str]) -> list[Path]:
    """Return the files that a path, a pattern or a folder stands for; note which files of a folder do not."""
    path = Path(source)
    if path.is_file():
        return [path]
    if not os.fspath(source):
        raise ValueError("source must be a file that exists; got an empty name.")
    if path.is_dir():
        names = {one: one.relative_to(path) for one in path.rglob("*") if one.is_file() or one.is_symlink()}
        seen = sorted(one for one, name in names.items() if not _is_hidden(name))
        found = [one for one in seen if _is_log(one) and one.is_file()]
        twice = [one for one in found if one.suffix in PACKED and one.with_suffix("") in found]
        if twice:
            notes.append(
                f"{twice[0].name} and {twice[0].stem} are both read: if they are the same, remove one."
            )
        for one in found:
            if not one.resolve().is_relative_to(path.resolve()):
                raise ValueError(
                    f"{one} must not be a link to a file outside its folder; name that file itself."
                )
        if not found:
            raise ValueError(f"source must be a folder with {', '.join(_SUFFIXES)} files; got {str(path)!r}.")
        others = [names[one] for one in seen if one not in found]
        if others:
            which = f"1 file, {str(others[0])!r}, is" if len(others) == 1 else f"{len(others):,} files are"
            notes.append(
                f"In {path.name} {which} not read: only files that end in {', '.join(_SUFFIXES)} are."
            )
        return found
    if path.exists():
        raise ValueError(f"source must be a file; {str(source)!r} is a pipe: pass it as standard input, '-'.")
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
    """Whether a file in a folder has the name of a log."""
    lower = path.name.lower()
    for packed in PACKED:
        lower = lower.removesuffix(packed)
    return lower.endswith(_SUFFIXES)


def _is_hidden(path: Path) -> bool:
    """Whether a part of a path within a folder is hidden or temporary."""
    return any(part.startswith(("_", ".")) for part in path.parts)


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
                opened = open_sqlite(path, query, form.row)
            elif query is not None:
                raise ValueError(f"{path.name} must be an SQLite file if a query is given.")
            elif magic.startswith(b"PAR1"):
                opened = open_parquet(path)
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
def _open_stream(stream: Any, source: str, form: _Form) -> Iterator[Table]:
    if isinstance(stream, io.TextIOBase):
        raise TypeError("source must be a stream of bytes; got one of text (use its .buffer, or mode 'rb').")
    try:
        yield _table_of_text(stream, source, form)
    except _UNREADABLE as error:
        raise ValueError(f"{source} cannot be read: {error}.") from error


def _table_of_text(file: Readable, source: str, form: _Form) -> Table:
    """Return the rows of CSV or of JSON lines, compressed or not."""
    head, file = unpack(file, source)
    _check_format(head, source)
    head = head.removeprefix(_BYTE_ORDER_MARK)
    if head.lstrip()[:1] == b"{":
        return table_of_records(json_chunks(file, head, source), None, source, form.row)
    return csv_table(file, head, source, row=form.row, headerless=form.headerless)


def _check_format(head: bytes, source: str) -> None:
    for magic, kind in _OTHER_FORMATS.items():
        if head.startswith(magic):
            raise ValueError(f"{source} must be a CSV, JSON lines or Parquet file; it is {kind}.")
    if head.lstrip()[:1] == b"[":
        raise ValueError(f"{source} must have one JSON object per line; it is one JSON list.")
    if source.lower().endswith((".parquet", ".pq")):
        raise ValueError(f"{source} must be a Parquet file; it does not begin like one.")
