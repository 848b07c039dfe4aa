"""Ctrl-C, and other signals, that wait until a block of code is done."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

__all__ = ["WaitingSignals", "signals_held_back"]

_NAMES = ("SIGALRM", "SIGUSR1", "SIGUSR2", "SIGBREAK", "SIGINT", "SIGHUP", "SIGQUIT", "SIGTERM")
_SIGNALS = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
"""Signals whose handlers may raise exceptions, in the order in which they are handled.

If several raise one, the last exception replaces the others: so Ctrl-C is not lost to a time limit. Looking
at all 64 signals would take longer than a short kernel.
"""


class WaitingSignals:
    """Signals that have arrived and wait to be handled."""

    def __init__(self) -> None:
        self._handlers: dict[int, Any] = {}
        self._arrived: list[tuple[int, FrameType | None]] = []

    def hold_back(self) -> None:
        """Replace the program's handlers, also those that it has installed since the last call."""
        for one in _SIGNALS:
            handler = signal.getsignal(one)
            if callable(handler) and handler != self._receive:
                self._handlers[one] = handler
                signal.signal(one, self._receive)

    def handle(self) -> None:
        """Handle the signals that have arrived; a handler may install others."""
        if self._arrived:
            try:
                self._handle_all()
            finally:
                self.hold_back()

    def release(self) -> None:
        """Restore the handlers, and handle the signals that have arrived."""
        raised: BaseException | None = None
        left = {one: handler for one, handler in self._handlers.items() if self._is_held(one)}
        while left:
            try:
                while left:
                    number, handler = next(iter(left.items()))
                    signal.signal(number, handler)
                    del left[number]
            except BaseException as error:  # of a handler that is restored already
                raised = error
        try:
            if raised is not None:
                raise raised
        finally:
            raised = None  # a variable would hold it in a cycle with its traceback
            self._handle_all()

    def _is_held(self, number: int) -> bool:
        return signal.getsignal(number) == self._receive

    def _handle_all(self) -> None:
        if self._arrived:
            first = min(self._arrived, key=lambda one: _SIGNALS.index(one[0]))
            self._arrived.remove(first)
            try:
                self._handlers[first[0]](*first)
            finally:
                self._handle_all()

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self._arrived.append((number, frame))


_waiting: WaitingSignals | None = None
"""The signals that wait at the moment; only the main thread handles signals."""


@contextlib.contextmanager
def signals_held_back() -> Iterator[WaitingSignals | None]:
    """Handle signals after the outermost of such blocks, for code that an exception at any moment breaks.

    Extension modules may crash Python if an exception is raised while they are loaded, as those of matplotlib
    do, and writers of files may raise another exception while they clean up. In threads other than the main
    thread, which never handle signals, nothing is held back, and the value is None.
    """
    global _waiting  # noqa: PLW0603 - signal handlers are global as well
    if threading.current_thread() is not threading.main_thread():
        yield None
        return
    if _waiting is not None:
        yield _waiting
        return
    signals = WaitingSignals()
    try:
        _waiting = signals
        signals.hold_back()
        yield signals
    finally:
        _waiting = None
        signals.release()
