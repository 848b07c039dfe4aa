"""Handling of Ctrl-C that Python ignores, and of SIGTERM during long commands."""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

from sojourn.errors import TerminatedError

__all__ = ["repeated_interrupts", "stopped_by_sigterm"]

TERMINATED = 143
_SECONDS_TO_REPEAT = 0.05


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
    """Repeat a Ctrl-C that Python ignored, until it stops the block.

    Python cannot raise `KeyboardInterrupt` in callbacks of weak references or of C code, such as those with
    which numba loads kernels. It would print "Exception ignored" and go on.
    """
    before = sys.unraisablehook

    def repeat(ignored: Any) -> None:
        if not issubclass(ignored.exc_type, KeyboardInterrupt):
            before(ignored)
            return
        timer = threading.Timer(_SECONDS_TO_REPEAT, _thread.interrupt_main)
        timer.daemon = True
        timer.start()

    sys.unraisablehook = repeat
    try:
        yield
    finally:
        sys.unraisablehook = before
