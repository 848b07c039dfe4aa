"""Which horizon was played when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from sojourn._typing import FloatArray, IntArray
from sojourn.plots._style import COLOURS, add_legend, count_seeds, figure_of, new_figure, set_episodes, write

__all__ = ["ChoiceCurves", "choice_curves", "choices_figure", "draw_choices"]

_BINS = 120
_SHADES = 20
"""So many shades there are: bars of shares that no eye can tell apart become one, without seams."""

_KEY = (1.0, 0.75, 0.5, 0.25, 0.1)
"""Shares whose shades are named."""


@dataclass(frozen=True)
class ChoiceCurves:
    """What the figure of choices shows.

    Attributes:
        horizons: The candidates, `(m,)`.
        edges: Episodes between which choices are counted, `(b + 1,)`.
        shares: Share of the episodes between two edges that each candidate played, `(m, b)`.
        totals: Share of all episodes, `(m,)`.
    """

    horizons: IntArray
    edges: IntArray
    shares: FloatArray
    totals: FloatArray


def choice_curves(choices: Sequence[int], horizons: Sequence[int]) -> ChoiceCurves:
    """Count who played, in pieces of about the same number of episodes."""
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
    """Draw one row a candidate, the fuller its colour the more of the episodes it played; with a key."""
    axes.grid(visible=False)
    for row, shares in enumerate(np.round(_SHADES * curves.shares) / _SHADES):
        begins = np.flatnonzero(np.diff(shares, prepend=-1.0))  # of pieces of equal shares
        starts, ends = curves.edges[begins], curves.edges[np.append(begins[1:], shares.size)]
        played = shares[begins] > 0.0
        axes.broken_barh(
            np.column_stack((starts, ends - starts))[played].tolist(),
            (row - 0.5, 1.0),
            facecolors=[(COLOURS[0], share) for share in shares[begins][played].tolist()],
            linewidth=0.0,
            antialiased=False,  # else there are seams
        )
    axes.set_ylim(-0.5, len(curves.horizons) - 0.5)
    names = [
        f"{horizon:,}  ({total:.0%})" for horizon, total in zip(curves.horizons, curves.totals, strict=True)
    ]
    axes.set_yticks(range(len(names)), names)
    set_episodes(axes, int(curves.edges[-1]), log=False)
    write(axes, title="Which horizon played", x="episode", y="horizon (share of all episodes)")
    shades = [Patch(facecolor=(COLOURS[0], share), linewidth=0.0) for share in _KEY]
    place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    title = f"{count_seeds(1)}\nshare at the time"
    add_legend(axes, shades, [f"{share:.0%}" for share in _KEY], title=title, **place)


def choices_figure(choices: Sequence[int], horizons: Sequence[int], *, ax: Axes | None = None) -> Figure:
    """Draw which candidate of a `HorizonSelection` played when.

    Args:
        choices: `learner.choices`: the candidate of each episode, as an index.
        horizons: `learner.horizons`.
        ax: Where to draw; a new figure by default.
    """
    curves = choice_curves(choices, horizons)
    if ax is None:
        _, (ax,) = new_figure(1, width=6.4, height=0.9 + 0.32 * max(len(curves.horizons), 4))
    draw_choices(ax, curves)
    return figure_of(ax)
