"""How much the scale of a bonus matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn._typing import FloatArray
from sojourn.plots._comparison import look_of
from sojourn.plots._style import add_legend, figure_of, new_figure, write

__all__ = ["ScaleCurves", "draw_scales", "scale_curves", "scales_figure"]


@dataclass(frozen=True)
class ScaleCurves:
    """What the figure of scales shows.

    Attributes:
        names: What the learners are called.
        scales: `(n,)` scales, falling.
        mean: `(learners, n)` mean total regret.
        n_seeds: Number of seeds behind every mean.
    """

    names: tuple[str, ...]
    scales: FloatArray
    mean: FloatArray
    n_seeds: int


def scale_curves(totals: Mapping[str, Mapping[float, Sequence[float]]]) -> ScaleCurves:
    """Compute mean total regrets from those of every learner, by scale and seed."""
    scales = sorted({scale for by_scale in totals.values() for scale in by_scale}, reverse=True)
    mean = [[np.mean(by_scale.get(scale, [np.nan])) for scale in scales] for by_scale in totals.values()]
    n_seeds = max(len(seeds) for by_scale in totals.values() for seeds in by_scale.values())
    return ScaleCurves(tuple(totals), np.array(scales), np.array(mean), n_seeds)


def draw_scales(curves: ScaleCurves, ax: Axes, *, title: str) -> None:
    """Draw mean total regret by scale, one line a learner, its best scale marked."""
    x = np.arange(curves.scales.size)
    for i, name in enumerate(curves.names):
        ax.plot(x, curves.mean[i], label=name, **look_of(i))
        best = int(np.nanargmin(curves.mean[i]))
        ax.plot([best], [curves.mean[i, best]], marker="o", ms=5, color=look_of(i)["color"])
    ax.set_xticks(x, [f"{scale:g}" for scale in curves.scales])
    ax.set_yscale("log")
    seeds = f"{curves.n_seeds} seed{'s' * (curves.n_seeds > 1)}"
    write(ax, title=title, x=f"scale of the bonus ({seeds})", y="total regret")
    add_legend(ax, *ax.get_legend_handles_labels())


def scales_figure(curves: ScaleCurves, *, title: str, ax: Axes | None = None) -> Figure:
    """Show total regret by the scale of the bonus."""
    if ax is None:
        _, (ax,) = new_figure(1, width=5.6, height=3.6)
    draw_scales(curves, ax, title=title)
    return figure_of(ax)
