"""The rivals' updates as their papers state them: dense tables, plain NumPy, one step after the other."""

from __future__ import annotations

import numpy as np


class DenseQLearning:
    """Jin et al. 2018, Algorithm 1, updated step by step as it is played, with ρ(h) and caps of a law."""

    def __init__(self, law, shape, episodes, n_layers, last, *, scale, delta, terminal, terminal_reward):
        (n_states, n_actions), steps = shape, np.arange(1, n_layers + 2)
        self.n_layers, self.ratios, self.caps = n_layers, law.continuation(steps), law.remaining(steps)
        self.iota = np.log(n_states * n_actions * episodes * n_layers / delta)
        self.scale, self.q = scale, np.ones((n_layers, n_states, n_actions))
        self.q *= self.caps[:-1, np.newaxis, np.newaxis]
        self.value = np.ones((n_layers + 1, n_states)) * self.caps[:, np.newaxis]
        self.value[-1] = last
        self.value[:, list(terminal)] = terminal_reward * self.caps[:, np.newaxis]
        self.counts = np.zeros((n_layers, n_states, n_actions), dtype=int)

    def step(self, h, state, action, reward, following):
        """Update after step h, counted from 1, at most N."""
        i = h - 1
        self.counts[i, state, action] += 1
        t = self.counts[i, state, action]
        alpha = (self.n_layers + 1) / (self.n_layers + t)
        bonus = self.scale * np.sqrt(self.n_layers * self.caps[i] ** 2 * self.iota / t)
        target = reward + self.ratios[i] * self.value[h, following] + bonus
        self.q[i, state, action] = (1 - alpha) * self.q[i, state, action] + alpha * target
        self.value[i, state] = min(self.caps[i], self.q[i, state].max())


class DenseWatkins:
    """Watkins' Q-learning in raw form: a table by layers, or a single one."""

    def __init__(self, ratios, initial, terminal_values, terminal, shape, rate):
        n_layers = len(ratios)
        self.ratios, self.rate, self.terminal = ratios, rate, set(terminal)
        self.is_stationary = n_layers == 1
        self.q = np.ones((n_layers, *shape)) * np.reshape(initial, (-1, 1, 1))
        self.terminal_values, self.counts = terminal_values, np.zeros((n_layers, *shape))

    def step(self, h, state, action, reward, following):
        i = 0 if self.is_stationary else h - 1
        after = 0 if self.is_stationary else h
        if following in self.terminal or after == len(self.q):
            value = self.terminal_values[after]  # after the last layer all states are worth the same
        else:
            value = self.q[after, following].max()
        self.counts[i, state, action] += 1
        alpha = 1 / self.counts[i, state, action] if self.rate == "mean" else self.rate
        self.q[i, state, action] += alpha * (reward + self.ratios[i] * value - self.q[i, state, action])


class DenseGamma:
    """He, Zhou, Gu 2021: one backup of all visited pairs after every episode."""

    def __init__(self, gamma, shape, steps, *, scale, delta, terminal, terminal_reward):
        self.gamma, self.scale, self.terminal = gamma, scale, list(terminal)
        n_states, n_actions = shape
        self.log = np.log(
            40 * n_states * n_actions * steps**3 * np.log(steps) ** 2 / (delta * (1 - gamma) ** 2)
        )
        self.beta = n_states**2 * n_actions**2 * self.log**5
        self.q = np.full(shape, 1 / (1 - gamma))
        self.counts = np.zeros((*shape, n_states))
        self.terminal_value = terminal_reward / (1 - gamma)

    def update(self, rewards):
        value = self.q.max(axis=1)
        value[self.terminal] = self.terminal_value
        visits, met = self.counts.sum(axis=2), self.counts.sum(axis=(1, 2))
        top = 1 / (1 - self.gamma)
        for s, a in np.argwhere(visits > 0):
            n, chances = visits[s, a], self.counts[s, a] / visits[s, a]
            mean = chances @ value
            variance = chances @ (value - mean) ** 2
            rare = 0.0
            for y in np.flatnonzero(chances):
                if y not in self.terminal:
                    error = self.beta / ((1 - self.gamma) ** 5 * met[y]) if met[y] > 0 else np.inf
                    rare += chances[y] * min(100 * error, top**2)
            bonus = np.sqrt(8 * self.log * variance / n) + 8 * self.log * top / n + np.sqrt(8 * rare / n)
            backup = rewards[s, a] + self.gamma * mean + self.scale * self.gamma * bonus
            self.q[s, a] = min(self.q[s, a], backup)


def sampled_plan(rng, counts, order, rewards, ratios, *, weight, terminal, worth, terminal_reward):
    """Return Q `(N, S, A)` of a model drawn from the posterior, with the draws of `order`.

    `counts` `(S, A, S)`; `order` lists the pairs in the order in which they were first played, each with its
    successors in the order of first sight: that is the order of the draws. Terminal states are lumped to one,
    the first of them, which is what S counts; they are never asked for an action.
    """
    n_states, n_actions, _ = counts.shape
    model = np.zeros_like(counts)
    seen_end = False
    for s, a, successors in order:
        drawn = np.array([rng.standard_gamma(weight / n_states + counts[s, a, y]) for y in successors])
        n_left = n_states - len(successors)
        rest = rng.standard_gamma(weight / n_states * n_left) if n_left else 0.0
        total = drawn.sum() + rest
        others = np.setdiff1d(np.arange(n_states), successors)
        model[s, a, successors] = drawn / total
        if n_left:
            model[s, a, others] = rest / total / n_left
        seen_end |= any(y in terminal for y in successors)
    for s in range(n_states):
        for a in range(n_actions):
            if counts[s, a].sum() == 0:
                model[s, a] = 1 / n_states
    n_layers = len(ratios)
    q = np.empty((n_layers, n_states, n_actions))
    value = np.full(n_states, terminal_reward * worth[-1])
    for h in reversed(range(n_layers)):
        q[h] = rewards + ratios[h] * (model @ value)
        value = q[h].max(axis=1)
        if seen_end:
            value[list(terminal)] = terminal_reward * worth[h]
    return q
