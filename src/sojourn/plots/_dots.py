"""Figure: a table of numbers as rows of dots on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from sojourn._typing import ArrayLike, FloatArray
from sojourn.plots._style import COLORS, FAINT, add_legend, add_note, new_figure, root_figure, set_labels

__all__ = ["Dots", "dots_figure", "draw_dots", "make_dots"]

_MARKERS = "osD^vP*X"


@dataclass(frozen=True)
class Dots:
    """Data of a figure with rows of dots.

    Attributes:
        rows: Names of the rows.
        names: Names of the series; each has one dot per row.
        values: Nonnegative numbers, `(rows, names)`.
    """

    rows: tuple[str, ...]
    names: tuple[str, ...]
    values: FloatArray


def make_dots(rows: Sequence[str], names: Sequence[str], values: ArrayLike) -> Dots:
    """Check the shape of the values and return them as `Dots`."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (len(rows), len(names)) or array.size == 0:
        raise ValueError(f"values must have shape ({len(rows)}, {len(names)}); got {array.shape}.")
    return Dots(tuple(rows), tuple(names), array)


def draw_dots(dots: Dots, ax: Axes, *, title: str, x: str, floor: float = 1e-9) -> None:
    """Draw dots on a logarithmic axis. Values up to `floor` are drawn at its left end, which is labeled 0."""
    above = dots.values[dots.values > floor]
    low, high = (float(above.min()), float(above.max())) if above.size else (1.0, 1.0)
    has_zero = above.size < dots.values.size
    first, end = math.floor(math.log10(low)), math.log10(2.0 * high)
    left = 10.0 ** (first - max(0.5, 0.1 * (end - first))) if has_zero else low / 6.0
    places = np.arange(len(dots.rows))
    n_names = len(dots.names)
    for j, name in enumerate(dots.names):
        is_above = dots.values[:, j] > floor
        y = places + 0.11 * (j - (n_names - 1) / 2)
        style: dict[str, Any] = {"marker": _MARKERS[j % len(_MARKERS)], "color": COLORS[j % len(COLORS)]}
        shown = np.where(is_above, dots.values[:, j], left)
        ax.plot(shown, y, linestyle="", ms=5.5, label=name, clip_on=False, zorder=3, **style)
    ax.set_xscale("log")
    if has_zero:
        _set_ticks(ax, left, range(first, math.floor(end) + 1))
    else:
        ax.xaxis.set_major_locator(LogLocator(numticks=8))
    ax.set_xlim(left, 2.0 * high)
    ax.set_ylim(len(dots.rows) - 0.4, -0.6)
    ax.set_yticks(places, dots.rows)
    set_labels(ax, title=title, x=x, y="")
    for text in ax.get_yticklabels():
        text.set_parse_math(False)
    ax.grid(visible=False, axis="y")
    ax.hlines(places + 0.5, 0, 1, transform=ax.get_yaxis_transform(), color=FAINT, linewidth=0.6)


def _set_ticks(ax: Axes, zero: float, powers: range) -> None:
    """Label 0 and powers of ten; if there are many powers, skip some and the minor ticks."""
    named = powers[:: 1 + len(powers) // 8]
    texts = ["0", *(rf"$\mathdefault{{10^{{{power}}}}}$" for power in named)]
    ax.set_xticks([zero, *(10.0**power for power in named)], texts)
    between = [digit * 10.0**power for power in powers for digit in range(2, 10)]
    ax.set_xticks(between if len(named) == len(powers) else [], minor=True)


def dots_figure(
    dots: Dots, *, title: str, x: str, floor: float = 1e-9, note: str = "exact", ax: Axes | None = None
) -> Figure:
    """Draw rows of dots on a logarithmic axis.

    Args:
        dots: Rows of numbers.
        title: Title of the panel.
        x: Label of the horizontal axis.
        floor: Values up to this are drawn as 0.
        note: Small note above the panel that says how the numbers were obtained, such as "10 seeds"; dots
            have no intervals.
        ax: Axes to draw on; a new figure by default.
    """
    is_own = ax is None
    if ax is None:
        height = 1.2 + 0.42 * len(dots.rows) + 0.19 * len(dots.names)
        _, (ax,) = new_figure(1, width=6.6, height=height)
    draw_dots(dots, ax, title=title, x=x, floor=floor)
    add_note(ax, note)
    owner, place = (root_figure(ax), "outside lower left") if is_own else (ax, "best")
    add_legend(owner, *ax.get_legend_handles_labels(), loc=place)
    return root_figure(ax)
