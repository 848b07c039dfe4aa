"""Session logs from files."""

from __future__ import annotations

import os
from pathlib import Path

from sojourn.sessions._log import SessionLog
from sojourn.sessions.reading._columns import Wanted
from sojourn.sessions.reading._csv import read_csv
from sojourn.sessions.reading._parquet import read_parquet

__all__ = ["read_sessions"]

_HEAD = 1 << 16
_OTHER_KINDS = {
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
    """Read a session log from a CSV or Parquet file, one row a session.

    A row has the session's length in steps and, if there is such a column, whether the session was seen to
    end: an open one with n steps so far says H ≥ n. Rows that cannot be used are counted, and the first of
    them named, in `log.account`; nothing else is kept of a row than these columns.

    Args:
        path: A `.csv` file (delimited by commas, semicolons, tabs or bars) or a `.parquet` file. A CSV
            file with a single column of numbers may come without a name.
        length: The column of lengths; by default "length", "steps", "duration" or the like.
        observed: The column that says whether the session was seen to end; by default "observed", "ended" or
            the like, or, the other way round, "open", "censored". "none": all were.
        entry: The column with the step from which a session was under observation (left truncation); by
            default "entry". "none": from its first step.
        group: The column with the session's group; by default "group", "state" or "segment". "none": no
            groups.

    Raises:
        ValueError: If the file cannot be read, has no column of lengths, or no row that can be used.
    """
    place = Path(path)
    wanted = Wanted(length, observed, entry, group)
    source = place.name
    if not place.is_file():
        kind = "a file; it is a folder" if place.is_dir() else "a file that exists"
        raise ValueError(f"path must be {kind}; got {str(path)!r}.")
    try:
        with place.open("rb") as file:
            head = file.read(_HEAD)
            if head.startswith(b"PAR1"):
                return read_parquet(place, wanted, source)
            _check_kind(head, source)
            return read_csv(file, head, wanted, source)
    except OSError as error:
        raise ValueError(f"{source} cannot be read: {error.strerror or error}.") from error


def _check_kind(head: bytes, source: str) -> None:
    for magic, kind in _OTHER_KINDS.items():
        if head.startswith(magic):
            raise ValueError(f"{source} must be a CSV or Parquet file; it is {kind}.")
    if source.lower().endswith((".parquet", ".pq")):
        raise ValueError(f"{source} must be a Parquet file; it does not begin like one.")
