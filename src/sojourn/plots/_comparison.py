"""Several learners side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.laws import label
from sojourn.plots._style import (
    COLOURS,
    GREY,
    add_legend,
    count_seeds,
    figure_of,
    fold,
    new_figure,
    set_episodes,
    show_zero,
    tidy,
    write,
)

if TYPE_CHECKING:
    from sojourn.learning import Comparison

__all__ = [
    "ComparisonCurves",
    "comparison_curves",
    "comparison_figure",
    "draw_comparison",
    "look_of",
    "looks",
    "tell_seeds",
]

_MOST_POINTS = 600
_MOST_LETTERS, _MOST_LETTERS_BOLD = 84, 60  # in a line below the panel and above it
_LEAST = 1e-6
"""Share of the largest regret below which a logarithmic axis does not go."""

_DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (5, 1.5, 1.2, 1.5)))
"""Lines beyond the last colour begin again at the first, dashed."""

_CHANCE: dict[str, Any] = {"color": GREY, "linestyle": (0, (4, 2)), "linewidth": 1.4}
"""The line of playing at random: what learners are seen against, not one of them."""


@dataclass(frozen=True)
class ComparisonCurves:
    """What the figure of a comparison shows, one row a learner.

    Attributes:
        names: What the learners are called.
        is_chance: Whether each is the first that plays at random.
        problem: The name of the problem.
        law: The law that lengths were drawn from, in few words.
        n_seeds: Number of seeds behind every mean.
        k: `(n,)` numbers of episodes.
        mean: `(agents, n)` mean over seeds of the regret of the first k episodes; NaN if it is not known.
        low: `(agents, n)` lower end of the mean's 95% interval, for each k alone; NaN for a single seed.
        high: `(agents, n)` upper end.
    """

    names: tuple[str, ...]
    is_chance: tuple[bool, ...]
    problem: str
    law: str
    n_seeds: int
    k: IntArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray


def comparison_curves(comparison: Comparison) -> ComparisonCurves:
    """Compute the mean cumulative regret of every learner with its 95% interval over seeds."""
    from sojourn.agents import RandomPlayer  # noqa: PLC0415 - loads numba
    from sojourn.learning import estimate_mean, spread_episodes  # noqa: PLC0415

    at_random = [i for i, agent in enumerate(comparison.agents) if isinstance(agent, RandomPlayer)]
    kept = comparison.checkpoints
    shown = np.unique(np.searchsorted(kept, spread_episodes(comparison.episodes, _MOST_POINTS)))
    estimate = estimate_mean(comparison.cumulative_regret[:, :, shown], axis=1)
    return ComparisonCurves(
        names=comparison.names,
        is_chance=tuple(i in at_random[:1] for i in range(len(comparison.agents))),
        problem=comparison.problem,
        law=label(comparison.law),
        n_seeds=len(comparison.seeds),
        k=kept[shown],
        mean=estimate.mean,
        low=estimate.low,
        high=estimate.high,
    )


def draw_comparison(curves: ComparisonCurves, ax: Axes, *, log: bool = False) -> None:
    """Draw the mean cumulative regrets and their bands on given axes, those that can be shown.

    The first learner's curve lies above the others', and that of a `RandomPlayer`, grey, above all. A learner
    without exact regret has no curve. With `log`, both axes are logarithmic, and a learner whose regret stays
    below a millionth of the largest has none either.
    """
    shown = _can_be_shown(curves, log=log)
    if log and not shown.any():
        raise ValueError("log must be False where no regret is positive; got True.")
    tidy(ax)
    styles = looks(curves)
    for i in np.flatnonzero(shown).tolist():
        look, height = styles[i], 3.5 if curves.is_chance[i] else 3.0 - i / shown.size
        if curves.n_seeds > 1:
            low = np.maximum(curves.low[i], np.finfo(float).tiny) if log else curves.low[i]
            band = {"color": look["color"], "alpha": 0.18, "linewidth": 0.0, "zorder": 2}
            ax.fill_between(curves.k, low, curves.high[i], **band)
        marker = "o" if curves.k.size == 1 else ""  # a line of one point cannot be seen
        ax.plot(curves.k, curves.mean[i], marker=marker, zorder=height, **look)
    title = f"{fold(curves.problem, _MOST_LETTERS_BOLD)}\nlengths from {curves.law}"
    write(ax, title=title, x="episode k", y="regret of the first k episodes")
    means = curves.mean[shown]
    if log:
        largest = float(means.max())
        ax.set_yscale("log", nonpositive="mask")
        ax.set_ylim(0.7 * max(float(means[means > 0.0].min()), _LEAST * largest), 1.6 * largest)
    else:
        show_zero(ax, means)
    set_episodes(ax, int(curves.k[-1]), log=log)


def look_of(i: int) -> dict[str, Any]:
    """Return how the line of learner i looks."""
    turn, place = divmod(i, len(COLOURS))
    return {"color": COLOURS[place], "linestyle": _DASHES[turn % len(_DASHES)], "linewidth": 1.8}


def looks(curves: ComparisonCurves) -> list[dict[str, Any]]:
    """Return how the lines look: those of learners in turn, and that of chance."""
    turns = np.cumsum(~np.asarray(curves.is_chance, dtype=bool)) - 1
    return [
        _CHANCE if chance else look_of(int(turn))
        for chance, turn in zip(curves.is_chance, turns, strict=True)
    ]


def _can_be_shown(curves: ComparisonCurves, *, log: bool) -> BoolArray:
    """Tell which curves there are: those that are known and, on a logarithmic axis, not next to nothing."""
    known = np.asarray(~np.isnan(curves.mean).any(axis=1))
    if not log or not known.any():
        return known
    largest = curves.mean[known].max()
    return np.asarray(known & (curves.mean.max(axis=1) > max(0.0, _LEAST * largest)))


def comparison_figure(comparison: Comparison, *, ax: Axes | None = None, log: bool = False) -> Figure:
    """Show the mean cumulative regret of every learner, with its 95% interval over seeds as a band.

    Args:
        comparison: What `sojourn.compare` returned.
        ax: Axes to draw on; a new figure by default.
        log: Whether both axes are logarithmic: a power of k is then a straight line.

    Returns:
        The figure, in no window: `figure.savefig("comparison.pdf")` writes it, and a notebook shows it where
        it is the last line of a cell.
    """
    curves = comparison_curves(comparison)
    is_own = ax is None
    if ax is None:
        n_lines = sum(1 + fold(name, _MOST_LETTERS).count("\n") for name in curves.names)
        _, (ax,) = new_figure(1, width=6.4, height=3.8 + 0.19 * n_lines)
    draw_comparison(curves, ax, log=log)
    _name_curves(ax, curves, log=log, inside=not is_own)
    return figure_of(ax)


def _name_curves(ax: Axes, curves: ComparisonCurves, *, log: bool, inside: bool) -> None:
    """Name the curves, those that are missing too, and say what the bands are."""
    shown, styles = _can_be_shown(curves, log=log), looks(curves)
    lines, names = [], []
    for i, name in enumerate(curves.names):
        reason = "no exact regret" if np.isnan(curves.mean[i]).any() else "too little regret to show"
        lines.append(Line2D([], [], **styles[i]) if shown[i] else Line2D([], [], linestyle=""))
        names.append(fold(name if shown[i] else f"{name}: {reason}", _MOST_LETTERS))
    owner: Any = ax if inside else ax.figure
    place = "best" if inside else "outside lower left"
    add_legend(owner, lines, names, title=tell_seeds(curves.n_seeds), loc=place)


def tell_seeds(*counts: int) -> str:
    """Return how many seeds there are, and what the bands over them are."""
    return count_seeds(*counts) + ", bands: 95% intervals of the mean" * (max(counts) > 1)
