"""Decompresses streams, to at most a multiple of their size."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from typing import cast

from sojourn.sessions.reading._csv import Readable

__all__ = ["PACKED", "unpack"]

_HEAD_BYTES = 1 << 16

_MAX_UNPACKED, _MAX_RATIO = 1 << 28, 1_000
"""A compressed stream of more bytes than this must not be larger than its source by more than a factor."""

PACKED = (".gz", ".bz2", ".xz", ".zst")
"""Endings of the names of compressed files."""


def unpack(file: Readable, source: str) -> tuple[bytes, Readable]:
    """Return the first bytes of a stream and the rest of it, decompressed if it is compressed."""
    head = _head_of(file)
    packed = _Joined(head, file)
    content = _decompressed(head, packed, source)
    if content is None:
        return head, file
    bounded = _Bounded(content, packed, source)
    return _head_of(bounded), bounded


def _head_of(file: Readable) -> bytes:
    """Return the first bytes of a stream, which may return fewer at a time than it is asked for."""
    head = b""
    while len(head) < _HEAD_BYTES and (more := file.read(_HEAD_BYTES - len(head))):
        head += more
    return head


def _decompressed(head: bytes, rest: _Joined, source: str) -> Readable | None:
    """Return a stream of what a compressed stream contains, or None if it is not compressed."""
    if head.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=rest)
    if head.startswith(b"BZh"):
        return _Members(rest, bz2.BZ2Decompressor)
    if head.startswith(b"\xfd7zXZ\0"):
        return _Members(rest, lzma.LZMADecompressor)
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        try:
            import pyarrow as pa  # noqa: PLC0415
        except ImportError as error:
            raise ValueError(
                f"{source} is compressed with zstd, which needs pyarrow: pip install pyarrow."
            ) from error
        return cast(Readable, pa.CompressedInputStream(pa.PythonFile(rest, mode="r"), "zstd"))
    return None


class _Joined(io.RawIOBase):
    """A stream of bytes that were already read and of the rest of their stream."""

    def __init__(self, head: bytes, file: Readable) -> None:
        super().__init__()
        self._head, self._file = head, file
        self.n_read = 0
        """Number of bytes that were read from the stream."""

    def readable(self) -> bool:
        """Return True, which pyarrow asks for."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes."""
        if self._head:
            found, self._head = self._head[:size], self._head[size:]
        else:
            found = self._file.read(size)
        self.n_read += len(found)
        return found


class _Bounded:
    """What a compressed stream contains, up to a multiple of its size."""

    def __init__(self, file: Readable, packed: _Joined, source: str) -> None:
        self._file, self._packed, self._source, self._n = file, packed, source, 0

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes."""
        found = self._file.read(size)
        self._n += len(found)
        if self._n > _MAX_UNPACKED and self._n > _MAX_RATIO * self._packed.n_read:
            raise ValueError(
                f"{self._source} must unpack to at most {_MAX_RATIO:,} times its size; unpack it first if it "
                "is sound."
            )
        return found


class _Members:
    """What all members of a compressed stream contain; Python's own readers ignore any that are damaged."""

    def __init__(
        self, file: Readable, decompressor: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor]
    ) -> None:
        self._file, self._new, self._member = file, decompressor, decompressor()

    def read(self, size: int) -> bytes:
        """Return at least one byte and at most `size`; none at the end."""
        found = b""
        while not found:
            packed = b""
            if self._member.eof:
                packed = self._member.unused_data or self._file.read(_HEAD_BYTES)
                if not packed:
                    break
                self._member = self._new()
            elif self._member.needs_input:
                packed = self._file.read(_HEAD_BYTES)
                if not packed:
                    raise EOFError("Compressed file ended before the end-of-stream marker was reached")
            found = self._member.decompress(packed, size)
        return found
