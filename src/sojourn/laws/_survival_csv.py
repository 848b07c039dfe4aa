"""Reads survival tables from CSV files."""

from __future__ import annotations

import csv
import errno
import stat
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

__all__ = ["read_survival"]

_MAX_BYTES = 1 << 28


def read_survival(path: str | os.PathLike[str]) -> list[float]:
    """Return the survival table in a CSV file with one column, or the columns h (1, 2, 3, …) and survival.

    A header row is optional; with one, the two columns may be in either order.

    Raises:
        ValueError: If the file cannot be read or a row is wrong; the file and the row are named.
    """
    name = Path(path).name
    try:
        text = _read(Path(path)).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ValueError(f"{str(path)!r} cannot be read as a survival table: {reason}.") from error
    empty = f"{name} must have one row per step; it is empty."
    reader = csv.reader(text.splitlines())
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(row)]
    except csv.Error as error:  # such as a quote that is never closed
        raise ValueError(f"{name} row {reader.line_num}: cannot be read as CSV ({error}).") from error
    if not rows:
        raise ValueError(empty)
    step_column, value_column = None, len(rows[0][1]) - 1
    if len(rows[0][1]) == 2:
        step_column = 0
    if not _is_number(rows[0][1][-1]):
        head = [cell.lower() for cell in rows.pop(0)[1]]
        if head not in (["survival"], ["h", "survival"], ["survival", "h"]):
            raise ValueError(f"{name} row 1: columns must be survival, or h and survival; got other names.")
        value_column, step_column = head.index("survival"), head.index("h") if "h" in head else None
    survival: list[float] = []
    for number, row in rows:
        if len(row) != (1 if step_column is None else 2):
            raise ValueError(
                f"{name} row {number}: must have as many cells as the first row; got {len(row)}."
            )
        if step_column is not None and row[step_column] != str(len(survival) + 1):
            raise ValueError(
                f"{name} row {number}: h must be {len(survival) + 1}; got {_show(row[step_column])}."
            )
        cell = row[value_column]
        most = survival[-1] if survival else 1.0
        if not survival and not (_is_number(cell) and float(cell) == 1.0):
            raise ValueError(f"{name} row {number}: survival must be 1 in the first row; got {_show(cell)}.")
        if not (_is_number(cell) and 0.0 <= float(cell) <= most):
            rule = f"a number from 0 to {most!r}, the row before"
            raise ValueError(f"{name} row {number}: survival must be {rule}; got {_show(cell)}.")
        survival.append(float(cell))
    if not survival:
        raise ValueError(empty)
    return survival


def _read(path: Path) -> bytes:
    """Return the bytes of a regular file; pipes, which could block, and devices are not opened."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    with path.open("rb") as file:
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise OSError(errno.EFBIG, f"it is larger than {_MAX_BYTES:,} bytes")
    return content


def _show(cell: str) -> str:
    """Return a cell for an error message; text is not quoted, as the file may not be a table at all."""
    return repr(cell[:40]) if _is_number(cell) or not cell else "text"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
