"""Protocols of agents and learners: the methods that `learn` and comparisons call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from sojourn._kernels import ProblemArrays, ReferenceArrays
from sojourn._typing import BoolArray, FloatArray, IntArray, PolicyArray

__all__ = ["Agent", "CompiledLearner", "EpisodeBatch", "Learner", "PlanningLearner", "Played", "ValueOf"]

ValueOf = Callable[[Any, int], tuple[float, float]]


class EpisodeBatch(NamedTuple):
    """Episodes to play on a problem."""

    problem: ProblemArrays
    reference: ReferenceArrays  # constants of policy valuation
    rng: np.random.Generator  # for transitions
    starts: IntArray  # `(episodes,)` start states
    drawn: IntArray  # `(episodes,)` number of steps after which the law ends each episode
    is_valued: BoolArray | None = None  # `(episodes,)` whose policies are valued; None for all

    def part(self, some: slice) -> EpisodeBatch:
        """Return some of the episodes."""
        is_valued = None if self.is_valued is None else self.is_valued[some]
        return self._replace(starts=self.starts[some], drawn=self.drawn[some], is_valued=is_valued)


class Played(NamedTuple):
    """Results of some episodes; all arrays have one entry per episode."""

    lengths: IntArray  # number of steps played
    observed: BoolArray  # whether the length was observed, and not censored
    rewards: FloatArray  # sum of the rewards, in the problem's own units
    values: FloatArray  # value of the episode's policy from its start state; 0 if it is not valued
    widths: FloatArray  # width of the certified bracket of that value

    @classmethod
    def joined(cls, parts: Iterable[Played]) -> Played:
        """Return the results of several parts, one after the other."""
        return cls(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


@runtime_checkable
class Learner(Protocol):
    """An agent in play, with state. Its policy is fixed at the start of each episode."""

    def act(self, state: int, h: int) -> int:
        """Return the action in `state` at step `h`, counted from 1."""

    def observe(self, state: int, action: int, reward: float, next_state: int, terminated: bool) -> None:
        """Record one step; `terminated` means that the environment ended the episode, not the law."""

    def end_episode(self, length: int, observed: bool) -> None:
        """End the episode after `length` steps; `observed` is False if the length is censored."""


@runtime_checkable
class PlanningLearner(Learner, Protocol):
    """A learner that shows its policy, so that its regret can be computed exactly.

    After the last row of its policy the learner keeps playing that row. If it has an attribute `after` with
    the value "restart", it starts again with the first row.
    """

    def policy(self) -> PolicyArray:
        """Return the policy of the coming episode, `(N, S)` actions or `(N, S, A)` probabilities."""


@runtime_checkable
class CompiledLearner(PlanningLearner, Protocol):
    """A learner that can play whole episodes on a `TabularMDP` in compiled code.

    The results are bit for bit those of `act`, `observe` and `end_episode` with the same random streams.
    """

    @property
    def has_compiled_loop(self) -> bool:
        """Whether `play` supports this learner's settings; otherwise it is played step by step."""

    def policy_value(
        self, problem: ProblemArrays, reference: ReferenceArrays, start: int
    ) -> tuple[float, float]:
        """Return the coming policy's value from a start state (or NaN) and the width of its bracket."""

    def play(self, batch: EpisodeBatch, *, value_of: ValueOf | None = None) -> Played:
        """Play whole episodes.

        Args:
            batch: The episodes.
            value_of: Returns the value of the coming policy from a start state and the width of its bracket,
                for use when `policy_value` is NaN.
        """


@runtime_checkable
class Agent(Protocol):
    """Frozen settings that start a new learner for every trial."""

    def start(
        self,
        *,
        n_states: int | None,
        n_actions: int,
        episodes: int,
        rewards: FloatArray | None = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
        terminal_reward: float = 0.0,
        rng: np.random.Generator,
    ) -> Any:
        """Return a new learner for a problem.

        Args:
            n_states: Number of states including the absorbing one, or None if it is not known.
            n_actions: Number of actions.
            episodes: Number of episodes that will be played.
            rewards: `(S, A)` rewards, or None if they are to be learned.
            reward_range: Least and largest reward.
            terminal_reward: Reward per step of the absorbing state.
            rng: The learner's source of random numbers.
        """
