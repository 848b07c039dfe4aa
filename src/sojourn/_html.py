"""HTML for notebooks: tables, and cards with a small picture; all text is escaped."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence

__all__ = ["card", "grid", "strip_picture", "table"]

_COLORS = ("#4a97c9", "#e0894a", "#3fae8b", "#cf8fb5", "#e0b04a", "#7cc3ea")
_WIDTH = 420
_MOST_LINEAR = 60


def card(title: str, facts: Iterable[tuple[str, object]], picture: str = "", details: str = "") -> str:
    """Return a card: a title, facts in a row, a picture (SVG text) and folded details (HTML text)."""
    cells = "".join(
        "<div style='margin:0 1.6em 0.4em 0'>"
        f"<div style='font-size:80%;opacity:0.7'>{html.escape(str(name))}</div>"
        f"<div>{html.escape(str(value))}</div></div>"
        for name, value in facts
    )
    folded = f"<details><summary>Details</summary>{details}</details>" if details else ""
    return (
        "<div style='border:1px solid rgba(128,128,128,0.4);border-radius:6px;padding:0.6em 0.9em;"
        "max-width:46em'>"
        f"<div style='font-weight:bold;margin-bottom:0.4em'>{html.escape(title)}</div>"
        f"<div style='display:flex;flex-wrap:wrap'>{cells}</div>{picture}{folded}</div>"
    )


def strip_picture(
    rows: Sequence[tuple[str, Sequence[tuple[int, int, int]]]], names: Sequence[str], last: int
) -> str:
    """Return strips of actions as SVG text: one row per label, with (first step, last step, action).

    Many steps are drawn on a logarithmic scale.
    """
    used = sorted({action for _, parts in rows for *_, action in parts})
    colors = {action: _COLORS[i % len(_COLORS)] for i, action in enumerate(used)}
    left = min(180.0, 8.0 + 7.0 * max((len(label) for label, _ in rows), default=0))
    scale = math.log if last > _MOST_LINEAR else float
    low, high = scale(0.5), scale(last + 0.5)
    shapes = []
    for i, (label, parts) in enumerate(rows):
        shapes.append(_label(0, 18 * i + 12, label[:26]))
        for first, end, action in parts:
            begin, stop = (
                left + (_WIDTH - left) * (scale(edge) - low) / (high - low)
                for edge in (first - 0.5, end + 0.5)
            )
            tip = f"{names[action]}: steps {first:,}–{end:,}"
            shapes.append(_bar((begin, 18 * i + 1), (stop - begin, 14), colors[action], tip))
    y, x = 18 * len(rows) + 14, 0
    for action in used:
        shapes += [
            _bar((x, y - 9), (10, 10), colors[action], names[action]),
            _label(x + 14, y, names[action]),
        ]
        x += 30 + 7 * len(names[action])
    size = f"viewBox='0 0 {_WIDTH} {y + 6}' width='{_WIDTH}' height='{y + 6}'"
    return f"<svg {size} fill='currentColor' style='max-width:100%'>{''.join(shapes)}</svg>"


def _label(x: float, y: float, text: str) -> str:
    return f"<text x='{x:.0f}' y='{y:.0f}' font-size='11'>{html.escape(text)}</text>"


def _bar(corner: tuple[float, float], size: tuple[float, float], color: str, tip: str) -> str:
    place = f"x='{corner[0]:.1f}' y='{corner[1]:.0f}' width='{size[0]:.1f}' height='{size[1]:.0f}'"
    return f"<rect {place} fill='{color}'><title>{html.escape(tip)}</title></rect>"


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
