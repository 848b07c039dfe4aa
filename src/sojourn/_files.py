"""Files: atomic writes, safe reads, and `.npz` archives of arrays with one line of JSON.

Files are written whole or not at all. Archives contain no pickle, no time stamp and no machine name: the same
content gives the same bytes. Reading checks every declared size before it allocates memory.
"""

from __future__ import annotations

import errno
import io
import json
import math
import os
import re
import secrets
import stat
import struct
import sys
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from sojourn._memory import check_fits

__all__ = [
    "NotRegularFileError",
    "is_utf8",
    "lock_file",
    "make_folder",
    "open_regular_file",
    "pack_archive",
    "parse_json",
    "read_archive",
    "read_at_most",
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
"""Errors that NumPy, zipfile and JSON raise for a file that is damaged or of another kind.

No `MemoryError`: where memory is short, a sound file must not be taken for a damaged one. Declared sizes are
checked first, so that a damaged file does not ask for more than a hundred times its own size.
"""

_MAX_DEFLATE_RATIO = 1032
"""Largest factor by which deflate can compress; a member that declares a larger one is damaged."""

_LARGE, _LARGE_ABOUT, _MAX_RATIO = 1 << 22, 1 << 20, 100
"""Arrays of more than 4 MB, and descriptions of more than 1 MB, are compressed at most by this factor."""

_MAX_ABOUT = 1 << 25
"""Largest line of JSON in bytes, 8 million characters; as Python objects it takes up to ten times as many."""

_MOST_DEPTH = 100
"""Most levels of lists and objects in a line of JSON; specs allow 16.

Far below Python's limit, which leaves less the more functions are running: a file must be sound everywhere or
nowhere.
"""

_BRACKET = re.compile(r'(?:[^][{}"]++|"(?:[^"\\]++|\\.)*+"?)*+([][{}]|\Z)', re.DOTALL)
"""What comes before a bracket of JSON, strings as a whole, and the bracket."""

_PIECE = 1 << 20
_MAX_HEADER = 4096  # largest header of an array, in bytes

_MOST_CODE_POINT = 0x10FFFF  # of a character of text; Python refuses larger ones with a `SystemError`

_NOT_REGULAR = (errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO, errno.ENODEV)
"""Errors of `open` for a link (with O_NOFOLLOW), a folder, a socket or a device."""


def write_archive(path: str | Path, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> Path:
    """Write arrays and their JSON description atomically; `.npz` is added if `path` has no ending."""
    path = Path(path)
    if not path.suffix:
        path = path.with_suffix(".npz")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"path must be in a folder that exists; got {str(path)!r}.")
    named = _named(about, arrays)
    return write_atomically(path, lambda file: _write_arrays(file, named))


def pack_archive(about: Mapping[str, Any], arrays: Mapping[str, Any]) -> bytes:
    """Return the bytes that `write_archive` would write."""
    packed = io.BytesIO()
    _write_arrays(packed, _named(about, arrays))
    return packed.getvalue()


def _write_arrays(file: IO[bytes], arrays: Mapping[str, Any]) -> None:
    """Write a compressed `.npz` file, or a plain one if an array would unpack to far more than its size."""
    np.savez_compressed(file, **arrays)
    with zipfile.ZipFile(file) as archive:
        is_extreme = any(map(_is_extreme, archive.infolist()))
    if is_extreme:
        file.seek(0)
        file.truncate()
        np.savez(file, **arrays)


def _is_extreme(member: zipfile.ZipInfo) -> bool:
    """Whether a large array is compressed so much that small files could fill the memory."""
    large = _LARGE_ABOUT if member.filename == f"{_ABOUT}.npy" else _LARGE
    return member.file_size > max(large, _MAX_RATIO * member.compress_size)


def _named(about: Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {**arrays, _ABOUT: np.array(json.dumps(about))}


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> Path:
    """Write and fsync a temporary file, rename it and fsync the folder; leave nothing if that fails.

    As for every newly created file, the umask and the folder decide who may read and write it.
    """
    temporary = _unused_name(path)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(temporary, flags, 0o666), "w+b") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except FileExistsError:  # another process has created a file with this name
        raise
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error  # such as a full disk
        raise
    sync_folder(path.parent)
    return path


def _unused_name(path: Path) -> Path:
    """Return the path of a temporary file beside `path` that does not exist."""
    while True:
        # Part of the name: the whole would be too long if the file's own has nearly as many bytes as allowed.
        temporary = path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}.tmp")
        if not os.path.lexists(temporary):
            return temporary


