"""Regret curves of several comparisons in a grid of panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sojourn.plots._comparison import ComparisonCurves, comparison_curves, draw_comparison, looks, tell_seeds
from sojourn.plots._style import INK, add_legend, fold, new_grid

if TYPE_CHECKING:
    from sojourn.learning import Comparison

__all__ = ["PanelCurves", "draw_panels", "panel_curves", "panels_figure"]

_MOST_LETTERS = 100
_PANEL = {1: (5.6, 3.2), 2: (4.2, 2.8), 3: (3.1, 2.35)}
"""Inches of a panel, wide and high, by how many stand side by side."""
_TITLE_ROOM = 250.0  # points of type times letters that fit above a panel


@dataclass(frozen=True)
class PanelCurves:
    """What the panels show; the same learners in each, by the same names.

    Attributes:
        names: What the learners are called.
        titles: What the panels are called.
        panels: Their curves.
    """

    names: tuple[str, ...]
    titles: tuple[str, ...]
    panels: tuple[ComparisonCurves, ...]


def panel_curves(
    comparisons: Sequence[Comparison],
    *,
    names: Sequence[str] | None = None,
    titles: Sequence[str] | None = None,
) -> PanelCurves:
    """Compute the curves of several comparisons of the same learners."""
    if not comparisons:
        raise ValueError("comparisons must not be empty.")
    panels = tuple(comparison_curves(comparison) for comparison in comparisons)
    called = tuple(panels[0].names if names is None else names)
    for panel in panels:
        if len(panel.names) != len(called):
            raise ValueError(f"comparisons must have {len(called)} learners each; got {len(panel.names)}.")
    shown = tuple(panel.law for panel in panels) if titles is None else tuple(titles)
    return PanelCurves(called, shown, panels)


def draw_panels(curves: PanelCurves, axes: Sequence[Axes], *, log: bool = False) -> None:
    """Draw each panel on axes of its own."""
    size = min(9.5, _TITLE_ROOM / max(1, *map(len, curves.titles)))
    for i, (panel, title, ax) in enumerate(zip(curves.panels, curves.titles, axes, strict=False)):
        draw_comparison(panel, ax, log=log)
        ax.set_title(title, loc="left", fontsize=size, fontweight="bold", color=INK, parse_math=False)
        if i + 3 < len(curves.panels):
            ax.set_xlabel("")
        if i % 3:
            ax.set_ylabel("")


def panels_figure(
    comparisons: Sequence[Comparison],
    *,
    names: Sequence[str] | None = None,
    titles: Sequence[str] | None = None,
    log: bool = False,
) -> Figure:
    """Show the mean cumulative regret of the same learners on several problems or laws, three panels a row.

    Args:
        comparisons: One a panel, each of the same learners in the same order.
            A `RandomPlayer` is drawn grey, on top.
        names: What to call the learners; by default as the first comparison does.
        titles: What to call the panels; by default by their laws.
        log: Whether axes are logarithmic.
    """
    curves = panel_curves(comparisons, names=names, titles=titles)
    columns = min(len(curves.panels), 3)
    width, height = _PANEL[columns]
    legend_columns = min(columns, 2)
    below = 0.2 * (2 - (-len(curves.names) // legend_columns))
    figure, axes = new_grid(len(curves.panels), columns, width=width, height=height, below=below)
    draw_panels(curves, axes, log=log)
    seeds = tell_seeds(*(panel.n_seeds for panel in curves.panels))
    lines = [Line2D([], [], **look) for look in looks(curves.panels[0])]
    called = [fold(name, _MOST_LETTERS) for name in curves.names]
    add_legend(figure, lines, called, title=seeds, loc="outside lower left", ncols=legend_columns)
    return figure
