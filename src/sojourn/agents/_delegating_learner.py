"""Base class of learners that let another learner play each episode."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from scipy import sparse

from sojourn._kernels import ProblemArrays, ReferenceArrays
from sojourn._typing import FloatArray, IntArray, PolicyArray

__all__ = ["DelegatingLearner"]


class DelegatingLearner(ABC):
    """Passes every call of the learner protocol on to the learner that plays the current episode.

    A subclass returns that learner from `playing`, and overrides the methods that must do more.
    """

    @property
    @abstractmethod
    def playing(self) -> Any:
        """The learner that plays the coming episode."""

    @property
    def after(self) -> str:
        """How the policy continues past step N: "restart" or "hold", as in `evaluate`."""
        return str(self.playing.after)

    @property
    def has_compiled_loop(self) -> bool:
        """Whether `play` may replace `act`, `observe` and `end_episode`."""
        return bool(self.playing.has_compiled_loop)

    def act(self, state: int, h: int) -> int:
        """Return the action in `state` at step `h`, counted from 1."""
        return int(self.playing.act(state, h))

    def observe(self, state: int, action: int, reward: float, next_state: int, terminated: bool) -> None:
        """Record the step that `act` has just chosen."""
        self.playing.observe(state, action, reward, next_state, terminated)

    def end_episode(self, length: int, observed: bool) -> None:
        """End the episode and learn from it."""
        self.playing.end_episode(length, observed)

    def policy(self) -> PolicyArray:
        """Return the policy of the coming episode, `(N, S)`."""
        policy: PolicyArray = self.playing.policy()
        return policy

    def q_values(self, states: IntArray | None = None) -> FloatArray:
        """Return Q of the coming episode, `(N, len(states), A)`, with rewards mapped to [0, 1]."""
        q_values: FloatArray = self.playing.q_values(states)
        return q_values

    @property
    def visits(self) -> sparse.coo_array:
        """How often the current learner has played each (state, action), as a sparse array."""
        visits: sparse.coo_array = self.playing.visits
        return visits

    @property
    def transition_counts(self) -> list[tuple[int, int, int, int]]:
        """Every (state, action, next state, count) of the current learner; −1 is the end of an episode."""
        counts: list[tuple[int, int, int, int]] = self.playing.transition_counts
        return counts

    def policy_value(
        self, problem: ProblemArrays, reference: ReferenceArrays, start: int
    ) -> tuple[float, float]:
        """Return the coming policy's value from a start state (or NaN) and the width of its bracket."""
        value, width = self.playing.policy_value(problem, reference, start)
        return value, width
