"""Figure: the regret of one trial, cumulative and per episode."""

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
    new_figure,
    root_figure,
    set_episode_axis,
    set_labels,
    start_axis_at_zero,
    tidy,
    wrap_text,
)

if TYPE_CHECKING:
    from sojourn.learning import Run

__all__ = ["RunCurves", "draw_run", "run_curves", "run_figure"]

_MAX_POINTS = 600
_MAX_BINS = 30
_MAX_LINE_LENGTH = 110
"""Characters per line of the title."""

_NORMAL_QUANTILE = 1.96
"""Half the width of a 95% interval, in standard errors."""

_FEW_EPISODES = 12
"""Up to this many episodes, each episode is a separate bin."""


@dataclass(frozen=True)
class RunCurves:
    """Data of the figure of a trial.

    Attributes:
        quantity: "regret", or "reward" if the learner does not expose its policy.
        learner: Short name of the learner.
        setting: Problem, law and seed.
        k: `(n,)` episodes that are drawn, counted from 1; not all if there are many.
        single: `(n,)` regret of each drawn episode; NaN if it was not valued.
        cumulative: `(n,)` cumulative regret of the first k episodes.
        edges: `(bins + 1,)` first episode of each bin, and the episode after the last bin.
        binned: `(bins,)` mean regret per episode in each bin.
        error: `(n,)` standard error of `cumulative`; None if all episodes were valued.
        n_valued: Number of valued episodes, for the label of the band.
    """

    quantity: str
    learner: str
    setting: str
    k: IntArray
    single: FloatArray
    cumulative: FloatArray
    edges: IntArray
    binned: FloatArray
    error: FloatArray | None = None
    n_valued: int = 0


def run_curves(run: Run) -> RunCurves:
    """Compute the cumulative regret of a trial and its mean per episode over geometrically spaced bins.

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
    k, edges = spread_episodes(values.size, _MAX_POINTS), _spread_bins(values.size)
    cumulative, error, counts = np.cumsum(values), None, np.diff(edges)
    if run.valued is not None:
        cumulative, error = np.asarray(run.cumulative_regret), np.asarray(run.regret_error)
        drawn = run.valued[spread_episodes(run.valued.size, _MAX_POINTS) - 1]
        k = np.union1d(drawn + 1, [values.size])
        counts = np.add.reduceat((~np.isnan(values)).astype(np.int64), edges[:-1] - 1)
    sums = np.add.reduceat(np.nan_to_num(values), edges[:-1] - 1)
    return RunCurves(
        quantity="reward" if run.regret is None else "regret",
        learner=name_agents([run.agent])[0],
        setting=f"{run.problem}, lengths from {label(run.law)}, seed {run.seed}",
        k=k,
        single=values[k - 1],
        cumulative=cumulative[k - 1],
        edges=edges,
        binned=np.where(counts > 0, sums / np.maximum(counts, 1), np.nan),
        error=None if error is None else error[k - 1],
        n_valued=run.regret_episodes,
    )


def _spread_bins(episodes: int) -> IntArray:
    """Return the edges of geometrically spaced bins; see `RunCurves.edges`."""
    if episodes <= _FEW_EPISODES:
        return np.arange(1, episodes + 2)
    return np.unique(np.geomspace(1, episodes + 1, _MAX_BINS + 1).round().astype(np.int64))


def draw_run(curves: RunCurves, axes: Sequence[Axes], *, log: bool = False) -> None:
    """Draw the cumulative regret, and on a second pair of axes, if given, the regret per episode.

    The second panel has a logarithmic axis of episodes, like its bins. With `log`, all axes are logarithmic.
    """
    quantity = curves.quantity
    if log and not (curves.binned > 0.0).any():
        raise ValueError(f"log must be False where no {quantity} is positive; got True.")
    panels = (f"Cumulative {quantity}", f"{quantity.capitalize()} per episode")
    for panel, title in zip(axes, panels, strict=False):
        is_sum = title == panels[0]
        tidy(panel)
        if is_sum:
            marker = "o" if curves.k.size == 1 else ""  # a line of one point cannot be seen
            panel.plot(curves.k, curves.cumulative, marker=marker, color=COLORS[0], linewidth=1.8, zorder=3)
            if curves.error is not None:
                _draw_error(panel, curves, curves.error)
            text = f"cumulative {quantity}"
        else:
            _draw_single(panel, curves)
            text = f"{quantity} per episode"
        set_labels(panel, title=title, x="episode", y=text)
        if log:
            panel.set_yscale("log", nonpositive="mask")
        else:
            start_axis_at_zero(
                panel,
                curves.cumulative if is_sum else curves.single[~np.isnan(curves.single)],
                margin=0.0 if is_sum else 0.03,
            )
        set_episode_axis(panel, int(curves.edges[-1]) - 1, log=log or not is_sum)


def _draw_error(panel: Axes, curves: RunCurves, error: FloatArray) -> None:
    half_width = _NORMAL_QUANTILE * error
    panel.fill_between(
        curves.k,
        curves.cumulative - half_width,
        curves.cumulative + half_width,
        color=COLORS[0],
        alpha=0.2,
        linewidth=0.0,
        label=f"95% interval of the estimate\nfrom {curves.n_valued:,} episodes",
    )
    panel.legend(frameon=False, fontsize=8.5, labelcolor=INK, handlelength=1.4)


def _draw_single(panel: Axes, curves: RunCurves) -> None:
    panel.plot(
        curves.k,
        curves.single,
        linestyle="",
        marker="o",
        markersize=3.0,
        markeredgewidth=0.0,
        color=COLORS[0],
        alpha=0.35,
        zorder=2,
        label="single episodes",
    )
    panel.stairs(
        curves.binned, curves.edges, baseline=None, color=COLORS[1], linewidth=1.8, zorder=3, label="mean"
    )
    panel.legend(frameon=False, fontsize=8.5, labelcolor=INK, handlelength=1.4, markerscale=1.5)


def run_figure(run: Run, *, ax: Axes | None = None, log: bool = False) -> Figure:
    """Draw the regret of a trial, cumulative and per episode.

    A learner that does not expose its policy has no exact regret: its reward is drawn instead.

    Args:
        run: Result of `sojourn.learn`.
        ax: Axes on which only the cumulative regret is drawn; a new figure with two panels by default.
        log: Whether all axes are logarithmic; a power of k is then a straight line.

    Returns:
        The figure. It has no window: write it with `figure.savefig("run.pdf")`, or make it the last line of a
        notebook cell.
    """
    curves = run_curves(run)
    if ax is not None:
        draw_run(curves, [ax], log=log)
        return root_figure(ax)
    figure, panels = new_figure(2, width=4.2, height=3.4)
    draw_run(curves, panels, log=log)
    title = "\n".join(wrap_text(text, _MAX_LINE_LENGTH) for text in (curves.learner, curves.setting))
    figure.suptitle(title, fontsize=9, color=INK, x=0.01, ha="left").set_parse_math(False)
    return figure
