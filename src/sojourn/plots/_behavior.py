"""Figure: what committed, sophisticated and naive agents do at each step, and what it costs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from sojourn._typing import FloatArray
from sojourn.laws import label
from sojourn.plots._style import COLORS, GRAY, INK, SOFT, add_legend, new_figure, set_labels

if TYPE_CHECKING:
    from sojourn.behavior import AgentComparison  # loads numba

__all__ = ["BehaviorCells", "behavior_cells", "behavior_figure", "draw_behavior"]

_CHARACTERS_PER_INCH = 11.0
_WIDTH = 5.4
_ACTION_COLORS = tuple(COLORS[i] for i in (0, 1, 2, 3, 5))
"""Colors that differ in pale shades too."""

_FAINTEST, _STRONGEST = 0.2, 0.65
_SURE = 0.995
_NO_COST = 1e-6


@dataclass(frozen=True)
class BehaviorCells:
    """Data of the figure of agents.

    Attributes:
        title: The task and the law.
        agents: Names of the agents, one per row.
        runs: Per agent, tuples of the first step, the last step, the index of the action and its share.
        actions: Names of the actions that occur, by index.
        costs: What each agent loses by changing its mind, `(n,)`.
        demands: Its demand for commitment, `(n,)`.
        last: Last step.
    """

    title: str
    agents: tuple[str, ...]
    runs: tuple[tuple[tuple[int, int, int, float], ...], ...]
    actions: dict[int, str]
    costs: FloatArray
    demands: FloatArray
    last: int

    @property
    def has_costs(self) -> bool:
        """Whether an agent loses anything, or would pay for commitment."""
        return bool(np.abs(np.append(self.costs, self.demands)).max() > _NO_COST)


def behavior_cells(comparison: AgentComparison) -> BehaviorCells:
    """Compute the cells of a comparison of agents; steps without a choice have none."""
    agents = comparison.agents
    runs = tuple(
        tuple(
            (run.first, run.last, run.action, run.share)
            for run in comparison.stretches(one)
            if run.action is not None
        )
        for one in agents
    )
    used = sorted({action for row in runs for _, _, action, _ in row})
    return BehaviorCells(
        title=f"{agents[0].mdp.label}, {label(agents[0].law)}",
        agents=tuple(one.kind for one in agents),
        runs=runs,
        actions={action: agents[0].mdp.action_label(action) for action in used},
        costs=np.array([one.cost for one in agents]),
        demands=np.array([one.demand_for_commitment for one in agents]),
        last=comparison.last,
    )


def draw_behavior(cells: BehaviorCells, axes: Sequence[Axes]) -> None:
    """Draw the actions on the first axes, and the costs on the second, or that there are none."""
    steps, costs = axes
    colors = {action: _color(i) for i, action in enumerate(cells.actions)}
    inch = _WIDTH / cells.last
    for y, row in enumerate(cells.runs):
        for first, last, action, share in row:
            place = (first - 0.48, y - 0.36)
            strength = _FAINTEST + (_STRONGEST - _FAINTEST) * max(share - 0.5, 0.0) * 2.0
            steps.add_patch(
                Rectangle(
                    place, last - first + 0.96, 0.72, facecolor=colors[action], alpha=strength, linewidth=0
                )
            )
            name = cells.actions[action]
            if len(name) <= inch * (last - first + 1) * _CHARACTERS_PER_INCH:
                middle = ((first + last) / 2.0, y)
                steps.annotate(
                    name, middle, ha="center", va="center", fontsize=8.5, color=INK, parse_math=False
                )
    steps.set_xlim(0.4, cells.last + 0.6)
    steps.set_ylim(len(cells.agents) - 0.5, -0.5)
    steps.set_yticks(range(len(cells.agents)), cells.agents)
    steps.xaxis.set_major_locator(MaxNLocator(nbins=12, integer=True))
    steps.grid(visible=False)
    set_labels(steps, title="What they do", x="step", y="")
    if not cells.has_costs:
        set_labels(costs, title="What it costs them", x="", y="")
        costs.axis("off")
        words = "Nothing: no agent loses\nanything by changing its mind,\nor would pay for commitment."
        costs.annotate(words, (0.0, 0.5), xycoords="axes fraction", va="center", fontsize=9, color=INK)
        return
    places = np.arange(len(cells.agents))
    costs.barh(places - 0.17, cells.costs, height=0.3, color=INK, label="cost of changing one's mind")
    costs.barh(places + 0.17, cells.demands, height=0.3, color=GRAY, label="demand for commitment")
    costs.set_ylim(len(cells.agents) - 0.5, -0.5)
    costs.set_yticks(places, [""] * len(cells.agents))
    costs.grid(visible=False, axis="y")
    set_labels(costs, title="What it costs them", x="value, seen from step 1", y="")


def behavior_figure(comparison: AgentComparison) -> Figure:
    """Draw what agents do at each step, and what changing their minds costs them.

    Returns:
        The figure. It has no window: write it with `figure.savefig("agents.pdf")`.
    """
    cells = behavior_cells(comparison)
    figure, panels = new_figure(2, width=_WIDTH, height=1.5 + 0.42 * len(cells.agents))
    panels[0].get_gridspec().set_width_ratios([2.2, 1.0])  # type: ignore[union-attr]
    draw_behavior(cells, panels)
    figure.suptitle(cells.title, x=0.01, ha="left", fontsize=10, color=INK, parse_math=False)
    patches = [Patch(color=_color(i), alpha=_STRONGEST, linewidth=0) for i in range(len(cells.actions))]
    words = list(cells.actions.values())
    if any(share < _SURE for row in cells.runs for *_, share in row):
        patches.append(Patch(color=SOFT, alpha=_FAINTEST, linewidth=0))
        words.append("paler: the likeliest action is less likely")
    bars, names = panels[1].get_legend_handles_labels()
    add_legend(figure, [*patches, *bars], [*words, *names], loc="outside lower left", ncols=6)
    return figure


def _color(i: int) -> str:
    return _ACTION_COLORS[i % len(_ACTION_COLORS)]
