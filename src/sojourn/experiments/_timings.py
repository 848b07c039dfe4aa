"""How long trials took: a log of its own, so that results are the same bytes whatever the machine does.

A line is a checksum, a space and JSON. Lines are appended under a lock, whole or not at all.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from sojourn.experiments._locks import lock

__all__ = ["TimingLog"]


class TimingLog:
    """The log of one store."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, key: str, seconds: float) -> None:
        """Add how long a trial took; NaN says that it is not known any more."""
        told = json.dumps({"trial": key, "seconds": None if math.isnan(seconds) else round(seconds, 6)})
        line = f"{zlib.crc32(told.encode()):08x} {told}\n".encode()
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(self.path, flags, 0o644)
        try:
            lock(handle, alone=True, wait=True)
            size = os.fstat(handle).st_size
            if size and os.pread(handle, 1, size - 1) != b"\n":
                line = b"\n" + line  # what was cut off there stays a line of its own
            if _write(handle, line) < len(line):
                os.ftruncate(handle, size)
                raise OSError(28, os.strerror(28), str(self.path))
        finally:
            os.close(handle)

    def read(self) -> tuple[dict[str, float], list[int]]:
        """Return the seconds of trials, and the numbers of lines that are damaged."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return {}, []
        times: dict[str, float] = {}
        damaged = []
        for number, line in enumerate(_lines(content), start=1):
            found = _parsed(line)
            if found is None:
                damaged.append(number)
            else:
                times[found[0]] = found[1]
        return times, damaged


def _write(handle: int, line: bytes) -> int:
    try:
        return os.write(handle, line)
    except OSError as error:
        if error.filename is None:
            error.filename = "timings.log"
        raise


def _lines(content: bytes) -> Iterator[bytes]:
    """Yield the lines; a last one that does not end is yielded too, and is damaged."""
    *whole, last = content.split(b"\n")
    yield from whole
    if last:
        yield last + b" (cut off)"


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
