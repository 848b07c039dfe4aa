"""The wrapper that ends episodes at random, for vector environments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.envs._law import LengthStream, as_law, check_seeds
from sojourn.envs._wrapper_checks import metadata_with_law, refuse_second_law
from sojourn.envs.vector._episodes import EndingWrapper
from sojourn.laws import LengthLaw

__all__ = ["RandomLength"]


class RandomLength(EndingWrapper):
    """Ends each sub-environment's episodes after hidden numbers of steps; see `sojourn.envs.RandomLength`.

    Sub-environment i has the lengths of seed + i, as with `sojourn.envs.RandomLength` around each one. When
    the wrapper ends an episode, the sub-environment plays one more step before its reset, and that step is
    discarded. So the lengths are the same as with single wrappers, but the random numbers of the
    sub-environments are not.

    Args:
        env: The vector environment.
        law: The law of lengths, or its text.
        seed: Seed of the lengths until `reset` is given one.
        reveal: Whether `infos["length"]` shows the lengths from the start.

    Example:
        >>> import gymnasium, sojourn as sj
        >>> envs = RandomLength(gymnasium.make_vec("Taxi-v4", num_envs=3), sj.Uniform(1, 4), reveal=True)
        >>> _, infos = envs.reset(seed=0)
        >>> infos["length"]
        array([4, 3, 4])
        >>> for _ in range(3):
        ...     *_, terminated, truncated, infos = envs.step([0, 0, 0])
        >>> terminated, infos["ended_by"]
        (array([False,  True, False]), array([None, 'law', None], dtype=object))
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        law: LengthLaw | str,
        seed: int | None = None,
        *,
        reveal: bool = False,
    ) -> None:
        super().__init__(env)
        refuse_second_law(env, "RandomLength")
        self.metadata = metadata_with_law(env, "RandomLength")
        self.law = as_law(law)
        self._reveal = bool(reveal)
        self._streams = [LengthStream(self.law, None) for _ in range(self.num_envs)]
        self._reseed(check_seeds(seed, self.num_envs), np.ones(self.num_envs, dtype=np.bool_))
        self._lengths: IntArray = np.zeros(self.num_envs, dtype=np.int64)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start all episodes, or those of `options["reset_mask"]`, and draw their lengths."""
        seeds = check_seeds(seed, self.num_envs)
        self._reseed(seeds, self._to_begin(options))
        observations, infos = super().reset(seed=seeds, options=options)
        infos = dict(infos)
        self._add_lengths(infos)
        return observations, infos

    def _begin(self, begun: BoolArray) -> None:
        for i in np.flatnonzero(begun):
            self._lengths[i] = self._streams[i].draw()

    def _ends(self, played: BoolArray) -> tuple[BoolArray, BoolArray]:
        return played & (self._taken >= self._lengths), np.zeros_like(played)

    def _weigh(self, rewards: FloatArray, going_on: BoolArray, infos: dict[str, Any]) -> FloatArray:
        self._add_lengths(infos)
        return rewards

    def _reseed(self, seeds: list[int | None] | None, where: BoolArray) -> None:
        for stream, seed, is_selected in zip(self._streams, seeds or (), where, strict=False):
            if seed is not None and is_selected:
                stream.reseed(seed)

    def _add_lengths(self, infos: dict[str, Any]) -> None:
        """Add the lengths to `infos` if they are to be revealed."""
        if self._reveal:
            infos |= {"length": self._lengths.copy(), "_length": np.ones(self.num_envs, dtype=np.bool_)}
