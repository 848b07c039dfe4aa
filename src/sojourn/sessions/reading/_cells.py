"""What the cells of a log may hold: the judge of every cell that is not plain."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from sojourn.laws import MAX_STEP

__all__ = [
    "FLAGS",
    "RETURNED",
    "TOO_LONG",
    "UNCLOSED",
    "UNREADABLE",
    "delimiter_of",
    "flag_rule",
    "looks_like_data",
    "read_flag",
    "read_whole",
    "shown",
    "whole_rule",
]

FLAGS = {
    "1": True,
    "true": True,
    "t": True,
    "yes": True,
    "y": True,
    "1.0": True,
    "0": False,
    "false": False,
    "f": False,
    "no": False,
    "n": False,
    "0.0": False,
}
"""Words for true and false, in any case."""

TOO_LONG = "a row must have at most 1 MB"
UNCLOSED = "a quote must be closed"
UNREADABLE = "a row must be cells of at most 131,072 characters"
RETURNED = "a carriage return within a row must be in quotes"
"""What rows break that cannot be read at all."""

_DELIMITERS = b",;\t|"
_WHOLE = re.compile(r"\+?\d{1,40}(?:\.0{0,40})?(?:[eE]\+?\d{1,3})?", re.ASCII)


def delimiter_of(line: bytes) -> int:
    """Return what stands between the cells of a row: the comma, semicolon, tab or bar it has most of.

    Example:
        >>> chr(delimiter_of(b"length;ended")), chr(delimiter_of(b"length"))
        (';', ',')
    """
    return max(_DELIMITERS, key=line.count)


def whole_rule(name: str) -> str:
    """Return what a cell of whole numbers must be."""
    return f"{name} must be a whole number ≥ 1"


def flag_rule(name: str) -> str:
    """Return what a cell of flags must be."""
    return f"{name} must be true or false, 1 or 0"


@lru_cache(maxsize=4096)
def read_whole(cell: str) -> int | None:
    """Return a whole number from 1 to 2**53, or None.

    Example:
        >>> [read_whole(cell) for cell in (" 12 ", "3.0", "1e3", "3.7", "0", "-2", "1e400", "=1+1", "1_000")]
        [12, 3, 1000, None, None, None, None, None, None]
    """
    text = cell.strip()
    if not _WHOLE.fullmatch(text):
        return None
    number = Decimal(text)
    return int(number) if 1 <= number <= MAX_STEP and number == int(number) else None


@lru_cache(maxsize=4096)
def read_flag(cell: str) -> bool | None:
    """Return whether a cell says true or false, or None if it says neither."""
    return FLAGS.get(cell.strip().lower())


_HARMLESS = re.compile(
    r"[\W\d_]{0,20}|\W*\d[\d.,]{0,14}e[+-]?\d{1,4}|\w|nan|n/?a|none|null|[+-]?inf", re.I | re.A
)
_MOST_DIGITS = 12


def looks_like_data(cell: str) -> bool:
    """Whether a cell in a row of names is a number, a flag, an address or the like, and so hardly a name.

    Example:
        >>> [looks_like_data(cell) for cell in ("length", "week 2", "12", "yes", "a@b.org", "u8112")]
        [False, False, True, True, True, True]
    """
    text = cell.strip()
    digits = sum(one.isdigit() for one in text)
    bare = bool(text) and not any(one.isalpha() for one in text)
    return bare or "@" in text or digits >= 4 or read_flag(text) is not None


def shown(cell: str) -> str:
    """Return a cell as a message shows it: quoted if it is a number or a sign, otherwise by its size alone.

    A word in the wrong place may be somebody's name.

    Example:
        >>> shown("3.7"), shown("nan"), shown(""), shown("Jane")
        ("'3.7'", "'nan'", "''", 'a word of 4 characters')
    """
    digits = sum(one.isdigit() for one in cell)
    if digits <= _MOST_DIGITS and _HARMLESS.fullmatch(cell.strip()) and "@" not in cell:
        return repr(cell)
    return f"a word of {len(cell):,} characters"
