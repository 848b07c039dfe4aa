"""The wrappers of `prepare`: a step counter for the buffers, a limit and a monitor of training episodes."""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium
from gymnasium.utils import RecordConstructorArgs
from gymnasium.wrappers import TimeLimit
from stable_baselines3.common.monitor import Monitor

from sojourn.envs import metadata_with_law, wrapper_with_law
from sojourn.sb3._clock import StepClock

__all__ = ["LawClock", "TrainingLimit", "TrainingMonitor"]


class TrainingLimit(TimeLimit):
    """A TimeLimit for training only: `evaluate_policy` lifts it."""


class TrainingMonitor(Monitor, RecordConstructorArgs):
    """SB3's `Monitor`, recorded in the environment's spec so that `check_env` can make it again."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        Monitor.__init__(self, env)


class LawClock(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Puts the number h of each step into `info["step"]`, where `LawReplayBuffer` finds it.

    Args:
        env: The environment.
        clock: Weights and discounts by step.
        on_policy: Whether the environment is for PPO, A2C or TRPO. Then rewards are multiplied by the clock's
            weights here, because rollout buffers get rewards to which the agent has already added a value at
            truncations. It discounts this value by its `gamma`, which is the discount after step N. So a
            truncation must not come before step N + 1.

    Raises:
        ValueError: If a wrapper inside applies a law already; on policy, at a truncation before step N + 1.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], clock: StepClock, *, on_policy: bool = False) -> None:
        RecordConstructorArgs.__init__(self, clock=clock, on_policy=on_policy)
        gymnasium.Wrapper.__init__(self, env)
        found = wrapper_with_law(env)
        if found is not None:
            raise ValueError(
                f"env must not have {found} inside, or with LawClock a law counts twice; got {env}."
            )
        self.metadata = metadata_with_law(env, "LawClock")
        self.clock = clock
        self._on_policy = bool(on_policy)
        self._taken = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        self._taken = 0
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play one step and count it."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._taken += 1
        if self._on_policy:
            last = self.clock.last
            if truncated and not terminated and self._taken <= last:
                raise ValueError(
                    f"last must be below {self._taken}, because env truncated an episode after step "
                    f"{self._taken}, where this agent would discount the next value as after step {last}; "
                    f"got last={last}."
                )
            reward = float(reward) * float(self.clock.weights[min(self._taken, last + 1) - 1])
        return observation, reward, terminated, truncated, {**info, "step": self._taken}
