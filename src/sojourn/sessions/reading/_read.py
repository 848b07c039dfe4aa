"""Reads session logs from files of any supported format."""

from __future__ import annotations

import os
from pathlib import Path

from sojourn.sessions._log import SessionLog
from sojourn.sessions.reading._columns import ColumnNames
from sojourn.sessions.reading._csv import read_csv
from sojourn.sessions.reading._parquet import read_parquet

__all__ = ["read_sessions"]

_HEAD_BYTES = 1 << 16
_OTHER_FORMATS = {
    b"\xff\xfe": "UTF-16 text; save it as UTF-8 (in Excel: 'CSV UTF-8')",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8 (in Excel: 'CSV UTF-8')",
    b"PK\x03\x04": "a workbook or a zip archive; save the sheet as CSV",
    b"\x1f\x8b": "compressed; unpack it first",
    b"\xd0\xcf\x11\xe0": "an old workbook; save the sheet as CSV",
    b"%PDF": "a PDF; export the table as CSV",
}


def read_sessions(
    path: str | os.PathLike[str],
    *,
    length: str | None = None,
    observed: str | None = None,
    entry: str | None = None,
    group: str | None = None,
) -> SessionLog:
    """Read a session log from a CSV or Parquet file with one row per session.

    A row has the session's length in steps and optionally whether the session was seen to end: an open
    session of n steps means H ≥ n. `log.account` counts the rows that cannot be used and names the first of
    them. Only the columns below are kept.

    Args:
        path: A `.csv` file (delimited by commas, semicolons, tabs or bars) or a `.parquet` file. A CSV
            file with a single column of numbers needs no header row.
        length: Name of the column of lengths; by default "length", "steps", "duration" or similar.
        observed: Name of the column that says whether the session was seen to end; by default "observed",
            "ended" or similar, or, with the opposite meaning, "open" or "censored". "none" means that all
            sessions were seen to end.
        entry: Name of the column with the step from which a session was under observation (left
            truncation); by default "entry". "none" means that all were observed from their first step.
        group: Name of the column with the session's group; by default "group", "state" or "segment". "none"
            means that there are no groups.

    Raises:
        ValueError: If the file cannot be read, has no column of lengths, or no row that can be used.
    """
    file_path = Path(path)
    wanted = ColumnNames(length, observed, entry, group)
    source = file_path.name
    if not file_path.is_file():
        kind = "a file; it is a folder" if file_path.is_dir() else "a file that exists"
        raise ValueError(f"path must be {kind}; got {str(path)!r}.")
    try:
        with file_path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
            if head.startswith(b"PAR1"):
                return read_parquet(file_path, wanted, source)
            _check_format(head, source)
            return read_csv(file, head, wanted, source)
    except OSError as error:
        raise ValueError(f"{source} cannot be read: {error.strerror or error}.") from error


def _check_format(head: bytes, source: str) -> None:
    for magic, kind in _OTHER_FORMATS.items():
        if head.startswith(magic):
            raise ValueError(f"{source} must be a CSV or Parquet file; it is {kind}.")
    if source.lower().endswith((".parquet", ".pq")):
        raise ValueError(f"{source} must be a Parquet file; it does not begin like one.")
