"""Gymnasium environments with numbered states and actions, for tabular learners."""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec

from sojourn.mdps import make_env, name_env

__all__ = ["NumberedEnv", "open_env"]

_MOST_ACTIONS = 10_000
_MOST_STATES = 10**7
"""Largest number of observations for which learners get a number of states."""


@contextlib.contextmanager
def open_env(env: Any) -> Iterator[tuple[gymnasium.Env[Any, Any], str]]:
    """Yield an environment and its name; one that is made here from an id is closed at the end."""
    if isinstance(env, (str, EnvSpec)):
        made = make_env(env, {})
        try:
            yield made, name_env(made, {})
        finally:
            made.close()
    elif isinstance(env, gymnasium.Env):
        yield env, name_env(env, {})
    else:
        raise TypeError(f"env must be a Gymnasium id or environment; got {env!r}.")


class NumberedEnv:
    """Numbers the observations and actions of a Gymnasium environment from 0.

    `Discrete` observations keep their order; all others are numbered as they appear.

    Args:
        env: An environment with discrete observations (`Discrete`, `MultiDiscrete`, `MultiBinary`, `Text`, a
            `Box` of whole numbers, and `Tuple` and `Dict` of these) and discrete actions.

    Attributes:
        n_actions: Number of actions.
        n_states: Number of different observations in the space plus one absorbing state; None if there are
            more than 10 million.
        observations: The observations so far in the order of their numbers; None if the space is `Discrete`.

    Example:
        >>> import gymnasium
        >>> env = NumberedEnv(gymnasium.make("Blackjack-v1"))
        >>> env.n_actions, env.n_states
        (2, 705)
        >>> env.reset(seed=1), env.observations
        (0, ((20, 7, 0),))
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        self._env = env
        self._actions = _all_actions(env.action_space)
        self._key = _key_of(env.observation_space, env)
        self._first: int | None = None
        if isinstance(env.observation_space, spaces.Discrete):
            self._first = int(env.observation_space.start)
        self._numbers: dict[Hashable, int] = {}
        self._seen: list[Any] = []
        self.n_actions = len(self._actions)
        size = _size(env.observation_space)
        self.n_states = int(size) + 1 if size <= _MOST_STATES else None

    @property
    def observations(self) -> tuple[Any, ...] | None:
        """The observations so far in the order of their numbers; None if the space is `Discrete`."""
        return tuple(self._seen) if self._first is None else None

    def reset(self, seed: int | None = None) -> int:
        """Start an episode and return its first state."""
        observation, _ = self._env.reset(seed=seed)
        return self._number(observation)

    def step(self, action: int) -> tuple[int, float, bool, bool]:
        """Play an action by its number; return the next state, the reward, `terminated` and `truncated`."""
        observation, reward, terminated, truncated, _ = self._env.step(self._actions[action])
        return self._number(observation), float(reward), bool(terminated), bool(truncated)

    def _number(self, observation: Any) -> int:
        if self._first is not None:
            return int(observation) - self._first
        key = self._key(observation)
        number = self._numbers.setdefault(key, len(self._seen))
        if number == len(self._seen):
            self._seen.append(copy.deepcopy(observation))
        return number


def _key_of(space: spaces.Space[Any], env: Any) -> Callable[[Any], Hashable]:
    """Return a function that maps observations to hashable keys."""
    if isinstance(space, spaces.Discrete):
        return int
    if isinstance(space, spaces.Text):
        return str
    if isinstance(space, (spaces.MultiDiscrete, spaces.MultiBinary)) or (
        isinstance(space, spaces.Box) and space.dtype.kind in "iub"
    ):
        dtype = space.dtype
        return lambda observation: np.asarray(observation, dtype=dtype).tobytes()
    if isinstance(space, spaces.Tuple):
        keys = [_key_of(part, env) for part in space.spaces]
        return lambda observation: tuple(key(part) for key, part in zip(keys, observation, strict=True))
    if isinstance(space, spaces.Dict):
        named = {name: _key_of(part, env) for name, part in space.spaces.items()}
        return lambda observation: tuple(key(observation[name]) for name, key in named.items())
    raise ValueError(
        f"env must have discrete observations; got {space} in {env}. "
        "Put them into bins first, with gymnasium.wrappers.TransformObservation."
    )


def _size(space: spaces.Space[Any]) -> float:
    """Return the number of elements of a space, or infinity."""
    if isinstance(space, spaces.Discrete):
        return float(space.n)
    if isinstance(space, spaces.MultiDiscrete):
        return math.prod(float(n) for n in space.nvec.flat)
    if isinstance(space, spaces.MultiBinary):
        return math.prod(itertools.repeat(2.0, math.prod(space.shape)))
    if isinstance(space, spaces.Box):
        return math.prod(float(n) + 1.0 for n in (space.high.astype(float) - space.low.astype(float)).flat)
    if isinstance(space, spaces.Tuple):
        return math.prod(_size(part) for part in space.spaces)
    if isinstance(space, spaces.Dict):
        return math.prod(_size(part) for part in space.spaces.values())
    return math.inf


def _all_actions(space: spaces.Space[Any]) -> list[Any]:
    """Return all actions of a space in order."""
    size = _size(space)
    if not isinstance(space, (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)):
        raise ValueError(f"env must have discrete actions; got {space}.")
    if size > _MOST_ACTIONS:
        raise ValueError(f"env must have at most {_MOST_ACTIONS:,} actions; got {size:.6g}.")
    if isinstance(space, spaces.Discrete):
        return [int(space.start) + i for i in range(int(space.n))]
    sides, starts = [2] * math.prod(space.shape or (1,)), np.zeros(1, dtype=space.dtype)
    if isinstance(space, spaces.MultiDiscrete):
        sides, starts = [int(n) for n in space.nvec.flat], space.start
    tables = np.array(list(itertools.product(*(range(n) for n in sides))), dtype=space.dtype)
    return [(table.reshape(space.shape) + starts).astype(space.dtype) for table in tables]
