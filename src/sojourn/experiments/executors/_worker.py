"""A worker process: calls one function on text after text until its run ends.

It is started as `python -c` with a line that calls `main`, not by multiprocessing: the caller's script is not
run again, and nothing is pickled. Calls arrive on stdin and answers leave on stdout, as messages that consist
of a kind, a duration, a length and the content.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import queue
import signal
import struct
import sys
import threading
import time
import warnings
from typing import IO

from sojourn._foreign_settings import ignore_foreign_settings
from sojourn._imports import exits_are_errors, import_object
from sojourn.errors import CacheWarning
from sojourn.experiments.executors._failure_reasons import describe_error

__all__ = ["CALL", "ERROR", "READY", "RESULT", "Message", "main", "read_message", "write_message"]

CALL, READY, RESULT, ERROR = b"C", b"Y", b"R", b"E"
_HEAD = struct.Struct("<cdQ")

Message = tuple[bytes, bytes, float]
"""Kind, content and seconds."""


def write_message(pipe: IO[bytes], kind: bytes, content: bytes, seconds: float = 0.0) -> None:
    """Write one message."""
    pipe.write(_HEAD.pack(kind, seconds, len(content)))
    pipe.write(content)
    pipe.flush()


def read_message(pipe: IO[bytes]) -> Message | None:
    """Return the next message, or None if the other process is gone."""
    head = pipe.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    kind, seconds, size = _HEAD.unpack(head)
    content = pipe.read(size)
    return (kind, content, seconds) if len(content) == size else None


def main(function: str, lifeline: int | None = None) -> None:
    """Answer every call that arrives on stdin; end when stdin is closed.

    Args:
        function: Import path of the function to call.
        lifeline: Read end of a pipe that nothing is written to: it is closed when the run ends.
    """
    if lifeline is not None:
        _die_with_run(lifeline)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run handles Ctrl-C
    warnings.simplefilter("ignore", CacheWarning)  # a line per worker would be too many
    faulthandler.enable()
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # text that an agent prints must not get among the answers
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(calls, waiting), daemon=True).start()
    ignore_foreign_settings()
    with contextlib.suppress(ValueError):  # every call will report it
        import_object(function)  # before the first call, whose duration must not include it
    write_message(answers, READY, b"")
    worker = os.getpid()
    while True:
        kind, content, seconds = _answer(function, waiting.get())
        if os.getpid() != worker:
            os._exit(0)  # a fork of an agent returned here: only its parent may answer
        write_message(answers, kind, content, seconds)


def _die_with_run(lifeline: int) -> None:
    """Have the kernel kill this process group when the run ends; Linux only.

    `_listen` does the same on every system, but its thread must wait for the GIL, which a user's C code may
    hold for long. PR_SET_PDEATHSIG would kill this process alone, and not the processes that agents started.
    """
    import fcntl  # noqa: PLC0415

    with contextlib.suppress(OSError):  # a kernel without this feature
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)


def _listen(calls: IO[bytes], waiting: queue.SimpleQueue[str]) -> None:
    """Receive calls; when the run is gone, end this process at once, even during a trial."""
    while (message := read_message(calls)) is not None:
        if message[0] == CALL:
            waiting.put(message[1].decode())
    if os.name == "posix" and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)  # includes the processes that agents started
    os._exit(0)


def _answer(function: str, text: str) -> Message:
    begun = time.perf_counter()
    try:
        with exits_are_errors():
            kind, content = RESULT, import_object(function)(text)
    except BaseException as error:  # a user's agent may raise anything; the run handles Ctrl-C
        kind, content = ERROR, describe_error(error).encode()
    with contextlib.suppress(Exception):  # an agent may have replaced or closed it
        sys.stdout.flush()
    return kind, content, time.perf_counter() - begun
