"""Figure: a policy on the grid of Taxi."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn._typing import IntArray, PolicyArray
from sojourn._validation import check_whole
from sojourn.plots._style import COLORS, INK, SOFT, new_figure, root_figure, set_labels
from sojourn.plots.policies._policy_map import draw_arrow, rows_of_changes

__all__ = ["TaxiMap", "draw_taxi", "taxi_figure", "taxi_map"]

_STANDS = {"R": (0, 0), "G": (0, 4), "Y": (4, 0), "B": (4, 3)}
_WALLS = ((1, 0), (1, 1), (0, 3), (0, 4), (2, 3), (2, 4))
"""Walls, as (column, row) of the cell to the left of each."""

_ARROWS = {0: (0, 1), 1: (0, -1), 2: (1, 0), 3: (-1, 0)}
_LABELS = {4: "pick up", 5: "drop off"}
_MOST_PANELS = 4


@dataclass(frozen=True)
class TaxiMap:
    """Data of the map: the action in each of the 5 × 5 cells.

    Attributes:
        actions: `(5, 5)` actions 0 … 5: south, north, east, west, pick up, drop off.
        passenger: Stand where the passenger waits, or "taxi".
        destination: Stand to which the passenger wants to go.
        step: Step, counted from 1; None if the actions are the same at every step.
    """

    actions: IntArray
    passenger: str
    destination: str
    step: int | None


def taxi_map(policy: PolicyArray, *, passenger: str = "Y", destination: str = "R", step: int = 1) -> TaxiMap:
    """Return what a policy `(N, S)` for Taxi does at one step; its last row is used for all later steps."""
    shown = _on_map(policy, passenger, destination)
    row = min(check_whole("step", step, least=1), len(shown)) - 1
    is_fixed = bool((shown == shown[0]).all())
    return TaxiMap(shown[row], passenger, destination, None if is_fixed else step)


def _on_map(policy: PolicyArray, passenger: str, destination: str) -> IntArray:
    """Return the actions of all steps on the map, `(N, 5, 5)`."""
    places = [*_STANDS, "taxi"]
    for name, value, known in (("passenger", passenger, places), ("destination", destination, list(_STANDS))):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}; got {value!r}.")
    place, goal = places.index(passenger), list(_STANDS).index(destination)
    states = ((np.arange(5)[:, None] * 5 + np.arange(5)) * 5 + place) * 4 + goal
    return np.asarray(np.asarray(policy)[:, states], dtype=np.int64)


def draw_taxi(chart: TaxiMap, ax: Axes) -> None:
    """Draw arrows, walls and stands on given axes."""
    for row in range(5):
        for column in range(5):
            action = int(chart.actions[row, column])
            if action in _ARROWS:
                draw_arrow(ax, column, row, _ARROWS[action])
            else:
                ax.text(column, row, _LABELS[action], ha="center", va="center", fontsize=7.5, color=COLORS[1])
    for left, row in _WALLS:
        ax.plot([left + 0.5, left + 0.5], [row - 0.5, row + 0.5], color=INK, lw=3)
    for name, (row, column) in _STANDS.items():
        ax.text(column - 0.42, row - 0.3, name, fontsize=8, fontweight="bold", color=INK)
    ax.set(xlim=(-0.5, 4.5), ylim=(4.5, -0.5), aspect="equal")
    ax.set_xticks(np.arange(-0.5, 5.0), [""] * 6)
    ax.set_yticks(np.arange(-0.5, 5.0), [""] * 6)
    where = "in the taxi" if chart.passenger == "taxi" else f"at {chart.passenger}"
    when = "Every step" if chart.step is None else f"Step {chart.step:,}"
    set_labels(ax, title=f"{when}: passenger {where}, to {chart.destination}", x="", y="")


def taxi_figure(
    policy: PolicyArray,
    *,
    passenger: str = "Y",
    destination: str = "R",
    step: int | None = None,
    steps: Sequence[int] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """Draw what a policy does in every cell of Taxi's grid, at one step or at several side by side.

    Without `step` and `steps` a new figure has up to four panels: step 1, and steps by which actions have
    changed. If they never change, there is one panel, and its title says so.

    Args:
        policy: `(N, S)` actions for Taxi's states, such as `plan.policy`.
        passenger: Where the passenger is: "R", "G", "Y", "B", or "taxi".
        destination: Where the passenger wants to go: "R", "G", "Y" or "B".
        step: Step, counted from 1; by default 1 if `ax` is given.
        steps: Several steps instead, such as `(1, 20)`; a new figure has one panel per step.
        title: Title above all panels, such as the law that the policy was planned for.
        ax: Axes to draw on; a new figure by default.
    """
    if steps is not None and (ax is not None or not len(steps)):
        raise ValueError(f"steps must not be empty, and must be None if ax is given; got {steps!r}.")
    shown = [step or 1] if steps is None else list(steps)
    if step is None and steps is None and ax is None:
        table = _on_map(policy, passenger, destination)
        n_changed = (table[1:] != table[:-1]).sum(axis=(1, 2))
        shown = [row + 1 for row in rows_of_changes(n_changed, _MOST_PANELS)]
    charts = [taxi_map(policy, passenger=passenger, destination=destination, step=one) for one in shown]
    panels = new_figure(len(charts), width=3.4, height=3.7 if title else 3.5)[1] if ax is None else [ax]
    for chart, panel in zip(charts, panels, strict=True):
        draw_taxi(chart, panel)
    figure = root_figure(panels[0])
    if title and ax is None:
        figure.suptitle(title, fontsize=10, color=INK, x=0.01, ha="left").set_parse_math(False)
    elif title:
        set_labels(panels[0], title=f"{title}\n{panels[0].get_title(loc='left')}", x="", y="")
    panels[-1].set_xlabel("exact", loc="right", fontsize=8, color=SOFT)
    return figure
