"""Figure: mean cumulative regret of several learners, with confidence bands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sojourn._text import one_line
from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.laws import label
from sojourn.plots._style import (
    COLORS,
    GRAY,
    INK,
    add_legend,
    format_seed_count,
    new_figure,
    root_figure,
    set_episode_axis,
    set_labels,
    start_axis_at_zero,
    tidy,
    wrap_text,
)

if TYPE_CHECKING:
    from sojourn.learning import Comparison

__all__ = [
    "BoundCurve",
    "ComparisonCurves",
    "bound_curves",
    "comparison_curves",
    "comparison_figure",
    "describe_estimate",
    "describe_seeds",
    "draw_comparison",
    "line_style",
    "line_styles",
    "short_names",
    "spread_heights",
]

_MAX_POINTS = 600
_MAX_LINE_LENGTH = 84
"""Characters per line of the legend below the panel."""

_HEIGHT, _LINE_HEIGHT = 3.8, 0.19
"""Height of a figure with one panel, and of each line of its legend, in inches."""

_MAX_TITLE_LENGTH = 60
"""Characters per line of the bold title."""

_MAX_LABELS = 8
"""With more lines than this, only the legend names them."""

_MAX_LABEL_LENGTH = 34
_LABEL_GAP = 0.06
"""Least distance of two labels at the ends of lines, as a share of the height of the panel."""

_NORMAL_QUANTILE = 1.96
"""Half the width of a 95% interval, in standard errors."""

_MIN_SHARE = 1e-6
"""A logarithmic axis does not go below this share of the largest regret."""

_DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (5, 1.5, 1.2, 1.5)))
"""When all colors are used up, lines start again at the first color with the next dash pattern."""

_RANDOM_STYLE: dict[str, Any] = {"color": GRAY, "linestyle": (0, (4, 2)), "linewidth": 1.4}
"""Line style of the random player, which is the baseline of the learners."""


_BOUND_DASHES = ((0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)), (0, (3, 3)), (0, (8, 2)))
"""Dash patterns of bounds, in turn; all bounds have the color of text."""

_MAX_BOUND_POINTS = 60
"""Numbers of episodes at which a bound is evaluated; a proven bound may take milliseconds."""


@dataclass(frozen=True)
class BoundCurve:
    """A bound on the cumulative regret, as a function of the number of episodes.

    Attributes:
        name: Its name.
        k: `(n,)` numbers of episodes.
        value: `(n,)` the bound for k episodes; NaN where there is none.
    """

    name: str
    k: IntArray
    value: FloatArray


@dataclass(frozen=True)
class ComparisonCurves:
    """Data of the figure of a comparison, one row per learner.

    Attributes:
        names: Names of the learners.
        is_chance: True for the first `RandomPlayer`, which is drawn as the baseline.
        problem: Name of the problem.
        law: Short name of the law of the lengths.
        n_seeds: Number of seeds per mean.
        k: `(n,)` numbers of episodes.
        mean: `(agents, n)` mean over seeds of the cumulative regret of k episodes; NaN if it is not known.
        low: `(agents, n)` lower end of the pointwise 95% interval of the mean; NaN for a single seed.
        high: `(agents, n)` upper end of that interval.
        single: `(agents, seeds, n)` cumulative regret of each seed if there are fewer than five, else
            `(agents, 0, n)`.
        n_valued: Number of episodes per trial whose regret was computed, or None for all.
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
    single: FloatArray
    n_valued: int | None = None


