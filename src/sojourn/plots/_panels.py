"""Figure: regret curves of several comparisons in a grid of panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sojourn.plots._comparison import (
    ComparisonCurves,
    comparison_curves,
    describe_estimate,
    describe_seeds,
    draw_comparison,
    line_styles,
)
from sojourn.plots._style import INK, add_legend, new_grid, wrap_text

if TYPE_CHECKING:
    from sojourn.learning import Comparison

__all__ = ["PanelCurves", "draw_panels", "panel_curves", "panels_figure"]

_MAX_LINE_LENGTH = 100
_PANEL = {1: (5.6, 3.2), 2: (4.2, 2.8), 3: (3.1, 2.35)}
"""Width and height of a panel in inches, by the number of columns."""

_TITLE_WIDTH = 250.0
"""Space for a title above a panel, as font size in points times number of characters."""


@dataclass(frozen=True)
class PanelCurves:
    """Data of a grid of panels. All panels show the same learners.

    Attributes:
        names: Names of the learners.
        titles: Titles of the panels.
        panels: Curves of each panel.
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
    shown_names = tuple(panels[0].names if names is None else names)
    for panel in panels:
        if len(panel.names) != len(shown_names):
            raise ValueError(
                f"comparisons must have {len(shown_names)} learners each; got {len(panel.names)}."
            )
    shown_titles = tuple(panel.law for panel in panels) if titles is None else tuple(titles)
    return PanelCurves(shown_names, shown_titles, panels)


def draw_panels(curves: PanelCurves, axes: Sequence[Axes], *, log: bool = False) -> None:
    """Draw each panel on its own axes."""
    size = min(9.5, _TITLE_WIDTH / max(1, *map(len, curves.titles)))
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
    """Draw the mean cumulative regret of the same learners on several problems or laws, three panels per row.

    Args:
        comparisons: One per panel, each of the same learners in the same order.
            A `RandomPlayer` is drawn in gray, on top.
        names: Names of the learners; by default those of the first comparison.
        titles: Titles of the panels; by default the names of their laws.
        log: Whether axes are logarithmic.
    """
    curves = panel_curves(comparisons, names=names, titles=titles)
    columns = min(len(curves.panels), 3)
    width, height = _PANEL[columns]
    legend_columns = min(columns, 2)
    below = 0.2 * (2 - (-len(curves.names) // legend_columns))
    figure, axes = new_grid(len(curves.panels), columns, width=width, height=height, below=below)
    draw_panels(curves, axes, log=log)
    seeds = describe_seeds(*(panel.n_seeds for panel in curves.panels)) + describe_estimate(curves.panels[0])
    lines = [Line2D([], [], **style) for style in line_styles(curves.panels[0])]
    wrapped = [wrap_text(name, _MAX_LINE_LENGTH) for name in curves.names]
    add_legend(figure, lines, wrapped, title=seeds, loc="outside lower left", ncols=legend_columns)
    return figure
