"""What policies do, state by state and step by step: the data behind the drawing of a plan."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sojourn._typing import BoolArray, FloatArray, IntArray, PolicyArray
from sojourn._validation import check_not_masked
from sojourn.laws import Geometric, LengthLaw, label
from sojourn.mdps import TabularMDP
from sojourn.planning._evaluate import evaluate
from sojourn.planning._plan import Plan
from sojourn.planning._value_of_the_law import find_single_gamma

__all__ = ["MapDecisions", "PolicyView", "ShownPolicy", "Stretch", "decisions_on_map", "view_plan"]

_SHOWN_STATES = 12
_FEWEST_STEPS = 10
_MARGIN = 0.3
"""Steps that are shown after the last change, as a share of those before it."""

_MOST_PAIRS = 20_000
"""Pairs of state and action up to which the best single γ is searched for without being asked."""

_WIDEST = 1e-3
"""Widest bracket, relative to the largest value, of a plan that is compared without being asked."""

_VISITED_STEPS = 500
"""Steps over which visits are counted; they only decide which states are shown first."""

_MOST_DRAWN = 200
"""Stretches of a state that are drawn, and steps in `PolicyView.changes`: a reader can tell no more apart."""

_MOST_IN_WORDS = 20
"""Stretches of a state that are written out in a sentence."""


@dataclass(frozen=True)
class Stretch:
    """Consecutive steps at which a policy plays the same action in a state.

    Attributes:
        first: First step.
        last: Last step; None if the action is played at all later steps.
        action: The action.
    """

    first: int
    last: int | None
    action: int

    def words(self, action: str) -> str:
        """Return the stretch in words: "1–6 cash", "from 7 invest"."""
        if self.last is None:
            return f"from {self.first:,} {action}"
        steps = f"{self.first:,}" if self.first == self.last else f"{self.first:,}–{self.last:,}"
        return f"{steps} {action}"


@dataclass(frozen=True, eq=False)
class ShownPolicy:
    """A policy beside the plan, and what it earns.

    Attributes:
        name: What it is called in tables and figures.
        policy: `(N, S)` actions.
        after: What is played after step N: "hold" or "restart".
        value: Its value under the law, from the start states; None if the problem is not known.
        loss: Value of the plan minus this value; 0 for the plan itself.
    """

    name: str
    policy: PolicyArray
    after: str
    value: float | None
    loss: float

    def actions(self, state: int, last: int) -> IntArray:
        """Return the actions in a state at steps 1 … `last`."""
        return self._actions_at(state, np.arange(1, last + 1))

    def _actions_at(self, state: int, steps: IntArray) -> IntArray:
        n_rows = len(self.policy)
        rows = (steps - 1) % n_rows if self.after == "restart" else np.minimum(steps, n_rows) - 1
        return np.asarray(self.policy[rows, state], dtype=np.int64)

    def changes(self, state: int, *, first: int, last: int) -> IntArray:
        """Return the steps after `first`, up to `last`, at which the action in a state changes."""
        actions = self.actions(state, last)[first - 1 :]
        return np.flatnonzero(actions[1:] != actions[:-1]) + first + 1

    def stretches(self, state: int, *, first: int, last: int) -> tuple[Stretch, ...]:
        """Return what the policy does in a state from step `first` on; changes after `last` are left out.

        There are at most 200 stretches. If more follow, the last one has a last step.
        """
        changes = self.changes(state, first=first, last=last)[:_MOST_DRAWN]
        begins = np.append(first, changes)[:_MOST_DRAWN]
        actions, ends = self._actions_at(state, begins), [*(changes - 1).tolist(), None]
        return tuple(map(Stretch, begins.tolist(), ends, actions.tolist()))


@dataclass(frozen=True, eq=False)
class PolicyView:
    """What a plan, and other policies beside it, do in the states that matter.

    Attributes:
        problem: Name of the problem.
        law: The law planned for.
        policies: The plan, then the others.
        states: The states that are shown: those in which the plan's action changes with the step, the most
            visited first. If it never changes, the most visited states in which actions differ in effect.
        first_steps: First step at which each shown state can be reached.
        changes: Steps at which the plan's action changes in a shown state, sorted; of more than 200, the
            first 199 and the last.
        n_changing: Number of states in which the plan's action changes with the step.
        n_states: Number of states that can be reached, without terminal ones.
        last: Last step that is shown.
        state_names: Names of the shown states.
        action_names: Names of all actions.
    """

    problem: str
    law: LengthLaw
    policies: tuple[ShownPolicy, ...]
    states: tuple[int, ...]
    first_steps: tuple[int, ...]
    changes: tuple[int, ...]
    n_changing: int
    n_states: int
    last: int
    state_names: tuple[str, ...]
    action_names: tuple[str, ...]

    def stretches(self, policy: ShownPolicy, i: int) -> tuple[Stretch, ...]:
        """Return what a policy does in the i-th shown state."""
        return policy.stretches(self.states[i], first=self.first_steps[i], last=self.last)

    def n_changes(self, policy: ShownPolicy, i: int) -> int:
        """Return how often a policy's action changes in the i-th shown state, up to the last shown step."""
        return policy.changes(self.states[i], first=self.first_steps[i], last=self.last).size

    def words(self, policy: ShownPolicy, i: int) -> str:
        """Return what a policy does in the i-th shown state: "1–6 cash, from 7 invest".

        After 20 stretches, the other changes are only counted: "…, 20 wait, and 80 more changes".
        """
        parts = list(self.stretches(policy, i))
        if len(parts) == 1:
            return f"always {self.action_names[parts[0].action]}"
        if parts[-1].first == self.law.longest:
            parts[-1] = replace(parts[-1], last=self.law.longest)
        words = [part.words(self.action_names[part.action]) for part in parts[:_MOST_IN_WORDS]]
        rest = self.n_changes(policy, i) - len(words) + 1
        if rest:
            words.append(f"and {rest:,} more change{'s' * (rest > 1)}")
        return ", ".join(words)

    def drawn(self) -> str:
        """Return a sentence on the strips if not all changes are drawn, or an empty text."""
        pairs = ((policy, i) for policy in self.policies for i in range(len(self.states)))
        if not any(self.n_changes(policy, i) >= _MOST_DRAWN for policy, i in pairs):
            return ""
        return f"Strips end after the first {_MOST_DRAWN} changes of a state."

    def summary(self) -> str:
        """Return one sentence on the states that are not shown, or on a plan that never changes."""
        if self.n_changing == 0:
            return "The plan plays the same action in a state at every step."
        shown, rest = len(self.states), self.n_states - self.n_changing
        text = ""
        if shown < self.n_changing:
            text = f"Shown are the {shown} most visited of {self.n_changing:,} states whose action changes. "
        if rest == 0:
            return text.strip()
        others = f"{rest:,} {'other ' if shown else ''}state{'s' * (rest > 1)}"
        return f"{text}In {others} the action is the same at every step."

    def text(self) -> str:
        """Return what the plan does and earns, and what the other policies earn, in a few lines."""
        lines = [f"{self.problem}, lengths from {label(self.law)}"]
        best = self.policies[0]
        if self.n_changing or self.n_states <= len(self.states):
            for i, state in enumerate(self.state_names):
                words = self.words(best, i)
                where = state if state.startswith("state ") else f"state “{state}”"
                lines.append(f"In {where}: {words if words.startswith('always') else f'steps {words}'}.")
        lines += [note for note in [self.summary()] if note]
        if best.value is not None:
            earned = [f"The plan earns {self.earns(best)} per episode"]
            earned += [f"the {one.name} earns {self.earns(one)}" for one in self.policies[1:]]
            lines.append(f"{'; '.join(earned)}.")
        return "\n".join(lines)

    def earns(self, policy: ShownPolicy) -> str:
        """Return what a policy earns in words: "0.491", "0.400, 19% less"; empty if it is not known."""
        if policy.value is None:
            return ""
        text = f"{policy.value:,.4g}"
        best = self.policies[0].value
        if policy is self.policies[0] or not best:
            return text
        share = policy.loss / abs(best)
        return f"{text}, {100.0 * share:.2g}% less" if share >= 5e-5 else f"{text}, at most 0.01% less"


