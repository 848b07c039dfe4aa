"""Descriptions of failures in one line: of exceptions and of processes that ended."""

from __future__ import annotations

import signal

__all__ = ["describe_error", "describe_exit"]

_MAX_LENGTH = 500  # characters


def describe_error(error: BaseException) -> str:
    """Return the type and the message of an exception, in one line of reasonable length."""
    try:
        message = " ".join(str(error).split()).encode(errors="replace").decode()
    except KeyboardInterrupt:
        raise
    except BaseException:  # `__str__` of a user's exception may itself raise anything
        message = ""
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"


def describe_exit(code: int | None, last_line: str = "") -> str:
    """Return how a worker process ended, from its exit code and the last line that it printed."""
    if code is not None and code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = " (out of memory?)" if name == "SIGKILL" else ""
        reason = f"its process was ended by {name}{hint}"
    else:
        reason = f"its process ended with exit code {code}"
    return f"{reason}: {last_line}" if last_line else reason
