"""A file of the store: its name says what is in it, and what its bytes must be."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn._memory import check_fits
from sojourn.experiments.store._safe_open import NotPlainError, open_plain

__all__ = ["StoredFile", "digest"]

_MOST_BYTES = 1 << 33
"""A file that claims to be larger is none of ours: it is not even read."""

_SMALL = 1 << 20
_HASH_LETTERS = 32


def digest(content: bytes) -> str:
    """Return the hash that names a file by its content."""
    return _short(hashlib.sha256(content))


def _short(found: Any) -> str:
    return str(found.hexdigest()[:_HASH_LETTERS])


@dataclass(frozen=True)
class StoredFile:
    """A file of the store, as its name states it: KEY-HASH and an ending.

    A link, a folder, a pipe or a device in its place is damage, and so is a file that is not there. A file
    that cannot be read now may be sound: then `OSError` is raised, and nothing is called damaged.
    """

    folder: str
    name: str

    @property
    def key(self) -> str:
        """What is in it: a trial's key, or the hash of an experiment's name."""
        return self.name[:32]

    @property
    def path(self) -> Path:
        """Where it is."""
        return Path(self.folder, self.name)

    def is_sound(self) -> bool:
        """Whether its bytes are those that its name states; memory does not grow with them."""
        return self.glance() is not None

    def glance(self) -> bytes | None:
        """Return its bytes if they are few, and nothing of many; None if they are not those of its name."""
        return self._look(wanted=False)

    def read(self) -> bytes | None:
        """Return its bytes, or None if they are not those that its name states."""
        return self._look(wanted=True)

    def _look(self, *, wanted: bool) -> bytes | None:
        """Return the bytes if they are right, or nothing of them if they are not wanted; else None."""
        path, content_hash = os.path.join(self.folder, self.name), self.name[33 : 33 + _HASH_LETTERS]
        try:
            with open_plain(path) as file:
                size = os.fstat(file.fileno()).st_size
                if size <= _SMALL:
                    content = file.read(size + 1)
                    return content if digest(content) == content_hash else None
                if size > _MOST_BYTES or _short(hashlib.file_digest(file, "sha256")) != content_hash:
                    return None
                if not wanted:
                    return b""
                check_fits(size, path, "read it on a larger machine")
                file.seek(0)
                return file.read(size)
        except (FileNotFoundError, NotPlainError):
            return None
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from error
