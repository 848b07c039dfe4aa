"""Ctrl-C during a kernel raises `KeyboardInterrupt`, as it does everywhere else in Python."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from sojourn._interrupts import signals_held_back

__all__ = ["interruptible", "interruptible_between_passes", "stop_if_asked", "stopped_between_passes"]

F = TypeVar("F", bound=Callable[..., Any])

_SECONDS_PER_TRY = 0.1


def interruptible(kernel: F) -> F:
    """Wrap a kernel that takes a generator, or returns a tuple with arrays or enums; for calls from Python.

    Numba converts generators, arrays and enums by calling Python code. A signal's handler that raises an
    exception there makes numba crash, or raise `SystemError`. So this wrapper handles signals that arrive
    during the kernel after it has returned. Other kernels need no wrapper, and kernels must not return named
    tuples. A call takes about 20 µs longer.
    """

    @functools.wraps(kernel)
    def call(*arguments: Any) -> Any:
        with signals_held_back():
            return kernel(*arguments)

    return cast(F, call)


def interruptible_between_passes(compile_: Callable[..., Any]) -> Callable[..., Any]:
    """Return numba's `compile` method such that signals are handled between the passes of the compiler.

    At other moments numba and LLVM do not survive the exception of a signal's handler: LLVM frees a module
    twice if one is raised just after the module was linked, and exceptions in its callbacks are lost. A
    compilation may fail in every pass, so an exception between two passes does no harm. The longest pass
    takes some seconds.
    """

    @functools.wraps(compile_)
    def compile_and_handle(sig: Any) -> Any:
        if _this_thread.is_compiling:  # a function that the one in compilation calls
            return compile_(sig)
        _this_thread.is_compiling = True
        try:
            with (
                signals_held_back(),
                _compiler_locked(),
                event.install_listener("numba:run_pass", _PassListener()),
            ):
                return compile_(sig)
        finally:
            _this_thread.is_compiling = False

    return compile_and_handle


@contextlib.contextmanager
def stopped_between_passes(check: Callable[[], object]) -> Iterator[None]:
    """Call a function between the passes of the compiler in this thread; it stops them by an exception.

    Only the main thread handles signals, so that other threads have to look whether they should stop.
    """
    _this_thread.check = check
    try:
        yield
    finally:
        _this_thread.check = None


class _Thread(threading.local):
    """What is known of a thread."""

    is_compiling = False
    check: Callable[[], object] | None = None


_this_thread = _Thread()


def stop_if_asked() -> None:
    """Handle the signals that wait in the main thread; in others, look whether they should stop."""
    if _this_thread.check is not None:
        _this_thread.check()
    with signals_held_back() as signals:
        if signals is not None:
            signals.handle()


@contextlib.contextmanager
def _compiler_locked() -> Iterator[None]:
    """Lock numba's compiler, and handle signals while another thread compiles."""
    lock = getattr(global_compiler_lock, "_lock", None)  # the lock itself has no time limit
    if lock is None:
        yield
        return
    while not lock.acquire(timeout=_SECONDS_PER_TRY):
        stop_if_asked()
    try:
        yield
    finally:
        lock.release()


class _PassListener(event.Listener):
    """Handles signals whenever a pass of the compiler begins."""

    def on_start(self, event: Any) -> None:
        stop_if_asked()

    def on_end(self, event: Any) -> None:
        pass
