"""Shared style of all figures: color-blind safe, readable in print, without global state."""

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

from sojourn._interrupts import signals_held_back
from sojourn._typing import FloatArray

__all__ = [
    "COLORS",
    "FAINT",
    "GRAY",
    "INK",
    "SOFT",
    "PlainFigure",
    "add_legend",
    "add_note",
    "format_seed_count",
    "new_figure",
    "new_grid",
    "root_figure",
    "set_episode_axis",
    "set_labels",
    "start_axis_at_zero",
    "tidy",
    "wrap_text",
]

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colors of Okabe and Ito (2008), those with the most contrast in print first; without yellow."""

INK, GRAY, FAINT = "#222222", "#888888", "#E4E4E4"
SOFT = "#5B6770"
_DPI = 300


class PlainFigure(Figure):
    """A figure without a window: notebooks display it, and `savefig` writes it in print quality."""

    def savefig(self, fname: Any, *, transparent: bool | None = None, **settings: Any) -> None:
        """Write the figure to a `.pdf`, `.svg` or `.png` file, the latter with 300 pixels per inch."""
        with signals_held_back():  # writers of PDF and PNG raise other exceptions if they are interrupted
            super().savefig(fname, transparent=transparent, **{"dpi": _DPI, **settings})

    def show(self, warn: bool = True) -> None:
        """Raise an error that says how to display the figure, which has no window."""
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
    """Return a figure with a grid of panels, each `width` × `height` inches, and space `below` them."""
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
    """Apply the shared style to axes: two spines, short ticks, a light grid."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GRAY)
    axes.tick_params(color=GRAY, labelcolor=INK, labelsize=8.5, length=3)
    axes.tick_params(which="minor", color=GRAY, labelcolor=INK, labelsize=7.5, length=2)
    axes.grid(visible=True, color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)


def set_labels(axes: Axes, *, title: str, x: str, y: str) -> None:
    """Set the title and axis labels of a panel, without math parsing, so that a user's `$` is kept."""
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold", color=INK, parse_math=False)
    axes.set_xlabel(x, fontsize=9, color=INK, parse_math=False)
    axes.set_ylabel(y, fontsize=9, color=INK, parse_math=False)


def add_note(axes: Axes, text: str) -> None:
    """Add a small note above the right end of a panel, such as its number of seeds or "exact"."""
    axes.set_title(text, loc="right", fontsize=8, color=SOFT, parse_math=False)


def format_seed_count(*counts: int) -> str:
    """Return "1 seed", "10 seeds", or "10 to 20 seeds" if the counts differ.

    Example:
        >>> format_seed_count(1), format_seed_count(1_000), format_seed_count(20, 10, 20)
        ('1 seed', '1,000 seeds', '10 to 20 seeds')
    """
    few, many = min(counts), max(counts)
    return f"{few:,} seed{'s' * (few > 1)}" if few == many else f"{few:,} to {many:,} seeds"


def add_legend(
    owner: Axes | FigureBase, lines: Sequence[Artist], names: Sequence[str], *, title: str = "", **place: Any
) -> None:
    """Add a legend to axes or below the panels of a figure, without math parsing."""
    legend = owner.legend(
        lines, names, title=title, frameon=False, fontsize=8.5, labelcolor=INK, alignment="left", **place
    )
    legend.get_title().set(fontsize=8.5, color=INK)
    for text in legend.get_texts():
        text.set_parse_math(False)


def root_figure(axes: Axes) -> Figure:
    """Return the outermost figure of some axes, which may be on a subfigure."""
    figure = axes.figure
    while isinstance(figure, SubFigure):
        figure = figure.figure
    return figure


def wrap_text(text: str, width: int) -> str:
    """Break text at spaces into lines of at most `width` characters."""
    return "\n".join(textwrap.wrap(text, width))


def set_episode_axis(axes: Axes, last: int, *, log: bool, first: int = 1) -> None:
    """Set the horizontal axis to episodes up to `last`; a logarithmic one starts at `first`."""
    if log:
        axes.set_xscale("log")
        axes.set_xlim(0.9 * first, last * 1.1 + 0.1)
    else:
        axes.set_xlim(0.0, last * 1.02 + 0.02)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    if not log or last < 1e5:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda k, _: f"{k:,.0f}"))


def start_axis_at_zero(axes: Axes, values: FloatArray, *, margin: float = 0.0) -> None:
    """Start the vertical axis at 0, less a margin relative to the largest value, if no value is negative.

    Large numbers get thousands separators, in the same form in all panels.
    """
    if values.size and values.min() >= 0.0 and values.max() > 0.0:
        axes.set_ylim(bottom=-margin * float(values.max()))
    if values.size and np.abs(values).max() >= 1_000.0:
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
