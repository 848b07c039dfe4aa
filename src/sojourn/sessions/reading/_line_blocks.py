"""Reads a file in blocks of whole lines of bounded size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

__all__ = ["MAX_LINE_BYTES", "MAX_QUOTED_BYTES", "LineBlock", "line_blocks"]

MAX_LINE_BYTES = 1 << 20
"""Maximum size of a line; longer lines are discarded while they are read."""

MAX_QUOTED_BYTES = 1 << 16
"""Maximum size of a row whose quoted cell spans several lines."""

_BLOCK_BYTES = 1 << 21
"""Bytes per read. Parsing lines of a single byte takes about fifty times the memory of the text."""


@dataclass(frozen=True)
class LineBlock:
    """Whole lines, or a marker for one line that was too long to keep.

    Attributes:
        text: The lines, each ended by a newline; empty for a line that was too long.
        too_long: Whether the block stands for one line that was too long.
    """

    text: bytes
    too_long: bool = False


def line_blocks(file: BinaryIO, head: bytes) -> Iterator[LineBlock]:
    """Yield `head` and the rest of a file in blocks; carriage returns as line ends become newlines.

    Args:
        file: The file, positioned after `head`.
        head: The bytes that were already read.
    """
    only_returns = b"\n" not in head and b"\r" in head
    rest = head
    while True:
        fresh = file.read(_BLOCK_BYTES)
        rest += fresh
        if only_returns:
            rest = rest.replace(b"\r", b"\n")
        if not fresh:
            break
        cut = rest.rfind(b"\n") + 1
        if cut:
            yield from _split_long_lines(rest[:cut])
            rest = rest[cut:]
        if len(rest) > MAX_LINE_BYTES:
            yield LineBlock(b"", too_long=True)
            rest = _skip_line(file, b"\r" if only_returns else b"\n")
    if rest:
        yield from _split_long_lines(rest if rest.endswith(b"\n") else rest + b"\n")


def _skip_line(file: BinaryIO, end: bytes) -> bytes:
    """Read past the end of the current line and return the bytes that were read after it."""
    while fresh := file.read(_BLOCK_BYTES):
        at = fresh.find(end)
        if at >= 0:
            return fresh[at + 1 :]
    return b""


def _split_long_lines(text: bytes) -> Iterator[LineBlock]:
    """Yield whole lines in blocks, with a marker in place of each line that is too long."""
    if len(text) <= MAX_LINE_BYTES:
        yield LineBlock(text)
        return
    start = at = 0
    while at + MAX_LINE_BYTES < len(text):
        # The last newline that a line starting at `at` may end with.
        end = text.rfind(b"\n", at, at + MAX_LINE_BYTES + 1)
        if end >= 0:
            at = end + 1
            continue
        end = text.find(b"\n", at)
        if at > start:
            yield LineBlock(text[start:at])
        yield LineBlock(b"", too_long=True)
        start = at = end + 1
    if start < len(text):
        yield LineBlock(text[start:])
