"""Handling of Ctrl-C that Python ignores, and of SIGTERM during long commands."""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

from sojourn.errors import TerminatedError

__all__ = ["repeated_interrupts", "stopped_by_sigterm", "was_interrupted"]

TERMINATED = 143
_SECONDS_TO_REPEAT = 0.05

_was_interrupted = False


def was_interrupted() -> bool:
    """Return whether Ctrl-C was pressed within `repeated_interrupts`."""
    return _was_interrupted


@contextlib.contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """Make SIGTERM end the block like an exception, so that workers are stopped and files are complete."""
    is_stopped = False

    def stop(*_: Any) -> None:
        nonlocal is_stopped
        is_stopped = True
        raise TerminatedError(TERMINATED)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except SystemExit as error:
        if is_stopped and error.code != TERMINATED:  # Ray replaces the code by 1 while it waits for a task
            raise TerminatedError(TERMINATED) from error
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def repeated_interrupts() -> Iterator[None]:
    """Make sure that Ctrl-C stops the block.

    Python cannot raise `KeyboardInterrupt` in callbacks of weak references or of C code, such as those with
    which numba loads kernels: it would print "Exception ignored" and go on. So it is raised again. Extension
    modules that are interrupted while they are loaded raise an `ImportError` instead; see `was_interrupted`.
    """
    global _was_interrupted  # noqa: PLW0603 - the command line owns the process
    before: Any = sys.unraisablehook
    handler: Any = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: FrameType | None) -> None:
        global _was_interrupted  # noqa: PLW0603
        _was_interrupted = True
        handler(number, frame)

    def repeat(ignored: Any) -> None:
        if not issubclass(ignored.exc_type, KeyboardInterrupt):
            before(ignored)
            return
        timer = threading.Timer(_SECONDS_TO_REPEAT, _thread.interrupt_main)
        timer.daemon = True
        timer.start()

    sys.unraisablehook = repeat
    if callable(handler):
        signal.signal(signal.SIGINT, note)
    try:
        yield
    except ImportError as error:
        if _was_interrupted:
            raise KeyboardInterrupt from error
        raise
    finally:
        _was_interrupted = False
        sys.unraisablehook = before
        if callable(handler):
            signal.signal(signal.SIGINT, handler)
