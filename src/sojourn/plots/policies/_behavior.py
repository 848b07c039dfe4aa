"""Figure: what committed, sophisticated and naive agents do at each step, and what it costs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from sojourn._typing import FloatArray
from sojourn.laws import label
from sojourn.plots._style import GRAY, INK, SOFT, add_legend, new_figure, set_labels
from sojourn.plots.policies._strips import STRONGEST, ActionColors, StepAxis

if TYPE_CHECKING:
    from sojourn.behavior import AgentComparison  # loads numba

__all__ = ["BehaviorCells", "behavior_cells", "behavior_figure", "draw_behavior"]

_WIDTH = 5.4
_FAINTEST = 0.2
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
    colors, axis = ActionColors(cells.actions), StepAxis(steps, cells.last, width=_WIDTH)
    for y, row in enumerate(cells.runs):
        for first, last, action, share in row:
            strength = _FAINTEST + (STRONGEST - _FAINTEST) * max(share - 0.5, 0.0) * 2.0
            axis.draw(y, (first, last), action, colors, strength=strength)
    axis.mark_steps()
    steps.set_ylim(len(cells.agents) - 0.5, -0.5)
    steps.set_yticks(range(len(cells.agents)), cells.agents)
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
    patches, words = ActionColors(cells.actions).legend()
    if any(share < _SURE for row in cells.runs for *_, share in row):
        patches.append(Patch(color=SOFT, alpha=_FAINTEST, linewidth=0))
        words.append("paler: the likeliest action is less likely")
    bars, names = panels[1].get_legend_handles_labels()
    add_legend(figure, [*patches, *bars], [*words, *names], loc="outside lower left", ncols=6)
    return figure
