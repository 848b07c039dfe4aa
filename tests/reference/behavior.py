"""Plain references for decision makers whose clock restarts: loops in the kernels' order, and brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np

ALWAYS_BEST = -1.0


def choose(utility, sensitivity, slack, is_distinct):
    """Chances, best actions and ties of one layer."""
    n_states, n_actions = utility.shape
    chances, actions = np.zeros((n_states, n_actions)), np.zeros(n_states, dtype=int)
    is_tie = np.zeros(n_states, dtype=bool)
    for s in range(n_states):
        best = max(utility[s])
        good = [a for a in range(n_actions) if utility[s, a] >= best - slack]
        actions[s] = good[0]
        is_tie[s] = sum(bool(is_distinct[s, a]) for a in good) > 1
        if sensitivity < 0:
            chances[s, good[0]] = 1.0
        else:
            weights = [
                math.exp(sensitivity * (u - best)) if distinct else 0.0
                for u, distinct in zip(utility[s], is_distinct[s], strict=True)
            ]
            total = 0.0
            for weight in weights:
                total += weight
            chances[s] = [weight / total for weight in weights]
    return chances, actions, is_tie


def backup(mdp, ratio, following):
    """r(s, a) + ratio · Σ_y P(y|s, a) following(y), summed from left to right."""
    table, n_actions = mdp.transitions, mdp.n_actions
    utility = np.zeros((mdp.n_states, n_actions))
    for s in range(mdp.n_states):
        for a in range(n_actions):
            total, row = 0.0, s * n_actions + a
            for i in range(table.indptr[row], table.indptr[row + 1]):
                total += table.data[i] * following[table.indices[i]]
            utility[s, a] = mdp.rewards[s, a] + ratio * total
    return utility


def average(chances, utility):
    """Σ_a chance · utility, over actions with a positive chance, from left to right."""
    value = np.zeros(len(utility))
    for s in range(len(utility)):
        for a in range(utility.shape[1]):
            if chances[s, a] > 0.0:
                value[s] += chances[s, a] * utility[s, a]
    return value


def selves_by_delay(mdp, own, other, n_steps, rule):
    """Choices by step of selves with discounts D(1), D(2), …, expecting later selves with other discounts."""
    later: list[np.ndarray] = []
    rows = []
    for _ in range(n_steps):
        following = {}
        for name, discount in (("other", other), ("own", own)):
            total = np.zeros(mdp.n_states)
            for d, rewards in enumerate(later[: len(discount)]):
                for s in range(mdp.n_states):
                    total[s] += discount[d] * rewards[s]
            following[name] = total
        expected = choose(backup(mdp, 1.0, following["other"]), *rule)[0]
        rows.append(choose(backup(mdp, 1.0, following["own"]), *rule))
        free = _Free(mdp)
        later = [average(expected, mdp.rewards)] + [
            average(expected, backup(free, 1.0, one)) for one in later
        ]
        later = later[: len(own)]
    return rows[::-1]


class _Free:
    """A problem with the same transitions and no rewards."""

    def __init__(self, mdp):
        self.transitions, self.n_states, self.n_actions = mdp.transitions, mdp.n_states, mdp.n_actions
        self.rewards = np.zeros_like(mdp.rewards)


def selves_by_heads(mdp, factors, own, other, n_steps, rule):
    """The same for discounts Σ_k w_k f_k^j."""
    values = np.zeros((len(factors), mdp.n_states))
    rows = []
    for _ in range(n_steps):
        following = {}
        for name, weights in (("other", other), ("own", own)):
            total = np.zeros(mdp.n_states)
            for k, factor in enumerate(factors):
                weight = weights[k] * factor
                if weight > 0.0:
                    for s in range(mdp.n_states):
                        total[s] += weight * values[k, s]
            following[name] = total
        expected = choose(backup(mdp, 1.0, following["other"]), *rule)[0]
        rows.append(choose(backup(mdp, 1.0, following["own"]), *rule))
        values = np.array([average(expected, backup(mdp, f, values[k])) for k, f in enumerate(factors)])
    return rows[::-1]


def naive(mdp, ratios, n_steps, rule):
    """Choices by step of selves who each make a new plan, solved from the definition."""
    rows = []
    for step in range(1, n_steps + 1):
        value = np.zeros(mdp.n_states)
        for h in range(n_steps - step + 1, 0, -1):
            utility = backup(mdp, ratios[h - 1], value)
            chosen = choose(utility, *rule)
            value = np.array([sum_in_order(c, u) for c, u in zip(chosen[0], utility, strict=True)])
        rows.append(chosen)
    return rows


def sum_in_order(chances, utility):
    total = 0.0
    for chance, one in zip(chances, utility, strict=True):
        total += chance * one
    return total


class Tree:
    """A random binary tree of decisions, in which each action leads to either child by chance.

    Node i has the children 2i + 1 and 2i + 2. Strategies are tuples with one action per decision node.
    """

    def __init__(self, depth, rng):
        self.n = 2**depth - 1
        self.chance = rng.random((self.n, 2)).round(3)
        self.chance[rng.random((self.n, 2)) < 0.3] = 1.0  # some moves are certain
        self.rewards = rng.normal(size=(self.n, 2))
        self.depth = depth

    def tables(self):
        """Transitions and rewards, with one more state for the end."""
        transitions = np.zeros((self.n + 1, 2, self.n + 1))
        rewards = np.vstack([self.rewards, np.zeros(2)])
        for i in range(self.n):
            for a in range(2):
                for child, p in ((2 * i + 1, self.chance[i, a]), (2 * i + 2, 1 - self.chance[i, a])):
                    transitions[i, a, min(child, self.n)] += p
        transitions[self.n, :, self.n] = 1.0
        return transitions, rewards

    def flows(self, strategy):
        """Expected reward by delay from every node, under a strategy."""
        found: list[np.ndarray] = [np.zeros(self.depth)] * (2 * self.n + 1)
        for i in range(self.n - 1, -1, -1):
            found[i] = self._flow(i, strategy[i], found)
        return found

    def _flow(self, i, action, flows):
        p = self.chance[i, action]
        later = p * flows[2 * i + 1] + (1 - p) * flows[2 * i + 2]
        return np.append(self.rewards[i, action], later[:-1])

    def strategies(self):
        return itertools.product((0, 1), repeat=self.n)

    def perfect_strategies(self, discount):
        """All strategies in which no self gains by another action, given all later selves."""
        found = []
        for strategy in self.strategies():
            flows = self.flows(strategy)
            if all(
                flows[i] @ discount >= self._flow(i, 1 - strategy[i], flows) @ discount - 1e-12
                for i in range(self.n)
            ):
                found.append(strategy)
        return found

    def best_first_action(self, node, discount):
        """The first action of the best strategy from a node on, by trying all."""
        return max(self.strategies(), key=lambda strategy: self.flows(strategy)[node] @ discount)[node]
