"""HTML tables for notebooks; all text is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

__all__ = ["grid", "table"]


def table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """Return a two-column HTML table with a title."""
    lines = "".join(
        f"<tr><th style='text-align:left'>{html.escape(str(name))}</th>"
        f"<td style='text-align:left'>{html.escape(str(value))}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{html.escape(title)}</caption><tbody>{lines}</tbody></table>"


def grid(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], notes: Sequence[str] = ()) -> str:
    """Return an HTML table with a title and a header, and notes below it.

    All columns but the first are right-aligned.
    """
    head = _row("th", header)
    lines = "".join(_row("td", row) for row in rows)
    parts = f"<caption>{html.escape(title)}</caption><thead>{head}</thead><tbody>{lines}</tbody>"
    return f"<table>{parts}</table>" + "".join(f"<p>{html.escape(note)}</p>" for note in notes)


def _row(tag: str, texts: Sequence[str]) -> str:
    """Return a row whose first cell is left-aligned and all others right-aligned."""
    sides = ["left"] + ["right"] * (len(texts) - 1)
    cells = "".join(
        f"<{tag} style='text-align:{side}'>{html.escape(text)}</{tag}>"
        for side, text in zip(sides, texts, strict=True)
    )
    return f"<tr>{cells}</tr>"
