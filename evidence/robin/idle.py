"""Players that never learn: marks to read a regret by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import sojourn as sj

__all__ = ["IDLE", "MYOPIC", "Myopic"]


@dataclass(frozen=True)
class Myopic:
    """Plays any action with the largest known reward of a single step, all alike, and never learns."""

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


MYOPIC = "myopic, never learns"
IDLE = {"chance": sj.RandomPlayer(), MYOPIC: Myopic()}
