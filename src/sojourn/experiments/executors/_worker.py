"""A worker process: calls one function on text after text, until its run is gone.

It is started as `python -c` with a line that calls `main`, not by multiprocessing: nothing of the caller's
own script is run again, and nothing is pickled.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import queue
import signal
import sys
import threading
import time
from typing import IO

from sojourn._imports import exits_are_errors, import_object
from sojourn.experiments.executors._base import say_error
from sojourn.experiments.executors._wire_format import CALL, ERROR, READY, RESULT, read_frame, write_frame

__all__ = ["main"]


def main(function: str) -> None:
    """Answer every call that comes on stdin, on stdout; end when stdin does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is the run's affair
    faulthandler.enable()
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what a learner prints must not get among the answers
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(calls, waiting), daemon=True).start()
    with contextlib.suppress(ValueError):  # every call will say so
        import_object(function)  # now, so that its time is not taken for a trial's
    write_frame(answers, READY, b"")
    own = os.getpid()
    while True:
        kind, content, seconds = _called(function, waiting.get())
        if os.getpid() != own:
            os._exit(0)  # a learner forked, and the copy came back: one answer is enough
        write_frame(answers, kind, content, seconds)


def _listen(calls: IO[bytes], waiting: queue.SimpleQueue[str]) -> None:
    """Take calls; when the run is gone, end at once, in the middle of a trial too."""
    while (frame := read_frame(calls)) is not None:
        if frame[0] == CALL:
            waiting.put(frame[1].decode())
    if os.name == "posix" and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)  # with all that learners started
    os._exit(0)


def _called(function: str, text: str) -> tuple[bytes, bytes, float]:
    """Return what came of a call: its kind, its content and how long it took."""
    begun = time.perf_counter()
    try:
        with exits_are_errors():
            kind, content = RESULT, import_object(function)(text)
    except Exception as error:  # whatever a learner of the user's own raises
        kind, content = ERROR, say_error(error).encode()
    sys.stdout.flush()
    return kind, content, time.perf_counter() - begun
