"""Text from files and users: made safe for terminals and spreadsheets, and names made unique."""

from __future__ import annotations

import math
import re

__all__ = ["UniqueNames", "one_line", "short_number", "without_formula"]

_BEFORE_FORMULA = re.compile(r"""((?:^|[;\t\r\n])"*+)(?=[=+\-@＝＋－＠])""")
"""The start of a text, or of a cell where `;` or a tab separates cells, and quotes, before a formula."""


def one_line(text: str, most: int | None = None) -> str:
    r"""Return text with newlines and control characters escaped, such as a name that may contain any.

    Args:
        text: The text.
        most: The largest number of characters; a longer text is cut and ends with "…".

    Example:
        >>> one_line("two\nlines"), one_line("a long name", most=6)
        ('two\\nlines', 'a lon…')
    """
    line = "".join(
        c if c.isprintable() else repr(c)[1:-1] for c in (text if most is None else text[: most + 1])
    )
    return line if most is None or len(line) <= most else f"{line[: most - 1]}…"


def short_number(value: float) -> str:
    """Return a number with four digits and thousands separators, without trailing zeros.

    Example:
        >>> short_number(1234567), short_number(12.3456), short_number(0.5), short_number(0.00001234)
        ('1,234,567', '12.35', '0.5', '1.234e-05')
    """
    if not math.isfinite(value) or abs(value) >= 1e15 or 0.0 < abs(value) < 1e-4:
        return f"{value:.4g}"
    return f"{value:,.0f}" if abs(value) >= 1000.0 else f"{value:.4g}"


def without_formula(text: str) -> str:
    """Return a text for a CSV file, with `'` where spreadsheets see the beginning of a formula.

    This is what OWASP advises against CSV injection.

    Example:
        >>> without_formula("=1+1"), without_formula("a;@x"), without_formula("a=1")
        ("'=1+1", "a;'@x", 'a=1')
    """
    return ("'" if text[:1] in tuple("\t\r\n") else "") + _BEFORE_FORMULA.sub(r"\1'", text)


class UniqueNames:
    """Gives names to settings: different settings never share one.

    Example:
        >>> names = UniqueNames()
        >>> [names.name("ours", settings) for settings in ("1", "2", "1")]
        ['ours', 'ours (2)', 'ours']
    """

    def __init__(self) -> None:
        self._settings: dict[str, str] = {}  # that each given name stands for
        self._given: dict[tuple[str, str], str] = {}  # name by wanted name and settings
        self._numbers: dict[str, int] = {}  # last number that was given to a wanted name

    def name(self, wanted: str, settings: str) -> str:
        """Return the wanted name, with a number if it already stands for other settings."""
        key = (wanted, settings)
        if key not in self._given:
            number = self._numbers.get(wanted, 1)
            numbered = wanted if number == 1 else f"{wanted} ({number})"
            while self._settings.setdefault(numbered, settings) != settings:
                number += 1
                numbered = f"{wanted} ({number})"
            self._numbers[wanted], self._given[key] = number, numbered
        return self._given[key]
