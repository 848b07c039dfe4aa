"""How objects show themselves in notebooks: small tables, all text escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable

__all__ = ["table"]


def table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """Return a two-column HTML table under a title; every text is escaped."""
    lines = "".join(
        f"<tr><th style='text-align:left'>{html.escape(str(name))}</th>"
        f"<td style='text-align:left'>{html.escape(str(value))}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{html.escape(title)}</caption><tbody>{lines}</tbody></table>"
