"""Opening files where anything may stand in their place: a link, a pipe, a device, a folder.

Nothing here waits, follows a link unless told so, or reads more than it was asked to.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path

__all__ = ["NotPlainError", "open_plain", "read_at_most"]

_NO_FILE = (errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO, errno.ENODEV)
"""What the system says where a link, a folder, a socket or a device stands in a file's place."""


class NotPlainError(OSError):
    """Something that is not a regular file stands where one should."""


def open_plain(
    path: str | Path, *, to_write: bool = False, to_append: bool = False, follow: bool = False
) -> io.FileIO:
    """Open a regular file.

    Args:
        path: The file.
        to_write: To write too, in place.
        to_append: To read and append; it is made if it is not there.
        follow: Whether a link stands for what it leads to.

    Raises:
        NotPlainError: If something else is there.
        OSError: If it is not there, or cannot be opened.
    """
    flags = (0 if follow else getattr(os, "O_NOFOLLOW", 0)) | getattr(os, "O_NONBLOCK", 0)
    flags |= os.O_APPEND | os.O_CREAT if to_append else 0
    mode = "r+b" if to_write or to_append else "rb"
    try:
        file = io.FileIO(path, mode, opener=lambda name, how: os.open(name, how | flags, 0o644))
    except OSError as error:
        kind = NotPlainError if error.errno in _NO_FILE else OSError
        raise kind(error.errno, error.strerror, str(path)) from error
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise NotPlainError(errno.EINVAL, "Not a regular file", str(path))
    return file


def read_at_most(path: str | Path, most: int, *, follow: bool = False) -> bytes:
    """Return the bytes of a regular file, `most` + 1 of them if there are more than `most`."""
    with io.BufferedReader(open_plain(path, follow=follow)) as file:
        return file.read(most + 1)