def view_plan(
    plan: Plan,
    policies: Mapping[str, object] | None = None,
    *,
    single_gamma: bool | None = None,
    states: int = _SHOWN_STATES,
) -> PolicyView:
    """Return what a plan does, and policies beside it.

    Args:
        plan: The plan.
        policies: Policies to compare, by name: a `Plan`, or `(S,)` or `(N, S)` actions whose last row is
            held.
        single_gamma: Whether to compare the policy of the best single discount γ; by default if the plan
            knows its problem, the problem has at most 20,000 pairs of state and action, the plan's bracket is
            narrow and the law is not geometric.
        states: Largest number of states that are shown.
    """
    mdp = plan.mdp
    if single_gamma is None:
        is_small = mdp is not None and mdp.n_states * mdp.n_actions <= _MOST_PAIRS
        is_certain = plan.width <= _WIDEST * float(np.abs(plan.value).max())
        single_gamma = is_small and is_certain and not isinstance(plan.law, Geometric)
    if single_gamma and mdp is None:
        raise ValueError("single_gamma must be False for a plan without its problem: load_plan(path, mdp).")
    shown = _shown_policies(plan, policies or {}, single_gamma=single_gamma)
    firsts, visits = _visits(plan)
    usable = firsts > 0
    if plan.law.longest is not None:
        usable &= firsts <= plan.law.longest  # later steps are never played
    if mdp is not None:
        usable[list(mdp.terminal)] = False
    changing = usable & _changes_after(plan.policy, firsts)
    kept = changing if changing.any() else usable & _choices(mdp, plan.policy.shape[1])
    order = np.argsort(-np.where(kept, visits, -1.0), kind="stable")[: min(states, int(kept.sum()))]
    order = np.sort(order)
    steps = _change_steps(plan.policy, order, firsts)
    changes = tuple(steps[: _MOST_DRAWN - 1].tolist() + steps[_MOST_DRAWN - 1 :][-1:].tolist())
    n_actions = int(plan.policy.max()) + 1 if mdp is None else mdp.n_actions
    return PolicyView(
        problem=plan.problem,
        law=plan.law,
        policies=shown,
        states=tuple(order.tolist()),
        first_steps=tuple(firsts[order].tolist()),
        changes=changes,
        n_changing=int(changing.sum()),
        n_states=int(usable.sum()),
        last=_last_step(changes, firsts[order], plan.law),
        state_names=tuple(
            f"state {state}" if mdp is None else mdp.state_label(state) for state in order.tolist()
        ),
        action_names=tuple(
            f"action {action}" if mdp is None else mdp.action_label(action) for action in range(n_actions)
        ),
    )


