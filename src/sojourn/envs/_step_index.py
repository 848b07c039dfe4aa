"""The step as a part of the observation."""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from sojourn._validation import check_whole

__all__ = ["Indexed", "StepIndex"]


class StepIndex(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Adds the number of steps taken so far to the observation.

    Under a law that is not geometric the best policy changes with the step, so an agent must see it. The
    index is 0 at reset, where step h = 1 is to be played, and stays at `max_steps` − 1 from there on.

    - `Discrete(n)` becomes `MultiDiscrete([n, max_steps])`, and a `MultiDiscrete` of one axis gets one more
      entry.
    - A `Box` of one axis gets one more entry: the index itself, or, among floats, index / `max_steps`.
    - A `Tuple` gets one more part, a `Dict` one more key, both `Discrete(max_steps)`.
    - Anything else, such as an image, becomes a `Dict` with the keys "observation" and `key`.

    Args:
        env: The environment.
        max_steps: Number of different indices.
        key: Name of the step where the observation is a `Dict`.

    Example:
        >>> import gymnasium
        >>> env = StepIndex(gymnasium.make("Taxi-v4"), max_steps=50)
        >>> env.observation_space
        MultiDiscrete([500  50])
        >>> env.reset(seed=0)[0], env.step(0)[0]
        (array([314,   0]), array([414,   1]))
    """

    def __init__(self, env: gymnasium.Env[Any, Any], max_steps: int, *, key: str = "step") -> None:
        RecordConstructorArgs.__init__(self, max_steps=max_steps, key=key)
        gymnasium.Wrapper.__init__(self, env)
        self._indexed = Indexed(env.observation_space, max_steps, key)
        self.observation_space = self._indexed.space
        self._taken = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode with index 0."""
        self._taken = 0
        observation, info = self.env.reset(seed=seed, options=options)
        return self._indexed.join(observation, np.int64(0)), info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play one step, and count it."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._taken += 1
        return self._indexed.join(observation, np.int64(self._taken)), reward, terminated, truncated, info


class Indexed:
    """A space with the step in it, and its observations, one or a batch at a time."""

    def __init__(self, space: spaces.Space[Any], max_steps: int, key: str) -> None:
        self._max_steps = check_whole("max_steps", max_steps, least=1)
        if not isinstance(key, str):
            raise TypeError(f"key must be text; got {key!r}.")
        self._key = key
        self._inner = space
        self.space = self._joined(space)

    def join(self, observation: Any, taken: Any) -> Any:
        """Return the observation, or batch of them, after so many steps."""
        index = np.minimum(taken, self._max_steps - 1)
        inner = self._inner
        if isinstance(inner, spaces.Dict):
            return {**observation, self._key: index}
        if isinstance(inner, spaces.Tuple):
            return (*observation, index)
        if not isinstance(self.space, (spaces.Box, spaces.MultiDiscrete)):
            return {"observation": observation, self._key: index}
        if isinstance(inner, spaces.Discrete):
            return np.stack([np.asarray(observation, dtype=np.int64), index], axis=-1)
        if isinstance(inner, spaces.Box) and inner.dtype.kind == "f":
            index = index / self._max_steps
        # The space's own type: of float32 and float64, NumPy would make float64.
        last = np.asarray(index, dtype=inner.dtype)[..., np.newaxis]
        return np.concatenate([np.asarray(observation, dtype=inner.dtype), last], axis=-1)

    def _joined(self, space: spaces.Space[Any]) -> spaces.Space[Any]:
        step = spaces.Discrete(self._max_steps)
        if isinstance(space, spaces.Dict):
            if self._key in space.spaces:
                raise ValueError(f"key must be none of the observation's own; got {self._key!r}.")
            return spaces.Dict({**space.spaces, self._key: step})
        if isinstance(space, spaces.Tuple):
            return spaces.Tuple((*space.spaces, step))
        if isinstance(space, spaces.Discrete):
            return spaces.MultiDiscrete([space.n, self._max_steps], start=[space.start, 0])
        if isinstance(space, spaces.MultiDiscrete) and space.nvec.ndim == 1:
            self._check_fits(space.dtype)
            numbers, starts = np.append(space.nvec, self._max_steps), np.append(space.start, 0)
            return spaces.MultiDiscrete(numbers, dtype=space.dtype.type, start=starts)
        if isinstance(space, spaces.Box) and len(space.shape) == 1:
            self._check_fits(space.dtype)
            last = 1 if space.dtype.kind == "f" else self._max_steps - 1
            low, high = np.append(space.low, 0), np.append(space.high, last)
            return spaces.Box(low.astype(space.dtype), high.astype(space.dtype), dtype=space.dtype.type)
        if self._key == "observation":
            raise ValueError("key must be none of the observation's own; got 'observation'.")
        return spaces.Dict({"observation": space, self._key: step})

    def _check_fits(self, dtype: np.dtype[Any]) -> None:
        if dtype.kind in "iu" and self._max_steps - 1 > np.iinfo(dtype).max:
            most = int(np.iinfo(dtype).max) + 1
            raise ValueError(f"max_steps must be at most {most} for {dtype}; got {self._max_steps}.")
