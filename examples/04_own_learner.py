"""A learner of one's own: three methods to play, and a fourth that makes its regret exact.

It keeps the mean of what came from each (step, state, action) on until the episode ended, tries what it has
not tried, and then takes the best mean. Episodes end as the law has it, so these sums are what is to be made
large, and nothing need be known of the law; but they are those of the policies that were played then, and
after one try of each action nothing is explored: it is simple, and it pays for that.

Run: python examples/04_own_learner.py
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import sojourn as sj
from sojourn.testing import check_learner


@dataclass(frozen=True)
class BestMean:
    """Settings are frozen; `start` makes a learner from them, anew for every trial.

    Args:
        horizon: Number of steps N that are told apart; step N's table is used for all later ones.
    """

    horizon: int = 10

    def start(
        self, *, n_states: int, n_actions: int, terminal_reward: float = 0.0, **_: Any
    ) -> BestMeanLearner:
        """Return a learner that has seen nothing; what it does not use it leaves in `_`."""
        return BestMeanLearner((self.horizon, n_states, n_actions), terminal_reward)


class BestMeanLearner:
    """A learner in play."""

    def __init__(self, shape: tuple[int, int, int], terminal_reward: float) -> None:
        self._totals, self._visits = np.zeros(shape), np.zeros(shape, dtype=np.int64)
        self._policy = np.zeros(shape[:2], dtype=np.int64)
        self._episode: list[tuple[int, int, float]] = []
        self._terminal_reward = terminal_reward

    def act(self, state: int, h: int) -> int:
        """Return the action in `state` at step `h`, counted from 1."""
        return int(self._policy[self._row(h), state])

    def observe(self, state: int, action: int, reward: float, next_state: int, terminated: bool) -> None:
        """Take in one step."""
        # Less what the absorbing state pays: then it pays nothing, and all policies lose the same.
        self._episode.append((state, action, reward - self._terminal_reward))

    def end_episode(self, length: int, observed: bool) -> None:
        """Learn from the episode; only now the policy may change."""
        total = 0.0
        for h in range(length, 0, -1):
            state, action, reward = self._episode[h - 1]
            total += reward
            self._totals[self._row(h), state, action] += total
            self._visits[self._row(h), state, action] += 1
        self._episode.clear()
        means = np.where(self._visits > 0, self._totals / np.maximum(self._visits, 1), np.inf)
        self._policy = means.argmax(axis=2)

    def policy(self) -> np.ndarray:
        """Return the policy of the coming episode, `(N, S)`: optional, and with it regret is exact."""
        return self._policy

    def _row(self, h: int) -> int:
        return min(h, len(self._policy)) - 1


def main() -> None:
    """Check the learner, then play it beside others."""
    check_learner(BestMean())
    print("BestMean keeps the protocol.")
    mdp, law = sj.mdps.garnet(6, 3, 2, seed=0), sj.Uniform(1, 12)
    for agent in (sj.RandomPlayer(), BestMean(horizon=12), sj.UCBVI(law, sj.PaperBonus(0.01))):
        run = sj.learn(agent, mdp, law, episodes=1_000, seed=0)
        first, last = run.regret[:100].mean(), run.regret[-100:].mean()
        print(f"{type(agent).__name__:12} regret an episode: {first:.3f} at first, {last:.3f} at last")


if __name__ == "__main__":
    main()
