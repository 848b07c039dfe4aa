"""Ctrl-C during a kernel raises `KeyboardInterrupt`, as it does everywhere else in Python."""

from __future__ import annotations

import functools
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar, cast

__all__ = ["interruptible", "with_ignored_interrupts"]

F = TypeVar("F", bound=Callable[..., Any])

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGBREAK")
_SIGNALS = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
"""Signals whose handlers may raise exceptions; looking at all 64 would take longer than a short kernel."""


def interruptible(kernel: F) -> F:
    """Wrap a kernel that takes a generator, or returns a tuple with arrays or enums; for calls from Python.

    Numba converts generators, arrays and enums by calling Python code. A signal's handler that raises an
    exception there makes numba crash, or raise `SystemError`. So this wrapper handles signals that arrive
    during the kernel after it has returned. While numba compiles, they are handled at once. Other kernels
    need no wrapper, and kernels must not return named tuples. A call takes about 20 µs longer.
    """

    @functools.wraps(kernel)
    def call(*arguments: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():  # handlers run in the main thread only
            return kernel(*arguments)
        handlers: dict[int, Any] = {}
        arrived: list[tuple[int, FrameType | None]] = []
        is_running = True

        def handle(number: int, frame: FrameType | None) -> None:
            if is_running and not _is_compiling(frame):
                arrived.append((number, frame))
            else:
                handlers[number](number, frame)

        try:
            for one in _SIGNALS:
                handler = signal.getsignal(one)
                if callable(handler):
                    handlers[one] = handler
                    signal.signal(one, handle)
            result = kernel(*arguments)
        finally:
            is_running = False
            for number, handler in handlers.items():
                signal.signal(number, handler)
            for number, frame in arrived:
                handlers[number](number, frame)
        return result

    return cast(F, call)


def with_ignored_interrupts(compile_: Callable[..., Any]) -> Callable[..., Any]:
    """Return numba's `compile` method such that it raises interrupts that Python ignored meanwhile.

    Python cannot raise exceptions in callbacks of C code. LLVM takes seconds and then calls one, so that the
    handler of a signal runs there: Python would print "Exception ignored", and go on.
    """

    @functools.wraps(compile_)
    def compile_and_raise(sig: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():  # handlers run in the main thread only
            return compile_(sig)
        ignored: list[BaseException] = []
        before = sys.unraisablehook

        def keep(unraisable: Any) -> None:
            if isinstance(unraisable.exc_value, (KeyboardInterrupt, SystemExit)):
                ignored.append(unraisable.exc_value)
            else:
                before(unraisable)

        sys.unraisablehook = keep
        try:
            compiled = compile_(sig)
        finally:
            sys.unraisablehook = before
        if ignored:
            raise ignored[0]
        return compiled

    return compile_and_raise


def _is_compiling(frame: FrameType | None) -> bool:
    """Return whether numba was interrupted while it compiled or loaded the kernel; that does no harm."""
    while frame is not None and frame.f_globals.get("__name__") != __name__:
        if frame.f_globals.get("__name__") == "numba.core.dispatcher":
            return True
        frame = frame.f_back
    return False
