"""Rules for single cells: numbers, flags, durations, times, and how messages may quote a cell."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache

from sojourn.laws import MAX_STEP

__all__ = [
    "DURATION_RULE",
    "LATEST",
    "LONG_CELL",
    "NOTHING",
    "TIME_RULE",
    "ambiguous_points",
    "describe_cell",
    "duration_words",
    "guess_delimiter",
    "has_zone",
    "looks_like_data",
    "parse_decimal",
    "parse_duration",
    "parse_flag",
    "parse_time",
    "parse_whole",
    "plain_word",
    "with_decimal_point",
]

_FLAGS = {
    **dict.fromkeys(("1", "true", "t", "yes", "y"), True),
    **dict.fromkeys(("0", "false", "f", "no", "n"), False),
}
"""Words for true and false, in lower case; cells may use any case."""

NOTHING = ("", "nan", "nat", "none", "null", "na", "n/a")
"""What cells without a value hold, in lower case."""

LONG_CELL = 1_000
"""Characters; longer cells are no numbers, and messages show only their length.

A small file may repeat a long cell in every row.
"""

_DELIMITERS = b",;\t|"
_WHOLE_NUMBER = re.compile(r"\+?\d{1,40}(?:\.0{0,40})?(?:[eE]\+?\d{1,3})?", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?\d{1,40},\d{1,40}", re.ASCII)
_POINT_ZERO = re.compile(r"(?<=\d)\.0{1,40}$", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
"""A number that may have a decimal comma or a thousands separator."""

_POINT_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+", re.ASCII)
"""A number that may have decimals after a point or points between thousands."""


def guess_delimiter(line: bytes) -> int:
    """Return the delimiter of a row: whichever of comma, semicolon, tab and bar is most frequent.

    Example:
        >>> chr(guess_delimiter(b"length;ended")), chr(guess_delimiter(b"length"))
        (';', ',')
    """
    return max(_DELIMITERS, key=line.count)


def plain_word(cell: str) -> str:
    """Return a cell without spaces around it, in lower case, and without zeros after a decimal point.

    Example:
        >>> [plain_word(cell) for cell in (" Churned", "2", "2.00", "0.5")]
        ['churned', '2', '2', '0.5']
    """
    return _POINT_ZERO.sub("", cell.strip().lower())


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


def ambiguous_points(cells: Iterable[str], *, are_whole: bool = False) -> set[str]:
    """Return the cells with a point that may be a decimal point or separate thousands.

    It is a decimal point unless other cells have decimal commas, or such points more than once, or, where
    numbers should be whole, more than zeros after it.

    Example:
        >>> sorted(ambiguous_points(["1.500", "12,5", "7"])), ambiguous_points(["1.500", "12.5"])
        (['1.500'], set())
    """
    words = {cell.strip() for cell in cells}
    odd = {word for word in words if _POINT_THOUSANDS.fullmatch(word)}
    has_commas = any(_DECIMAL_COMMA.fullmatch(word) for word in words)
    has_thousands = any(word.count(".") > 1 or (are_whole and word[-3:] != "000") for word in odd)
    return odd if has_commas or has_thousands else set()


@lru_cache(maxsize=4096)
def parse_flag(cell: str) -> bool | None:
    """Parse a flag; None if the cell is neither true nor false."""
    return _FLAGS.get(plain_word(cell))


_IMPERSONAL = re.compile(
    r"[\W\d_]{0,20}|\W*\d[\d.,]{0,14}e[+-]?\d{1,4}|\w|nan|n/?a|none|null|[+-]?inf", re.I | re.A
)
_MAX_SHOWN_DIGITS = 12
_WITH_YEAR = re.compile(r"[a-z _.-]{3,}(1[5-9]|20)\d\d", re.I | re.A)
"""A word with a year, such as sales_2024."""


def looks_like_data(cell: str) -> bool:
    """Whether a cell of the header row is a number, a flag or an address, and so probably not a name.

    Example:
        >>> [looks_like_data(cell) for cell in ("length", "week 2", "year1990")]
        [False, False, False]
        >>> [looks_like_data(cell) for cell in ("12", "yes", "a@b.org", "u8112")]
        [True, True, True, True]
    """
    text = cell.strip()
    digits = sum(one.isdigit() for one in text)
    bare = bool(text) and not any(one.isalpha() for one in text)
    is_flag = len(text) > 1 and parse_flag(text) is not None  # a single letter, such as T, may be a name
    return bare or "@" in text or (digits >= 4 and not _WITH_YEAR.fullmatch(text)) or is_flag


def describe_cell(cell: str) -> str:
    """Describe a cell for a message: numbers, durations and signs are quoted, words only by their length.

    A word in the wrong column may be the name of a person, which messages must not repeat.

    Example:
        >>> [describe_cell(cell) for cell in ("3.7", "90s", "", "Jane", "0.3333333333333333")]
        ["'3.7'", "'90s'", "''", 'a word of 4 characters', 'a number of 18 characters']
    """
    if len(cell) > LONG_CELL:
        return f"a text of {len(cell):,} characters"
    digits = sum(one.isdigit() for one in cell)
    is_plain = _IMPERSONAL.fullmatch(cell.strip()) and "@" not in cell
    if digits <= _MAX_SHOWN_DIGITS and (is_plain or parse_duration(cell) is not None):
        return repr(cell)
    kind = "word" if parse_decimal(cell.strip()) is None else "number"
    return f"a {kind} of {len(cell):,} characters"


DURATION_RULE = "must be a duration: seconds, 1:02:03, 90s, 1.5h or PT1H30M"
TIME_RULE = "must be a time like 2026-01-31 18:05:00, or seconds since 1970"

_UNITS = {
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("min", "m", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
    **dict.fromkeys(("w", "week", "weeks"), 604800.0),
}
"""Seconds in a unit, by every word for it; no general rule for plurals, which would take "ms" for minutes."""

_WITH_UNIT = re.compile(r"(\d+(?:\.\d+)?) ?([a-z]+)", re.ASCII)
_CLOCK = re.compile(r"(?:(\d+) days?,? )?(\d+):([0-5]\d):([0-5]\d(?:\.\d+)?)", re.ASCII)
_ISO = re.compile(
    r"p(?:(\d+)d)?(?:t(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?)?(?<![pt])", re.ASCII | re.IGNORECASE
)
_UNIT_IN_NAME = re.compile(
    r"(?<![a-z])(?:(ns|nsecs?|nanos|nanoseconds?)|(us|µs|usecs?|micros|microseconds?)"
    r"|(ms|msecs?|millis|milliseconds?)|(mins?|minutes?)|(hrs?|hours?|h)|(days?)|(weeks?)"
    r"|(months?)|(years?|yrs?))(?![a-z])"
)
_NAMED_UNITS = (
    ("nanoseconds", 1e-9),
    ("microseconds", 1e-6),
    ("milliseconds", 1e-3),
    ("minutes", 60.0),
    ("hours", 3600.0),
    ("days", 86400.0),
    ("weeks", 604800.0),
    ("months", math.nan),
    ("years", math.nan),
)
"""Names and seconds of the units that `_UNIT_IN_NAME` finds; NaN for units without a fixed length."""

_WORD_IN_NAME = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Where a word begins within a name such as durationMs."""