def comparison_curves(comparison: Comparison) -> ComparisonCurves:
    """Compute the mean cumulative regret of every learner with its 95% interval over seeds.

    With fewer than five seeds, the regret of each seed takes the place of the interval. The interval for a
    single seed whose regret is estimated is that of the estimate.
    """
    from sojourn.agents import RandomPlayer  # noqa: PLC0415 - loads numba
    from sojourn.learning import FEWEST_SEEDS, estimate_mean, spread_episodes  # noqa: PLC0415

    at_random = [i for i, agent in enumerate(comparison.agents) if isinstance(agent, RandomPlayer)]
    kept = comparison.checkpoints
    shown = np.unique(np.searchsorted(kept, spread_episodes(comparison.episodes, _MAX_POINTS)))
    cumulative = comparison.cumulative_regret[:, :, shown]
    estimate = estimate_mean(cumulative, axis=1)
    low, high = estimate.low, estimate.high
    if comparison.regret_error is not None and len(comparison.seeds) == 1:
        half_width = _NORMAL_QUANTILE * comparison.regret_error[:, 0, shown]
        low, high = estimate.mean - half_width, estimate.mean + half_width
    return ComparisonCurves(
        names=comparison.names,
        is_chance=tuple(i in at_random[:1] for i in range(len(comparison.names))),
        problem=comparison.problem,
        law=label(comparison.law),
        n_seeds=len(comparison.seeds),
        k=kept[shown],
        mean=estimate.mean,
        low=low,
        high=high,
        single=cumulative if len(comparison.seeds) in range(2, FEWEST_SEEDS) else cumulative[:, :0],
        n_valued=None if comparison.regret_error is None else comparison.regret_episodes,
    )


def bound_curves(bounds: Mapping[str, Callable[[int], float]], k: IntArray) -> list[BoundCurve]:
    """Evaluate bounds at up to 60 numbers of episodes.

    Args:
        bounds: Functions from a number of episodes to a bound, by name; 0, negative numbers and NaN mean that
            there is none.
        k: Rising numbers of episodes to choose from.
    """
    wanted = np.geomspace(k[0], k[-1], _MAX_BOUND_POINTS)
    chosen = k[np.unique(np.searchsorted(k, wanted).clip(max=k.size - 1))]
    found = []
    for name, bound in bounds.items():
        value = np.array([float(bound(episodes)) for episodes in chosen.tolist()])
        found.append(BoundCurve(name, chosen, np.where(value > 0.0, value, np.nan)))
    return found


def draw_comparison(
    curves: ComparisonCurves, ax: Axes, *, log: bool = False, bounds: Sequence[BoundCurve] = ()
) -> None:
    """Draw the mean cumulative regrets and their bands on given axes, and bounds as thin dashed lines.

    The first learner's curve is drawn above the others, and the gray curve of a `RandomPlayer` above all. A
    learner without exact regret has no curve. With `log`, both axes are logarithmic, and a learner whose
    regret stays below a millionth of the largest has no curve either.
    """
    shown = _drawable(curves, log=log)
    if log and not shown.any():
        raise ValueError("log must be False where no regret is positive; got True.")
    tidy(ax)
    styles = line_styles(curves)
    for i in np.flatnonzero(shown).tolist():
        style, zorder = styles[i], 3.5 if curves.is_chance[i] else 3.0 - i / shown.size
        if curves.single.size:
            lines = [np.column_stack((curves.k, single)) for single in curves.single[i]]
            thin = {"color": style["color"], "alpha": 0.6, "linewidth": 0.7, "zorder": 2}
            ax.add_collection(LineCollection(lines, **thin))
        if not np.isnan(curves.low[i]).any() and not curves.single.size:
            low = np.maximum(curves.low[i], np.finfo(float).tiny) if log else curves.low[i]
            band = {"color": style["color"], "alpha": 0.18, "linewidth": 0.0, "zorder": 2}
            ax.fill_between(curves.k, low, curves.high[i], **band)
        marker = "o" if curves.k.size == 1 else ""  # a line of one point cannot be seen
        ax.plot(curves.k, curves.mean[i], marker=marker, zorder=zorder, **style)
    for i, bound in enumerate(bounds):
        ax.plot(bound.k, bound.value, zorder=2.5, **_bound_style(i))
    title = f"{wrap_text(curves.problem, _MAX_TITLE_LENGTH)}\nlengths from {curves.law}"
    set_labels(ax, title=title, x="episode", y="cumulative regret")
    means = curves.mean[shown]
    known = np.concatenate([np.empty(0), *(bound.value[bound.value > 0.0] for bound in bounds)])
    if log:
        largest = float(means.max())
        ax.set_yscale("log", nonpositive="mask")
        top = max(largest, float(known.max(initial=0.0)))
        ax.set_ylim(0.7 * max(float(means[means > 0.0].min()), _MIN_SHARE * largest), 1.6 * top)
    else:
        start_axis_at_zero(ax, np.append(means, known))
    set_episode_axis(ax, int(curves.k[-1]), log=log)


