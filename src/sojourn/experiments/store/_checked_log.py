"""The log of checked files: names of trial files whose whole content was checked once, one per line.

A run still computes the hash of every file. If it matches and the name is in this log, the content is what
was checked, so that the run need not unpack it again: this saves two thirds of the time that 10,000 finished
trials take. The log can be deleted at any time. `sojourn verify` and readers do not use it: a wrong line can
only make a run take a file for finished which they refuse.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection
from pathlib import Path

from sojourn._files import open_regular_file, read_at_most

__all__ = ["CheckedLog"]

_MAX_BYTES = 1 << 28
_NAME = re.compile(rb"^[0-9a-f]{32}-[0-9a-f]{32}\.npz$", re.MULTILINE)


class CheckedLog:
    """The log of checked files of one store; raise the number in its name when a check is added."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "checked-1.log"

    def append(self, names: Collection[str]) -> None:
        """Add names of files; a log that cannot be written is not worth stopping a run."""
        if not names:
            return
        with (
            contextlib.suppress(OSError),
            open_regular_file(self.path, write=True, create=True, append=True) as file,
        ):
            file.write("".join(f"{name}\n" for name in names).encode())

    def read(self) -> frozenset[str]:
        """Return the names of checked files; empty if the log is missing or absurdly large."""
        try:
            content = read_at_most(self.path, _MAX_BYTES)
        except OSError:
            return frozenset()
        return frozenset(name.decode() for name in _NAME.findall(content[:_MAX_BYTES]))
