"""The best policy that plays the same action in a state at every step, by branch and bound."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

import numpy as np

from sojourn._typing import FloatArray, PolicyArray
from sojourn.laws import LengthLaw
from sojourn.mdps import TabularMDP
from sojourn.planning._evaluate import evaluate
from sojourn.planning._plan import Plan, plan

__all__ = ["find_stationary_policy"]

_REACHED = 1e-9
"""States that are reached with less weight than this share of Γ(1) do not count as varying."""

_MOST_STEPS = 500
"""Steps over which the weight of each action is summed; it only guides the search."""


def find_stationary_policy(
    mdp: TabularMDP,
    law: LengthLaw,
    *,
    starts: Iterable[PolicyArray] = (),
    tolerance: float,
    max_plans: int = 500,
) -> tuple[PolicyArray, float]:
    """Return the best deterministic stationary policy that was found, and a bound on the value of all others.

    A node of the search fixes the actions of some states. Its bound is the value of the best policy whose
    actions in all other states may depend on the step. A node branches at the state in which that policy
    varies most, weighted by the chance to be there. The search ends if no node can be better than the best
    policy by more than the tolerance. In the worst case it would visit all A^S policies.

    Args:
        mdp: The problem.
        law: The law of episode lengths.
        starts: `(S,)` policies to begin with.
        tolerance: Value by which a better policy may be missed.
        max_plans: Largest number of nodes.

    Returns:
        The policy, `(S,)`, and a certified upper bound on the value of every deterministic stationary policy
        from the start states.
    """
    search = _StationarySearch(mdp, law, tolerance)
    for policy in starts:
        search.try_policy(np.asarray(policy))
    n_plans = 0
    queue: list[tuple[float, int, dict[int, int]]] = [(-np.inf, 0, {})]  # (−bound, order, fixed actions)
    while queue and n_plans < max_plans:
        bound, order, fixed = heapq.heappop(queue)
        if -bound <= search.value + tolerance:  # no other node is better: their bounds are not larger
            queue.append((bound, order, fixed))
            break
        found = plan(search.restricted(fixed), law, tolerance=tolerance / 4.0)
        n_plans += 1
        upper = float(mdp.start @ found.upper)
        weights = search.action_weights(found)
        search.try_policy(_with(weights.argmax(axis=1), fixed))
        if upper <= search.value + tolerance:
            continue
        state = _most_varied_state(weights, fixed)
        if state is None:  # the plan is stationary wherever it can be: nothing below can be better
            search.settled = max(search.settled, upper)
            continue
        for action in range(mdp.n_actions):
            n_children = n_plans * mdp.n_actions + action
            heapq.heappush(queue, (-upper, n_children, {**fixed, state: action}))
    open_bound = max((-bound for bound, _, _ in queue), default=-np.inf)
    return search.policy, max(search.upper, search.value + tolerance, search.settled, open_bound)


class _StationarySearch:
    """The best policy so far, and what is needed to compare others with it."""

    def __init__(self, mdp: TabularMDP, law: LengthLaw, tolerance: float) -> None:
        self.mdp, self.law, self.tolerance = mdp, law, tolerance
        self.policy: PolicyArray = np.zeros(mdp.n_states, dtype=np.int64)
        self.value = self.upper = -np.inf
        self.settled = -np.inf  # largest bound of nodes that need no branching
        self._tried: set[bytes] = set()
        n_steps = _MOST_STEPS if law.longest is None else min(_MOST_STEPS, law.longest)
        self._survival = law.survival(np.arange(1, n_steps + 1))

    def try_policy(self, policy: PolicyArray) -> None:
        """Keep a policy if it is better than the best so far."""
        policy = policy.astype(np.int64)
        if policy.tobytes() in self._tried:
            return
        self._tried.add(policy.tobytes())
        found = evaluate(self.mdp, self.law, policy[np.newaxis], tolerance=self.tolerance / 10.0)
        value, upper = float(self.mdp.start @ found.value), float(self.mdp.start @ found.upper)
        if value > self.value:
            self.policy, self.value, self.upper = policy, value, upper

    def restricted(self, fixed: dict[int, int]) -> TabularMDP:
        """Return the problem in which the states of `fixed` have only one action."""
        n_actions, mdp = self.mdp.n_actions, self.mdp
        if not fixed:
            return mdp
        rows = np.arange(mdp.n_states * n_actions)
        for state, action in fixed.items():
            rows[state * n_actions : (state + 1) * n_actions] = state * n_actions + action
        rewards = mdp.rewards.reshape(-1)[rows].reshape(mdp.rewards.shape)
        return TabularMDP(mdp.transitions[rows], rewards, start=mdp.start, terminal=mdp.terminal)

    def action_weights(self, found: Plan) -> FloatArray:
        """Return the weight Σ_h γ(h) P(s_h = s, a_h = a) of each action under a plan, `(S, A)`."""
        mdp = self.mdp
        weights, chance = np.zeros((mdp.n_states, mdp.n_actions)), np.array(mdp.start)
        states = np.arange(mdp.n_states)
        for h, survival in enumerate(self._survival.tolist()):
            if h < len(found.policy):  # the last row is held
                actions = found.policy[h]
                chances = mdp.transitions[states * mdp.n_actions + actions]
            weights[states, actions] += survival * chance
            chance = chance @ chances
        return weights


def _with(policy: PolicyArray, fixed: dict[int, int]) -> PolicyArray:
    """Return a policy with some of its actions replaced."""
    policy = policy.copy()
    policy[list(fixed)] = list(fixed.values())
    return policy


def _most_varied_state(weights: FloatArray, fixed: dict[int, int]) -> int | None:
    """Return the state with the largest weight outside its most frequent action, or None if there is none."""
    varied = weights.sum(axis=1) - weights.max(axis=1)
    varied[list(fixed)] = 0.0
    state = int(varied.argmax())
    return state if varied[state] > _REACHED * weights.sum() else None
