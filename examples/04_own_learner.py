"""Write your own learner: three methods to play, and a fourth that makes its regret exact.

For each (step, state, action), the learner keeps the mean of the rewards from there to the end of the
episode. It tries each action once, and then takes the one with the best mean. Episodes end as the law says,
so these means estimate the right objective without any knowledge of the law. But they depend on the
policies of past episodes, and after one try of each action there is no more exploration, so this simple
learner is not a good one.

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
    """Settings of the learner. They are frozen; `start` returns a new learner for every trial.

    Args:
        horizon: Number of steps N with their own table; all later steps use the table of step N.
    """

    horizon: int = 10

    def start(
        self, *, n_states: int, n_actions: int, terminal_reward: float = 0.0, **_: Any
    ) -> BestMeanLearner:
        """Return a new learner. Arguments that it does not need are collected in `_`."""
        return BestMeanLearner((self.horizon, n_states, n_actions), terminal_reward)


class BestMeanLearner:
    """An agent in play, with its state."""

    def __init__(self, shape: tuple[int, int, int], terminal_reward: float) -> None:
        self._totals, self._visits = np.zeros(shape), np.zeros(shape, dtype=np.int64)
        self._policy = np.zeros(shape[:2], dtype=np.int64)
        self._episode: list[tuple[int, int, float]] = []
        self._terminal_reward = terminal_reward

    def act(self, state: int, h: int) -> int:
        """Return the action in `state` at step `h`, counted from 1."""
        return int(self._policy[self._row(h), state])

    def observe(self, state: int, action: int, reward: float, next_state: int, terminated: bool) -> None:
        """Record one step."""
        # Subtract the reward of the absorbing state, so that it is 0 there; this changes all policies alike.
        self._episode.append((state, action, reward - self._terminal_reward))

    def end_episode(self, length: int, observed: bool) -> None:
        """Learn from the episode. The policy may change only here."""
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
        """Return the policy of the next episode, `(N, S)`; this optional method makes regret exact."""
        return self._policy

    def _row(self, h: int) -> int:
        return min(h, len(self._policy)) - 1


def main() -> None:
    """Check the learner, then compare it with others."""
    check_learner(BestMean())
    print("BestMean follows the protocol.")
    mdp, law = sj.mdps.garnet(6, 3, 2, seed=0), sj.Uniform(1, 12)
    for agent in (sj.RandomPlayer(), BestMean(horizon=12), sj.UCBVI(law, sj.PaperBonus(0.01))):
        run = sj.learn(agent, mdp, law, episodes=1_000, seed=0)
        first, last = run.regret[:100].mean(), run.regret[-100:].mean()
        print(f"{type(agent).__name__:12} regret per episode: {first:.3f} at first, {last:.3f} in the end")


if __name__ == "__main__":
    main()
