"""What a plan does at which step, as colored strips in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sojourn._text import one_line
from sojourn.cli.output._streams import results_console

if TYPE_CHECKING:
    from sojourn.planning.policy_view import PolicyView, ShownPolicy

__all__ = ["plan_strips"]

_COLORS = ("blue", "dark_orange", "green", "magenta", "cyan", "yellow")
_MOST_CELLS = 30
_WIDEST_NAME = 16
"""Longest name of a state beside which there is room for a strip in 80 columns."""

_MOST_STRETCHES = 6


def plan_strips(view: PolicyView) -> list[RenderableType]:
    """Return a strip of letters per shown state, and what each policy earns.

    Each letter is the beginning of the action's name at one step; the words behind the strip say the same.
    """
    if view.n_changing == 0 and view.n_states > len(view.states):
        return [Text(view.summary())]
    table = Table(box=None, show_header=False, show_edge=False, padding=(0, 2, 0, 0))
    table.add_column()
    has_room = max(map(len, view.state_names), default=0) <= _WIDEST_NAME and results_console().width >= 80
    if has_room:
        table.add_column(no_wrap=True)
    table.add_column()
    best = view.policies[0]
    styles = _styles(view)
    for i, state in enumerate(view.state_names):
        cells: list[RenderableType] = [Text(one_line(state), style="bold")]
        if has_room:
            cells.append(_letters(view, best, i, styles))
        table.add_row(*cells, Text(_words(view, best, i)))
    parts: list[RenderableType] = [Text("What to do at which step", style="bold cyan"), table]
    if view.summary():
        parts.append(Text(view.summary(), style="dim"))
    others = [one for one in view.policies[1:] if one.value is not None]
    parts += [Text(f"The {one.name} earns {view.earns(one)}.") for one in others]
    return parts


def _words(view: PolicyView, policy: ShownPolicy, i: int) -> str:
    n_changes = view.n_changes(policy, i)
    if n_changes >= _MOST_STRETCHES:
        return f"changes {n_changes:,} times up to step {view.changes[-1]:,}"
    return one_line(view.words(policy, i))


def _styles(view: PolicyView) -> dict[int, str]:
    used = {part.action for i in range(len(view.states)) for part in view.stretches(view.policies[0], i)}
    return {action: f"bold white on {_COLORS[j % len(_COLORS)]}" for j, action in enumerate(sorted(used))}


def _letters(view: PolicyView, policy: ShownPolicy, i: int, styles: dict[int, str]) -> Text:
    """Return one letter per step, up to the number of steps that fit."""
    last = min(view.last, _MOST_CELLS)
    text = Text(" " * (view.first_steps[i] - 1))
    for action in policy.actions(view.states[i], last)[view.first_steps[i] - 1 :].tolist():
        name = view.action_names[action]
        letter = name.removeprefix("action ")[:1] or "?"
        text.append(one_line(letter)[:1], style=styles.get(action, ""))
    if view.last > last:
        text.append("…")
    return text
