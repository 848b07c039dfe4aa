"""Figure: what a plan does at which step, what other policies do, and what each of them earns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.laws import label
from sojourn.plots._style import COLORS, INK, SOFT, add_legend, new_figure, new_grid, set_labels, wrap_text
from sojourn.plots.policies._policy_map import draw_policy_map, policy_maps
from sojourn.plots.policies._strips import ActionColors, StepAxis

if TYPE_CHECKING:
    from sojourn.planning import Plan  # loads numba
    from sojourn.planning.policy_view import PolicyView, ShownPolicy

__all__ = ["draw_earnings", "draw_strips", "plan_figure"]

_WIDTH = 6.0
_ROW = 0.42
_THIN = 0.22
"""Height of the thin bars, where the strip of the plan has 1."""

_MOST_MAPS = 4


def plan_figure(
    plan: Plan,
    policies: Mapping[str, object] | None = None,
    *,
    single_gamma: bool | None = None,
    states: int = 12,
) -> Figure:
    """Draw what a plan does at which step, beside the policy of the best single γ and others.

    On small problems every state whose action changes with the step has a strip: one bar per stretch of steps
    with the same action. States whose action never changes are only counted. On a problem with a map
    (`TabularMDP.grid`) the actions are drawn as arrows, at the steps at which most of them change. A second
    panel has what each policy earns under the law.

    Args:
        plan: The plan.
        policies: Policies to compare, by name: a `Plan`, or `(S,)` or `(N, S)` actions whose last row is
            held.
        single_gamma: Whether to compare the policy of the best single discount γ; by default if the plan
            knows its problem, the problem has at most 20,000 pairs of state and action, the plan's bracket is
            narrow and the law is not geometric.
        states: Largest number of states that are shown.

    Returns:
        The figure. It has no window: write it with `figure.savefig("plan.pdf")`.
    """
    from sojourn.planning.policy_view import view_plan  # noqa: PLC0415 - loads numba

    view = view_plan(plan, policies, single_gamma=single_gamma, states=states)
    if plan.mdp is not None and plan.mdp.grid is not None:
        return _map_figure(plan, view)
    shown, n_states = _shown(view), len(view.states)
    n_rows = len(shown) if n_states == 1 else n_states * (1.0 + _THIN * (len(shown) - 1))
    has_values = len(view.policies) > 1 and view.policies[0].value is not None
    figure, panels = new_figure(1 + has_values, width=_WIDTH, height=1.6 + _ROW * min(n_rows, 24))
    colors = draw_strips(view, panels[0])
    if has_values:
        panels[0].get_gridspec().set_width_ratios([2.4, 1.0])  # type: ignore[union-attr]
        figure.set_size_inches(1.5 * _WIDTH, figure.get_figheight())
        draw_earnings(view, panels[1])
    _add_title(figure, view, view.summary())
    add_legend(figure, *colors.legend(), loc="outside lower left", ncols=6)
    return figure


def draw_strips(view: PolicyView, axes: Axes) -> ActionColors:
    """Draw the strips of the shown states on given axes; return the colors of the actions.

    If only one state is shown, every policy has a row. Otherwise every state has a row for the plan, with
    thin bars of the other policies below.
    """
    shown = _shown(view)
    used = {part.action for one in shown for i in range(len(view.states)) for part in view.stretches(one, i)}
    colors = ActionColors({action: view.action_names[action] for action in sorted(used)})
    steps = StepAxis(axes, view.last, width=_WIDTH * 0.8)
    is_one = len(view.states) == 1
    thin = 0.0 if is_one else _THIN * (len(shown) - 1)
    ticks: list[float] = []
    row = 0.0
    for i in range(len(view.states)):
        for j, one in enumerate(shown):
            is_main = is_one or j == 0
            place = row if is_main else row + 0.36 + (j - 0.5) * _THIN
            for part in view.stretches(one, i):
                last = view.last if part.last is None else part.last
                height = {} if is_main else {"height": 0.8 * _THIN}
                steps.draw(place, (part.first, last), part.action, colors, **height)
            if is_main:
                ticks.append(row)
                row += 1.0 if is_one else 0.0
        row += 0.0 if is_one else 1.0 + thin
    axes.set_ylim(row - 0.4, -0.6)
    names = [one.name for one in shown] if is_one else list(view.state_names)
    axes.set_yticks(ticks, [wrap_text(name, 26) for name in names])
    steps.mark_steps(view.changes)
    title = f"What to do in {_quoted(view.state_names[0])}" if is_one else "What to do"
    words = "step" if view.law.longest == view.last else "step; the last action is played at all later steps"
    words = f"step. {view.drawn()}" if view.drawn() else words
    if thin:
        words += f"\nthin bars: {', '.join(one.name for one in shown[1:])}"
    set_labels(axes, title=title, x=words, y="")
    return colors


def _shown(view: PolicyView) -> tuple[ShownPolicy, ...]:
    """Return the policies that have strips: only the plan if it never changes."""
    return view.policies if view.n_changing else view.policies[:1]


def _quoted(state: str) -> str:
    return state if state.startswith("state ") else f"state “{state}”"


def draw_earnings(view: PolicyView, axes: Axes) -> None:
    """Draw what each policy earns under the law on given axes."""
    known = [one for one in view.policies if one.value is not None]
    values = np.array([one.value for one in known])
    places = np.arange(len(known))
    axes.barh(places, values, height=0.55, color=[COLORS[0], *[SOFT] * (len(known) - 1)], alpha=0.75)
    for place, one in zip(places, known, strict=True):
        axes.annotate(
            view.earns(one),
            (max(float(one.value or 0.0), 0.0), place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            color=INK,
            parse_math=False,
        )
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    axes.set_xlim(low, high + 0.75 * ((high - low) or 1.0))
    axes.set_ylim(len(known) - 0.4, -0.6)
    is_aligned = len(view.states) == 1 and view.n_changing > 0  # the strips beside it have the same rows
    axes.set_yticks(places, [""] * len(known) if is_aligned else [wrap_text(one.name, 22) for one in known])
    axes.grid(visible=False)
    axes.spines["bottom"].set_visible(False)
    axes.set_xticks([])
    set_labels(axes, title="Earns per episode", x="", y="")


def _map_figure(plan: Plan, view: PolicyView) -> Figure:
    """Draw the actions of a problem with a map as arrows, at up to four steps."""
    maps = policy_maps(plan, most=_MOST_MAPS)
    rows, columns = maps[0].actions.shape
    cell = min(0.5, 7.0 / columns)
    width, height = max(2.4, cell * columns + 0.4), cell * rows + 0.7
    per_row = max(1, min(len(maps), int(12.0 // width)))
    figure, panels = new_grid(len(maps), per_row, width=width, height=height, below=0.75)
    for chart, panel in zip(maps, panels, strict=True):
        draw_policy_map(chart, panel)
    n_states = f"{view.n_changing:,} of {view.n_states:,} states"
    changes = f"In {n_states} the action changes with the step."
    _add_title(figure, view, changes if view.n_changing else view.summary())
    known = [one for one in view.policies if one.value is not None]
    words = "; ".join(f"{one.name} earns {view.earns(one)}" for one in known)
    if len(maps) > 1:
        words += ". Shaded: the action differs from that of the map before"
    wrapped = wrap_text(f"{words}.", int(14 * figure.get_figwidth()))
    figure.supxlabel(wrapped, x=0.01, ha="left", fontsize=8.5, color=INK).set_parse_math(False)
    return figure


def _add_title(figure: Figure, view: PolicyView, note: str) -> None:
    text = f"{view.problem}, lengths from {label(view.law)}"
    title = wrap_text(f"{text}. {note}".strip(), int(12 * figure.get_figwidth()))
    figure.suptitle(title, x=0.01, ha="left", fontsize=9.5, color=INK, parse_math=False)
