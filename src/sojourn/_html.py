"""How objects show themselves in notebooks: small tables, all text escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

__all__ = ["grid", "table"]


def table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """Return a two-column HTML table under a title; every text is escaped."""
    lines = "".join(
        f"<tr><th style='text-align:left'>{html.escape(str(name))}</th>"
        f"<td style='text-align:left'>{html.escape(str(value))}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{html.escape(title)}</caption><tbody>{lines}</tbody></table>"


def grid(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table under a title and a header, numbers to the right; every text is escaped."""
    head = _row("th", header)
    lines = "".join(_row("td", row) for row in rows)
    return (
        f"<table><caption>{html.escape(title)}</caption><thead>{head}</thead><tbody>{lines}</tbody></table>"
    )


def _row(tag: str, texts: Sequence[str]) -> str:
    """Return a row whose first text, a name, is to the left and all others to the right."""
    sides = ["left"] + ["right"] * (len(texts) - 1)
    cells = "".join(
        f"<{tag} style='text-align:{side}'>{html.escape(text)}</{tag}>"
        for side, text in zip(sides, texts, strict=True)
    )
    return f"<tr>{cells}</tr>"
