"""Checks of output files before any work starts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

__all__ = ["check_output_file"]


def check_output_file(
    option: str, path: Path, suffixes: Sequence[str], *, source: Path | None = None
) -> None:
    """Raise `ValueError` unless `path` is a file that can be written and has one of the suffixes.

    Args:
        option: The option that names the file, for messages.
        path: The file.
        suffixes: The allowed suffixes.
        source: The input file, which must not be overwritten.
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
