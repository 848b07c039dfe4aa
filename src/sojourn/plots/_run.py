"""The regret of one trial, summed and an episode at a time."""

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
    COLOURS,
    INK,
    figure_of,
    fold,
    new_figure,
    set_episodes,
    show_zero,
    tidy,
    write,
)

if TYPE_CHECKING:
    from sojourn.learning import Run

__all__ = ["RunCurves", "draw_run", "run_curves", "run_figure"]

_MOST_POINTS = 600
_MOST_BINS = 30
_MOST_LETTERS = 110  # in a line of the title
_FEW = 12
"""Up to so many episodes, each is a bin of its own."""


@dataclass(frozen=True)
class RunCurves:
    """What the figure of a trial shows.

    Attributes:
        quantity: "regret", or "reward" for a learner that does not show its policy.
        learner: The learner in few words.
        setting: The problem, the law and the seed.
        k: `(n,)` episodes, counted from 1: all of them, or some of very many.
        single: `(n,)` regret of each of these episodes.
        cumulative: `(n,)` regret summed over the first k episodes.
        edges: `(bins + 1,)` first episode of each bin, and the one after the last; bins widen by ratios.
        binned: `(bins,)` mean regret of an episode in each bin.
    """

    quantity: str
    learner: str
    setting: str
    k: IntArray
    single: FloatArray
    cumulative: FloatArray
    edges: IntArray
    binned: FloatArray


def run_curves(run: Run) -> RunCurves:
    """Compute the cumulative regret of a trial and its means over bins of episodes that widen by ratios.

    Example:
        >>> import sojourn as sj
        >>> law = sj.Fixed(3)
        >>> run = sj.learn(sj.UCBVI(law), sj.mdps.river_swim(4), law, episodes=1000)
        >>> curves = run_curves(run)
        >>> bool(np.isclose(curves.cumulative[-1], run.regret.sum()))
        True
    """
    from sojourn.learning import name_agents, spread_episodes  # noqa: PLC0415 - loads numba

    values = run.rewards if run.regret is None else run.regret
    k = spread_episodes(values.size, _MOST_POINTS)
    edges = _spread_bins(values.size)
    sums = np.add.reduceat(values, edges[:-1] - 1)
    return RunCurves(
        quantity="reward" if run.regret is None else "regret",
        learner=name_agents([run.agent])[0],
        setting=f"{run.problem}, lengths from {label(run.law)}, seed {run.seed}",
        k=k,
        single=values[k - 1],
        cumulative=np.cumsum(values)[k - 1],
        edges=edges,
        binned=sums / np.diff(edges),
    )


def _spread_bins(episodes: int) -> IntArray:
    """Return the first episode of each bin, and the one after the last; the bins widen by ratios."""
    if episodes <= _FEW:
        return np.arange(1, episodes + 2)
    return np.unique(np.geomspace(1, episodes + 1, _MOST_BINS + 1).round().astype(np.int64))


def draw_run(curves: RunCurves, axes: Sequence[Axes], *, log: bool = False) -> None:
    """Draw the cumulative regret and the regret of single episodes, on as many of these as there are axes.

    Episodes of the second panel are on a logarithmic axis, as its bins are; with `log`, everything is.
    """
    quantity = curves.quantity
    if log and not (curves.binned > 0.0).any():
        raise ValueError(f"log must be False where no {quantity} is positive; got True.")
    panels = (f"Cumulative {quantity}", f"{quantity.capitalize()} an episode")
    for panel, title in zip(axes, panels, strict=False):
        is_sum = title == panels[0]
        tidy(panel)
        if is_sum:
            marker = "o" if curves.k.size == 1 else ""  # a line of one point cannot be seen
            panel.plot(curves.k, curves.cumulative, marker=marker, color=COLOURS[0], linewidth=1.8, zorder=3)
            text = f"{quantity} of the first k episodes"
        else:
            _draw_single(panel, curves)
            text = f"{quantity} of episode k"
        write(panel, title=title, x="episode k", y=text)
        if log:
            panel.set_yscale("log", nonpositive="mask")
        else:
            show_zero(panel, curves.cumulative if is_sum else curves.single, air=0.0 if is_sum else 0.03)
        set_episodes(panel, int(curves.edges[-1]) - 1, log=log or not is_sum)


def _draw_single(panel: Axes, curves: RunCurves) -> None:
    panel.plot(
        curves.k,
        curves.single,
        linestyle="",
        marker="o",
        markersize=3.0,
        markeredgewidth=0.0,
        color=COLOURS[0],
        alpha=0.35,
        zorder=2,
        label="single episodes",
    )
    panel.stairs(
        curves.binned, curves.edges, baseline=None, color=COLOURS[1], linewidth=1.8, zorder=3, label="mean"
    )
    panel.legend(frameon=False, fontsize=8.5, labelcolor=INK, handlelength=1.4, markerscale=1.5)


def run_figure(run: Run, *, ax: Axes | None = None, log: bool = False) -> Figure:
    """Show the regret of a trial, summed and an episode at a time.

    For a learner that does not show its policy there is no exact regret: its reward is shown instead.

    Args:
        run: What `sojourn.learn` returned.
        ax: Axes to draw the cumulative regret alone on; two new panels by default.
        log: Whether all axes are logarithmic: a power of k is then a straight line.

    Returns:
        The figure, in no window: `figure.savefig("run.pdf")` writes it, and a notebook shows it where it is
        the last line of a cell.
    """
    curves = run_curves(run)
    if ax is not None:
        draw_run(curves, [ax], log=log)
        return figure_of(ax)
    figure, panels = new_figure(2, width=4.2, height=3.4)
    draw_run(curves, panels, log=log)
    title = "\n".join(fold(text, _MOST_LETTERS) for text in (curves.learner, curves.setting))
    figure.suptitle(title, fontsize=9, color=INK, x=0.01, ha="left").set_parse_math(False)
    return figure
