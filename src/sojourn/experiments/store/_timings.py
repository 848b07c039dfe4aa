"""The timing log: how long each trial took, one JSON line per trial.

It serves only to estimate the remaining time of an experiment. Timings are kept out of trial files, so that
results have the same bytes on every machine. Lines that cannot be read are skipped.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path

from sojourn._files import open_regular_file, read_at_most

__all__ = ["TimingLog"]

_MAX_BYTES = 1 << 28
_MOST_SECONDS = 1e9  # no trial takes 30 years; sums of larger numbers might overflow


class TimingLog:
    """The timing log of one store."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, key: str, seconds: float) -> None:
        """Add the duration of a trial; a log that cannot be written is not worth stopping a run."""
        line = json.dumps({"trial": key, "seconds": round(seconds, 6)}) + "\n"
        with (
            contextlib.suppress(OSError),
            open_regular_file(self.path, write=True, create=True, append=True) as file,
        ):
            if os.fstat(file.fileno()).st_nlink == 1:  # a hard link may be a file outside of the store
                file.write(line.encode())  # one system call: lines of several runs do not mix

    def read(self) -> dict[str, float]:
        """Return the seconds of each trial by its key; empty if the log is missing or absurdly large."""
        try:
            content = read_at_most(self.path, _MAX_BYTES)
        except OSError:
            return {}
        timings = {}
        for line in io.BytesIO(content if len(content) <= _MAX_BYTES else b""):
            with contextlib.suppress(ArithmeticError, KeyError, TypeError, ValueError, RecursionError):
                # From the last brace: version 0.1.0 wrote a checksum before it, a power cut half a line.
                entry = json.loads(line[line.rfind(b"{") :])
                if 0.0 <= float(entry["seconds"]) <= _MOST_SECONDS:
                    timings[str(entry["trial"])] = float(entry["seconds"])
        return timings
