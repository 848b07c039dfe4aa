"""The wrapper that adds the step to the observations, for vector environments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from sojourn._typing import BoolArray, FloatArray
from sojourn.envs._step_index import IndexedSpace
from sojourn.envs.vector._episodes import CountingWrapper
from sojourn.laws import LengthLaw

__all__ = ["StepIndex"]


class StepIndex(CountingWrapper):
    """Adds the number of steps taken so far to each observation; see `sojourn.envs.StepIndex`.

    Args:
        env: The vector environment.
        max_steps: Number of steps to distinguish.
        key: Key of the step if the observation is a `Dict`.
        feature: "index", "log" or "remaining".
        law: The law of lengths, or its text, if the feature is "remaining".

    Example:
        >>> import gymnasium
        >>> envs = StepIndex(gymnasium.make_vec("Taxi-v4", num_envs=2), max_steps=50)
        >>> envs.reset(seed=0)[0]
        array([[314,   0],
               [252,   0]])
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        max_steps: int,
        *,
        key: str = "step",
        feature: str = "index",
        law: LengthLaw | str | None = None,
    ) -> None:
        super().__init__(env)
        self._indexed = IndexedSpace(env.single_observation_space, max_steps, key, feature, law)
        self.single_observation_space = self._indexed.space
        self.observation_space = batch_space(self._indexed.space, self.num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start all episodes, or those of `options["reset_mask"]`, with index 0."""
        observations, infos = super().reset(seed=seed, options=options)
        return self._joined(observations), infos

    def step(self, actions: Any) -> tuple[Any, FloatArray, BoolArray, BoolArray, dict[str, Any]]:
        """Play one step in each sub-environment and count it."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        self._count(terminated | truncated)
        return self._joined(observations), rewards, terminated, truncated, infos

    def _joined(self, observations: Any) -> Any:
        return self._indexed.join(observations, np.minimum(self._taken, self._indexed.last))
