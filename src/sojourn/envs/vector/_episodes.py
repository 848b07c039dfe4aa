"""Base classes of wrappers that count and end the episodes of a vector environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv, VectorWrapper

from sojourn._typing import BoolArray, FloatArray, IntArray

__all__ = ["CountingWrapper", "EndingWrapper"]


class CountingWrapper(VectorWrapper):
    """Counts the steps of each sub-environment's episode.

    In the autoreset mode `NEXT_STEP` the step after an end only starts the next episode and is not counted.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        mode = env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
        if mode not in (AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED):
            raise ValueError(
                f"autoreset_mode must be NEXT_STEP or DISABLED; got {mode}. "
                "Or wrap each sub-environment: gymnasium.make_vec(..., wrappers=[...])."
            )
        self._resets_itself = mode is AutoresetMode.NEXT_STEP
        self._taken: IntArray = np.zeros(self.num_envs, dtype=np.int64)
        self._ended: BoolArray = np.zeros(self.num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start all episodes, or those of `options["reset_mask"]`."""
        begun = self._to_begin(options)
        # A copy, because Gymnasium removes the mask from the dictionary.
        options = None if options is None else dict(options)
        observations, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        self._taken[begun], self._ended[begun] = 0, False
        self._begin(begun)
        return observations, infos

    def _to_begin(self, options: dict[str, Any] | None) -> BoolArray:
        """Return which episodes a reset with these options starts."""
        return np.array((options or {}).get("reset_mask", np.ones(self.num_envs)), dtype=np.bool_)

    def _begin(self, begun: BoolArray) -> None:
        """Called when these episodes start; does nothing by default."""

    def _count(self, ended: BoolArray) -> None:
        """Count one step, at which the episodes `ended` ended."""
        self._taken = np.where(self._ended, 0, self._taken + 1)
        self._begin(self._ended)
        self._ended = ended


class EndingWrapper(CountingWrapper):
    """Ends episodes that the sub-environment itself would continue."""

    _cuts = True
    """Whether the end by the wrapper's own limit is `truncated` instead of `terminated`."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        if not isinstance(env.unwrapped, (SyncVectorEnv, AsyncVectorEnv)):
            raise ValueError(
                f"env must be a SyncVectorEnv or AsyncVectorEnv, which can reset single ones; got {env}. "
                "Make it with gymnasium.make_vec(..., vectorization_mode='sync')."
            )
        self._unaware: BoolArray = np.zeros(self.num_envs, dtype=np.bool_)

    def step(self, actions: Any) -> tuple[Any, FloatArray, BoolArray, BoolArray, dict[str, Any]]:
        """Play one step in each sub-environment, or start the next episode where the last one ended."""
        if not self._resets_itself and self._ended.any():
            ended = np.flatnonzero(self._ended).tolist()
            raise gymnasium.error.ResetNeeded(f"reset must come first in sub-environments {ended}.")
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        begun, forced = self._ended, self._unaware & self._ended
        if forced.any():
            # The wrapper ended these episodes; the step that the sub-environments then played is discarded.
            observations, fresh = self.env.reset(options={"reset_mask": forced.copy()})
            infos = _replaced(infos, fresh, forced)
            rewards, terminated, truncated = (np.array(part) for part in (rewards, terminated, truncated))
            rewards[forced], terminated[forced], truncated[forced] = 0.0, False, False
        own, infos = terminated | truncated, dict(infos)
        self._count(own)
        by_law, by_limit = self._ends(~begun)
        ended_by = np.full(self.num_envs, None, dtype=object)
        ended_by[by_law], ended_by[truncated | by_limit], ended_by[terminated] = "law", "limit", "env"
        self._ended = own | by_law | by_limit
        self._unaware = self._ended & ~own
        if self._ended.any():
            infos |= {"ended_by": ended_by, "_ended_by": self._ended.copy()}
        terminated = terminated | by_law | (by_limit & (not self._cuts))
        rewards = self._weigh(rewards, ~begun & ~terminated, infos)
        return observations, rewards, terminated, truncated | (by_limit & self._cuts), infos

    def _ends(self, played: BoolArray) -> tuple[BoolArray, BoolArray]:
        """Return which of the played episodes the law ends, and which a limit ends."""
        raise NotImplementedError

    def _weigh(self, rewards: FloatArray, going_on: BoolArray, infos: dict[str, Any]) -> FloatArray:
        """Return the rewards to emit and extend `infos`; `going_on`: episodes that have not terminated."""
        return rewards


def _replaced(infos: dict[str, Any], fresh: dict[str, Any], where: BoolArray) -> dict[str, Any]:
    """Return `infos` with the entries of the sub-environments in `where` taken from `fresh`."""
    result: dict[str, Any] = {}
    for key in {**infos, **fresh}:
        if key.startswith("_") and (key[1:] in infos or key[1:] in fresh):
            continue  # masks are handled with their values
        old, new = infos.get(key), fresh.get(key)
        if f"_{key}" in {**infos, **fresh}:
            none = np.zeros(where.size, dtype=np.bool_)
            mask = np.where(where, fresh.get(f"_{key}", none), infos.get(f"_{key}", none))
            if not mask.any():
                continue
            result[f"_{key}"] = mask
        if isinstance(old, dict) or isinstance(new, dict):
            result[key] = _replaced(old or {}, new or {}, where)
        elif old is None or new is None:
            result[key] = new if old is None else old
        else:
            result[key] = np.array(old)
            result[key][where] = new[where]
    return result
