"""How much the scale of a bonus matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn._typing import FloatArray
from sojourn.plots._comparison import look_of
from sojourn.plots._style import add_legend, count_seeds, figure_of, new_figure, write

__all__ = ["ScaleCurves", "draw_scales", "scale_curves", "scales_figure"]


@dataclass(frozen=True)
class ScaleCurves:
    """What the figure of scales shows.

    Attributes:
        names: What the learners are called.
        scales: `(n,)` scales, falling.
        mean: `(learners, n)` mean total regret; NaN where a learner has no such scale.
        low: `(learners, n)` smallest over seeds.
        high: `(learners, n)` largest over seeds.
        n_seeds: Number of seeds behind every mean.
    """

    names: tuple[str, ...]
    scales: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    n_seeds: int


def scale_curves(totals: Mapping[str, Mapping[float, Sequence[float]]]) -> ScaleCurves:
    """Compute means and ranges of the total regrets of every learner, by scale, over seeds."""
    scales = sorted({scale for by_scale in totals.values() for scale in by_scale}, reverse=True)
    rows = [[by_scale.get(scale, [np.nan]) for scale in scales] for by_scale in totals.values()]
    mean, low, high = (
        np.array([[of(seeds) for seeds in row] for row in rows]) for of in (np.mean, np.min, np.max)
    )
    n_seeds = max(len(seeds) for by_scale in totals.values() for seeds in by_scale.values())
    return ScaleCurves(tuple(totals), np.array(scales), mean, low, high, n_seeds)


def draw_scales(curves: ScaleCurves, ax: Axes, *, title: str) -> None:
    """Draw mean total regret by scale, one line a learner, its best scale marked; and ranges over seeds."""
    x = np.arange(curves.scales.size)
    for i, name in enumerate(curves.names):
        ax.plot(x, curves.mean[i], label=name, **look_of(i))
        colour, best = look_of(i)["color"], int(np.nanargmin(curves.mean[i]))
        ax.plot([best], [curves.mean[i, best]], marker="o", ms=5, color=colour)
        if curves.n_seeds > 1:
            ax.vlines(x, curves.low[i], curves.high[i], color=colour, lw=1.0)
    ax.set_xticks(x, [np.format_float_positional(scale, trim="-") for scale in curves.scales])
    ax.set_yscale("log")
    write(ax, title=title, x="scale of the bonus", y="total regret")
    seeds = count_seeds(curves.n_seeds) + ", upright lines: smallest to largest" * (curves.n_seeds > 1)
    add_legend(ax, *ax.get_legend_handles_labels(), title=seeds)


def scales_figure(curves: ScaleCurves, *, title: str, ax: Axes | None = None) -> Figure:
    """Show total regret by the scale of the bonus."""
    if ax is None:
        _, (ax,) = new_figure(1, width=5.6, height=3.6)
    draw_scales(curves, ax, title=title)
    return figure_of(ax)
