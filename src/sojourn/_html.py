"""HTML for notebooks: tables, and cards with a small picture; all text is escaped."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Iterable, Sequence

from sojourn._text import short_number

__all__ = [
    "bar_picture",
    "card",
    "column_picture",
    "grid",
    "heat_picture",
    "line_picture",
    "strip_picture",
    "table",
]

_COLORS = ("#4a97c9", "#e0894a", "#3fae8b", "#cf8fb5", "#e0b04a", "#7cc3ea")
_WIDTH = 420
_HEIGHT = 96
_LEFT, _TOP = 44.0, 18.0
_MOST_LINEAR = 60
_GRAY = "#8a8a8a"


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
    return _svg(shapes, y + 6)


def line_picture(
    lines: Sequence[tuple[str, Sequence[float], Sequence[float]]],
    names: tuple[str, str],
    *,
    dots: tuple[str, Sequence[float], Sequence[float]] | None = None,
    stairs: bool = False,
    logarithmic: bool = False,
    top: float | None = None,
) -> str:
    """Return curves, each with a label, x and y, as SVG text; the first is solid, the others are dashed.

    Args:
        lines: The curves.
        names: Words for the two axes.
        dots: A label, x and y of points that are drawn below the curves.
        stairs: Whether values change at once, from each x to the next.
        logarithmic: Whether the x-axis is logarithmic.
        top: Upper end of the y-axis; by default the largest value. The lower end is 0, or the smallest value
            if that is negative.
    """
    series = [*lines, *([dots] if dots is not None else [])]
    x_values = [x for _, xs, _ in series for x in xs]
    y_values = [y for _, _, ys in series for y in ys]
    bottom = min(0.0, *y_values)
    top = max(y_values) if top is None else top
    scale = math.log if logarithmic else float
    low, high = min(x_values), max(x_values)

    def place(x: float, y: float) -> tuple[float, float]:
        along = (scale(x) - scale(low)) / (scale(high) - scale(low)) if high > low else 0.5
        up = (y - bottom) / (top - bottom) if top > bottom else 0.0
        return _LEFT + (_WIDTH - _LEFT - 6.0) * along, _TOP + _HEIGHT * (1.0 - up)

    shapes = _frame(names, (low, high), (bottom, top))
    if dots is not None:
        spots = (place(x, y) for x, y in zip(dots[1], dots[2], strict=True))
        shapes += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='2.2' fill='{_GRAY}'/>" for x, y in spots]
    for i, (_, xs, ys) in reversed(list(enumerate(lines))):
        points = [place(x, y) for x, y in zip(xs, ys, strict=True)]
        if stairs:
            turns = (turn for one, two in itertools.pairwise(points) for turn in ((two[0], one[1]), two))
            points = [points[0], *turns]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = " stroke-dasharray='4 3'" if i else ""
        color = _COLORS[i % len(_COLORS)]
        shapes.append(f"<polyline points='{path}' fill='none' stroke='{color}' stroke-width='1.8'{dash}/>")
    legend = [(label, _COLORS[i % len(_COLORS)]) for i, (label, *_) in enumerate(lines)]
    legend += [(dots[0], _GRAY)] if dots is not None else []
    return _svg_with_legend(shapes, legend)


def column_picture(
    columns: Sequence[tuple[float, float, float, float]],
    names: tuple[str, str],
    parts: tuple[str, str] | None = None,
) -> str:
    """Return columns of (first x, last x, height, upper height) as SVG text, stacked in two colors.

    Args:
        columns: Both heights are counts; the second is drawn on top of the first.
        names: Words for the two axes.
        parts: Labels of the two colors; None if there is only the first.
    """
    low, high = columns[0][0], columns[-1][1]
    top = max(lower + upper for *_, lower, upper in columns)
    shapes = _frame(names, (low, high), (0.0, top))
    share = (_WIDTH - _LEFT - 6.0) / len(columns)
    for i, (first, last, *counts) in enumerate(columns):
        span = short_number(first) if first == last else f"{short_number(first)}–{short_number(last)}"
        bottom = _TOP + _HEIGHT
        for count, color in zip(counts, (_COLORS[0], _COLORS[1]), strict=True):
            size = _HEIGHT * count / top if top else 0.0
            bottom -= size
            if count:
                corner = (_LEFT + i * share, bottom)
                shapes.append(_bar(corner, (0.86 * share, size), color, f"{span}: {short_number(count)}"))
    legend = [] if parts is None else list(zip(parts, _COLORS, strict=False))
    return _svg_with_legend(shapes, legend)


def bar_picture(rows: Sequence[tuple[str, float, float, float, str]], title: str) -> str:
    """Return horizontal bars of (label, value, low, high, text) as SVG text, with a line from low to high.

    Values and ends that are NaN are not drawn.
    """
    left = min(218.0, 8.0 + 7.0 * max(len(label) for label, *_ in rows))
    right = 8.0 + 7.0 * max(len(text) for *_, text in rows)
    ends = [end for _, *numbers, _ in rows for end in numbers if math.isfinite(end)]
    low, high = min(0.0, *ends, 0.0), max(0.0, *ends, 0.0)
    scale = (_WIDTH - left - right) / (high - low) if high > low else 0.0
    shapes = [_label(0, 12, title)]
    for i, (label, value, first, last, text) in enumerate(rows):
        y = 20 + 20 * i
        shapes.append(_label(0, y + 12, label if len(label) <= 30 else f"{label[:29]}…"))
        if math.isfinite(value):
            begin, size = left + scale * (min(value, 0.0) - low), scale * abs(value)
            shapes.append(_bar((begin, y + 2), (max(size, 1.0), 12), _COLORS[0], f"{label}: {text}"))
        if math.isfinite(first) and math.isfinite(last):
            one, two = (left + scale * (end - low) for end in (first, last))
            shapes.append(_stroke((one, y + 8), (two, y + 8), 1.5))
        shapes.append(_label(_WIDTH - 1.0, y + 12, text, "end"))
    return _svg(shapes, 24 + 20 * len(rows))


def heat_picture(rows: Sequence[tuple[str, Sequence[float]]], columns: Sequence[str], title: str) -> str:
    """Return a table of numbers as SVG text; the larger a number, the stronger its color."""
    left = min(150.0, 8.0 + 6.2 * max(len(label) for label, _ in rows))
    every = [value for _, values in rows for value in values]
    low, high = min(every), max(every)
    width = min(34.0, (_WIDTH - left) / len(columns))
    shapes = [_label(0, 12, title)]
    for i, (label, values) in enumerate(rows):
        y = 20 + 18 * i
        shapes.append(_label(0, y + 12, label if len(label) <= 23 else f"{label[:22]}…"))
        for j, value in enumerate(values):
            share = (value - low) / (high - low) if high > low else 0.0
            tip = f"{columns[j]}, {label}: {short_number(value)}"
            place = f"x='{left + width * j:.1f}' y='{y}' width='{width - 1.5:.1f}' height='16'"
            look = f"fill='{_COLORS[0]}' fill-opacity='{0.08 + 0.92 * share:.2f}'"
            shapes.append(f"<rect {place} {look}><title>{html.escape(tip)}</title></rect>")
    y = 20 + 18 * len(rows) + 12
    shapes.append(_label(left, y, columns[0]))
    if len(columns) > 1 and width * len(columns) > 7.0 * (len(columns[0]) + len(columns[-1])):
        shapes.append(_label(left + width * len(columns), y, columns[-1], "end"))
    return _svg(shapes, y + 6)


def _svg(shapes: Sequence[str], height: float) -> str:
    size = f"viewBox='0 0 {_WIDTH} {height:.0f}' width='{_WIDTH}' height='{height:.0f}'"
    return f"<svg {size} fill='currentColor' style='max-width:100%'>{''.join(shapes)}</svg>"


def _frame(names: tuple[str, str], across: tuple[float, float], up: tuple[float, float]) -> list[str]:
    """Return the two axes with their names and ends."""
    floor, right = _TOP + _HEIGHT, _WIDTH - 6.0
    return [
        _stroke((_LEFT, _TOP), (_LEFT, floor), 0.8),
        _stroke((_LEFT, floor), (right, floor), 0.8),
        _label(_LEFT, _TOP - 6.0, names[1]),
        _label(_LEFT - 5.0, _TOP + 9.0, short_number(up[1]), "end"),
        _label(_LEFT - 5.0, floor, short_number(up[0]), "end"),
        _label(_LEFT, floor + 14.0, short_number(across[0])),
        _label((_LEFT + right) / 2.0, floor + 14.0, names[0], "middle"),
        _label(right, floor + 14.0, short_number(across[1]), "end"),
    ]


def _svg_with_legend(shapes: list[str], entries: Sequence[tuple[str, str]]) -> str:
    """Return a picture with colored squares and words below its axes; fewer than two need none."""
    x, y = _LEFT, _TOP + _HEIGHT + 34.0
    if len(entries) < 2:
        return _svg(shapes, y - 14.0)
    for label, color in entries:
        shapes += [_bar((x, y - 9.0), (10.0, 10.0), color, label), _label(x + 14.0, y, label)]
        x += 30.0 + 6.2 * len(label)
    return _svg(shapes, y + 8.0)


def _stroke(begin: tuple[float, float], end: tuple[float, float], width: float) -> str:
    place = f"x1='{begin[0]:.1f}' y1='{begin[1]:.1f}' x2='{end[0]:.1f}' y2='{end[1]:.1f}'"
    return f"<line {place} stroke='currentColor' stroke-width='{width}' opacity='0.7'/>"


def _label(x: float, y: float, text: str, anchor: str = "start") -> str:
    place = f"x='{x:.0f}' y='{y:.0f}' text-anchor='{anchor}'"
    return f"<text {place} font-size='11'>{html.escape(text)}</text>"


def _bar(corner: tuple[float, float], size: tuple[float, float], color: str, tip: str) -> str:
    place = f"x='{corner[0]:.1f}' y='{corner[1]:.1f}' width='{size[0]:.1f}' height='{size[1]:.1f}'"
    return f"<rect {place} fill='{color}'><title>{html.escape(tip)}</title></rect>"


def table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """Return a two-column HTML table with a title."""
    lines = "".join(
        f"<tr><th style='text-align:left;padding-right:1.5em'>{html.escape(str(name))}</th>"
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
