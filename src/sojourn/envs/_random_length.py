"""A wrapper that ends episodes at random, after a hidden length drawn from a law."""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from sojourn.envs._law import LengthStream, as_law, check_seed, record_law
from sojourn.envs._wrapper_checks import metadata_with_law, refuse_second_law, refuse_step_after_end
from sojourn.laws import LengthLaw

__all__ = ["RandomLength"]


class RandomLength(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Ends each episode after a hidden number of steps H, drawn from a law.

    The end by the law is part of the problem, so `terminated` is True: no reward follows it. When an episode
    ends, `info["ended_by"]` says why:

    - `"law"`: step H was played; H is observed.
    - `"env"`: the environment itself terminated, at step H or before; H is not observed.
    - `"limit"`: a TimeLimit or another outside limit cut the episode off (`truncated`); H is not observed. If
      that happens at step H, `terminated` is True as well.

    Lengths come from a separate random stream, a child of `seed` that `reset(seed=…)` restarts. The same seed
    gives the same lengths to every agent, whatever it does, and the same as `sojourn.learn` with that seed.
    Each reset draws one length. A TimeLimit belongs inside, where `gymnasium.make` puts it.

    Args:
        env: The environment.
        law: The law of lengths, or its text, such as "polynomial(1.4, offset=20)".
        seed: Seed of the lengths until `reset` is given one; None takes a random seed. Environments with the
            same seed have the same lengths, so give parallel environments different seeds.
        reveal: Whether `info["length"]` shows H from the start, which no agent should see.

    Example:
        >>> import gymnasium, sojourn as sj
        >>> env = RandomLength(gymnasium.make("Taxi-v4"), sj.Fixed(2))
        >>> _ = env.reset(seed=0)
        >>> for _ in range(2):
        ...     *_, terminated, truncated, info = env.step(0)
        >>> terminated, truncated, info["ended_by"]
        (True, False, 'law')
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        law: LengthLaw | str,
        seed: int | None = None,
        *,
        reveal: bool = False,
    ) -> None:
        law, seed = as_law(law), check_seed(seed)
        RecordConstructorArgs.__init__(self, law=record_law(law), seed=seed, reveal=reveal)
        gymnasium.Wrapper.__init__(self, env)
        refuse_second_law(env, "RandomLength")
        self.metadata = metadata_with_law(env, "RandomLength")
        self.law = law
        self._reveal = bool(reveal)
        self._lengths = LengthStream(law, seed)
        self._length, self._taken = 0, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode and draw its length."""
        seed = check_seed(seed)
        if seed is not None:
            self._lengths.reseed(seed)
        observation, info = self.env.reset(seed=seed, options=options)
        self._length, self._taken = self._lengths.draw(), 0
        return observation, self._with_length(info)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play one step; step H is the last."""
        refuse_step_after_end(self._taken >= self._length)
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._taken += 1
        is_last = self._taken == self._length
        info = self._with_length(info)
        if terminated or truncated or is_last:
            info["ended_by"] = "env" if terminated else "limit" if truncated else "law"
            self._length = 0
        return observation, reward, bool(terminated or is_last), bool(truncated), info

    def _with_length(self, info: dict[str, Any]) -> dict[str, Any]:
        """Return a copy of `info`, with the length if it is to be revealed."""
        return {**info, "length": self._length} if self._reveal else dict(info)
