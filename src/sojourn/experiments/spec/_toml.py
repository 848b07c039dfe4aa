"""Reads TOML files, and refuses bad ones with one line that names the place."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from sojourn._files import NotRegularFileError, read_at_most

__all__ = ["read_toml"]

_MOST_BYTES = 100 * 1024
"""A cap, because `tomllib` takes time quadratic in the parts of a dotted key: 9 s for one key of 40 kB."""


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of a TOML file and the table that it describes.

    Raises:
        ValueError: If it is not TOML; one line says where.
        OSError: If it cannot be read.
    """
    try:
        content = read_at_most(path, _MOST_BYTES, follow=True)
    except FileNotFoundError as error:
        if path.is_symlink():
            raise ValueError(f"{path} must be a TOML file; it is a link to a file that is missing.") from None
        raise error
    except NotRegularFileError:
        raise ValueError(f"{path} must be a TOML file; it is something else.") from None
    if len(content) > _MOST_BYTES:
        raise ValueError(f"{path} must be at most {_MOST_BYTES // 1024} kB; it is larger.")
    try:
        text = content.decode("utf-8-sig")  # editors of Windows may put a mark first
        return text, tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"{path} is not valid TOML: it is nested too deeply.") from None
    except ValueError as error:  # not UTF-8, not TOML, or a number of too many digits
        raise ValueError(f"{path} is not valid TOML: {_reason(error)}.") from None


def _reason(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    reason = " ".join(str(error).split()).rstrip(".")
    if "integer string conversion" in reason:
        return "a whole number has too many digits"
    return reason if len(reason) <= 150 else f"{reason[:149]}…"