def _bound_style(i: int) -> dict[str, Any]:
    return {"color": INK, "linestyle": _BOUND_DASHES[i % len(_BOUND_DASHES)], "linewidth": 1.1}


def line_style(i: int) -> dict[str, Any]:
    """Return the color, dashes and width of the line of learner i."""
    turn, place = divmod(i, len(COLORS))
    return {"color": COLORS[place], "linestyle": _DASHES[turn % len(_DASHES)], "linewidth": 1.8}


def line_styles(curves: ComparisonCurves) -> list[dict[str, Any]]:
    """Return the line style of each learner; the random player's does not use up a color."""
    turns = np.cumsum(~np.asarray(curves.is_chance, dtype=bool)) - 1
    return [
        _RANDOM_STYLE if is_chance else line_style(int(turn))
        for is_chance, turn in zip(curves.is_chance, turns, strict=True)
    ]


def _drawable(curves: ComparisonCurves, *, log: bool) -> BoolArray:
    """Return which curves are drawn: known regret that is, on a logarithmic axis, not negligible."""
    known = np.asarray(~np.isnan(curves.mean).any(axis=1))
    if not log or not known.any():
        return known
    largest = curves.mean[known].max()
    return np.asarray(known & (curves.mean.max(axis=1) > max(0.0, _MIN_SHARE * largest)))


def comparison_figure(
    comparison: Comparison,
    *,
    ax: Axes | None = None,
    log: bool = False,
    bounds: Mapping[str, Callable[[int], float]] | None = None,
) -> Figure:
    """Draw the mean cumulative regret of every learner, with its 95% interval over seeds as a band.

    With fewer than five seeds, each seed is drawn as a thin line instead. Up to eight lines have short names
    at their ends; the legend below has only the names that are longer, and those of agents without a line.

    Args:
        comparison: Result of `sojourn.compare`.
        ax: Axes to draw on; a new figure by default.
        log: Whether both axes are logarithmic; a power of k is then a straight line.
        bounds: Bounds to draw over the regret: functions from a number of episodes to a bound on the regret
            of so many episodes, by name, such as one that calls `sojourn.theory.proven_bound`. Where a bound
            is 0, nothing is drawn. Proven bounds are usually far above the regret: use `log`.

    Returns:
        The figure. It has no window: write it with `figure.savefig("comparison.pdf")`, or make it the last
        line of a notebook cell.
    """
    curves = comparison_curves(comparison)
    extra = bound_curves(bounds or {}, curves.k)
    is_own = ax is None
    if ax is None:
        _, (ax,) = new_figure(1, width=6.9, height=_HEIGHT)
    draw_comparison(curves, ax, log=log, bounds=extra)
    labels = _label_ends(ax, curves, extra, log=log) if is_own else ()
    _add_curve_legend(ax, curves, extra, log=log, inside=not is_own, labels=labels)
    figure = root_figure(ax)
    if is_own:
        n_lines = sum(1 + text.get_text().count("\n") for text in figure.legends[0].get_texts())
        figure.set_figheight(_HEIGHT + _LINE_HEIGHT * n_lines)
    return figure


def _label_ends(
    ax: Axes, curves: ComparisonCurves, bounds: Sequence[BoundCurve], *, log: bool
) -> tuple[str, ...]:
    """Write a short name right of the end of each line, in its color, so that no two names overlap.

    Returns:
        The names that were written; none if there are too many lines.
    """
    names, styles = short_names(curves.names), line_styles(curves)
    shown = np.flatnonzero(_drawable(curves, log=log)).tolist()
    lines = [(float(curves.mean[i, -1]), names[i], styles[i]["color"]) for i in shown]
    known = [bound for bound in bounds if bound.value[-1] > 0.0]
    lines += [(float(each.value[-1]), one_line(each.name, most=_MAX_LABEL_LENGTH), INK) for each in known]
    if len(lines) > _MAX_LABELS:
        return ()
    ax.get_ylim()  # the limits are only known after autoscaling
    ends = np.array([(curves.k[-1], height) for height, _, _ in lines]).reshape(-1, 2)
    heights = ax.transAxes.inverted().transform(ax.transData.transform(ends))[:, 1]
    for (_, name, color), height in zip(lines, spread_heights(heights, _LABEL_GAP).tolist(), strict=True):
        style: dict[str, Any] = {"color": color, "fontsize": 8.5, "parse_math": False}
        ax.text(1.01, height, name, transform=ax.transAxes, va="center", ha="left", **style)
    return tuple(name for _, name, _ in lines)


