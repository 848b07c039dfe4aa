"""The rivals' updates as their papers state them: dense tables, plain NumPy, one step after the other."""

from __future__ import annotations

import numpy as np


class DenseQLearning:
    """Jin et al. 2018, Algorithm 1, updated step by step as it is played, with ρ(h) and caps of a law.

    With `is_literal` all caps are N.
    """

    def __init__(
        self,
        law,
        shape,
        episodes,
        n_layers,
        last,
        *,
        scale,
        delta,
        terminal,
        terminal_reward,
        is_literal=False,
    ):
        (n_states, n_actions), steps = shape, np.arange(1, n_layers + 2)
        remaining = law.remaining(steps)
        self.n_layers, self.ratios, self.caps = n_layers, law.continuation(steps), remaining
        if is_literal:
            self.caps = np.full(n_layers + 1, float(n_layers))
        self.iota = np.log(n_states * n_actions * episodes * n_layers / delta)
        self.scale, self.q = scale, np.ones((n_layers, n_states, n_actions))
        self.q *= self.caps[:-1, np.newaxis, np.newaxis]
        self.value = np.ones((n_layers + 1, n_states)) * self.caps[:, np.newaxis]
        self.value[-1] = last
        self.value[:, list(terminal)] = terminal_reward * remaining[:, np.newaxis]
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


END = -1
"""The absorbing state."""


class DensePosterior:
    """Posterior sampling written out pair by pair and state by state; draws in the order of the learner's.

    States are numbered as they appear, or all at first (`is_apart`), and get a pair for each of their actions
    when an episode ends, after those that were played in it.
    """

    def __init__(self, shape, ratios, worth, *, prior, rewards, noise, is_apart, terminal_reward):
        self.n_states, self.n_actions = shape
        self.ratios, self.worth, self.prior, self.rewards, self.noise = ratios, worth, prior, rewards, noise
        self.terminal_reward = terminal_reward
        self.states = list(range(self.n_states)) if is_apart else []
        self.counts, self.paid = {}, {}
        self.open_pairs()

    def open_pairs(self):
        for state in self.states:
            for action in range(self.n_actions):
                self.counts.setdefault((state, action), {})

    def see(self, state, action, reward, following):
        """Count a step; `following` is END if it ended the episode."""
        for one in (state, following):
            if one not in self.states and one != END:
                self.states.append(one)
        successors = self.counts.setdefault((state, action), {})
        successors[following] = successors.get(following, 0) + 1
        self.paid[state, action] = self.paid.get((state, action), 0.0) + reward

    def plan(self, rng):
        """Return Q as a function of state and action, `(N,)`, in a model that is drawn now."""
        self.open_pairs()
        ends = any(END in successors for successors in self.counts.values())
        known = [END] * ends + self.states
        n_all = max(self.n_states, len(self.states)) + ends
        nameless = [s for s in range(self.n_states) if s not in self.states]

        def pick(successors):
            while True:
                i = int(rng.random() * n_all)
                if i >= len(known):
                    break
                if known[i] not in successors:
                    return known[i], None
            if self.rewards is None:
                return None, 0.0
            while True:
                name = int(rng.random() * self.n_states)
                if name in nameless:
                    return None, self.rewards[name].max()

        def draw(successors):
            weights = {y: rng.standard_gamma(self.prior / n_all + n) for y, n in successors.items()}
            n_left, total, rest = n_all - len(weights), sum(weights.values()), 0.0
            share, target = 0.0, None
            if n_left > 0:
                weight = self.prior * n_left / n_all
                rest = rng.standard_gamma(weight) if weights else 1.0
                share, target = rng.random() ** (weight / 2), pick(successors)
            total += rest
            return {y: w / total for y, w in weights.items()}, rest / total, share, target

        def pays(pair):
            if self.rewards is not None:
                return self.rewards[pair]
            n = sum(self.counts[pair].values()) + 1
            return (1 + self.paid.get(pair, 0.0)) / n + self.noise / np.sqrt(n) * rng.standard_normal()

        model = {}
        for pair, successors in self.counts.items():
            drawn = draw(successors)
            model[pair] = *drawn, pays(pair)
        _, _, *common = draw({})
        top = 1 + self.noise * rng.standard_normal() if self.rewards is None else 0.0
        best_unseen = 0.0 if self.rewards is None else sum(self.rewards[name].max() for name in nameless)

        last = self.terminal_reward * self.worth[-1]
        value, unseen, gains = dict.fromkeys(known, last), last, 0.0
        found = {pair: np.empty(len(self.ratios)) for pair in model}
        self.caps = np.empty(len(self.ratios))
        for h in reversed(range(len(self.ratios))):
            total = sum(value.values()) + len(nameless) * unseen + gains * best_unseen

            def worth_of(target, value=value, unseen=unseen, gains=gains):
                if target is None:
                    return 0.0
                return unseen + gains * target[1] if target[0] is None else value[target[0]]

            for pair, (chances, rest, share, target, reward) in model.items():
                expected = sum(p * value[y] for y, p in chances.items())
                left = total - sum(value[y] for y in chances)
                if rest > 0.0:
                    mean = left / (n_all - len(chances))
                    expected += rest * ((1 - share) * mean + share * worth_of(target))
                found[pair][h] = reward + self.ratios[h] * expected
            share, target = common
            mean = total / n_all
            self.caps[h] = top + self.ratios[h] * ((1 - share) * mean + share * worth_of(target))
            unseen, gains = self.caps[h], 1.0
            value = {s: max(found[s, a][h] for a in range(self.n_actions)) for s in self.states}
            if ends:
                value[END] = self.terminal_reward * self.worth[h]

        def q(state, action):
            if (state, action) in found:
                return found[state, action]
            return self.caps + (0.0 if self.rewards is None else self.rewards[state, action])

        return q
