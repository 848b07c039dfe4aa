"""Rollout buffers with a discount per step."""

from __future__ import annotations

from typing import Any

import numpy as np
from stable_baselines3.common.buffers import DictRolloutBuffer, RolloutBuffer

from sojourn._typing import BoolArray
from sojourn.sb3._clock import StepClock

__all__ = ["LawDictRolloutBuffer", "LawRolloutBuffer"]


class _LawRollout(RolloutBuffer):
    """What the buffers for array and for `Dict` observations have in common."""

    def __init__(self, *args: Any, clock: StepClock, **settings: Any) -> None:
        self.clock = clock
        super().__init__(*args, **settings)
        self._index = np.zeros(self.n_envs, dtype=np.int64)

    def reset(self) -> None:
        """Forget the transitions; episodes in progress go on."""
        super().reset()
        self.indices = np.zeros((self.buffer_size, self.n_envs), dtype=np.int64)

    def add(self, obs: Any, action: Any, reward: Any, episode_start: Any, value: Any, log_prob: Any) -> None:
        """Store one transition per environment; steps are counted from the starts of episodes."""
        following = np.minimum(self._index + 1, self.clock.last)
        self._index = np.where(np.asarray(episode_start, dtype=np.bool_), 0, following)
        self.indices[self.pos] = self._index
        super().add(obs, action, reward, episode_start, value, log_prob)

    def compute_returns_and_advantage(self, last_values: Any, dones: BoolArray) -> None:
        """Compute advantages by GAE with the discount of each step, and λ-returns.

        δ_t = r_t + d(h_t) · V(s_{t+1}) − V(s_t) and A_t = δ_t + λ · d(h_t) · A_{t+1}, within episodes.
        """
        following = last_values.clone().cpu().numpy().flatten()
        goes_on = 1.0 - dones.astype(np.float32)
        discounts = self.clock.discounts[self.indices]
        traces = (discounts * self.gae_lambda).astype(np.float32)
        discounts = discounts.astype(np.float32)
        advantage = np.zeros(self.n_envs, dtype=np.float32)
        for t in reversed(range(self.buffer_size)):
            delta = self.rewards[t] + discounts[t] * following * goes_on - self.values[t]
            advantage = delta + traces[t] * goes_on * advantage
            self.advantages[t] = advantage
            following, goes_on = self.values[t], 1.0 - self.episode_starts[t]
        self.returns = self.advantages + self.values


class LawRolloutBuffer(_LawRollout):
    """A rollout buffer with a discount per step, for PPO, A2C and TRPO.

    Advantages are those of generalized advantage estimation (GAE) with the discount of each step. Rewards
    must come from a `LawClock(on_policy=True)`, which multiplies them by the clock's weights. The agent's
    `gamma`, by which it discounts values at truncations, must be the last of the clock's discounts; `prepare`
    sets it. For `Dict` observations, use `LawDictRolloutBuffer`.

    Args:
        *args: As in SB3's `RolloutBuffer`.
        clock: Weights and discounts by step.
        **settings: As in SB3's `RolloutBuffer`.
    """


class LawDictRolloutBuffer(_LawRollout, DictRolloutBuffer):
    """`LawRolloutBuffer` for `Dict` observations, such as images with the step beside them."""
