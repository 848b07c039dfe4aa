"""The look of all figures: colour-blind safe, readable in print, no global state."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, FigureBase, SubFigure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, MaxNLocator

from sojourn._typing import FloatArray

__all__ = [
    "COLOURS",
    "FAINT",
    "GREY",
    "INK",
    "SOFT",
    "PlainFigure",
    "add_legend",
    "add_note",
    "count_seeds",
    "figure_of",
    "fold",
    "new_figure",
    "new_grid",
    "set_episodes",
    "show_zero",
    "tidy",
    "write",
]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""The colours of Okabe and Ito (2008), the strongest in print first; yellow is left out."""

INK, GREY, FAINT = "#222222", "#888888", "#E4E4E4"
SOFT = "#5B6770"
_DPI = 300
_THOUSANDS = 1_000.0


class PlainFigure(Figure):
    """A figure that belongs to no window: notebooks show it, and `savefig` writes it fit for print."""

    def savefig(self, fname: Any, *, transparent: bool | None = None, **settings: Any) -> None:
        """Write the figure to a `.pdf`, `.svg` or `.png` file, the latter with 300 pixels an inch."""
        super().savefig(fname, transparent=transparent, **{"dpi": _DPI, **settings})

    def show(self, warn: bool = True) -> None:
        """Say how to see the figure: there is no window to show it in."""
        raise RuntimeError(
            "This figure has no window. Write it to a file: figure.savefig('law.pdf'); "
            "in a notebook, make it the last line of a cell."
        )

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=144)
        return buffer.getvalue()


def new_figure(n_panels: int, *, width: float = 3.6, height: float = 3.1) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels side by side, each `width` × `height` inches."""
    figure = PlainFigure(figsize=(width * n_panels, height), facecolor="white")
    figure.set_layout_engine(ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.06))
    FigureCanvasAgg(figure)
    panels = np.ravel(figure.subplots(1, n_panels, squeeze=False)).tolist()
    for axes in panels:
        tidy(axes)
    return figure, panels


def new_grid(
    n_panels: int, n_columns: int, *, width: float, height: float, below: float = 0.0
) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels in rows of so many, and some inches of room below them."""
    columns = min(n_columns, n_panels)
    rows = -(-n_panels // columns)
    figure = PlainFigure(figsize=(width * columns, height * rows + below), facecolor="white")
    figure.set_layout_engine(ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.06))
    FigureCanvasAgg(figure)
    panels = np.ravel(figure.subplots(rows, columns, squeeze=False)).tolist()
    for axes in panels[n_panels:]:
        axes.set_visible(False)
    return figure, panels[:n_panels]


def tidy(axes: Axes) -> None:
    """Take away what says nothing: two of the four spines, long ticks, a heavy grid."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GREY)
    axes.tick_params(color=GREY, labelcolor=INK, labelsize=8.5, length=3)
    axes.tick_params(which="minor", color=GREY, labelcolor=INK, labelsize=7.5, length=2)
    axes.grid(visible=True, color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)


def write(axes: Axes, *, title: str, x: str, y: str) -> None:
    """Set the texts of a panel; none is read as maths, so that a user's `$` stays what it is."""
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold", color=INK, parse_math=False)
    axes.set_xlabel(x, fontsize=9, color=INK, parse_math=False)
    axes.set_ylabel(y, fontsize=9, color=INK, parse_math=False)


def add_note(axes: Axes, text: str) -> None:
    """Say above the right end of a panel, small, how many seeds are behind it, or that it is exact."""
    axes.set_title(text, loc="right", fontsize=8, color=SOFT, parse_math=False)


def count_seeds(*counts: int) -> str:
    """Return "1 seed", "10 seeds", or "10 to 20 seeds" where there are several numbers of them.

    Example:
        >>> count_seeds(1), count_seeds(1_000), count_seeds(20, 10, 20)
        ('1 seed', '1,000 seeds', '10 to 20 seeds')
    """
    few, many = min(counts), max(counts)
    return f"{few:,} seed{'s' * (few > 1)}" if few == many else f"{few:,} to {many:,} seeds"


def add_legend(
    owner: Axes | FigureBase, lines: Sequence[Artist], names: Sequence[str], *, title: str = "", **place: Any
) -> None:
    """Name lines, of axes or below the panels of a figure; none of it is read as maths."""
    legend = owner.legend(
        lines, names, title=title, frameon=False, fontsize=8.5, labelcolor=INK, alignment="left", **place
    )
    legend.get_title().set(fontsize=8.5, color=INK)
    for text in legend.get_texts():
        text.set_parse_math(False)


def figure_of(axes: Axes) -> Figure:
    """Return the figure that axes are on, be it in a part of it."""
    figure = axes.figure
    while isinstance(figure, SubFigure):
        figure = figure.figure
    return figure


def fold(text: str, most: int) -> str:
    """Break text at spaces into lines of at most so many characters, so that none runs off the figure."""
    return "\n".join(textwrap.wrap(text, most))


def set_episodes(axes: Axes, last: int, *, log: bool, first: int = 1) -> None:
    """Show episodes up to `last` on the horizontal axis, on a logarithmic one from `first` on; in full."""
    if log:
        axes.set_xscale("log")
        axes.set_xlim(0.9 * first, last * 1.1 + 0.1)
    else:
        axes.set_xlim(0.0, last * 1.02 + 0.02)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    if not log or last < 1e5:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda k, _: f"{k:,.0f}"))


def show_zero(axes: Axes, values: FloatArray, *, air: float = 0.0) -> None:
    """Let the vertical axis begin at 0, a share of the largest value below it, if none of them does.

    Numbers of more than three digits are grouped, so that panels side by side write them alike.
    """
    if values.size and values.min() >= 0.0 and values.max() > 0.0:
        axes.set_ylim(bottom=-air * float(values.max()))
    if values.size and np.abs(values).max() >= _THOUSANDS:
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
