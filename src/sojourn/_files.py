"""Files of ours: `.npz` archives of arrays and a line of JSON, no pickle, written whole or not at all."""

from __future__ import annotations

import json
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["read_archive", "write_archive"]

_ABOUT = "about"
_DAMAGE = (
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,  # a damaged header may ask for any size
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What NumPy, zip and JSON raise when they read a file that is damaged or of another kind."""


def write_archive(path: str | Path, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> Path:
    """Write arrays and what they are to `path` in one step; `.npz` is added if it has no ending."""
    path = Path(path)
    if not path.suffix:
        path = path.with_suffix(".npz")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"path must be in a folder that exists; got {str(path)!r}.")
    text = np.array(json.dumps(about))
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, **{**arrays, _ABOUT: text})
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)
    return path


def read_archive(
    path: str | Path, *, form: str, writer: str
) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Return what `write_archive` wrote: the line of JSON and the arrays.

    Args:
        path: The file.
        form: What "format" must be.
        writer: Who writes such files, for messages.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"path must be a file that exists; got {str(path)!r}.")
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            about = json.loads(str(file[_ABOUT]))
            is_ours = about["format"] == form
            arrays = {name: file[name] for name in file.files if name != _ABOUT} if is_ours else {}
    except _DAMAGE as error:
        raise ValueError(f"{path} is not a file that {writer} wrote, or it is damaged.") from error
    if not is_ours:
        raise ValueError(f"{path} has the format {about['format']!r}; this version reads {form!r}.")
    return about, arrays


def _sync_folder(folder: Path) -> None:
    """Make the new name itself outlast a power cut, where the system lets a folder be synced."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
