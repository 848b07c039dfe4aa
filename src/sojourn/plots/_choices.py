"""Figure: which candidate horizon a `HorizonSelection` played in each stretch of episodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from sojourn._typing import FloatArray, IntArray
from sojourn.plots._style import (
    COLORS,
    add_legend,
    format_seed_count,
    new_figure,
    root_figure,
    set_episode_axis,
    set_labels,
)

__all__ = ["ChoiceCurves", "choice_curves", "choices_figure", "draw_choices"]

_BINS = 120
_SHADES = 20
"""Number of shades. Neighboring bars of one shade are merged, which avoids visible seams."""

_LEGEND_SHARES = (1.0, 0.75, 0.5, 0.25, 0.1)
"""Shares whose shades the legend shows."""


@dataclass(frozen=True)
class ChoiceCurves:
    """Data of the figure of chosen horizons.

    Attributes:
        horizons: Candidate horizons, `(m,)`.
        edges: Edges of the bins of episodes in which choices are counted, `(b + 1,)`.
        shares: Share of the episodes of each bin that each candidate played, `(m, b)`.
        totals: Share of all episodes that each candidate played, `(m,)`.
    """

    horizons: IntArray
    edges: IntArray
    shares: FloatArray
    totals: FloatArray


def choice_curves(choices: Sequence[int], horizons: Sequence[int]) -> ChoiceCurves:
    """Compute how often each candidate played, in bins of about the same number of episodes."""
    played = np.asarray(choices, dtype=np.int64)
    if played.size == 0:
        raise ValueError("choices must not be empty: no episode was played yet.")
    edges = np.unique(np.linspace(0, played.size, min(_BINS, played.size) + 1).round().astype(np.int64))
    counts = np.array(
        [np.histogram(np.flatnonzero(played == i), bins=edges)[0] for i in range(len(horizons))]
    )
    return ChoiceCurves(
        horizons=np.asarray(horizons, dtype=np.int64),
        edges=edges,
        shares=counts / np.diff(edges),
        totals=counts.sum(axis=1) / played.size,
    )


def draw_choices(axes: Axes, curves: ChoiceCurves) -> None:
    """Draw one row per candidate. The darker a bar, the more of its episodes the candidate played."""
    axes.grid(visible=False)
    for row, shares in enumerate(np.round(_SHADES * curves.shares) / _SHADES):
        begins = np.flatnonzero(np.diff(shares, prepend=-1.0))  # first bin of each run of equal shares
        starts, ends = curves.edges[begins], curves.edges[np.append(begins[1:], shares.size)]
        played = shares[begins] > 0.0
        axes.broken_barh(
            np.column_stack((starts, ends - starts))[played].tolist(),
            (row - 0.5, 1.0),
            facecolors=[(COLORS[0], share) for share in shares[begins][played].tolist()],
            linewidth=0.0,
            antialiased=False,  # avoids seams between bars
        )
    axes.set_ylim(-0.5, len(curves.horizons) - 0.5)
    names = [
        f"{horizon:,}  ({total:.0%})" for horizon, total in zip(curves.horizons, curves.totals, strict=True)
    ]
    axes.set_yticks(range(len(names)), names)
    set_episode_axis(axes, int(curves.edges[-1]), log=False)
    set_labels(axes, title="Which horizon was played", x="episode", y="horizon (share of all episodes)")
    shades = [Patch(facecolor=(COLORS[0], share), linewidth=0.0) for share in _LEGEND_SHARES]
    place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    title = f"{format_seed_count(1)}\nshare of the bin"
    add_legend(axes, shades, [f"{share:.0%}" for share in _LEGEND_SHARES], title=title, **place)


def choices_figure(choices: Sequence[int], horizons: Sequence[int], *, ax: Axes | None = None) -> Figure:
    """Draw which candidate of a `HorizonSelection` was played in each stretch of episodes.

    Args:
        choices: Index of the candidate that was played in each episode: `learner.choices`.
        horizons: Candidate horizons: `learner.horizons`.
        ax: Axes to draw on; a new figure by default.
    """
    curves = choice_curves(choices, horizons)
    if ax is None:
        _, (ax,) = new_figure(1, width=6.4, height=0.9 + 0.32 * max(len(curves.horizons), 4))
    draw_choices(ax, curves)
    return root_figure(ax)