@dataclass(frozen=True)
class MapDecisions:
    """The actions of a plan on the map of its problem.

    Attributes:
        actions: `(N, rows, columns)` actions; −1 where a state cannot be reached or nothing is to be decided.
        changes: `(N − 1, rows, columns)` whether the action differs from that of the step before.
        detail: What the shown states have in common if there are several per cell, such as the place of
            Taxi's passenger; otherwise empty.
        action_names: Names of all actions.
    """

    actions: IntArray
    changes: BoolArray
    detail: str
    action_names: tuple[str, ...]


def decisions_on_map(plan: Plan) -> MapDecisions:
    """Return the actions on the map; of several states per cell, those in which the most actions change.

    If equally many change, such as none, those in the most cells of which there is something to decide.
    """
    mdp = plan.mdp
    if mdp is None or mdp.grid is None:
        raise ValueError("plan must know its problem, and the problem must have a grid.")
    rows, columns = mdp.grid
    per_cell = mdp.n_states // (rows * columns)
    firsts, _ = _visits(plan)
    decides = (firsts > 0) & _choices(mdp, mdp.n_states)
    decides[list(mdp.terminal)] = False
    on_map = np.arange(rows * columns * per_cell).reshape(rows * columns, per_cell)
    differs = (plan.policy[1:] != plan.policy[:-1])[:, on_map] & decides[on_map]
    scene = int(np.lexsort((decides[on_map].sum(axis=0), differs.sum(axis=(0, 1))))[-1])
    states = on_map[:, scene]
    actions = np.where(decides[states], plan.policy[:, states].astype(np.int64), -1)
    detail = ""
    if per_cell > 1:
        backwards = [mdp.state_label(state)[::-1] for state in states.tolist()]
        same = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*backwards, strict=False))
        detail = "".join(letters[0] for letters in same)[::-1].strip(" ,;:")
    return MapDecisions(
        actions=actions.reshape(-1, rows, columns),
        changes=differs[:, :, scene].reshape(-1, rows, columns),
        detail=detail,
        action_names=tuple(mdp.action_label(action) for action in range(mdp.n_actions)),
    )


