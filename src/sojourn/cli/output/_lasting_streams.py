"""Keeps a command going when stdout or stderr is closed, full or a broken pipe."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

__all__ = ["LastingStream", "lasting_streams", "open_closed_descriptors"]


class LastingStream:
    """A text stream that keeps the first error of a write instead of raising it.

    After an error, the stream's descriptor leads to the null device. Later writes succeed, and so does the
    flush when Python exits.

    Args:
        stream: The stream to write to, or None if it is closed.

    Attributes:
        error: The first error, or None.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self.error: OSError | None = None
        self._stream: TextIO = _ClosedStream() if stream is None else stream

    def write(self, text: str) -> int:
        """Write text, or drop it if that fails."""
        try:
            return self._stream.write(text)
        except OSError as error:
            self._drop_output(error)
            return len(text)

    def flush(self) -> None:
        """Flush the stream, or drop its buffer if that fails."""
        try:
            self._stream.flush()
        except OSError as error:
            self._drop_output(error)

    def _drop_output(self, error: OSError) -> None:
        if self.error is None:
            self.error = error
        with contextlib.suppress(OSError, ValueError):  # a stream without a descriptor
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._stream.fileno())
            os.close(null)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _ClosedStream(io.StringIO):
    """Stands for a stdout or stderr that was closed before Python started, which Python sets to None."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        if text:
            raise OSError(errno.EBADF, "it is closed")
        return 0


@contextlib.contextmanager
def lasting_streams() -> Iterator[LastingStream]:
    """Replace stdout and stderr by streams that do not raise errors; yield stdout."""
    before = sys.stdout, sys.stderr
    streams = tuple(LastingStream(stream) for stream in before)
    sys.stdout, sys.stderr = (cast(TextIO, stream) for stream in streams)
    try:
        yield streams[0]
    finally:
        for stream in streams:
            stream.flush()
        sys.stdout, sys.stderr = before


def open_closed_descriptors() -> None:
    """Open the null device as stdin, stdout or stderr if it is closed, so that no file takes its number."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            with contextlib.suppress(OSError):
                opened = os.open(os.devnull, os.O_RDWR)
                os.set_inheritable(opened, opened <= 2)
