"""Handling of SIGTERM during long commands."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Any

__all__ = ["stopped_by_sigterm"]

TERMINATED = 143


class _Terminated(SystemExit):
    """Raised on SIGTERM; a separate class, because `SystemExit` in a user's code is only an error."""


@contextlib.contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """Make SIGTERM end the block like an exception, so that workers are stopped and files are complete."""
    is_stopped = False

    def stop(*_: Any) -> None:
        nonlocal is_stopped
        is_stopped = True
        raise _Terminated(TERMINATED)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except SystemExit as error:
        if is_stopped and error.code != TERMINATED:  # Ray replaces the code by 1 while it waits for a task
            raise _Terminated(TERMINATED) from error
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
