"""Rules for single cells: whole numbers, flags, delimiters, and how messages may quote a cell."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from functools import lru_cache

from sojourn.laws import MAX_STEP

__all__ = [
    "BARE_RETURN",
    "FLAGS",
    "TOO_LONG",
    "UNCLOSED",
    "describe_cell",
    "equals_word",
    "flag_rule",
    "guess_delimiter",
    "looks_like_data",
    "parse_decimal",
    "parse_flag",
    "parse_whole",
    "whole_number_rule",
    "with_decimal_point",
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
"""Words for true and false, in lower case; cells may use any case."""

TOO_LONG = "a row must have at most 1 MB"
UNCLOSED = "a quote must be closed"
BARE_RETURN = "a carriage return within a row must be in quotes"
"""Rules broken by rows that cannot be split into cells."""

_DELIMITERS = b",;\t|"
_WHOLE_NUMBER = re.compile(r"\+?\d{1,40}(?:\.0{0,40})?(?:[eE]\+?\d{1,3})?", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?\d{1,40},\d{1,40}", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
"""A number that may have a decimal comma or a thousands separator."""


def guess_delimiter(line: bytes) -> int:
    """Return the delimiter of a row: whichever of comma, semicolon, tab and bar is most frequent.

    Example:
        >>> chr(guess_delimiter(b"length;ended")), chr(guess_delimiter(b"length"))
        (';', ',')
    """
    return max(_DELIMITERS, key=line.count)


def whole_number_rule(name: str, least: int = 1) -> str:
    """Return the rule for a column of whole numbers, as messages state it."""
    return f"{name} must be a whole number ≥ {least}"


def flag_rule(name: str, ended: str = "") -> str:
    """Return the rule for a column of flags, or of words with one for the end, as messages state it."""
    return f"{name} must not be empty" if ended else f"{name} must be true or false, 1 or 0"


def equals_word(cell: str, word: str) -> bool | None:
    """Whether a cell is a word in any case, where 2 and 2.0 are the same; None if the cell is empty."""
    text = cell.strip().lower()
    return text.removesuffix(".0") == word.removesuffix(".0") if text else None


@lru_cache(maxsize=4096)
def parse_whole(cell: str, least: int = 1) -> int | None:
    """Parse a whole number from `least` to 2**53; None if the cell is anything else.

    Example:
        >>> [parse_whole(cell) for cell in (" 12 ", "3.0", "1e3", "3.7", "0", "-2", "1e400", "=1+1", "1_000")]
        [12, 3, 1000, None, None, None, None, None, None]
    """
    text = cell.strip()
    if not _WHOLE_NUMBER.fullmatch(text):
        return None
    number = Decimal(text)
    return int(number) if least <= number <= MAX_STEP and number == int(number) else None


def parse_decimal(cell: str) -> float | None:
    """Parse a finite number in a notation that all programs share; None if the cell is anything else.

    Example:
        >>> [parse_decimal(cell) for cell in ("-0.5", "1e3", "nan", "1_000", "1,5")]
        [-0.5, 1000.0, None, None, None]
    """
    try:
        number = float(cell) if cell.isascii() and "_" not in cell else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def with_decimal_point(cell: str) -> str:
    """Return a number with a point for its decimal comma; one that may be in thousands stays as it is.

    Example:
        >>> [with_decimal_point(cell) for cell in ("7,0", "-0,125", "1,000", "a,b")]
        ['7.0', '-0.125', '1,000', 'a,b']
    """
    text = cell.strip()
    is_decimal = _DECIMAL_COMMA.fullmatch(text) and not _THOUSANDS.fullmatch(text)
    return text.replace(",", ".") if is_decimal else cell


@lru_cache(maxsize=4096)
def parse_flag(cell: str) -> bool | None:
    """Parse a flag; None if the cell is neither true nor false."""
    return FLAGS.get(cell.strip().lower())


_IMPERSONAL = re.compile(
    r"[\W\d_]{0,20}|\W*\d[\d.,]{0,14}e[+-]?\d{1,4}|\w|nan|n/?a|none|null|[+-]?inf", re.I | re.A
)
_MAX_SHOWN_DIGITS = 12


def looks_like_data(cell: str) -> bool:
    """Whether a cell of the header row is a number, a flag or an address, and so probably not a name.

    Example:
        >>> [looks_like_data(cell) for cell in ("length", "week 2", "12", "yes", "a@b.org", "u8112")]
        [False, False, True, True, True, True]
    """
    text = cell.strip()
    digits = sum(one.isdigit() for one in text)
    bare = bool(text) and not any(one.isalpha() for one in text)
    is_flag = len(text) > 1 and parse_flag(text) is not None  # a single letter, such as T, may be a name
    return bare or "@" in text or digits >= 4 or is_flag


def describe_cell(cell: str) -> str:
    """Describe a cell for a message: numbers and signs are quoted, words only by their length.

    A word in the wrong column may be the name of a person, which messages must not repeat.

    Example:
        >>> describe_cell("3.7"), describe_cell("nan"), describe_cell(""), describe_cell("Jane")
        ("'3.7'", "'nan'", "''", 'a word of 4 characters')
    """
    digits = sum(one.isdigit() for one in cell)
    if digits <= _MAX_SHOWN_DIGITS and _IMPERSONAL.fullmatch(cell.strip()) and "@" not in cell:
        return repr(cell)
    return f"a word of {len(cell):,} characters"
