"""The marker file: identifies a folder as a store, states its format and carries the lock of writers."""

from __future__ import annotations

import io
import json
import os
import re
import zlib
from pathlib import Path

from sojourn._files import NotRegularFileError, open_regular_file, read_at_most, sync_folder

__all__ = ["MARKER", "MARKER_CONTENT", "VERSION", "Marker", "marker_content"]

_MAX_BYTES = 1_000
_FORMAT = re.compile(rb'.*"sojourn store ([0-9]{1,9})".*\n')


def marker_content(version: int) -> bytes:
    """Return the content of a marker; its checksum tells another version from damage."""
    form = f"sojourn store {version}"
    return json.dumps({"format": form, "checksum": f"{zlib.crc32(form.encode()):08x}"}).encode() + b"\n"


VERSION = 1
MARKER = "sojourn-store.json"
MARKER_CONTENT = marker_content(VERSION)


class Marker:
    """The marker file of one store.

    It is created once and rewritten in place, never replaced, because other runs may hold a lock on it.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / MARKER

    def read(self) -> bytes | None:
        """Return the content, cut after a reasonable length, or None if there is no marker."""
        try:
            return read_at_most(self.path, _MAX_BYTES)
        except FileNotFoundError:
            return None

    def check_version(self) -> None:
        """Raise `ValueError` if the store has the format of another version."""
        content = self.read() or b""
        found = _FORMAT.fullmatch(content)
        if found is not None and int(found[1]) != VERSION and content == marker_content(int(found[1])):
            raise ValueError(
                f"{self.path.parent} is a store of another version of Sojourn: it has the format "
                f"{int(found[1])}, and this one reads {VERSION}."
            )

    def write(self) -> None:
        """Create the marker if it is missing, and rewrite it if its content is wrong.

        Raises:
            ValueError: If its content is wrong and it is a hard link: another file would be overwritten.
        """
        if self.read() == MARKER_CONTENT:
            return
        with open_regular_file(self.path, write=True, create=True) as file:
            if os.fstat(file.fileno()).st_nlink > 1:
                raise ValueError(
                    f"{self.path} is damaged and has another name, a hard link; remove it first."
                )
            file.write(MARKER_CONTENT)
            file.truncate()
            os.fsync(file.fileno())
        sync_folder(self.path.parent)

    def open_for_lock(self) -> io.FileIO:
        """Open the marker for `lock_file`: for writing if possible, which NFS needs for an exclusive lock."""
        try:
            return open_regular_file(self.path, write=True)
        except NotRegularFileError:
            raise
        except OSError:  # a store that may only be read
            return open_regular_file(self.path)
