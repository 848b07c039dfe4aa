"""The kinds of decision makers: committed, naive, sophisticated and partially naive."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sojourn._kernels import evaluate_deterministic, evaluate_stochastic
from sojourn._typing import FloatArray, PolicyArray
from sojourn._validation import check_positive, check_whole
from sojourn.behavior._decisions import Decisions
from sojourn.behavior._discounting import long_run_discount
from sojourn.behavior._selves import Choices, Table
from sojourn.behavior._settle import respond_to_cycle, settle
from sojourn.behavior._stationary import count_equilibria
from sojourn.errors import UnsettledWarning
from sojourn.laws import Geometric, LengthLaw
from sojourn.mdps import TabularMDP, check_tolerance
from sojourn.planning import evaluate, plan

__all__ = ["Task", "committed", "naive", "partially_naive", "sophisticated"]

MAX_LAYERS = 20_000
_MOST_STEPS = 100_000
_CUT = 1e-10
"""Without a deadline, softmax plans leave out this share of the weight of all steps."""


def committed(
    mdp: TabularMDP,
    law: LengthLaw,
    *,
    deadline: int | None = None,
    sensitivity: float | None = None,
    tolerance: float | None = None,
) -> Decisions:
    """Solve for an agent who makes one plan at step 1 and keeps to it.

    Without a deadline and a sensitivity this is `sojourn.plan`.

    Args:
        mdp: The problem.
        law: The discount function: γ(1 + j) is the weight of a reward j steps away.
        deadline: Last step that counts; None if there is none.
        sensitivity: Factor μ > 0 of choice probabilities ∝ exp(μ · utility), for agents who err. Agents who
            foresee their later selves foresee their errors too. By default the best action is always taken.
        tolerance: Width of the certified bracket of values without a deadline; by default 1e-6,
            or 1e-6 times the largest reward if that is smaller than 1.

    Example:
        >>> from sojourn import behavior
        >>> task = behavior.tasks.report([3, 5, 8, 13])
        >>> half = behavior.beta_delta(0.5, steps=4)
        >>> found = behavior.committed(task, half, deadline=4)
        >>> [task.action_label(found.action(week, week + 1)) for week in range(4)]
        ['wait', 'write', 'write', 'write']
    """
    return Task.of(mdp, law, deadline, sensitivity=sensitivity, tolerance=tolerance).committed()


def naive(
    mdp: TabularMDP,
    law: LengthLaw,
    *,
    deadline: int | None = None,
    sensitivity: float | None = None,
    tolerance: float | None = None,
) -> Decisions:
    """Solve for an agent whose clock restarts at every step, and who expects to keep to each new plan.

    At each step it takes the first action of the plan that is best for the steps left. The arguments are
    those of `committed`.

    Example:
        >>> from sojourn import behavior
        >>> task = behavior.tasks.report([3, 5, 8, 13])
        >>> found = behavior.naive(task, behavior.beta_delta(0.5, steps=4), deadline=4)
        >>> [task.action_label(found.action(week, week + 1)) for week in range(4)]
        ['wait', 'wait', 'wait', 'write']
        >>> found.cost, found.demand_for_commitment
        (4.0, 0.0)
    """
    return Task.of(mdp, law, deadline, sensitivity=sensitivity, tolerance=tolerance).naive()


def sophisticated(
    mdp: TabularMDP,
    law: LengthLaw,
    *,
    deadline: int | None = None,
    sensitivity: float | None = None,
    tolerance: float | None = None,
    max_layers: int = MAX_LAYERS,
) -> Decisions:
    """Solve for an agent whose clock restarts at every step, and who foresees that.

    Each self takes the action that is best for it, given what the later selves will do: a Markov-perfect
    equilibrium (Strotz 1955), found by backward induction. Without a deadline, the deadline moves away until
    the choices repeat. They may settle in a cycle, and there may be other equilibria: see
    `Decisions.outcome` and `all_equilibria`. The other arguments are those of `committed`.

    Args:
        mdp: The problem.
        law: The discount function.
        deadline: Last step that counts; None if there is none.
        sensitivity: Factor of choice probabilities ∝ exp(sensitivity · utility), or None.
        tolerance: Width of the certified bracket of values without a deadline; by default 1e-6,
            or 1e-6 times the largest reward if that is smaller than 1.
        max_layers: Largest number of steps of backward induction without a deadline.

    Raises:
        ValueError: If there is no deadline, and the law is neither a mixture of geometric laws nor has a tail
            that can be cut.

    Example:
        >>> from sojourn import behavior
        >>> task = behavior.tasks.report([3, 5, 8, 13])
        >>> found = behavior.sophisticated(task, behavior.beta_delta(0.5, steps=4), deadline=4)
        >>> [task.action_label(found.action(week, week + 1)) for week in range(4)]
        ['wait', 'write', 'wait', 'write']
    """
    return Task.of(
        mdp, law, deadline, sensitivity=sensitivity, tolerance=tolerance, max_layers=max_layers
    ).selves(None)


def partially_naive(
    mdp: TabularMDP,
    law: LengthLaw,
    perceived: LengthLaw,
    *,
    deadline: int | None = None,
    sensitivity: float | None = None,
    tolerance: float | None = None,
    max_layers: int = MAX_LAYERS,
) -> Decisions:
    """Solve for an agent who expects its later selves to discount by another law than its own.

    It expects them to be sophisticated under the perceived law (O'Donoghue and Rabin 2001). With the law
    itself, the agent is sophisticated. With beta-delta laws and a perceived β of 1 it is naive.

    Args:
        mdp: The problem.
        law: The agent's own discount function.
        perceived: The discount function that it expects of its later selves.
        deadline: Last step that counts; None if there is none.
        sensitivity: Factor of choice probabilities ∝ exp(sensitivity · utility), or None.
        tolerance: Width of the certified bracket of values without a deadline; by default 1e-6,
            or 1e-6 times the largest reward if that is smaller than 1.
        max_layers: Largest number of steps of backward induction without a deadline.

    Example:
        >>> from sojourn import behavior
        >>> task = behavior.tasks.report([3, 5, 8, 13])
        >>> half, milder = (behavior.beta_delta(beta, steps=4) for beta in (0.5, 0.9))
        >>> found = behavior.partially_naive(task, half, milder, deadline=4)
        >>> [task.action_label(found.action(week, week + 1)) for week in range(4)]
        ['wait', 'wait', 'wait', 'write']
    """
    if not isinstance(perceived, LengthLaw):
        raise TypeError(f"perceived must be a length law; got {perceived!r}.")
    return Task.of(
        mdp, law, deadline, sensitivity=sensitivity, tolerance=tolerance, max_layers=max_layers
    ).selves(perceived)


@dataclass(frozen=True, eq=False)
class Task:
    """A checked problem, law and deadline, for which any kind of decision maker can be solved."""

    table: Table
    law: LengthLaw
    deadline: int | None
    tolerance: float
    max_layers: int

    @classmethod
    def of(
        cls,
        mdp: TabularMDP,
        law: LengthLaw,
        deadline: int | None,
        *,
        sensitivity: float | None = None,
        tolerance: float | None = None,
        max_layers: int = MAX_LAYERS,
    ) -> Task:
        """Check the arguments."""
        if not isinstance(mdp, TabularMDP):
            raise TypeError(f"mdp must be a TabularMDP; got {mdp!r}.")
        if not isinstance(law, LengthLaw):
            raise TypeError(f"law must be a length law; got {law!r}.")
        if deadline is not None:
            deadline = check_whole("deadline", deadline, least=1)
        if sensitivity is not None:
            sensitivity = check_positive("sensitivity", sensitivity)
        tolerance = check_tolerance(mdp, tolerance)
        max_layers = check_whole("max_layers", max_layers, least=1)
        return cls(Table(mdp, sensitivity), law, deadline, tolerance, max_layers)

    @property
    def mdp(self) -> TabularMDP:
        """The problem."""
        return self.table.mdp

    @cached_property
    def committed_choices(self) -> Choices:
        """The choices of the committed agent."""
        if self.deadline is not None:
            return self.table.play_running(self.law, self.deadline)
        if self.table.sensitivity is None:
            policy = plan(self.mdp, self.law, tolerance=self.tolerance).policy.astype(np.int64)
            return Choices(policy, None, np.zeros(policy.shape, dtype=bool))
        return self._softmax_plan()

    def _softmax_plan(self) -> Choices:
        """Return the softmax plan without a deadline, as far as the law has weight."""
        if float(self.law.tail(_MOST_STEPS)) > _CUT * self.law.mean:
            raise ValueError(
                f"deadline must be given with a sensitivity for {self.law!r}: its tail is too heavy."
            )
        last = self.law.longest or self.law.effective_horizon(_CUT * self.law.mean)
        found = self.table.play_running(self.law, last)
        chances = found.policy
        differs = np.flatnonzero(np.abs(chances - chances[len(chances) // 2]).max(axis=(1, 2)) > 1e-9)
        first_half = differs[differs < len(chances) // 2]
        if self.law.longest is not None:
            return found
        n = int(first_half[-1]) + 2 if first_half.size else 1  # later rows are near the cut
        return Choices(found.actions[:n], chances[:n], found.is_tie[:n])

    @cached_property
    def committed_value(self) -> FloatArray:
        """The value of the committed agent."""
        return self.value(self.committed_choices.policy, "hold")

    def value(self, policy: PolicyArray, after: str, law: LengthLaw | None = None) -> FloatArray:
        """Return the value of a policy seen from step 1, `(S,)`."""
        law = law or self.law
        if self.deadline is None:
            return evaluate(self.mdp, law, policy, after, tolerance=self.tolerance).value
        return self._sum(policy, law.continuation(np.arange(1, self.deadline + 1)))

    def _sum(self, policy: PolicyArray, ratios: FloatArray) -> FloatArray:
        """Return the value of a policy with a deadline, given ρ(h)."""
        backup: Any = evaluate_deterministic if policy.ndim == 2 else evaluate_stochastic
        end = np.zeros(self.mdp.n_states)
        layers = np.minimum(np.arange(ratios.size), len(policy) - 1)
        rows = np.ascontiguousarray(policy)
        found: FloatArray = backup(self.table.rows, self.table.rewards, ratios, end, rows, layers)
        return found

    def long_run_value(self, policy: PolicyArray, after: str) -> FloatArray | None:
        """Return the value of a policy without present bias, or None if the law is not beta-delta."""
        delta = long_run_discount(self.law, self.deadline)
        if delta is None:
            return None
        if self.deadline is not None:
            return self._sum(policy, np.full(self.deadline, delta))
        if self.law.longest is not None:
            return None
        return self.value(policy, after, Geometric(delta))

    def committed(self) -> Decisions:
        """Solve for a committed agent."""
        found = self.committed_choices
        outcome = "plan" if self.deadline is None else "deadline"
        return self.decisions("committed", found, outcome, expected_value=self.committed_value)

    def naive(self) -> Decisions:
        """Solve for a naive agent."""
        best = self.committed_choices
        if self.deadline is not None:
            found = self.table.play_restarting(self.law, self.deadline)
            return self.decisions("naive", found, "deadline", expected_value=self.committed_value)
        first = Choices(best.actions[:1], None if best.chances is None else best.chances[:1], best.is_tie[:1])
        return self.decisions(
            "naive", first, "stationary", expected_value=self.committed_value, expected=best.policy
        )

    def selves(self, perceived: LengthLaw | None) -> Decisions:
        """Solve for a sophisticated agent, or a partially naive one with a perceived law."""
        kind, other = "sophisticated" if perceived is None else "partially naive", perceived or self.law
        if self.deadline is not None:
            found = self.table.play_selves(self.law, other, self.deadline)
            if perceived is None:
                return self.decisions(kind, found, "deadline")
            expected = self.table.play_selves(other, other, self.deadline).policy
            foreseen = self.value(np.concatenate([found.policy[:1], expected[1:]]), "hold")
            return self.decisions(
                kind, found, "deadline", perceived=perceived, expected=expected, expected_value=foreseen
            )
        settled = settle(self.table, other, self.max_layers)
        rows = settled.choices.policy
        response = respond_to_cycle(self.table, self.law, rows, self.tolerance)
        outcome = "cycle" if len(rows) > 1 else "stationary"
        gain = float(response.gains.max()) if perceived is None and self.table.sensitivity is None else 0.0
        if not settled.has_settled or gain > self.tolerance:
            outcome = "unsettled"
            warnings.warn(
                f"Backward induction did not settle within {self.max_layers:,} steps; the result is its last "
                "row. Give a deadline, or raise max_layers.",
                UnsettledWarning,
                stacklevel=3,
            )
        if perceived is None:
            is_exact = self.table.sensitivity is None
            n = count_equilibria(self.table, self.law, self.tolerance) if is_exact else None
            return self.decisions(kind, settled.choices, outcome, gain=gain, n_equilibria=n)
        return self.decisions(
            kind,
            response.choices,
            outcome,
            perceived=perceived,
            expected=rows,
            expected_value=response.value,
        )

    def decisions(
        self,
        kind: str,
        choices: Choices,
        outcome: str,
        *,
        perceived: LengthLaw | None = None,
        expected_value: FloatArray | None = None,
        expected: PolicyArray | None = None,
        gain: float = 0.0,
        n_equilibria: int | None = None,
    ) -> Decisions:
        """Compute the values of choices; `expected` are the rows that the agent foresees, if they differ."""
        after = "restart" if outcome == "cycle" else "hold"
        policy = choices.policy
        value = self.committed_value if kind == "committed" else self.value(policy, after)
        arrays: dict[str, Any] = {
            "policy": policy,
            "ties": choices.is_tie,
            "value": value,
            "expected_value": value if expected_value is None else expected_value,
            "committed_value": self.committed_value,
            "long_run_value": self.long_run_value(policy, after),
        }
        for array in arrays.values():
            if array is not None:
                array.flags.writeable = False
        return Decisions(
            kind=kind,
            mdp=self.mdp,
            law=self.law,
            perceived=perceived,
            deadline=self.deadline,
            sensitivity=self.table.sensitivity,
            outcome=outcome,
            best_deviation=gain,
            n_equilibria=n_equilibria,
            _expected=expected,
            **arrays,
        )
