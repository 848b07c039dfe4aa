"""Handling of Ctrl-C that Python ignores, and of SIGTERM during long commands."""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
import weakref
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


class _Interrupt(KeyboardInterrupt):
    """Ctrl-C as an exception of which one can tell when it is freed."""


@contextlib.contextmanager
def repeated_interrupts() -> Iterator[None]:
    """Make sure that Ctrl-C stops the block.

    Some code drops every exception: callbacks of weak references and of C code, such as those with which
    numba loads kernels, and functions of C that look something up. So if the exception is freed while the
    block goes on, it is raised again. Extension modules that are interrupted while they are loaded raise an
    `ImportError` instead; see `was_interrupted`.
    """
    global _was_interrupted  # noqa: PLW0603 - the command line owns the process
    hook: Any = sys.unraisablehook
    handler: Any = signal.getsignal(signal.SIGINT)
    watched: list[weakref.ref[_Interrupt]] = []
    is_running, is_due = True, False

    def watch(error: _Interrupt) -> _Interrupt:
        watched.append(weakref.ref(error, repeat))
        return error

    def repeat(_: object) -> None:
        nonlocal is_due
        if not is_due:
            is_due = True
            timer = threading.Timer(_SECONDS_TO_REPEAT, interrupt)
            timer.daemon = True
            timer.start()

    def interrupt() -> None:
        nonlocal is_due
        is_due = False
        if is_running:
            _thread.interrupt_main()

    def note(number: int, frame: FrameType | None) -> None:
        global _was_interrupted  # noqa: PLW0603
        _was_interrupted = True
        try:
            handler(number, frame)
        except KeyboardInterrupt:
            # No variable holds it, so that it is freed when it is dropped.
            raise watch(_Interrupt()) from None

    def show(ignored: Any) -> None:
        if issubclass(ignored.exc_type, KeyboardInterrupt):
            repeat(ignored)  # it may be part of a cycle, and not be freed
        else:
            hook(ignored)

    sys.unraisablehook = show
    if callable(handler):
        signal.signal(signal.SIGINT, note)
    try:
        yield
    except ImportError as error:
        if _was_interrupted:
            raise KeyboardInterrupt from error
        raise
    finally:
        is_running = False
        _was_interrupted = False
        sys.unraisablehook = hook
        if callable(handler):
            signal.signal(signal.SIGINT, handler)
