"""A wrapper that adds the step to the observation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from sojourn._validation import check_whole

__all__ = ["IndexedSpace", "StepIndex"]


class StepIndex(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Adds the number of steps taken so far to the observation.

    Under a law that is not geometric the best policy changes with the step, so an agent must observe it. The
    index is 0 at reset, before step h = 1. After step `max_steps` it stays at `max_steps`. With these
    max_steps + 1 values, no two successive observations of an episode of `max_steps` steps have the same
    index; otherwise an agent that bootstraps from the last observation would chase its own estimate.

    - `Discrete(n)` becomes `MultiDiscrete([n, max_steps + 1])`, and a `MultiDiscrete` with one axis gets one
      more entry.
    - A `Box` with one axis gets one more entry: the index, or index / `max_steps` in a box of floats.
    - A `Tuple` gets one more part and a `Dict` one more key, both `Discrete(max_steps + 1)`.
    - Anything else, such as an image, becomes a `Dict` with the keys "observation" and `key`.

    Args:
        env: The environment.
        max_steps: Number of steps to distinguish: the `max_steps` of `LawDiscount`, or more.
        key: Key of the step if the observation is a `Dict`.

    Example:
        >>> import gymnasium
        >>> env = StepIndex(gymnasium.make("Taxi-v4"), max_steps=50)
        >>> env.observation_space
        MultiDiscrete([500  51])
        >>> env.reset(seed=0)[0], env.step(0)[0]
        (array([314,   0]), array([414,   1]))
    """

    def __init__(self, env: gymnasium.Env[Any, Any], max_steps: int, *, key: str = "step") -> None:
        RecordConstructorArgs.__init__(self, max_steps=max_steps, key=key)
        gymnasium.Wrapper.__init__(self, env)
        self._indexed = IndexedSpace(env.observation_space, max_steps, key)
        self.observation_space = self._indexed.space
        self._taken = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode with index 0."""
        self._taken = 0
        observation, info = self.env.reset(seed=seed, options=options)
        return self._indexed.join(observation, np.int64(0)), info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play one step and count it."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._taken += 1
        index = np.int64(min(self._taken, self._indexed.last))
        return self._indexed.join(observation, index), reward, terminated, truncated, info


class IndexedSpace:
    """Adds the step to a space and to its observations, single ones or batches.

    Attributes:
        space: The space with the step.
        last: The largest index.
    """

    def __init__(self, space: spaces.Space[Any], max_steps: int, key: str) -> None:
        self.last = check_whole("max_steps", max_steps, least=1)
        if not isinstance(key, str):
            raise TypeError(f"key must be text; got {key!r}.")
        self._key = key
        self.space, self.join = self._indexed(space)

    def _indexed(self, space: spaces.Space[Any]) -> tuple[spaces.Space[Any], Callable[[Any, Any], Any]]:
        """Return the space with the step, and a function that joins observations and indices."""
        step, key = spaces.Discrete(self.last + 1), self._key
        if isinstance(space, spaces.Discrete):
            sides, starts = [space.n, self.last + 1], [space.start, 0]
            # The transpose turns two batches into a batch of pairs and leaves a single pair unchanged.
            return spaces.MultiDiscrete(sides, start=starts), lambda seen, index: np.array([seen, index]).T
        if isinstance(space, spaces.MultiDiscrete) and space.nvec.ndim == 1:
            self._check_fits(space.dtype)
            longer, from_ = np.append(space.nvec, self.last + 1), np.append(space.start, 0)
            joined = spaces.MultiDiscrete(longer, dtype=space.dtype.type, start=from_)
            return joined, _appending(space.dtype, 1)
        if isinstance(space, spaces.Box) and len(space.shape) == 1:
            return self._longer_box(space)
        if isinstance(space, spaces.Tuple):
            return spaces.Tuple((*space.spaces, step)), lambda seen, index: (*seen, index)
        if key in (space.spaces if isinstance(space, spaces.Dict) else {"observation"}):
            raise ValueError(f"key must not be a key of the observation; got {key!r}.")
        if isinstance(space, spaces.Dict):
            return spaces.Dict({**space.spaces, key: step}), lambda seen, index: {**seen, key: index}
        joined_dict = spaces.Dict({"observation": space, key: step})
        return joined_dict, lambda seen, index: {"observation": seen, key: index}

    def _longer_box(self, space: spaces.Box) -> tuple[spaces.Space[Any], Callable[[Any, Any], Any]]:
        self._check_fits(space.dtype)
        is_float = space.dtype.kind == "f"
        low = np.append(space.low, 0).astype(space.dtype)
        high = np.append(space.high, 1 if is_float else self.last).astype(space.dtype)
        joined = spaces.Box(low, high, dtype=space.dtype.type)
        return joined, _appending(space.dtype, self.last if is_float else 1)

    def _check_fits(self, dtype: np.dtype[Any]) -> None:
        if dtype.kind in "iu" and self.last > np.iinfo(dtype).max:
            most = int(np.iinfo(dtype).max)
            raise ValueError(f"max_steps must be at most {most} for {dtype}; got {self.last}.")


def _appending(dtype: np.dtype[Any], scale: int) -> Callable[[Any, Any], Any]:
    """Return a function that appends index / scale to the last axis, in the observations' dtype."""

    def join(seen: Any, index: Any) -> Any:
        last = np.asarray(index / scale, dtype=dtype)[..., np.newaxis]
        return np.concatenate([np.asarray(seen, dtype=dtype), last], axis=-1)

    return join
