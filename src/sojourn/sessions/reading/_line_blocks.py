"""A file as pieces that end where lines end, none of them large."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

__all__ = ["MOST_IN_A_LINE", "MOST_QUOTED", "Piece", "pieces"]

MOST_IN_A_LINE = 1 << 20
"""Bytes that a line may have; longer ones are thrown away as they are read."""

MOST_QUOTED = 1 << 16
"""Bytes within which a quote that is opened in one line must be closed in a later one."""

_PIECE = 1 << 21
"""Bytes that are read at once: lines of a single byte take some fifty times as much memory as text."""


@dataclass(frozen=True)
class Piece:
    """Whole lines, or the place where one was too long to be kept.

    Attributes:
        text: The lines, the last one closed by a newline; empty where a line was too long.
        too_long: Whether this stands for one line that was too long.
    """

    text: bytes
    too_long: bool = False


def pieces(file: BinaryIO, head: bytes) -> Iterator[Piece]:
    """Yield the lines of what was read already and the rest of a file, with newlines for carriage returns.

    Args:
        file: Where to read on.
        head: What was read already.
    """
    only_returns = b"\n" not in head and b"\r" in head
    rest = head
    while True:
        fresh = file.read(_PIECE)
        rest += fresh
        if only_returns:
            rest = rest.replace(b"\r", b"\n")
        if not fresh:
            break
        cut = rest.rfind(b"\n") + 1
        if cut:
            yield from _without_long_lines(rest[:cut])
            rest = rest[cut:]
        if len(rest) > MOST_IN_A_LINE:
            yield Piece(b"", too_long=True)
            rest = _skip_line(file, b"\r" if only_returns else b"\n")
    if rest:
        yield from _without_long_lines(rest if rest.endswith(b"\n") else rest + b"\n")


def _skip_line(file: BinaryIO, end: bytes) -> bytes:
    """Read past the end of a line and return what was read after it."""
    while fresh := file.read(_PIECE):
        at = fresh.find(end)
        if at >= 0:
            return fresh[at + 1 :]
    return b""


def _without_long_lines(text: bytes) -> Iterator[Piece]:
    if len(text) <= MOST_IN_A_LINE:
        yield Piece(text)
        return
    begin = at = 0
    while at + MOST_IN_A_LINE < len(text):
        # The last newline within reach of a line that may begin at `at`.
        end = text.rfind(b"\n", at, at + MOST_IN_A_LINE + 1)
        if end >= 0:
            at = end + 1
            continue
        end = text.find(b"\n", at)
        if at > begin:
            yield Piece(text[begin:at])
        yield Piece(b"", too_long=True)
        begin = at = end + 1
    if begin < len(text):
        yield Piece(text[begin:])
