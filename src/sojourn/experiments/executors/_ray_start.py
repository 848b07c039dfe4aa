"""Watches the head of a Ray cluster while this process starts it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any, NoReturn

from sojourn.experiments.executors._base import ExecutorError

__all__ = ["HeadLostError", "head_watched"]

_CHECK_SECONDS = 0.05
_PATIENCE = 4.0  # seconds that Ray has to notice by itself that the head is lost
_HEAD = ("gcs_server", "raylet")
"""Processes of the node that is the head."""

_GUARD = """
import os, signal, sys, time

def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False

head, parent = int(sys.argv[1]), int(sys.argv[2])
while is_alive(head):
    time.sleep(0.25)
time.sleep(9.0)
if os.getppid() == parent:
    os.kill(parent, signal.SIGKILL)
    clean = "\\r\\x1b[K\\x1b[?25h" if os.isatty(2) else ""  # of a progress bar, and with a cursor
    os.write(2, f"{clean}Error: {sys.argv[3]}\\n".encode())
"""
"""Program of a process that ends this one 9 seconds after the head, if this one is still starting.

While Ray's compiled code waits for the head it lets no other thread run, for up to a minute.
"""


class HeadLostError(ExecutorError):
    """The head of the cluster is gone."""


@contextlib.contextmanager
def head_watched() -> Iterator[None]:
    """End the block with `HeadLostError` soon after the head, which it starts, has died.

    Ray would wait for half a minute, or for a minute in compiled code, and then end this process with lines
    of its own. No exception reaches it there, so this process ends with one line.
    """
    watch = _Watch()
    threading.Thread(target=watch.run, daemon=True).start()
    try:
        yield
    except Exception:
        if watch.is_lost:
            raise HeadLostError(_message()) from None
        raise
    finally:
        watch.stop()


def _message() -> str:
    return (
        "The head of the Ray cluster was lost while it started. Finished trials are kept; the same command "
        "resumes the run."
    )


class _Watch:
    """Looks whether the head is alive until `stop` is called."""

    def __init__(self) -> None:
        self.is_lost = False
        self._done, self._lock = threading.Event(), threading.Lock()
        self._guards: list[subprocess.Popen[bytes]] = []

    def stop(self) -> None:
        """Stop watching."""
        with self._lock:
            self._done.set()
        for guard in self._guards:
            guard.kill()
            guard.wait()

    def run(self) -> None:
        """Watch, in a thread of its own."""
        import psutil  # type: ignore[import-untyped]  # noqa: PLC0415 - it comes with Ray

        this = psutil.Process()
        seen: dict[str, Any] = {}
        while not self._done.wait(_CHECK_SECONDS):
            with contextlib.suppress(psutil.Error):
                for one in this.children():
                    if one.name() in _HEAD and one.name() not in seen:
                        seen[one.name()] = one
                        self._start_guard(one.pid, this.pid)
            if not all(map(_is_alive, seen.values())):
                break
        else:
            return
        self.is_lost = True
        if not self._done.wait(_PATIENCE):
            with self._lock:
                if not self._done.is_set():
                    _end(this)

    def _start_guard(self, head: int, this: int) -> None:
        with self._lock:
            if sys.platform == "linux" and not self._done.is_set():
                command = [sys.executable, "-I", "-S", "-c", _GUARD, str(head), str(this), _message()]
                null = subprocess.DEVNULL
                guard = subprocess.Popen(command, stdin=null, stdout=null, start_new_session=True)
                self._guards.append(guard)


def _is_alive(process: Any) -> bool:
    try:
        return bool(process.is_running() and process.status() != "zombie")
    except Exception:  # psutil's, of a process that is gone
        return False


def _end(this: Any) -> NoReturn:
    """End this process, and those that it has started, from another thread than the main one."""
    for one in this.children(recursive=True):
        with contextlib.suppress(Exception):  # it may have ended
            one.kill()
    with contextlib.suppress(OSError, ValueError, AttributeError):  # stderr may be closed
        sys.stderr.write(f"Error: {_message()}\n")
        sys.stderr.flush()
    os._exit(1)
