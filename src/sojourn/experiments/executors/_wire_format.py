"""Messages between a run and its workers: a kind, a length and so many bytes."""

from __future__ import annotations

import struct
from typing import IO

__all__ = ["CALL", "ERROR", "READY", "RESULT", "read_frame", "write_frame"]

CALL, READY, RESULT, ERROR = b"C", b"Y", b"R", b"E"
_HEAD = struct.Struct("<cdQ")


def write_frame(pipe: IO[bytes], kind: bytes, content: bytes, seconds: float = 0.0) -> None:
    """Write one message."""
    pipe.write(_HEAD.pack(kind, seconds, len(content)))
    pipe.write(content)
    pipe.flush()


def read_frame(pipe: IO[bytes]) -> tuple[bytes, bytes, float] | None:
    """Return the next message's kind, content and seconds, or None if the other side is gone."""
    head = pipe.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    kind, seconds, size = _HEAD.unpack(head)
    content = pipe.read(size)
    return (kind, content, seconds) if len(content) == size else None