LATEST = 1e11
"""Numbers above this, the year 5138 in seconds, are probably milliseconds."""


def duration_words(seconds: float) -> str:
    """Return a duration in the largest unit of which it is a whole number, such as "30 min"."""
    unit = next((one for one in ("d", "h", "min") if seconds % _UNITS[one] == 0.0), "s")
    return f"{seconds / _UNITS[unit]:g} {unit}"


def parse_duration(text: str, unit: float = 1.0) -> float | None:
    """Parse a duration, and return it in seconds; None if the text is anything else.

    A number alone is in units of so many seconds.

    Example:
        >>> [parse_duration(text) for text in ("90", "1:02:03", "1.5h", "30min", "PT1H30M", "2 days", "1:30")]
        [90.0, 3723.0, 5400.0, 1800.0, 5400.0, 172800.0, None]
        >>> [parse_duration(text) for text in ("500ms", "2 hrs", "5 ds")]
        [0.5, 7200.0, None]
    """
    word = text.strip().lower()
    number = parse_decimal(word)
    if number is not None:
        return number * unit if number >= 0.0 else None
    if (found := _CLOCK.fullmatch(word)) or (found := _ISO.fullmatch(word)):
        days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
        return ((days * 24.0 + hours) * 60.0 + minutes) * 60.0 + seconds
    found = _WITH_UNIT.fullmatch(word)
    named = None if found is None else _UNITS.get(found[2])
    return None if found is None or named is None else float(found[1]) * named


def unit_in(name: str) -> tuple[str, float]:
    """Return the unit that the name of a column says its numbers are in, and its seconds; else seconds.

    Months and years have no fixed length: NaN.

    Example:
        >>> [unit_in(name)[0] for name in ("duration", "Watch_Minutes", "stay_h", "admin", "timeMs")]
        ['seconds', 'minutes', 'hours', 'seconds', 'milliseconds']
    """
    found = _UNIT_IN_NAME.search(_WORD_IN_NAME.sub("_", name).lower())
    if found is None or found.lastindex is None:
        return "seconds", 1.0
    return _NAMED_UNITS[found.lastindex - 1]


def parse_time(text: str) -> float | None:
    """Parse a point in time, and return it in seconds since 1970; without an offset it is in UTC."""
    number = parse_decimal(text)
    if number is not None:
        return number if 0.0 <= number <= LATEST else None
    found = _date_of(text.strip().removesuffix(" UTC"))
    if found is None:
        return None
    seconds = (found if found.tzinfo else found.replace(tzinfo=dt.UTC)).timestamp()
    return seconds if seconds <= LATEST else None  # such as 9999-12-31, which stands for no end


def has_zone(text: str) -> bool | None:
    """Whether a point in time comes with a time zone; None if the text is no date.

    Example:
        >>> [has_zone(text) for text in ("2026-01-31 18:05Z", "2026-01-31 18:05", "1769882700")]
        [True, False, None]
    """
    found = None if parse_decimal(text) is not None else _date_of(text.strip().removesuffix(" UTC"))
    return None if found is None else found.tzinfo is not None or text.strip().endswith(" UTC")


def _date_of(text: str) -> dt.datetime | None:
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        return None