def read_archive(
    path: str | Path, *, form: str, writer: str
) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Return the JSON description and the arrays that `write_archive` wrote.

    Args:
        path: The file.
        form: Required value of "format" in the description.
        writer: Function that writes such files, named in error messages.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is damaged or has another format.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"path must be a file that exists; got {str(path)!r}.")
    with path.open("rb") as file:
        return unpack_archive(file, name=str(path), form=form, writer=writer)


def unpack_archive(
    file: IO[bytes],
    *,
    name: str,
    form: str,
    writer: str,
    only_about: bool = False,
    check_sizes: Callable[[Any, Mapping[str, int]], object] | None = None,
) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Return the JSON description and the arrays of an open archive.

    Args:
        file: The archive.
        name: Name of the file in error messages.
        form: As for `read_archive`.
        writer: As for `read_archive`.
        only_about: Whether to read only the description and return no arrays.
        check_sizes: Called with the description and the declared size of each array in bytes, before the
            arrays are unpacked; raises an error if they are not what the description says.
    """
    n_bytes = file.seek(0, os.SEEK_END)
    file.seek(0)
    try:
        with zipfile.ZipFile(file) as archive:
            if archive.getinfo(f"{_ABOUT}.npy").file_size > _MAX_ABOUT:
                raise ValueError("its description is too long.")
            about = parse_json(str(_read_member(archive, f"{_ABOUT}.npy")))
            has_form = about["format"] == form
            sizes = {info.filename: info.file_size for info in archive.infolist()}
            if sum(info.compress_size for info in archive.infolist()) > n_bytes:
                raise ValueError("its members overlap.")
            if len(sizes) < len(archive.infolist()):
                raise ValueError("it has two members of one name.")
            if not all(member.endswith(".npy") for member in sizes):
                raise ValueError("it has a member that is not an array.")
            members = [] if only_about or not has_form else [one for one in sizes if one != f"{_ABOUT}.npy"]
            if members and check_sizes is not None:
                check_sizes(about, {member.removesuffix(".npy"): sizes[member] for member in members})
            check_fits(sum(sizes[one] for one in members), name, "read it on a larger machine")
            arrays = {member: _read_member(archive, member) for member in members}
    except _DAMAGE as error:
        raise ValueError(f"{name} is not a file that {writer} wrote, or it is damaged.") from error
    if not has_form:
        raise ValueError(f"{name} has the format {about['format']!r}; this version reads {form!r}.")
    return about, {member.removesuffix(".npy"): array for member, array in arrays.items()}


def _read_member(archive: zipfile.ZipFile, name: str) -> np.ndarray[Any, Any]:
    """Return one array after checking its declared sizes, which `np.load` would allocate unchecked."""
    info = archive.getinfo(name)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # `zipfile` unpacks other forms without a limit: a few bytes could fill the memory.
        raise ValueError(f"{name} is compressed in another way than NumPy does.")
    if info.file_size > _MAX_DEFLATE_RATIO * (info.compress_size + 64) or _is_extreme(info):
        raise ValueError(f"{name} declares more than it can hold.")
    check_fits(info.file_size, name, "read it on a larger machine")
    with archive.open(info) as opened:
        content: Any = opened
        np.lib.format.read_magic(content)
        shape, by_columns, dtype = np.lib.format.read_array_header_1_0(content, max_header_size=_MAX_HEADER)
        if dtype.hasobject or dtype.kind == "V" or min(shape, default=0) < 0:
            raise ValueError(f"{name} is not an array of numbers or text.")
        size = math.prod(shape) * dtype.itemsize
        if size > info.file_size:
            raise ValueError(f"{name} declares another size than it has.")
        data = bytearray(size)
        rest, done = memoryview(data), 0
        while done < size:
            n_read = content.readinto(rest[done : done + _PIECE])
            if not n_read:
                raise ValueError(f"{name} declares another size than it has.")
            done += n_read
        if content.read(1):  # also checks the sum of the member
            raise ValueError(f"{name} declares another size than it has.")
    if dtype.kind == "U":
        points = np.ndarray((size // 4,), np.dtype(np.uint32).newbyteorder(dtype.byteorder), data)
        if points.max(initial=0) > _MOST_CODE_POINT:
            raise ValueError(f"{name} has text with a character that does not exist.")
    return np.ndarray(shape, dtype, data, order="F" if by_columns else "C")


def parse_json(text: str | bytes) -> Any:
    """Return what the JSON of a file says.

    Raises:
        ValueError: If it is not JSON, or has more than 100 levels of lists and objects.
    """
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    if text.count("[") + text.count("{") > _MOST_DEPTH:
        depth = 0
        for found in _BRACKET.finditer(text):
            depth += {"[": 1, "{": 1, "": 0}.get(found[1], -1)
            if depth > _MOST_DEPTH:
                raise ValueError(f"it has more than {_MOST_DEPTH} levels of lists and objects.")
    return json.loads(text)


def open_regular_file(
    path: str | Path, *, write: bool = False, create: bool = False, append: bool = False, follow: bool = False
) -> io.FileIO:
    """Open a regular file; never follow a link, block on a pipe or read a device.

    Args:
        path: The file.
        write: Whether to open it for writing too, in place.
        create: Whether to create it if it is missing; needs `write`.
        append: Whether writes go to the end; needs `write`.
        follow: Whether to follow links instead of refusing them.

    Raises:
        NotRegularFileError: If `path` is a link, a folder, a pipe, a socket or a device.
        OSError: If it is missing or cannot be opened.
    """
    flags = (0 if follow else getattr(os, "O_NOFOLLOW", 0)) | getattr(os, "O_NONBLOCK", 0)
    flags |= (os.O_CREAT if create else 0) | (os.O_APPEND if append else 0)
    mode = "r+b" if write else "rb"
    try:
        file = io.FileIO(path, mode, opener=lambda name, how: os.open(name, how | flags, 0o666))
    except OSError as error:
        kind = NotRegularFileError if error.errno in _NOT_REGULAR else OSError
        raise kind(error.errno, error.strerror, str(path)) from error
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise NotRegularFileError(errno.EINVAL, "Not a regular file", str(path))
    return file


class NotRegularFileError(OSError):
    """A link, a folder, a pipe, a socket or a device is found where a file is expected."""


def read_at_most(path: str | Path, limit: int, *, follow: bool = False) -> bytes:
    """Return the bytes of a regular file, or the first `limit` + 1 of them if there are more than `limit`."""
    with io.BufferedReader(open_regular_file(path, follow=follow)) as file:
        return file.read(limit + 1)


def is_utf8(name: str) -> bool:
    """Whether a file name, or any other text, can be written as UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents, and fsync each, so that they survive a power cut."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in reversed(missing):
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Fsync a folder, where the system allows it, so that new names in it survive a power cut."""
    if os.name == "posix":
        try:
            handle = os.open(folder, os.O_RDONLY)
        except PermissionError:  # a folder that may be written but not listed
            return
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def lock_file(file: IO[bytes] | io.RawIOBase, *, exclusive: bool, wait: bool) -> bool:
    """Lock an open file and return whether that succeeded.

    The system releases the lock when the file is closed or the process ends, however it ends. Windows has no
    such locks: a shared lock always succeeds there, and an exclusive one never.
    """
    if sys.platform == "win32":
        return not exclusive
    import fcntl  # noqa: PLC0415 - not on Windows

    try:
        fcntl.flock(file, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
