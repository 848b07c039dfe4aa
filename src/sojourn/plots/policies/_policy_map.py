"""Figure: the actions of a policy on the map of a problem, as arrows, at chosen steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from sojourn._typing import BoolArray, IntArray
from sojourn.plots._style import COLORS, FAINT, GRAY, INK, set_labels

if TYPE_CHECKING:
    from sojourn.planning import Plan  # loads numba

__all__ = ["PolicyMap", "draw_arrow", "draw_policy_map", "policy_maps", "rows_of_changes"]

_ARROWS = {
    "left": (-1, 0),
    "west": (-1, 0),
    "right": (1, 0),
    "east": (1, 0),
    "up": (0, -1),
    "north": (0, -1),
    "down": (0, 1),
    "south": (0, 1),
}
_CHANGED = "#FBE3CF"


@dataclass(frozen=True)
class PolicyMap:
    """Data of one map.

    Attributes:
        actions: `(rows, columns)` actions; −1 where nothing is to be decided.
        changed: `(rows, columns)` whether the action differs from that of the map before.
        names: Names of the actions.
        title: The steps at which these actions are played.
    """

    actions: IntArray
    changed: BoolArray
    names: tuple[str, ...]
    title: str


def policy_maps(plan: Plan, *, most: int) -> list[PolicyMap]:
    """Return the maps of a plan at up to `most` steps, spread evenly over the changes of its actions.

    If there are several states per cell, such as the places of Taxi's passenger, the maps show those states
    (the same detail in every cell) in which the most actions change.
    """
    from sojourn.planning.policy_view import decisions_on_map  # noqa: PLC0415 - loads numba

    found = decisions_on_map(plan)
    rows = rows_of_changes(found.changes.sum(axis=(1, 2)), most)
    maps = []
    for i, row in enumerate(rows):
        before = found.actions[rows[max(i - 1, 0)]]
        is_held = row + 1 == len(found.actions) and row + 1 != plan.law.longest
        words = f"{'From step' if is_held else 'Step'} {row + 1:,}"
        title = "Every step" if len(rows) == 1 else words
        detail = f"\n{found.detail}" if found.detail and i == 0 else ""
        changed = found.actions[row] != before
        maps.append(PolicyMap(found.actions[row], changed, found.action_names, f"{title}{detail}"))
    return maps


def rows_of_changes(n_changed: IntArray, most: int) -> list[int]:
    """Return the first row, and those by which equal shares of all changes have happened, up to the last."""
    total = np.cumsum(n_changed)
    if not total.size or total[-1] == 0:
        return [0]
    shares = total[-1] * np.arange(1, most) / (most - 1)
    return sorted({0, *(np.searchsorted(total, shares - 1e-9) + 1).tolist()})


def draw_policy_map(chart: PolicyMap, ax: Axes) -> None:
    """Draw the arrows of one map on given axes; cells whose action changed are shaded."""
    rows, columns = chart.actions.shape
    for row in range(rows):
        for column in range(columns):
            action = int(chart.actions[row, column])
            if action < 0:
                ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=FAINT, linewidth=0))
                continue
            if chart.changed[row, column]:
                ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=_CHANGED, linewidth=0))
            _draw_action(ax, column, row, chart.names[action])
    ax.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), aspect="equal")
    ax.set_xticks(np.arange(-0.5, columns), [""] * (columns + 1))
    ax.set_yticks(np.arange(-0.5, rows), [""] * (rows + 1))
    ax.grid(visible=True, color=GRAY, linewidth=0.4)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_color(GRAY)
    set_labels(ax, title=chart.title, x="", y="")


def draw_arrow(ax: Axes, column: int, row: int, direction: tuple[int, int]) -> None:
    """Draw an arrow in a cell of a map; the direction is that of columns and rows."""
    dx, dy = direction
    ax.annotate(
        "",
        (column + 0.3 * dx, row + 0.3 * dy),
        (column - 0.3 * dx, row - 0.3 * dy),
        arrowprops={"arrowstyle": "-|>", "color": COLORS[0], "lw": 1.4},
    )


def _draw_action(ax: Axes, column: int, row: int, name: str) -> None:
    if name in _ARROWS:
        draw_arrow(ax, column, row, _ARROWS[name])
    else:
        text = name.replace(" ", "\n") if len(name) > 5 else name
        ax.text(column, row, text, ha="center", va="center", fontsize=6.5, color=INK, parse_math=False)
