"""What ends workers, and all that they started, if their run dies without a chance to do so itself.

A run that is killed cannot clean up, and a worker in the middle of a compiled loop does not notice. So a tiny
process of its own, out of reach of what ends the run, holds a pipe from it: when that closes, for whatever
reason, it kills the process groups that it was told of, and ends.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys

__all__ = ["Warden"]

_PATIENCE = 2.0  # seconds that it is given to end
_SCRIPT = """
import os, signal, sys
groups = set()
for line in sys.stdin:
    (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
"""


class Warden:
    """Kills the process groups that it is told of when the process that made it is gone.

    Where there are no process groups there is none: workers then end when their pipe does.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        if os.name == "posix":
            with contextlib.suppress(OSError):
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _SCRIPT],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )

    def guard(self, group: int) -> None:
        """Have a process group killed if this process ends before it is said to be gone."""
        self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        """Say that a process group is gone: its number may soon be another's."""
        self._tell(f"-{group}\n")

    def _tell(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):  # it was killed, or dismissed
                self._process.stdin.write(line.encode())
                self._process.stdin.flush()

    def dismiss(self) -> None:
        """End it, and with it what it still guards."""
        if self._process is None or self._process.stdin is None:
            return
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