def short_names(names: Sequence[str]) -> list[str]:
    """Return names with only those settings in which names with the same beginning differ.

    Example:
        >>> short_names(["UCBVI(Geometric(0.9), PaperBonus(scale=1))", "chance"])
        ['UCBVI', 'chance']
        >>> short_names(["UCBVI(Fixed(9), PaperBonus(scale=1))", "UCBVI(Fixed(9), PaperBonus(scale=0.1))"])
        ['UCBVI, PaperBonus(scale=1)', 'UCBVI, PaperBonus(scale=0.1)']
    """
    heads = [name.partition("(")[0].strip() for name in names]
    settings = [name.partition("(")[2].removesuffix(")").split(", ") for name in names]
    short = []
    for head, own in zip(heads, settings, strict=True):
        alike = [other for other_head, other in zip(heads, settings, strict=True) if other_head == head]
        differing = [part for part in own if part and not all(part in other for other in alike)]
        short.append(one_line(", ".join([head, *differing]), most=_MAX_LABEL_LENGTH))
    return short


def spread_heights(heights: FloatArray, gap: float) -> FloatArray:
    """Return heights that are at least `gap` apart, in the same order, and at most 1 as far as possible.

    Example:
        >>> spread_heights(np.array([0.5, 0.98, 1.0]), 0.1).round(2).tolist()
        [0.5, 0.9, 1.0]
    """
    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(heights.size)
    raised = np.maximum.accumulate(heights[order] - steps) + steps
    lowered = np.minimum(raised - steps, 1.0 - steps[-1:]) + steps
    spread = np.empty_like(heights)
    spread[order] = lowered
    return spread


def _add_curve_legend(
    ax: Axes,
    curves: ComparisonCurves,
    bounds: Sequence[BoundCurve],
    *,
    log: bool,
    inside: bool,
    labels: Sequence[str] = (),
) -> None:
    """Add a legend that explains the bands and names the learners, except those whose line has its full name.

    Learners without a curve are named too.
    """
    shown, styles = _drawable(curves, log=log), line_styles(curves)
    lines, names = [], []
    for i, name in enumerate(curves.names):
        if shown[i] and name in labels:
            continue
        reason = "no exact regret" if np.isnan(curves.mean[i]).any() else "too little regret to show"
        lines.append(Line2D([], [], **styles[i]) if shown[i] else Line2D([], [], linestyle=""))
        names.append(wrap_text(name if shown[i] else f"{name}: {reason}", _MAX_LINE_LENGTH))
    for i, bound in enumerate(bounds):
        is_known = bool((bound.value > 0.0).any())
        if is_known and bound.name in labels:
            continue
        lines.append(Line2D([], [], **_bound_style(i)) if is_known else Line2D([], [], linestyle=""))
        name = bound.name if is_known else f"{bound.name}: nothing proven here"
        names.append(wrap_text(name, _MAX_LINE_LENGTH))
    owner: Any = ax if inside else ax.figure
    place = "best" if inside else "outside lower left"
    add_legend(
        owner, lines, names, title=describe_seeds(curves.n_seeds) + describe_estimate(curves), loc=place
    )


def describe_estimate(curves: ComparisonCurves) -> str:
    """Return from how many episodes regret is estimated, for a legend; nothing if all were valued."""
    if curves.n_valued is None:
        return ""
    band = ", band: 95% interval of the estimate" if curves.n_seeds == 1 else ""
    return f"{band}\nregret estimated from {curves.n_valued:,} of {curves.k[-1]:,} episodes per trial"


def describe_seeds(*counts: int) -> str:
    """Return the number of seeds and what bands or thin lines show, for a legend."""
    from sojourn.learning import FEWEST_SEEDS  # noqa: PLC0415 - loads numba

    shown = ""
    if max(counts) > 1:
        has_bands = max(counts) >= FEWEST_SEEDS
        shown = ", bands: 95% intervals of the mean" if has_bands else ", thin lines: single seeds"
    return format_seed_count(*counts) + shown
