"""Files that commands write: refused before any work if they cannot be."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

__all__ = ["check_target"]


def check_target(option: str, path: Path, suffixes: Sequence[str], *, source: Path | None = None) -> None:
    """Raise `ValueError` if `path` is not a file that can be written, with one of these endings.

    Args:
        option: What asks for the file.
        path: The file.
        suffixes: What it may end in.
        source: A file that is read, and must not be written over.
    """
    if path.suffix.lower() not in suffixes:
        raise ValueError(f"{option} must end in {' or '.join(suffixes)}; got {str(path)!r}.")
    if not path.parent.is_dir():
        raise ValueError(f"{option} must be in a folder that exists; got {str(path)!r}.")
    if path.is_dir():
        raise ValueError(f"{option} must be a file; {str(path)!r} is a folder.")
    if source is not None and source.exists() and path.exists() and path.samefile(source):
        raise ValueError(f"{option} must not be the file that is read; got {str(path)!r}.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"{option} must be a file that can be written; {str(path)!r} cannot.")
