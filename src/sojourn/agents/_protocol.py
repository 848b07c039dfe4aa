"""What a learner is: settings that start it, and three methods that play."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from sojourn._kernels import ProblemArrays, ReferenceArrays
from sojourn._typing import BoolArray, FloatArray, IntArray, PolicyArray

__all__ = ["Agent", "CompiledLearner", "Learner", "PlanningLearner", "Played"]


class Played(NamedTuple):
    """What came of some episodes; all arrays have one entry an episode."""

    lengths: IntArray
    observed: BoolArray  # whether the length was seen
    rewards: FloatArray  # as the learner counts them
    values: FloatArray  # of the policies, from where the episodes began
    widths: FloatArray  # of those values' brackets

    @classmethod
    def joined(cls, parts: Iterable[Played]) -> Played:
        """Return what came of all episodes of several parts, in their order."""
        return cls(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


@runtime_checkable
class Learner(Protocol):
    """A learner in play. Its policy is fixed at the start of each episode."""

    def act(self, state: int, h: int) -> int:
        """Return the action in `state` at step `h`, counted from 1."""

    def observe(self, state: int, action: int, reward: float, next_state: int, terminated: bool) -> None:
        """Take in one step; `terminated` says that the environment ended the episode, not the law."""

    def end_episode(self, length: int, observed: bool) -> None:
        """End the episode after `length` steps; `observed` is False if it was cut off before its length."""


@runtime_checkable
class PlanningLearner(Learner, Protocol):
    """A learner that can show its policy, so that its regret is computed exactly.

    Past the last row of its policy it holds that row, or, if it has an attribute `after` that says "restart",
    starts again at the first.
    """

    def policy(self) -> PolicyArray:
        """Return the policy of the coming episode, `(N, S)` actions or `(N, S, A)` probabilities."""


@runtime_checkable
class CompiledLearner(PlanningLearner, Protocol):
    """A learner that can play whole episodes on a TabularMDP without returning to Python.

    The bits are those of `act`, `observe` and `end_episode`, with the same random streams.
    """

    @property
    def has_compiled_loop(self) -> bool:
        """Whether it does, with the settings that it has."""

    def policy_value(
        self, problem: ProblemArrays, reference: ReferenceArrays, start: int
    ) -> tuple[float, float]:
        """Return what the coming episode's policy is worth from a start state, and a width; or NaN."""

    def play(
        self,
        problem: ProblemArrays,
        reference: ReferenceArrays,
        rng: np.random.Generator,
        starts: IntArray,
        drawn: IntArray,
        *,
        value_of: Callable[[Any, int], tuple[float, float]] | None = None,
    ) -> Played:
        """Play whole episodes.

        `value_of` values the coming policy from a start state where following it forward does not.
        """


@runtime_checkable
class Agent(Protocol):
    """Settings of a learner: frozen, and started anew for every trial."""

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
        """Return a learner for a problem with so many states and actions, to play so many episodes.

        Args:
            n_states: Number of states, the absorbing one included, or None if it is not known.
            n_actions: Number of actions.
            episodes: Episodes that will be played.
            rewards: `(S, A)` rewards if they are known, or None if they are to be learned.
            reward_range: Least and largest reward.
            terminal_reward: What the absorbing state pays a step, for ever.
            rng: Where all of the learner's chance comes from.
        """
