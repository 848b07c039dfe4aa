"""Baselines that never learn, as references for the size of a regret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import sojourn as sj

__all__ = ["BASELINES", "MYOPIC_NAME", "Myopic"]


@dataclass(frozen=True)
class Myopic:
    """Plays uniformly among the actions with the largest immediate reward, which is known; never learns."""

    def start(self, *, rewards: Any, rng: np.random.Generator, **_: Any) -> _Myopic:
        """Return the player; see `Agent.start`."""
        return _Myopic(np.asarray(rewards), rng)


class _Myopic:
    def __init__(self, rewards: np.ndarray, rng: np.random.Generator) -> None:
        is_best = rewards == rewards.max(axis=1, keepdims=True)
        self._actions, self._rng = [np.flatnonzero(row) for row in is_best], rng
        self._policy = (is_best / is_best.sum(axis=1, keepdims=True))[np.newaxis]

    def act(self, state: int, h: int) -> int:
        actions = self._actions[state]
        return int(actions[self._rng.integers(actions.size)])

    def observe(self, state: int, action: int, reward: float, next_state: int, terminated: bool) -> None:
        pass

    def end_episode(self, length: int, observed: bool) -> None:
        pass

    def policy(self) -> np.ndarray:
        return self._policy


MYOPIC_NAME = "myopic, never learns"
BASELINES = {"chance": sj.RandomPlayer(), MYOPIC_NAME: Myopic()}
