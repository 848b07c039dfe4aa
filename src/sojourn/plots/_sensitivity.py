"""Figure: total regret as a function of the bonus scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from sojourn._typing import FloatArray
from sojourn.plots._comparison import line_style
from sojourn.plots._style import add_legend, format_seed_count, new_figure, root_figure, set_labels

__all__ = ["ScaleCurves", "draw_scales", "scale_curves", "scales_figure"]


@dataclass(frozen=True)
class ScaleCurves:
    """Data of the figure of bonus scales.

    Attributes:
        names: Names of the learners.
        scales: `(n,)` bonus scales, in ascending order.
        mean: `(learners, n)` mean total regret; NaN if a learner was not played at that scale.
        low: `(learners, n)` smallest total regret over seeds.
        high: `(learners, n)` largest total regret over seeds.
        n_seeds: Number of seeds per mean.
    """

    names: tuple[str, ...]
    scales: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    n_seeds: int


def scale_curves(totals: Mapping[str, Mapping[float, Sequence[float]]]) -> ScaleCurves:
    """Compute the mean and range over seeds of the total regret, by learner and bonus scale.

    Args:
        totals: Total regrets of the seeds, by learner and scale.
    """
    scales = sorted({scale for by_scale in totals.values() for scale in by_scale})
    rows = [[by_scale.get(scale, [np.nan]) for scale in scales] for by_scale in totals.values()]
    mean, low, high = (
        np.array([[reduce(seeds) for seeds in row] for row in rows]) for reduce in (np.mean, np.min, np.max)
    )
    n_seeds = max(len(seeds) for by_scale in totals.values() for seeds in by_scale.values())
    return ScaleCurves(tuple(totals), np.array(scales), mean, low, high, n_seeds)


def draw_scales(curves: ScaleCurves, ax: Axes, *, title: str) -> None:
    """Draw mean total regret by scale, one line per learner, with its best scale and ranges marked."""
    x = np.arange(curves.scales.size)
    for i, name in enumerate(curves.names):
        ax.plot(x, curves.mean[i], label=name, **line_style(i))
        color, best = line_style(i)["color"], int(np.nanargmin(curves.mean[i]))
        ax.plot([best], [curves.mean[i, best]], marker="o", ms=5, color=color)
        if curves.n_seeds > 1:
            ax.vlines(x, curves.low[i], curves.high[i], color=color, lw=1.0)
    ax.set_xticks(x, [np.format_float_positional(scale, trim="-") for scale in curves.scales])
    ax.set_yscale("log")
    plain = FuncFormatter(lambda value, _: f"{value:,.4g}" if value < 1e3 else f"{value:,.0f}")
    ax.yaxis.set_major_formatter(plain)
    is_narrow = np.nanmax(curves.mean) < 10.0 * np.nanmin(curves.mean)  # else the labels would overlap
    ax.yaxis.set_minor_formatter(plain if is_narrow else NullFormatter())
    set_labels(ax, title=title, x="bonus scale", y="total regret")


def scales_figure(curves: ScaleCurves, *, title: str, ax: Axes | None = None) -> Figure:
    """Draw total regret as a function of the bonus scale; a new figure has its legend below."""
    is_own = ax is None
    if ax is None:
        _, (ax,) = new_figure(1, width=5.6, height=3.3 + 0.19 * (len(curves.names) + 1))
    draw_scales(curves, ax, title=title)
    seeds = format_seed_count(curves.n_seeds) + ", vertical lines: smallest to largest" * (curves.n_seeds > 1)
    owner: Any = ax.figure if is_own else ax
    place = "outside lower left" if is_own else "best"
    add_legend(owner, *ax.get_legend_handles_labels(), title=seeds, loc=place)
    return root_figure(ax)
