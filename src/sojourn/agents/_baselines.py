"""Two baselines that do not learn: random play, and the best policy for a known problem and law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn._typing import FloatArray, PolicyArray
from sojourn.planning import Plan

__all__ = ["OptimalPlayer", "RandomPlayer"]


@dataclass(frozen=True)
class RandomPlayer:
    """Plays every action with the same probability and learns nothing."""

    def start(
        self, *, n_states: int | None, n_actions: int, rng: np.random.Generator, **_: Any
    ) -> _RandomLearner:
        """Return the learner; see `Agent.start`."""
        return _RandomLearner(n_states, n_actions, rng)


class _RandomLearner:
    """The learner of `RandomPlayer`."""

    def __init__(self, n_states: int | None, n_actions: int, rng: np.random.Generator) -> None:
        self._n_actions, self._rng = n_actions, rng
        shape = (1, n_states or 0, n_actions)
        self._policy = np.full(shape, 1.0 / n_actions)

    def act(self, state: int, h: int) -> int:
        return int(self._rng.integers(self._n_actions))

    def observe(self, state: int, action: int, reward: float, next_state: int, terminated: bool) -> None:
        pass

    def end_episode(self, length: int, observed: bool) -> None:
        pass

    def policy(self) -> FloatArray:
        return self._policy


@dataclass(frozen=True, eq=False)
class OptimalPlayer:
    """Plays the best policy for a problem and a law that are known, but not the length of an episode.

    Args:
        plan: The plan that `sojourn.plan` returned for the problem to be played.
    """

    plan: Plan

    def start(self, *, n_states: int | None, **_: Any) -> _PlanFollower:
        """Return the learner; see `Agent.start`."""
        if n_states is not None and n_states != self.plan.policy.shape[1]:
            raise ValueError(
                f"plan must be for the {n_states} states of the problem; got {self.plan.policy.shape[1]}."
            )
        return _PlanFollower(self.plan)


class _PlanFollower:
    """The learner of `OptimalPlayer`."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def act(self, state: int, h: int) -> int:
        return self._plan.action(state, h)

    def observe(self, state: int, action: int, reward: float, next_state: int, terminated: bool) -> None:
        pass

    def end_episode(self, length: int, observed: bool) -> None:
        pass

    def policy(self) -> PolicyArray:
        return self._plan.policy
