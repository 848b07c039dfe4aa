"""Ctrl-C during a kernel raises `KeyboardInterrupt`, as it does everywhere else in Python."""

from __future__ import annotations

import contextlib
import functools
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, TypeVar, cast

from numba.core import event

__all__ = ["handle_signals", "interruptible", "interruptible_between_passes"]

F = TypeVar("F", bound=Callable[..., Any])

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGBREAK")
_SIGNALS = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
"""Signals whose handlers may raise exceptions; looking at all 64 would take longer than a short kernel."""


class _Signals:
    """Signals that have arrived and wait to be handled."""

    def __init__(self) -> None:
        self._handlers: dict[int, Any] = {}
        self._arrived: list[tuple[int, FrameType | None]] = []
        self._is_waiting = True
        self.is_compiling = False
        """Whether they are handled between the passes of numba's compiler."""

    def hold_back(self) -> None:
        for one in _SIGNALS:
            handler = signal.getsignal(one)
            if callable(handler):
                self._handlers[one] = handler
                signal.signal(one, self._receive)

    def release(self) -> None:
        """Restore the handlers, and handle the signals that have arrived."""
        self._is_waiting = False
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self.handle()

    def handle(self) -> None:
        while self._arrived:
            number, frame = self._arrived.pop(0)
            self._handlers[number](number, frame)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._is_waiting:
            self._arrived.append((number, frame))
        else:
            self._handlers[number](number, frame)


_held_back: _Signals | None = None
"""The signals that wait at the moment; only the main thread handles signals."""


@contextlib.contextmanager
def _signals_held_back() -> Iterator[_Signals]:
    """Let signals wait until the end of the outermost of such blocks."""
    global _held_back  # noqa: PLW0603 - signal handlers are global as well
    if _held_back is not None:
        yield _held_back
        return
    signals = _Signals()
    try:
        _held_back = signals
        signals.hold_back()
        yield signals
    finally:
        _held_back = None
        signals.release()


def handle_signals() -> None:
    """Handle the signals that have arrived in the main thread while signals wait."""
    if _held_back is not None and _is_main_thread():
        _held_back.handle()


def interruptible(kernel: F) -> F:
    """Wrap a kernel that takes a generator, or returns a tuple with arrays or enums; for calls from Python.

    Numba converts generators, arrays and enums by calling Python code. A signal's handler that raises an
    exception there makes numba crash, or raise `SystemError`. So this wrapper handles signals that arrive
    during the kernel after it has returned. Other kernels need no wrapper, and kernels must not return named
    tuples. A call takes about 20 µs longer.
    """

    @functools.wraps(kernel)
    def call(*arguments: Any) -> Any:
        if not _is_main_thread():
            return kernel(*arguments)
        with _signals_held_back():
            return kernel(*arguments)

    return cast(F, call)


def interruptible_between_passes(compile_: Callable[..., Any]) -> Callable[..., Any]:
    """Return numba's `compile` method such that signals are handled between the passes of the compiler.

    At other moments they do not survive the exception of a signal's handler: LLVM frees a module twice if one
    is raised just after the module was linked, and exceptions in its callbacks are lost. A compilation may
    fail in every pass, so an exception between two passes does no harm. The longest pass takes some seconds.
    """

    @functools.wraps(compile_)
    def compile_and_handle(sig: Any) -> Any:
        if not _is_main_thread():
            return compile_(sig)
        with _signals_held_back() as signals:
            if signals.is_compiling:  # a function that the one in compilation calls
                return compile_(sig)
            signals.is_compiling = True
            try:
                with event.install_listener("numba:run_pass", _PassListener()):
                    return compile_(sig)
            finally:
                signals.is_compiling = False

    return compile_and_handle


class _PassListener(event.Listener):
    """Handles signals whenever a pass of the compiler begins."""

    def on_start(self, event: Any) -> None:
        handle_signals()

    def on_end(self, event: Any) -> None:
        pass


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
