"""A worker process as its run sees it: started, handed calls, listened to, ended with all that it started.

Every worker leads a process group of its own, so that processes that a learner starts end with it. Its death
is learned from the system and not from its pipe, which a process that it started may hold open.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable
from typing import IO, Any

from sojourn._threads import ONE_THREAD
from sojourn.experiments.executors._base import ExecutorError, say_death
from sojourn.experiments.executors._orphan_guard import Warden
from sojourn.experiments.executors._wire_format import CALL, read_frame, write_frame

__all__ = ["Frame", "Hired"]

Frame = tuple[bytes, bytes, float]

_PATIENCE = 2.0  # seconds that the last answers of a dead worker may take
_LAST_WORDS = 10_000  # bytes
_START = (
    "import json, sys; told = json.loads(sys.argv[1]); "
    "sys.path[:] = told['path']; "
    "from sojourn.experiments.executors._worker import main; main(told['function'])"
)


class Hired:
    """A worker, and the calls that it holds.

    Args:
        function: What it calls.
        warden: What ends it if this process dies.
        tell: Called from another thread with every message of the worker, and with None when it is dead.

    Attributes:
        calls: What it was handed and has not answered; the first is in its hands.
        is_ready: Whether it ever answered.
    """

    def __init__(self, function: str, warden: Warden, tell: Callable[[Hired, Frame | None], object]) -> None:
        self.calls: deque[Any] = deque()
        self.is_ready = False
        self._is_gone = False
        self._warden, self._tell = warden, tell
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it is dismissed
        try:
            self._process = _start(function, self._errors)
        except OSError as error:
            self._errors.close()
            raise ExecutorError(f"A worker could not be started: {error}.") from error
        warden.guard(self._process.pid)
        self._carrier = threading.Thread(target=self._carry, daemon=True)
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._carrier.start()
        self._watcher.start()

    def hand(self, call: Any, text: str) -> None:
        """Hand it one more call."""
        self.calls.append(call)
        with contextlib.suppress(OSError):  # it just died, and that will be told
            write_frame(_pipe(self._process.stdin), CALL, text.encode())

    def _carry(self) -> None:
        """Bring its messages."""
        with contextlib.suppress(OSError), _pipe(self._process.stdout) as pipe:  # as if it had ended
            while (frame := read_frame(pipe)) is not None:
                self._tell(self, frame)

    def _watch(self) -> None:
        """Bring the news of its death, after its last messages."""
        _await_end(self._process)
        self.kill()  # what it started and left behind; the group's number is still its own
        self._is_gone = True
        self._warden.forget(self._process.pid)
        self._process.wait()
        self._carrier.join(_PATIENCE)  # for ever, if a process that left the group holds the pipe
        self._tell(self, None)

    def kill(self) -> None:
        """Kill it and all processes of its group."""
        if self._is_gone:
            return
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def forget_words(self) -> None:
        """Drop what it printed: it answered, and only what comes before a death is of use."""
        os.lseek(self._errors.fileno(), 0, os.SEEK_SET)  # the place is the worker's too
        os.ftruncate(self._errors.fileno(), 0)

    def say_death(self) -> str:
        """Return how it died, in one line."""
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - _LAST_WORDS))
        lines = self._errors.read(_LAST_WORDS).decode(errors="replace").splitlines()
        fatal = [line for line in lines if line.startswith(("Fatal", "MemoryError"))]
        found = fatal or [line for line in lines if line.strip()][-1:]
        return say_death(self._process.returncode, found[-1][:200] if found else "")

    def dismiss(self, patience: float = _PATIENCE) -> None:
        """Wait until it is gone, and close what is open."""
        self._watcher.join(patience)
        for pipe in (_pipe(self._process.stdin), self._errors):
            with contextlib.suppress(OSError):
                pipe.close()


def _start(function: str, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    told = json.dumps({"path": sys.path, "function": function})
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _START, told],  # -P: nothing in this folder stands in for Python's own
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env={**os.environ, **ONE_THREAD},
        start_new_session=True,
    )


def _await_end(process: subprocess.Popen[bytes]) -> None:
    """Wait until a process has ended; where the system can, leave it its number until it is asked for."""
    if hasattr(os, "waitid"):
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    else:
        process.wait()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise ExecutorError("A worker has no pipe.")
    return pipe
