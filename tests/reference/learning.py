"""The paper's Update-Q-values on dense tables, as its pseudo-code says, and full sweeps over counts."""

from __future__ import annotations

import numpy as np


class DenseUCBVI:
    """Q values of Algorithm 1, recomputed from all counts after every episode; rewards are known."""

    def __init__(self, law, shape, episodes, layers, *, scale, delta, terminal=()):
        (n_states, n_actions), (self.n_layers, truncation) = shape, layers
        steps = np.arange(1, self.n_layers + 2)
        self.terminal = list(terminal)
        self.rest, self.ratios = law.remaining(steps), law.continuation(steps)
        reach = float(law.survival(self.n_layers + 1))
        self.last = truncation / reach if reach > 0.0 else 0.0
        log = np.log(n_states * n_actions * episodes * self.n_layers / delta)
        self.bonus = scale * 3.0 * self.ratios[:-1] * self.rest[1:] * log
        self.counts = np.zeros((n_states, n_actions, n_states))
        self.q = np.ones((self.n_layers, n_states, n_actions)) * self.rest[:-1, np.newaxis, np.newaxis]

    def update(self, rewards, terminal_reward):
        visits = self.counts.sum(axis=2)
        seen = visits > 0
        model = self.counts / np.maximum(visits, 1)[:, :, np.newaxis]
        value = np.full(len(rewards), self.last)
        value[self.terminal] = terminal_reward * self.rest[-1]
        for h in reversed(range(self.n_layers)):
            backup = rewards + self.ratios[h] * (model @ value)
            backup += self.bonus[h] / np.sqrt(np.maximum(visits, 1))
            self.q[h] = np.where(seen, np.minimum(self.q[h], backup), self.q[h])
            value = self.q[h].max(axis=1)
            value[self.terminal] = terminal_reward * self.rest[h]


class DenseBernstein(DenseUCBVI):
    """The same with a bonus of Bernstein's kind: `caps`, `outer` and `log` say which."""

    def __init__(self, law, shape, episodes, layers, *, scale, delta, caps, outer, log, terminal=()):
        super().__init__(law, shape, episodes, layers, scale=scale, delta=delta, terminal=terminal)
        self.scale, self.caps, self.outer, self.log = scale, caps, outer, log
        self.visits_at = np.zeros((self.n_layers + 1, shape[0]))

    def update(self, rewards, terminal_reward):
        n_states, n_actions = rewards.shape
        visits = self.counts.sum(axis=2)
        value = np.full(n_states, self.last)
        value[self.terminal] = terminal_reward * self.rest[-1]
        for h in reversed(range(self.n_layers)):
            cap = self.caps[h]
            for s in range(n_states):
                for a in range(n_actions):
                    n = visits[s, a]
                    if n > 0:
                        chances = self.counts[s, a] / n
                        mean = chances @ value
                        rare = 0.0
                        for y in range(n_states):
                            if chances[y] > 0 and y not in self.terminal:
                                count = self.visits_at[h + 1, y]
                                full = 100.0**2 * cap**3 * n_states**2 * n_actions * self.log**2
                                rare += chances[y] * (min(full / count, cap**2) if count > 0 else cap**2)
                        bonus = np.sqrt(8 * self.log * (chances @ (value - mean) ** 2) / n)
                        bonus += 14 * cap * self.log / (3 * n) + np.sqrt(8 * rare / n)
                        backup = rewards[s, a] + self.ratios[h] * mean + self.scale * self.outer[h] * bonus
                        self.q[h, s, a] = min(self.q[h, s, a], backup)
            value = self.q[h].max(axis=1)
            value[self.terminal] = terminal_reward * self.rest[h]


class DenseMonotoneBernstein(DenseUCBVI):
    """The same with the monotone Bernstein bonus; `iota` gives the logarithm after n visits."""

    def __init__(self, law, shape, episodes, layers, *, scale, constant, iota, terminal=()):
        super().__init__(law, shape, episodes, layers, scale=scale, delta=0.1, terminal=terminal)
        self.scale, self.constant, self.iota = scale, constant, iota

    def update(self, rewards, terminal_reward):
        value = np.full(len(rewards), self.last)
        value[self.terminal] = terminal_reward * self.rest[-1]
        for h in reversed(range(self.n_layers)):
            for s, a in np.argwhere(self.counts.sum(axis=2) > 0):
                n = self.counts[s, a].sum()
                chances, c, iota = self.counts[s, a] / n, self.constant, self.iota(n)
                mean = chances @ value
                variance = chances @ (value - mean) ** 2
                bonus = max(np.sqrt(c * variance * iota / n), c * self.rest[h + 1] * iota / n)
                backup = rewards[s, a] + self.ratios[h] * (mean + self.scale * bonus)
                self.q[h, s, a] = min(self.q[h, s, a], backup)
            value = self.q[h].max(axis=1)
            value[self.terminal] = terminal_reward * self.rest[h]


def full_sweep(learner, before):
    """Return Q and V that a full sweep from the last layer over all visited pairs gives, in plain floats.

    `before` are the Q values before it, by pairs. Sums are formed in the order of the package's backups, so
    that results can be compared bit for bit.
    """
    tables, assumed, terms = learner._tables, learner._assumed, learner._bernstein
    n_states, n_pairs = int(tables.sizes[0]), int(tables.sizes[1])
    q, value = np.tile(assumed.caps[:-1], (n_pairs, 1)), tables.value[:n_states].copy()
    q[: len(before)] = before
    arcs = {pair: [] for pair in range(n_pairs)}
    for pair in range(n_pairs):
        arc = tables.first_arc[pair]
        while arc >= 0:
            arcs[pair].append((int(tables.arc_to[arc]), float(tables.arc_count[arc])))
            arc = tables.arc_next[arc]
    for h in reversed(range(learner.n_layers)):
        for pair in range(n_pairs):
            n = float(tables.visits[pair])
            root = 1.0 / np.sqrt(n)
            reward = float(tables.reward_total[pair])
            if assumed.reward_bonus >= 0.0:
                reward = reward / n + assumed.reward_bonus * root
            expected = None
            for state, count in arcs[pair]:
                term = (count / n) * value[state, h + 1]
                expected = term if expected is None else expected + term
            bonus = assumed.bonus[h] * root
            if terms is not None:  # of the monotone Bernstein bonus
                share = terms.weight * (terms.log + terms.log_visits * np.log(n * (n + 1.0))) / n
                variance = 0.0
                for state, count in arcs[pair]:
                    variance += (count / n) * (value[state, h + 1] - expected) ** 2
                bonus = terms.factor[h] * max(np.sqrt(share * variance), share * terms.caps[h])
            backup = (reward + assumed.ratios[h] * expected) + bonus
            q[pair, h] = min(q[pair, h], backup)
        for state in range(1, n_states):
            pairs = tables.pair_of[state]
            if (pairs >= 0).all():
                value[state, h] = q[pairs, h].max()
    return q, value


def priority(key, episode, h, state, action):
    """SplitMix64's output function on each number in turn, in Python's own integers."""
    mask, golden = 2**64 - 1, 0x9E3779B97F4A7C15

    def mix(z):
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    z = key
    for number in (episode, h, state, action):
        z = mix((z + golden * number) & mask)
    return z
