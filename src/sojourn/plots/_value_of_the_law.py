"""Figure: what is lost by policies that ignore the shape of the law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn._typing import FloatArray
from sojourn.laws import label
from sojourn.plots._style import COLORS, new_figure, root_figure, set_labels, tidy

if TYPE_CHECKING:
    from sojourn.planning import ValueOfTheLaw

__all__ = ["LossBars", "draw_losses", "loss_bars", "value_of_the_law_figure"]


@dataclass(frozen=True, eq=False)
class LossBars:
    """Data of the figure, one bar per policy.

    Attributes:
        names: What each policy was planned for.
        loss: `(policies,)` losses in units of value.
        title: The problem and the law.
    """

    names: tuple[str, ...]
    loss: FloatArray
    title: str


def loss_bars(found: ValueOfTheLaw) -> LossBars:
    """Compute the bars of the figure, from the top to the bottom."""
    names = tuple(f"{one.name}\n{one.setting}".rstrip() for one in found.losses)
    losses = np.array([one.loss for one in found.losses])
    return LossBars(names, losses, f"{found.problem}\nlengths from {label(found.law)}")


def draw_losses(bars: LossBars, ax: Axes) -> None:
    """Draw the losses as horizontal bars, each with its number."""
    tidy(ax)
    places = np.arange(len(bars.names))
    ax.barh(places, bars.loss, color=COLORS[0], height=0.55)
    for place, loss in zip(places.tolist(), bars.loss.tolist(), strict=True):
        ax.annotate(f" {loss:.3g}", (loss, place), va="center", fontsize=8.5)
    ax.set_yticks(places, bars.names, parse_math=False)
    ax.invert_yaxis()
    ax.set_xlim(0.0, 1.2 * max(float(bars.loss.max()), 1e-12))
    set_labels(ax, title=bars.title, x="value lost per episode", y="")


def value_of_the_law_figure(found: ValueOfTheLaw, *, ax: Axes | None = None) -> Figure:
    """Draw what is lost by policies that ignore the shape of the law.

    Args:
        found: Result of `sojourn.value_of_the_law`.
        ax: Axes to draw on; a new figure by default.
    """
    if ax is None:
        _, (ax,) = new_figure(1, width=6.4, height=2.8)
    draw_losses(loss_bars(found), ax)
    return root_figure(ax)