def _shown_policies(
    plan: Plan, policies: Mapping[str, object], *, single_gamma: bool
) -> tuple[ShownPolicy, ...]:
    mdp = plan.mdp
    best = None if mdp is None else float(mdp.start @ plan.value)
    shown = [ShownPolicy(f"plan for {label(plan.law)}", plan.policy, plan.after, best, 0.0)]
    others = {name: _as_policy(name, policy, plan) for name, policy in policies.items()}
    for name, (policy, after) in others.items():
        value = None
        if mdp is not None:
            value = float(mdp.start @ evaluate(mdp, plan.law, policy, after).value)
        loss = 0.0 if value is None or best is None else max(0.0, best - value)
        shown.append(ShownPolicy(name, policy, after, value, loss))
    if single_gamma and mdp is not None and best is not None:
        found = find_single_gamma(mdp, plan.law)
        name = f"best single {found.setting}"
        shown.insert(1, ShownPolicy(name, found.policy, found.after, best - found.loss, found.loss))
    return tuple(shown)


def _as_policy(name: str, policy: object, plan: Plan) -> tuple[PolicyArray, str]:
    if isinstance(policy, Plan):
        table, after = policy.policy, policy.after
    else:
        check_not_masked(f"policies[{name!r}]", policy)
        table, after = np.atleast_2d(np.asarray(policy)), "hold"
    n_states = plan.policy.shape[1]
    if table.ndim != 2 or table.shape[1] != n_states or table.dtype.kind not in "iu":
        raise ValueError(
            f"policies[{name!r}] must be a plan or actions of shape (S,) or (N, S) with S = {n_states}; "
            f"got {type(policy).__name__} of shape {np.shape(table)}."
        )
    return table, after


def _visits(plan: Plan) -> tuple[IntArray, FloatArray]:
    """Return the first step at which each state can be reached (0: never), and its visits under the plan."""
    mdp, n_states = plan.mdp, plan.policy.shape[1]
    if mdp is None:
        return np.ones(n_states, dtype=np.int64), np.zeros(n_states)
    firsts = np.where(mdp.start > 0.0, 1, 0)
    frontier, step = np.flatnonzero(firsts), 1
    while frontier.size:
        step += 1
        pairs = (frontier[:, None] * mdp.n_actions + np.arange(mdp.n_actions)).ravel()
        found = np.unique(mdp.transitions[pairs].indices)
        frontier = found[firsts[found] == 0]
        firsts[frontier] = step
    n_steps = _VISITED_STEPS if plan.law.longest is None else min(_VISITED_STEPS, plan.law.longest)
    visits, chance, states = np.zeros(n_states), np.array(mdp.start), np.arange(n_states)
    for h, survival in enumerate(plan.law.survival(np.arange(1, n_steps + 1)).tolist()):
        if h < len(plan.policy):
            moves = mdp.transitions[states * mdp.n_actions + plan.policy[h]]
        visits += survival * chance
        chance = chance @ moves
    return firsts.astype(np.int64), visits


def _changes_after(policy: PolicyArray, firsts: IntArray) -> BoolArray:
    """Return the states whose action changes after the step at which they can first be reached."""
    differs = policy[1:] != policy[:-1]
    steps = np.arange(2, len(policy) + 1)[:, None]
    return np.asarray((differs & (steps > firsts)).any(axis=0))


def _change_steps(policy: PolicyArray, states: IntArray, firsts: IntArray) -> IntArray:
    """Return the steps at which the action changes in one of the states, sorted."""
    differs = policy[1:, states] != policy[:-1, states]
    steps = np.arange(2, len(policy) + 1)
    return np.asarray(steps[(differs & (steps[:, None] > firsts[states])).any(axis=1)])


def _choices(mdp: TabularMDP | None, n_states: int) -> BoolArray:
    """Return the states in which two actions differ in reward or in where they lead."""
    if mdp is None:
        return np.ones(n_states, dtype=bool)
    first = np.repeat(np.arange(n_states) * mdp.n_actions, mdp.n_actions)
    differs = abs(mdp.transitions - mdp.transitions[first]).sum(axis=1) > 0.0
    differs |= (mdp.rewards != mdp.rewards[:, :1]).ravel()
    return np.asarray(np.asarray(differs).reshape(n_states, -1).any(axis=1))


def _last_step(changes: tuple[int, ...], firsts: IntArray, law: LengthLaw) -> int:
    latest = max([*changes, *firsts.tolist(), 1])
    last = max(_FEWEST_STEPS, int(np.ceil(latest * (1.0 + _MARGIN))))
    return last if law.longest is None else max(1, min(last, law.longest))
