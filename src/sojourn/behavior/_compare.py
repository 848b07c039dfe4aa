"""Compares the kinds of decision makers on one task: what they do at which step, and what it costs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sojourn import _html
from sojourn._validation import check_whole
from sojourn.behavior._agents import Task
from sojourn.behavior._decisions import Decisions
from sojourn.laws import LengthLaw, label
from sojourn.mdps import TabularMDP, check_tolerance

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["AgentComparison", "Stretch", "compare"]

_SHOWN = 12
"""Number of steps that are shown without a deadline."""

_SURE = 0.995


@dataclass(frozen=True)
class Stretch:
    """Consecutive steps with the same likeliest action.

    Attributes:
        first: First step.
        last: Last step.
        action: The action, or None where there is no choice left.
        share: Smallest probability of the action in these steps, given that there is a choice.
    """

    first: int
    last: int
    action: int | None
    share: float


@dataclass(frozen=True, eq=False)
class AgentComparison:
    """Committed, sophisticated and naive agents on one task.

    Attributes:
        agents: The solved agents; a partially naive one is last.
        last: Last step that is shown.
    """

    agents: tuple[Decisions, ...]
    last: int

    def stretches(self, agent: Decisions) -> list[Stretch]:
        """Return what an agent does from the start states, as stretches of steps with the same action."""
        found: list[Stretch] = []
        for h, shares in enumerate(agent.action_shares(self.last), start=1):
            total = float(shares.sum())
            action = int(np.argmax(shares)) if total > 1e-9 else None
            share = float(shares.max() / total) if total > 1e-9 else 1.0
            if found and found[-1].action == action:
                found[-1] = Stretch(found[-1].first, h, action, min(share, found[-1].share))
            else:
                found.append(Stretch(h, h, action, share))
        return found

    def does(self, agent: Decisions) -> str:
        """Return what an agent does in words: "1–3 wait, 4 write"."""
        words = []
        for stretch in self.stretches(agent):
            if stretch.action is not None:
                steps = (
                    f"{stretch.first}" if stretch.first == stretch.last else f"{stretch.first}–{stretch.last}"
                )
                share = "" if stretch.share >= _SURE else f" ({100.0 * stretch.share:.0f}% or more)"
                words.append(f"{steps} {agent.mdp.action_label(stretch.action)}{share}")
        return ", ".join(words) or "no choice"

    def rows(self) -> list[dict[str, str | float | None]]:
        """Return one row per agent, with numbers from the start states."""
        start = self.agents[0].mdp.start
        return [
            {
                "agent": one.kind,
                "what it does": self.does(one),
                "value": float(start @ one.value),
                "cost": one.cost,
                "demand for commitment": one.demand_for_commitment,
                "long-run value": None if one.long_run_value is None else float(start @ one.long_run_value),
            }
            for one in self.agents
        ]

    def notes(self) -> list[str]:
        """Return remarks on the results: ties, several equilibria, cycles, unsettled choices."""
        return [f"{one.kind.capitalize()}: {note}" for one in self.agents for note in one.notes()]

    def plot(self) -> Figure:
        """Draw who does what at which step, and what it costs; see `sojourn.plots.behavior_figure`."""
        from sojourn.plots import behavior_figure  # noqa: PLC0415

        return behavior_figure(self)

    def __repr__(self) -> str:
        first = self.agents[0]
        rows = [list(self.rows()[0])]
        rows += [[self._cell(value) for value in row.values()] for row in self.rows()]
        if all(row[-1] == "" for row in rows[1:]):
            rows = [row[:-1] for row in rows]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = [f"{first.mdp.label} under {label(first.law)}"]
        for row in rows:
            cells = [
                cell.ljust(width) if i < 2 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines + self.notes())

    def _cell(self, value: str | float | None) -> str:
        """Return the text of a cell; numbers within the default tolerance are 0."""
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        least = 0.5 * check_tolerance(self.agents[0].mdp, None)
        return f"{value + 0.0 if abs(value) > least else 0.0:.4g}"

    def _repr_html_(self) -> str:
        rows = [
            (
                str(row["agent"]),
                "; ".join(f"{name} {self._cell(value)}" for name, value in list(row.items())[1:]),
            )
            for row in self.rows()
        ]
        return _html.table(f"{self.agents[0].mdp.label} under {label(self.agents[0].law)}", rows)


def compare(
    mdp: TabularMDP,
    law: LengthLaw,
    *,
    perceived: LengthLaw | None = None,
    deadline: int | None = None,
    sensitivity: float | None = None,
    last: int | None = None,
    tolerance: float | None = None,
) -> AgentComparison:
    """Solve a task for a committed, a sophisticated and a naive agent, and compare what they do and get.

    Values are seen from step 1, the committed view. The cost of an agent is the committed value minus its
    own; the demand for commitment is what it would pay for a way to be held to its plan.

    Args:
        mdp: The task; see `behavior.tasks` for examples.
        law: The discount function.
        perceived: If given, a partially naive agent is added, who expects this law of its later selves.
        deadline: Last step that counts; None if there is none.
        sensitivity: Factor of choice probabilities ∝ exp(sensitivity · utility), or None.
        last: Last step that is shown; the deadline by default, or 12.
        tolerance: Width of the certified bracket of values without a deadline; by default 1e-6,
            or 1e-6 times the largest reward if that is smaller than 1.

    Example:
        >>> from sojourn import behavior
        >>> task = behavior.tasks.coupon([3, 5, 8, 13])
        >>> print(behavior.compare(task, behavior.beta_delta(0.5, steps=4), deadline=4))
        Coupon under Tabulated((1, 0.5, 0.5, 0.5))
        agent          what it does     value  cost  demand for commitment  long-run value
        committed      1–3 wait           6.5     0                      0              13
        sophisticated  1 go                 3   3.5                    3.5               3
        naive          1–2 wait, 3 go       4   2.5                      0               8
    """
    task = Task.of(mdp, law, deadline, sensitivity=sensitivity, tolerance=tolerance)
    agents = [task.committed(), task.selves(None), task.naive()]
    if perceived is not None:
        if not isinstance(perceived, LengthLaw):
            raise TypeError(f"perceived must be a length law; got {perceived!r}.")
        agents.append(task.selves(perceived))
    shown = deadline or _SHOWN if last is None else check_whole("last", last, least=1)
    return AgentComparison(tuple(agents), shown if deadline is None else min(shown, deadline))
