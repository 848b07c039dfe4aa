"""Numbers by two names each, as grouped bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn._typing import ArrayLike, FloatArray
from sojourn.plots._style import COLOURS, figure_of, new_figure, write

__all__ = ["Bars", "bars_figure", "draw_bars", "make_bars"]


@dataclass(frozen=True)
class Bars:
    """What grouped bars show.

    Attributes:
        groups: What stands together.
        names: What the bars of each group are called.
        values: `(groups, names)`.
    """

    groups: tuple[str, ...]
    names: tuple[str, ...]
    values: FloatArray


def make_bars(groups: Sequence[str], names: Sequence[str], values: ArrayLike) -> Bars:
    """Return bars of so many groups and names."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (len(groups), len(names)):
        raise ValueError(f"values must have shape ({len(groups)}, {len(names)}); got {array.shape}.")
    return Bars(tuple(groups), tuple(names), array)


def draw_bars(bars: Bars, ax: Axes, *, title: str, y: str, floor: float = 1e-9) -> None:
    """Draw bars on a logarithmic axis; what is not above `floor` is written as 0."""
    width = 0.8 / len(bars.names)
    top = max(float(bars.values.max()), 10.0 * floor)
    for j, name in enumerate(bars.names):
        x = np.arange(len(bars.groups)) + (j - (len(bars.names) - 1) / 2) * width
        height = np.maximum(bars.values[:, j], floor)
        ax.bar(x, height, width * 0.92, color=COLOURS[j % len(COLOURS)], label=name)
        for at in x[bars.values[:, j] <= floor]:
            ax.annotate("0", (at, floor * 1.3), ha="center", fontsize=7.5, color=COLOURS[j % len(COLOURS)])
    ax.set_yscale("log")
    ax.set_ylim(floor, 4.0 * top)
    ax.set_xticks(range(len(bars.groups)), bars.groups, rotation=20, ha="right")
    for text in [*ax.get_xticklabels()]:
        text.set_parse_math(False)
    write(ax, title=title, x="", y=y)
    ax.grid(visible=False, axis="x")
    ax.legend(fontsize=8, frameon=False, ncols=min(len(bars.names), 4), loc="upper left")


def bars_figure(bars: Bars, *, title: str, y: str, floor: float = 1e-9, ax: Axes | None = None) -> Figure:
    """Show grouped bars on a logarithmic axis."""
    if ax is None:
        _, (ax,) = new_figure(1, width=max(5.0, 1.1 * len(bars.groups)), height=3.6)
    draw_bars(bars, ax, title=title, y=y, floor=floor)
    return figure_of(ax)
