"""Figure: cumulative regret on logarithmic axes, and its slope beside the slope of the theory's bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn._typing import FloatArray, IntArray
from sojourn.laws import label
from sojourn.plots._style import (
    COLORS,
    INK,
    add_legend,
    format_seed_count,
    new_grid,
    set_episode_axis,
    set_labels,
    tidy,
)

if TYPE_CHECKING:
    from sojourn.learning import Comparison

__all__ = ["SlopeCurves", "draw_slopes", "slope_curves", "slopes_figure"]

_WINDOW = 0.5
"""Slopes are computed over this many decades of episodes."""


@dataclass(frozen=True)
class SlopeCurves:
    """Data of a pair of panels: cumulative regret and its slope.

    Attributes:
        title: Title of the first panel.
        n_seeds: Number of seeds.
        k: `(n,)` numbers of episodes.
        regret: `(n,)` mean cumulative regret of the first k episodes.
        low: `(n,)` smallest cumulative regret over seeds.
        high: `(n,)` largest cumulative regret over seeds.
        slope: `(n,)` log-log slope over the half decade that ends at k; NaN in the first half decade.
        promised: Asymptotic slope of the theory's bound.
    """

    title: str
    n_seeds: int
    k: IntArray
    regret: FloatArray
    low: FloatArray
    high: FloatArray
    slope: FloatArray
    promised: float


def slope_curves(comparison: Comparison, promised: float, *, title: str | None = None) -> SlopeCurves:
    """Compute the regret of a comparison's first learner and its slope over half a decade."""
    k = comparison.checkpoints
    total = comparison.cumulative_regret[0]
    mean = total.mean(axis=0)
    before = np.searchsorted(k, k / 10.0**_WINDOW, side="right") - 1
    has = (before >= 0) & (mean > 0.0)
    slope = np.full(k.size, np.nan)
    if has.any():
        now, then = np.flatnonzero(has), before[has]
        with np.errstate(divide="ignore", invalid="ignore"):
            slope[now] = np.log(mean[now] / mean[then]) / np.log(k[now] / k[then])
    return SlopeCurves(
        title=title if title is not None else f"{comparison.problem}, {label(comparison.law)}",
        n_seeds=len(comparison.seeds),
        k=k,
        regret=mean,
        low=total.min(axis=0),
        high=total.max(axis=0),
        slope=slope,
        promised=promised,
    )


def draw_slopes(curves: SlopeCurves, ax: Axes, beside: Axes) -> None:
    """Draw the regret on `ax` and its slope on `beside`."""
    shown = curves.k >= 10
    k = curves.k[shown]
    ax.fill_between(k, curves.low[shown], curves.high[shown], color=COLORS[0], alpha=0.18, lw=0)
    ax.plot(k, curves.regret[shown], color=COLORS[0], lw=1.8, label="regret")
    last = curves.regret[-1]
    for slope, dash, name in ((1.0, (0, (1.5, 1.2)), "slope 1"), (curves.promised, (0, (5, 1.5)), None)):
        text = name or f"slope {slope:.2f}, from the theory"
        ax.plot(k, last * (k / k[-1]) ** slope, color=INK, lw=1.0, ls=dash, label=text)
    ax.set_yscale("log")
    set_episode_axis(ax, int(k[-1]), log=True, first=int(k[0]))
    set_labels(ax, title=curves.title, x="episode", y="cumulative regret")
    seeds = format_seed_count(curves.n_seeds) + ", shaded: smallest to largest" * (curves.n_seeds > 1)
    add_legend(ax, *ax.get_legend_handles_labels(), title=seeds)
    beside.plot(k, curves.slope[shown], color=COLORS[0], lw=1.8)
    beside.axhline(1.0, color=INK, lw=1.0, ls=(0, (1.5, 1.2)))
    beside.axhline(curves.promised, color=INK, lw=1.0, ls=(0, (5, 1.5)))
    beside.set_ylim(0.0, 1.25)
    set_episode_axis(beside, int(k[-1]), log=True, first=int(k[0]))
    set_labels(beside, title="Slope of the regret", x="episode", y="log-log slope over half a decade")


def slopes_figure(panels: Sequence[SlopeCurves]) -> Figure:
    """Draw regret and its slope, one pair of panels per element."""
    figure, axes = new_grid(2 * len(panels), 2, width=4.2, height=3.1)
    for ax in axes:
        tidy(ax)
    for i, curves in enumerate(panels):
        draw_slopes(curves, axes[2 * i], axes[2 * i + 1])
    return figure
