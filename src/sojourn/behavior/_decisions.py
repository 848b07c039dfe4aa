"""The result of solving a table for one kind of decision maker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn import _html
from sojourn._typing import BoolArray, FloatArray, PolicyArray
from sojourn._validation import check_whole
from sojourn.behavior._discounting import long_run_discount
from sojourn.behavior._selves import Table
from sojourn.laws import LengthLaw, label
from sojourn.mdps import TabularMDP

__all__ = ["Decisions"]


@dataclass(frozen=True, eq=False, repr=False)
class Decisions:
    """What one kind of decision maker does, expects and gets.

    Utilities are sums of rewards, weighted by the law from the step at which they are considered. Values are
    seen from step 1 by default: this is the committed view, in which the clock runs on.

    Attributes:
        kind: "committed", "naive", "sophisticated" or "partially naive".
        mdp: The problem.
        law: The discount function.
        perceived: The discount function that the agent expects of its later selves, if it is another one.
        deadline: Number of steps, or None.
        sensitivity: Factor μ of choice probabilities ∝ exp(μ · utility), or None for the best action. Actions
            that are copies of a lower one in a state have probability 0 there.
        policy: `(N, S)` actions, or `(N, S, A)` probabilities with a sensitivity; row h − 1 is step h. After
            step N the last row is held, or all rows repeat if `outcome` is "cycle".
        ties: `(N, S)` whether another action has the same utility; the lowest action is taken.
        outcome: "deadline" if there is one, "plan" for a plan without one, "stationary" if the same row is
            best at every step, "cycle" if backward induction ends in a cycle of several rows (any of them
            may be the first), "unsettled" if it did neither.
        value: `(S,)` value from each start state, in the committed view.
        expected_value: `(S,)` value that the agent expects at step 1, in the committed view.
        committed_value: `(S,)` value of the committed agent.
        long_run_value: `(S,)` value without present bias (δ only), or None if the law is not beta-delta.
        best_deviation: Largest gain in utility that a self of a sophisticated agent could make by another
            action; 0 up to rounding, unless `outcome` is "unsettled".
        n_equilibria: Number of stationary equilibria of a sophisticated agent without a deadline who never
            errs, if the table is small enough to try all policies, else None.
    """

    kind: str
    mdp: TabularMDP
    law: LengthLaw
    perceived: LengthLaw | None
    deadline: int | None
    sensitivity: float | None
    policy: PolicyArray
    ties: BoolArray
    outcome: str
    value: FloatArray
    expected_value: FloatArray
    committed_value: FloatArray
    long_run_value: FloatArray | None
    best_deviation: float
    n_equilibria: int | None = None
    _expected: PolicyArray | None = None

    @property
    def after(self) -> str:
        """The argument `after` that `sojourn.evaluate` needs for this policy."""
        return "restart" if self.outcome == "cycle" else "hold"

    @property
    def cost(self) -> float:
        """What the agent loses by changing its mind: committed value − value, from the start states."""
        return float(self.mdp.start @ (self.committed_value - self.value))

    @property
    def demand_for_commitment(self) -> float:
        """What the agent would pay at step 1 to be held to its plan: committed value − expected value.

        It is 0 for a naive agent, who does not foresee any change of mind.
        """
        return float(self.mdp.start @ (self.committed_value - self.expected_value))

    @property
    def long_run_discount(self) -> float | None:
        """δ, if the law is beta-delta."""
        return long_run_discount(self.law, self.deadline)

    def row_of(self, h: int) -> int:
        """Return the row of `policy` that plays step `h`, counted from 1."""
        n = len(self.policy)
        return (h - 1) % n if self.outcome == "cycle" else min(h, n) - 1

    def action(self, state: int, h: int) -> int:
        """Return the action in `state` at step `h`, counted from 1; with a sensitivity the likeliest."""
        h = check_whole("h", h, least=1)
        state = check_whole("state", state, least=0)
        if state >= self.mdp.n_states:
            raise ValueError(f"state must be < {self.mdp.n_states}; got {state}.")
        if self.deadline is not None and h > self.deadline:
            raise ValueError(f"h must be at most the deadline, {self.deadline:,}; got {h:,}.")
        row = self.policy[self.row_of(h), state]
        return int(np.argmax(row)) if self.policy.ndim == 3 else int(row)

    def expects(self, step: int = 1) -> PolicyArray:
        """Return the policy that the agent expects at a step for that step and all later ones.

        The first row is what it does. Rows have the form of `policy`; after the last one it is held, or for
        a cycle all rows repeat.
        """
        step = check_whole("step", step, least=1)
        if self.deadline is not None and step > self.deadline:
            raise ValueError(f"step must be at most the deadline, {self.deadline:,}; got {step:,}.")
        if self.kind == "naive":  # the plan that starts now
            table = Table(self.mdp, self.sensitivity)
            if self.deadline is not None:
                return table.play_running(self.law, self.deadline - step + 1).policy
            return self.policy if self._expected is None else self._expected
        later = self.policy if self._expected is None else self._expected
        first = self.row_of(step)
        if self.outcome == "cycle":
            rolled = np.roll(later, -first, axis=0)
            return np.concatenate([self.policy[first : first + 1], rolled[1:], rolled[:1]])
        return np.concatenate([self.policy[first : first + 1], later[first + 1 :]])

    def action_shares(self, last: int) -> FloatArray:
        """Return the probability of each action at steps 1 … `last` from the start states, `(last, A)`.

        States in which all actions are the same leave no choice, so that the shares of a step sum to the
        probability that there is a choice.
        """
        last = check_whole("last", last, least=1)
        table = Table(self.mdp, None)
        has_choice = table.is_distinct.sum(axis=1) > 1
        shares = np.zeros((last, self.mdp.n_actions))
        for h, here in enumerate(self._visits(last), start=1):
            shares[h - 1] = (here[:, np.newaxis] * self._chances(h))[has_choice].sum(axis=0)
        return shares

    def _chances(self, h: int) -> FloatArray:
        """Return the probabilities of the actions at a step, `(S, A)`."""
        row = self.policy[self.row_of(h)]
        return row if row.ndim == 2 else np.asarray(np.eye(self.mdp.n_actions)[row])

    def _visits(self, last: int) -> Iterator[FloatArray]:
        """Yield the distribution over states at steps 1 … `last`."""
        here = self.mdp.start
        for h in range(1, last + 1):
            yield here
            here = (here[:, np.newaxis] * self._chances(h)).reshape(-1) @ self.mdp.transitions

    def notes(self) -> list[str]:
        """Return remarks on the result: ties, several equilibria, cycles, unsettled choices."""
        found = []
        if self.ties.any() and self.kind != "committed" and self.sensitivity is None:
            found.append(self._note_on_ties())
        if (self.n_equilibria or 0) > 1:
            found.append(
                f"There are {self.n_equilibria:,} stationary equilibria, and backward induction finds one of "
                "them at most: see all_equilibria."
            )
        if self.outcome == "cycle":
            found.append(
                f"There is no stationary answer from backward induction: it repeats every {len(self.policy)} "
                "steps, and any of these steps may be the first."
            )
        if self.outcome == "unsettled":
            found.append("Backward induction did not settle; the policy is its last row.")
        return found

    def _note_on_ties(self) -> str:
        """Return the first tie that the agent comes to, or else the number of ties off its path."""
        foresees = self.kind in {"sophisticated", "partially naive"}
        other = "other choices may lead to other equilibria" if foresees else "another one may lead elsewhere"
        rest = f"the lowest is taken, and {other}."
        for h, here in enumerate(self._visits(len(self.ties)), start=1):
            tied = np.flatnonzero(self.ties[h - 1] & (here > 0.0))
            if tied.size:
                state = self.mdp.state_label(int(tied[0]))
                return f"At step {h} in {state} several actions are equally good; {rest}"
        n = int(self.ties.sum())
        return f"Off its path, several actions are equally good at {n:,} steps and states; {rest}"

    def __repr__(self) -> str:
        kind = self.kind if self.perceived is None else f"{self.kind}, perceived {label(self.perceived)}"
        end = "no deadline" if self.deadline is None else f"deadline {self.deadline:,}"
        value = float(self.mdp.start @ self.value)
        about = f"{kind}, {self.mdp.label!r}, {label(self.law)}, {end}"
        return f"Decisions({about}, {self.outcome}, value {value:.6g})"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, Any]] = [
            ("problem", self.mdp.label),
            ("law", label(self.law)),
            ("deadline", self.deadline or "none"),
            ("outcome", self.outcome),
            ("value", f"{float(self.mdp.start @ self.value):.6g}"),
            ("cost of changing its mind", f"{self.cost:.6g}"),
            ("demand for commitment", f"{self.demand_for_commitment:.6g}"),
        ]
        return _html.table(f"{self.kind.capitalize()} agent", rows)
