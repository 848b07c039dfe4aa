"""How long trials took: a log of its own, so that results are the same bytes whatever the machine does.

A line is a checksum, a space and JSON. Lines are appended under a lock, whole or not at all. A log that is
damaged is replaced under the same lock; who waited for it looks whether it still has the log in its hands.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import math
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from sojourn._files import write_atomically
from sojourn.experiments.store._locks import lock
from sojourn.experiments.store._safe_open import open_plain

__all__ = ["TimingLog"]

_MOST_BYTES = 1 << 30
_MOST_LINE = 1_000


class TimingLog:
    """The log of one store."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, key: str, seconds: float) -> None:
        """Add how long a trial took; NaN says that it is not known any more."""
        self.extend({key: seconds})

    def extend(self, times: Mapping[str, float]) -> None:
        """Add how long trials took."""
        lines = b"".join(_lines(times))
        with self._locked() as file:
            size = os.fstat(file.fileno()).st_size
            if size and os.pread(file.fileno(), 1, size - 1) != b"\n":
                lines = b"\n" + lines  # what was cut off there stays a line of its own
            try:
                written = os.write(file.fileno(), lines)
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(self.path)) from error
            if written < len(lines):
                os.ftruncate(file.fileno(), size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))

    def read(self) -> tuple[dict[str, float], list[int]]:
        """Return the seconds of trials, and the numbers of lines that are damaged.

        A log of a size that none of ours has is one damaged line, and is not read.
        """
        try:
            with open_plain(self.path) as file:
                return _read(file)
        except FileNotFoundError:
            return {}, []

    def mend(self, aside: Path) -> int:
        """Write a damaged log again with the lines that are sound; return how many are not.

        Args:
            aside: What the damaged one is called from then on; there must be nothing yet.
        """
        with self._locked() as file:
            times, damaged = _read(file)
            if damaged:  # and no other run was quicker
                try:
                    os.link(self.path, aside)
                except OSError:  # no links here: for a moment there is no log
                    self.path.rename(aside)
                write_atomically(self.path, lambda new: new.writelines(_lines(times)))
        return len(damaged)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[io.FileIO]:
        """Open the log for appending, and hold it alone."""
        while True:
            with open_plain(self.path, to_append=True) as file:
                lock(file, alone=True, wait=True)
                if self._is(file):
                    yield file
                    return

    def _is(self, file: io.FileIO) -> bool:
        """Whether an open file is still the log, and was not replaced while its lock was waited for."""
        try:
            return os.path.samestat(os.fstat(file.fileno()), self.path.lstat())
        except FileNotFoundError:
            return False


def _lines(times: Mapping[str, float]) -> Iterator[bytes]:
    for key, seconds in times.items():
        told = json.dumps({"trial": key, "seconds": None if math.isnan(seconds) else round(seconds, 6)})
        yield f"{zlib.crc32(told.encode()):08x} {told}\n".encode()


def _read(file: io.FileIO) -> tuple[dict[str, float], list[int]]:
    if os.fstat(file.fileno()).st_size > _MOST_BYTES:
        return {}, [1]
    file.seek(0)
    reader = io.BufferedReader(file, 1 << 20)
    times: dict[str, float] = {}
    damaged = []
    for number, line in enumerate(_cut(reader), start=1):
        found = _parsed(line)
        if found is None:
            damaged.append(number)
        else:
            times[found[0]] = found[1]
    reader.detach()
    return times, damaged


def _cut(lines: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines without their ends, and nothing for what is too long for a line or does not end."""
    while line := lines.readline(_MOST_LINE):
        if line.endswith(b"\n"):
            yield line[:-1]
        else:
            while line and not line.endswith(b"\n"):
                line = lines.readline(_MOST_LINE)
            yield b""


def _parsed(line: bytes) -> tuple[str, float] | None:
    checksum, _, told = line.partition(b" ")
    try:
        if int(checksum, 16) != zlib.crc32(told) or len(checksum) != 8:
            return None
        entry = json.loads(told)
        seconds = entry["seconds"]
        return str(entry["trial"]), math.nan if seconds is None else float(seconds)
    except (KeyError, TypeError, ValueError):
        return None
