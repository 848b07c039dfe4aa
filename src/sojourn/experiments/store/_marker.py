"""The file that says that a folder is a store, and of which format; writers lock it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
import zlib
from pathlib import Path

from sojourn._files import sync_folder
from sojourn.experiments.store._safe_open import NotPlainError, open_plain, read_at_most

__all__ = ["MARK", "MARKER", "VERSION", "Marker", "mark_of"]

_MOST_BYTES = 1_000
_VERSION = re.compile(rb'.*"sojourn store ([0-9]{1,9})".*\n')


def mark_of(version: int) -> bytes:
    """Return what a store's marker says, with a checksum: damage must not look like another version."""
    said = f"sojourn store {version}"
    return json.dumps({"format": said, "checksum": f"{zlib.crc32(said.encode()):08x}"}).encode() + b"\n"


VERSION = 1
MARKER, MARK = "sojourn-store.json", mark_of(VERSION)
_PREFIX, _SUFFIX = f".{MARKER}.", ".tmp"


class Marker:
    """The marker of one store. It is never replaced, for others may hold a lock on it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / MARKER

    @staticmethod
    def is_temporary(name: str) -> bool:
        """Whether a file of this name is a marker that somebody is making, or was killed over."""
        return name.startswith(_PREFIX) and name.endswith(_SUFFIX)

    def read(self) -> bytes | None:
        """Return what it says, as far as it is of reasonable length; None if it is lost."""
        try:
            return read_at_most(self.path, _MOST_BYTES)
        except FileNotFoundError:
            return None

    def check_version(self) -> None:
        """Raise `ValueError` if it is that of a store of another format."""
        content = self.read() or b""
        found = _VERSION.fullmatch(content)
        if found is not None and int(found[1]) != VERSION and content == mark_of(int(found[1])):
            raise ValueError(
                f"{self.path.parent} is a store of another version of Sojourn: it has the format "
                f"{int(found[1])}, and this one reads {VERSION}."
            )

    def make(self) -> None:
        """Write it if there is none; it is there whole or not at all, and of two who do so one is late."""
        if os.path.lexists(self.path):
            return
        handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=_PREFIX, suffix=_SUFFIX)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MARK)
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileExistsError, FileNotFoundError):  # another run was quicker
                Path(temporary).chmod(0o644)
                self._name(temporary)
        finally:
            Path(temporary).unlink(missing_ok=True)
        sync_folder(self.path.parent)

    def _name(self, temporary: str) -> None:
        try:
            os.link(temporary, self.path)
        except (FileExistsError, FileNotFoundError):
            raise
        except OSError:  # a file system without links
            with self.path.open("xb") as file:
                file.write(MARK)

    def mend(self) -> bool:
        """Write it again if it is damaged, in place; return whether it was.

        One that is a file of another name too is refused: it would be written over under that name as well.
        """
        if self.read() == MARK:
            return False
        with open_plain(self.path, to_write=True) as file:
            if os.fstat(file.fileno()).st_nlink > 1:
                raise ValueError(
                    f"{self.path} is damaged and has another name, a hard link; remove it first."
                )
            file.write(MARK)
            file.truncate()
            os.fsync(file.fileno())
        return True

    def open(self) -> io.FileIO:
        """Open it for a lock: for writing, without which some file systems give no lock to hold alone."""
        try:
            return open_plain(self.path, to_write=True)
        except NotPlainError:
            raise
        except OSError:  # a store that may only be read
            return open_plain(self.path)
