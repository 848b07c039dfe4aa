"""Files of ours: `.npz` archives of arrays and a line of JSON, no pickle, written whole or not at all.

The bytes of an archive are a function of what is in it: no time, no name of a machine. Reading allocates
nothing that the file's own size does not vouch for.
"""

from __future__ import annotations

import io
import json
import math
import os
import struct
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from sojourn._memory import check_fits

__all__ = [
    "make_folder",
    "pack_archive",
    "read_archive",
    "sync_folder",
    "unpack_archive",
    "write_archive",
    "write_atomically",
]

_ABOUT = "about"
_DAMAGE = (
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,  # a damaged header may ask for any size
    OSError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What NumPy, zip and JSON raise when they read a file that is damaged or of another kind."""

_MOST_DEFLATED = 1032
"""Deflate makes nothing smaller than this part of it."""

_MOST_HEADER = 4096


def write_archive(path: str | Path, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> Path:
    """Write arrays and what they are to `path` in one step; `.npz` is added if it has no ending."""
    path = Path(path)
    if not path.suffix:
        path = path.with_suffix(".npz")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"path must be in a folder that exists; got {str(path)!r}.")
    named = _named(about, arrays)
    return write_atomically(path, lambda file: np.savez_compressed(file, **named))


def pack_archive(about: Mapping[str, Any], arrays: Mapping[str, Any]) -> bytes:
    """Return the bytes that `write_archive` would write."""
    packed = io.BytesIO()
    np.savez_compressed(packed, **_named(about, arrays))
    return packed.getvalue()


def _named(about: Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {**arrays, _ABOUT: np.array(json.dumps(about))}


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> Path:
    """Write a file under another name, sync it, give it its name and sync the folder; or leave nothing."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
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
    with path.open("rb") as file:
        return unpack_archive(file, name=str(path), form=form, writer=writer)


def unpack_archive(
    file: IO[bytes], *, name: str, form: str, writer: str, only_about: bool = False
) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Return what is in an open archive, or only what it says of itself; `name` is what messages call it.

    The rest is as for `read_archive`.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            about = json.loads(str(_member(archive, f"{_ABOUT}.npy")))
            is_ours = about["format"] == form
            members = [] if only_about or not is_ours else archive.namelist()
            found = {member: _member(archive, member) for member in members if member != f"{_ABOUT}.npy"}
    except _DAMAGE as error:
        raise ValueError(f"{name} is not a file that {writer} wrote, or it is damaged.") from error
    if not is_ours:
        raise ValueError(f"{name} has the format {about['format']!r}; this version reads {form!r}.")
    return about, {member.removesuffix(".npy"): array for member, array in found.items()}


def _member(archive: zipfile.ZipFile, name: str) -> np.ndarray[Any, Any]:
    """Return one array, after its declared size was checked against the size of what is there."""
    info = archive.getinfo(name)
    if info.file_size > _MOST_DEFLATED * (info.compress_size + 64):
        raise ValueError(f"{name} declares more than it can hold.")
    with archive.open(info) as file:
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError(f"{name} has a header of another kind.")
        shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file, max_header_size=_MOST_HEADER)
        if dtype.hasobject or any(length < 0 for length in shape):
            raise ValueError(f"{name} is not an array of numbers or text.")
        size = math.prod(shape) * dtype.itemsize
        if size != info.file_size - file.tell():
            raise ValueError(f"{name} declares another size than it has.")
        check_fits(size, name, "read it on a larger machine")
        array = np.frombuffer(bytearray(file.read(size)), dtype=dtype, count=math.prod(shape))
        if file.read(1):  # reads to the end, where the checksum is looked at
            raise ValueError(f"{name} goes on after its end.")
    return array.reshape(shape, order="F" if by_columns else "C")


def make_folder(folder: Path) -> None:
    """Make a folder with all that lead to it, unless they are there, so that they outlast a power cut."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in reversed(missing):
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the new name itself outlast a power cut, where the system lets a folder be synced."""
    if os.name == "posix":
        try:
            handle = os.open(folder, os.O_RDONLY)
        except PermissionError:  # a folder to write in, but not to list
            return
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
