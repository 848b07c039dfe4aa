"""Ctrl-C that waits until a block of code is done."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

__all__ = ["interrupts_held_back"]


@contextlib.contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Handle Ctrl-C after the block, for code that an exception at any moment breaks.

    Extension modules may crash Python if an exception is raised while they are loaded, as those of matplotlib
    do, and writers of files may raise another exception while they clean up.
    """
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: arrived.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if arrived:
            before(*arrived[-1])
