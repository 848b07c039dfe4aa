"""Text from files and users, made safe to print: control characters are escaped."""

from __future__ import annotations

__all__ = ["one_line"]


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
