"""A wrapper that adds the step to the observation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from sojourn._typing import FloatArray, IntArray
from sojourn._validation import check_choice, check_whole
from sojourn.envs._law import as_law, record_law
from sojourn.laws import LengthLaw

__all__ = ["FEATURES", "IndexedSpace", "StepIndex"]

FEATURES = ("index", "log", "remaining")
"""The forms in which the step can be observed."""


class StepIndex(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Adds the number of steps taken so far to the observation, or a smooth function of it.

    Under a law that is not geometric the best policy changes with the step, so an agent must observe it. The
    index i is 0 at reset, before step h = 1. After step `max_steps` it stays at `max_steps`. With these
    max_steps + 1 values, no two successive observations of an episode of `max_steps` steps have the same
    index; otherwise an agent that bootstraps from the last observation would chase its own estimate.

    With `feature="index"`, for tables and for networks that encode it as one-hot:

    - `Discrete(n)` becomes `MultiDiscrete([n, max_steps + 1])`, and a `MultiDiscrete` with one axis gets one
      more entry.
    - A `Box` with one axis gets one more entry: the index, or index / `max_steps` in a box of floats.
    - A `Tuple` gets one more part and a `Dict` one more key, both `Discrete(max_steps + 1)`.
    - Anything else, such as an image, becomes a `Dict` with the keys "observation" and `key`.

    Networks learn faster from one number in [0, 1] that changes most where the law does. With i = h − 1:

    - `feature="log"`: ln(i + 1) / ln(max_steps + 1), for laws with heavy tails.
    - `feature="remaining"`: m(h) / max m, where m(h) is the mean number of remaining steps under `law`, for
      laws with a longest length.

    With these features `Discrete` and `MultiDiscrete` observations are encoded as one-hot, the encoding and
    the entries of a `Box` with one axis are followed by the feature in a `Box` of float32 (or of the box's
    own float type), and a `Dict` or `Tuple` gets a `Box` with one entry.

    Args:
        env: The environment.
        max_steps: Number of steps to distinguish: the `max_steps` of `LawDiscount`, or more.
        key: Key of the step if the observation is a `Dict`.
        feature: "index", "log" or "remaining".
        law: The law of lengths, or its text, if the feature is "remaining".

    Attributes:
        features: `(max_steps + 1,)` what the observation holds at each index.

    Example:
        >>> import gymnasium
        >>> env = StepIndex(gymnasium.make("Taxi-v4"), max_steps=50)
        >>> env.observation_space
        MultiDiscrete([500  51])
        >>> env.reset(seed=0)[0], env.step(0)[0]
        (array([314,   0]), array([414,   1]))
        >>> StepIndex(gymnasium.make("CartPole-v1"), max_steps=7, feature="log").features.round(2)
        array([0.  , 0.33, 0.53, 0.67, 0.77, 0.86, 0.94, 1.  ])
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        max_steps: int,
        *,
        key: str = "step",
        feature: str = "index",
        law: LengthLaw | str | None = None,
    ) -> None:
        recorded = None if law is None else record_law(as_law(law))
        RecordConstructorArgs.__init__(self, max_steps=max_steps, key=key, feature=feature, law=recorded)
        gymnasium.Wrapper.__init__(self, env)
        self._indexed = IndexedSpace(env.observation_space, max_steps, key, feature, law)
        self.observation_space = self._indexed.space
        self.features = self._indexed.features
        self._taken = 0

    def join(self, observations: Any, indices: Any) -> Any:
        """Return inner observations, one or a batch, with the step added."""
        return self._indexed.join(observations, np.minimum(indices, self._indexed.last))

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
        features: `(last + 1,)` what an observation holds at each index.
        join: A function of inner observations and indices that returns observations with the step.
    """

    def __init__(
        self,
        space: spaces.Space[Any],
        max_steps: int,
        key: str,
        feature: str = "index",
        law: LengthLaw | str | None = None,
    ) -> None:
        self.last = check_whole("max_steps", max_steps, least=1)
        if not isinstance(key, str):
            raise TypeError(f"key must be text; got {key!r}.")
        self._key = key
        self.features: FloatArray = np.arange(self.last + 1.0)
        self.join: Callable[[Any, Any], Any]
        if check_choice("feature", feature, FEATURES) == "index":
            self.space, self.join = self._indexed(space)
        else:
            self.features = _step_features(feature, self.last, law)
            self.space, self.join = self._featured(space)

    def _indexed(self, space: spaces.Space[Any]) -> tuple[spaces.Space[Any], Callable[[Any, Any], Any]]:
        """Return the space with the index, and a function that joins observations and indices."""
        step = spaces.Discrete(self.last + 1)
        if isinstance(space, spaces.Discrete):
            sides, starts = [space.n, self.last + 1], [space.start, 0]
            # The transpose turns two batches into a batch of pairs and leaves a single pair unchanged.
            return spaces.MultiDiscrete(sides, start=starts), lambda seen, index: np.array([seen, index]).T
        if isinstance(space, spaces.MultiDiscrete) and space.nvec.ndim == 1:
            self._check_fits(space.dtype)
            longer, from_ = np.append(space.nvec, self.last + 1), np.append(space.start, 0)
            joined = spaces.MultiDiscrete(longer, dtype=space.dtype.type, start=from_)
            return joined, self._appending(space.dtype)
        if isinstance(space, spaces.Box) and len(space.shape) == 1:
            self._check_fits(space.dtype)
            if space.dtype.kind == "f":
                self.features = self.features / self.last
            return self._longer_box(space, space.dtype)
        return self._with_part(space, step, lambda index: index)

    def _featured(self, space: spaces.Space[Any]) -> tuple[spaces.Space[Any], Callable[[Any, Any], Any]]:
        """Return the space with the feature, and a function that joins observations and indices."""
        if isinstance(space, spaces.Discrete):
            return self._one_hot(np.array([space.n]), np.array([space.start]))
        if isinstance(space, spaces.MultiDiscrete) and space.nvec.ndim == 1:
            return self._one_hot(space.nvec, space.start)
        if isinstance(space, spaces.Box) and len(space.shape) == 1:
            return self._longer_box(space, space.dtype if space.dtype.kind == "f" else np.dtype(np.float32))
        step = spaces.Box(0.0, 1.0, (1,), np.float32)
        return self._with_part(
            space, step, lambda index: self.features[np.asarray(index)[..., np.newaxis]].astype(np.float32)
        )

    def _with_part(
        self, space: spaces.Space[Any], step: spaces.Space[Any], part: Callable[[Any], Any]
    ) -> tuple[spaces.Space[Any], Callable[[Any, Any], Any]]:
        """Add the step as a part of a `Tuple` or under a key of a `Dict`."""
        key = self._key
        if isinstance(space, spaces.Tuple):
            return spaces.Tuple((*space.spaces, step)), lambda seen, index: (*seen, part(index))
        if key in (space.spaces if isinstance(space, spaces.Dict) else {"observation"}):
            raise ValueError(f"key must not be a key of the observation; got {key!r}.")
        if isinstance(space, spaces.Dict):
            return spaces.Dict({**space.spaces, key: step}), lambda seen, index: {**seen, key: part(index)}
        joined_dict = spaces.Dict({"observation": space, key: step})
        return joined_dict, lambda seen, index: {"observation": seen, key: part(index)}

    def _longer_box(
        self, space: spaces.Box, dtype: np.dtype[Any]
    ) -> tuple[spaces.Space[Any], Callable[[Any, Any], Any]]:
        low = np.append(space.low, 0).astype(dtype)
        high = np.append(space.high, self.features.max()).astype(dtype)
        return spaces.Box(low, high, dtype=dtype.type), self._appending(dtype)

    def _one_hot(
        self, sides: IntArray, starts: IntArray
    ) -> tuple[spaces.Space[Any], Callable[[Any, Any], Any]]:
        rows = [np.eye(side, dtype=np.float32) for side in sides]
        append = self._appending(np.dtype(np.float32))

        def join(seen: Any, index: Any) -> Any:
            codes = np.asarray(seen).reshape(*np.shape(index), len(rows)) - starts
            parts = [row[codes[..., j]] for j, row in enumerate(rows)]
            return append(np.concatenate(parts, axis=-1), index)

        return spaces.Box(0.0, 1.0, (int(sides.sum()) + 1,), np.float32), join

    def _appending(self, dtype: np.dtype[Any]) -> Callable[[Any, Any], Any]:
        """Return a function that appends the feature to the last axis, in the observations' dtype."""

        def join(seen: Any, index: Any) -> Any:
            last = self.features[np.asarray(index)].astype(dtype)[..., np.newaxis]
            return np.concatenate([np.asarray(seen, dtype=dtype), last], axis=-1)

        return join

    def _check_fits(self, dtype: np.dtype[Any]) -> None:
        if dtype.kind in "iu" and self.last > np.iinfo(dtype).max:
            most = int(np.iinfo(dtype).max)
            raise ValueError(f"max_steps must be at most {most} for {dtype}; got {self.last}.")


def _step_features(feature: str, last: int, law: LengthLaw | str | None) -> FloatArray:
    """Return a smooth function of the step in [0, 1], one value per index."""
    h = np.arange(1, last + 2)
    if feature == "log":
        return np.asarray(np.log(h) / np.log(last + 1))
    if law is None:
        raise ValueError('law must be given if feature is "remaining"; got None.')
    remaining = as_law(law).remaining(h)
    return np.asarray(remaining / remaining.max())
