"""Files that commands write: refused before any work if they cannot be."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

__all__ = ["check_target"]


def check_target(option: str, path: Path, suffixes: Sequence[str]) -> None:
    """Raise `ValueError` if `path` is not a file that can be written, with one of these endings."""
    if path.suffix.lower() not in suffixes:
        raise ValueError(f"{option} must end in {' or '.join(suffixes)}; got {str(path)!r}.")
    if not path.parent.is_dir():
        raise ValueError(f"{option} must be in a folder that exists; got {str(path)!r}.")
    if path.is_dir():
        raise ValueError(f"{option} must be a file; {str(path)!r} is a folder.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"{option} must be a file that can be written; {str(path)!r} cannot.")
