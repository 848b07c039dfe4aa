"""One file of a store, whose name states the hash of its content."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn._files import NotRegularFileError, open_regular_file
from sojourn._memory import check_fits

__all__ = ["StoredFile", "content_hash", "is_something_else"]

_MAX_BYTES = 1 << 33
"""Larger files are not read: no store contains them."""

_SMALL = 1 << 20  # bytes up to which a file is read in one call
_HASH_DIGITS = 32


def content_hash(content: bytes) -> str:
    """Return the hash that names a file by its content."""
    return _shortened(hashlib.sha256(content))


def _shortened(found: Any) -> str:
    return str(found.hexdigest()[:_HASH_DIGITS])


def is_something_else(path: Path) -> bool:
    """Whether there is something other than a regular file, such as a link."""
    try:
        return not stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:  # a run has renamed it
        return False


@dataclass(frozen=True)
class StoredFile:
    """A file named KEY-HASH with an ending.

    A file counts as damaged if its content does not match HASH, if it is missing, or if a link, a folder, a
    pipe or a device has taken its place. A file that cannot be read now may still be sound: reading it raises
    `OSError`.
    """

    folder: str
    name: str

    @property
    def key(self) -> str:
        """The key of a trial, or the hash of an experiment's name."""
        return self.name[:32]

    @property
    def path(self) -> Path:
        """The path of the file."""
        return Path(self.folder, self.name)

    def is_something_else(self) -> bool:
        """Whether a link, a folder, a pipe or a device has taken the place of the file."""
        return is_something_else(self.path)

    def is_sound(self) -> bool:
        """Whether the content matches the name; large files are hashed piece by piece."""
        return self.read_if_small() is not None

    def read_if_small(self) -> bytes | None:
        """Return the content, b"" if it is sound but large, or None if the file is damaged."""
        return self._read(return_large=False)

    def read(self) -> bytes | None:
        """Return the content, or None if the file is damaged."""
        return self._read(return_large=True)

    def _read(self, *, return_large: bool) -> bytes | None:
        path, expected = os.path.join(self.folder, self.name), self.name[33 : 33 + _HASH_DIGITS]
        try:
            with open_regular_file(path) as file:
                size = os.fstat(file.fileno()).st_size
                if size <= _SMALL:
                    content = file.read(size + 1)
                    return content if content_hash(content) == expected else None
                if size > _MAX_BYTES or _shortened(hashlib.file_digest(file, "sha256")) != expected:
                    return None
                if not return_large:
                    return b""
                check_fits(size, path, "read it on a larger machine")
                file.seek(0)
                return file.read(size)
        except (FileNotFoundError, NotRegularFileError):
            return None
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from error
