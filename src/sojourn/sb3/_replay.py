"""Replay buffers with a discount per transition."""

from __future__ import annotations

from typing import Any

import numpy as np
from stable_baselines3.common.buffers import DictReplayBuffer, ReplayBuffer
from stable_baselines3.common.type_aliases import DictReplayBufferSamples, ReplayBufferSamples

from sojourn._typing import FloatArray, IntArray
from sojourn._validation import check_closed_unit, check_whole
from sojourn.sb3._clock import StepClock

__all__ = ["LawDictReplayBuffer", "LawReplayBuffer"]


class _LawReplay(ReplayBuffer):
    """What the buffers for array and for `Dict` observations have in common."""

    def __init__(
        self,
        buffer_size: int,
        observation_space: Any,
        action_space: Any,
        device: Any = "auto",
        n_envs: int = 1,
        optimize_memory_usage: bool = False,
        handle_timeout_termination: bool = True,
        *,
        clock: StepClock,
        relabel: float = 0.5,
        features: FloatArray | None = None,
        key: str = "step",
        n_steps: int = 1,
    ) -> None:
        if optimize_memory_usage:
            rule = "optimize_memory_usage must be False: the next observation has another step"
            raise ValueError(f"{rule}; got {optimize_memory_usage!r}.")
        super().__init__(
            buffer_size,
            observation_space,
            action_space,
            device,
            n_envs,
            optimize_memory_usage,
            handle_timeout_termination,
        )
        self.clock = clock
        self.relabel = check_closed_unit("relabel", relabel)
        self.n_steps = check_whole("n_steps", n_steps, least=1)
        if features is not None and np.shape(features) != (clock.last + 1,):
            rule = f"features must have one entry for each of the {clock.last + 1} steps of the clock"
            raise ValueError(f"{rule}; got shape {np.shape(features)}.")
        self.features = features
        self.key = key
        self.indices = np.zeros((self.buffer_size, self.n_envs), dtype=np.int64)
        self._rng: np.random.Generator | None = None

    def add(
        self, obs: Any, next_obs: Any, action: Any, reward: Any, done: Any, infos: list[dict[str, Any]]
    ) -> None:
        """Store one transition per environment, with its step."""
        if self.clock.last > 0:
            try:
                steps = np.array([info["step"] for info in infos])
            except KeyError:
                raise ValueError(
                    "info must hold the number of the step under 'step': use the environment that prepare "
                    "returns, or LawClock."
                ) from None
            self.indices[self.pos] = np.minimum(steps - 1, self.clock.last)
        super().add(obs, next_obs, action, reward, done, infos)

    def _get_samples(self, batch_inds: IntArray, env: Any = None) -> Any:
        if env is not None and env.norm_reward:
            raise ValueError(
                "VecNormalize must have norm_reward=False: it scales rewards by returns with a constant γ, "
                "and changes the scale while old transitions are replayed."
            )
        envs = np.random.randint(0, high=self.n_envs, size=(len(batch_inds),))  # noqa: NPY002 - as SB3 does
        rows, n_played = self._trajectories(batch_inds, envs)
        first = self._draw_indices(self.indices[batch_inds, envs])
        steps = np.minimum(first[:, np.newaxis] + np.arange(self.n_steps), self.clock.last)
        is_played = np.arange(self.n_steps) < n_played[:, np.newaxis]
        discounts = np.cumprod(np.where(is_played, self.clock.discounts[steps], 1.0), axis=1)
        before = np.concatenate([np.ones((len(rows), 1)), discounts[:, :-1]], axis=1)
        rewards = self.rewards[rows, envs[:, np.newaxis]]
        summed = np.sum(is_played * before * self.clock.weights[steps] * rewards, axis=1, keepdims=True)
        end = rows[np.arange(len(rows)), n_played - 1]
        dones = self.dones[end, envs] * (1 - self.timeouts[end, envs])
        after = np.minimum(first + n_played, self.clock.last)
        return self._samples(
            observations=self._observations(self.observations, batch_inds, envs, first, env),
            actions=self.to_torch(self.actions[batch_inds, envs]),
            next_observations=self._observations(self.next_observations, end, envs, after, env),
            dones=self.to_torch(dones.reshape(-1, 1)),
            rewards=self.to_torch(summed.astype(np.float32)),
            discounts=self.to_torch(discounts[:, -1:].astype(np.float32)),
        )

    def _trajectories(self, first: IntArray, envs: IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows of up to n successive transitions, `(B, n)`, and how many of them to use, `(B,)`.

        The last one is the first that ends an episode, or the newest in the buffer: the oldest follows it.
        """
        rows = (first[:, np.newaxis] + np.arange(self.n_steps)) % self.buffer_size
        is_last = (self.dones[rows, envs[:, np.newaxis]] > 0) | (rows == (self.pos - 1) % self.buffer_size)
        is_last[:, -1] = True
        return rows, is_last.argmax(axis=1) + 1

    def _draw_indices(self, stored: IntArray) -> IntArray:
        """Return the stored indices of steps, some of them replaced by random ones.

        Transitions do not depend on the step, so a stored one is as valid at any other step. Random steps are
        drawn log-uniformly: P(h) ∝ ln(1 + 1/h).
        """
        last = self.clock.last
        if not (self.relabel and last):
            return stored
        if self._rng is None:  # one draw from the stream that the agent's seed sets
            self._rng = np.random.default_rng(np.random.randint(2**31))  # noqa: NPY002
        replaced, drawn = self._rng.random((2, stored.size))
        random = np.exp(drawn * np.log(last + 2.0)).astype(np.int64) - 1
        return np.where(replaced < self.relabel, np.minimum(random, last), stored)

    def _observations(self, stored: Any, rows: IntArray, envs: IntArray, index: IntArray, env: Any) -> Any:
        """Return observations as tensors, with the feature of the given step."""
        raise NotImplementedError

    def _samples(self, **parts: Any) -> Any:
        raise NotImplementedError


class LawReplayBuffer(_LawReplay):
    """A replay buffer with a discount per transition, for DQN, SAC, TD3, DDPG, QR-DQN, TQC and CrossQ.

    These agents use the discounts of a sample in their targets, r + discount · V(next), in place of their own
    `gamma`. For `Dict` observations, use `LawDictReplayBuffer`.

    Transitions that were truncated (TimeLimit) bootstrap from their last observation, at the next step of the
    clock. With `n_steps` > 1, rewards of up to n successive transitions are summed with the discounts of
    their steps; do not set the agent's own `n_steps`, which uses γ^k. `VecNormalize` may scale observations
    outside the environment that `prepare` returns; its `norm_reward` should be False.

    Args:
        buffer_size: Number of transitions.
        observation_space: The space of observations.
        action_space: The space of actions.
        device: The PyTorch device of samples.
        n_envs: Number of parallel environments.
        optimize_memory_usage: Not supported.
        handle_timeout_termination: Whether truncated transitions bootstrap.
        clock: Weights and discounts by step.
        relabel: Probability that a sampled transition is replayed at a random step. 0 for none.
        features: `(N + 1,)` what observations hold at each step, as in `StepIndex.features`: in the last
            entry, or under `key` in a `Dict`. None if they do not hold the step.
        key: Key of the step in `Dict` observations.
        n_steps: Number of successive rewards in a target.

    Raises:
        ValueError: If `info["step"]` is missing, unless the law is memoryless.
    """

    def _observations(self, stored: Any, rows: IntArray, envs: IntArray, index: IntArray, env: Any) -> Any:
        taken = stored[rows, envs]
        if self.features is not None:
            taken[:, -1] = self.features[index]
        return self.to_torch(self._normalize_obs(taken, env))

    def _samples(self, **parts: Any) -> ReplayBufferSamples:
        return ReplayBufferSamples(**parts)


class LawDictReplayBuffer(_LawReplay, DictReplayBuffer):
    """`LawReplayBuffer` for `Dict` observations, such as images with the step beside them."""

    def _observations(self, stored: Any, rows: IntArray, envs: IntArray, index: IntArray, env: Any) -> Any:
        taken = {key: part[rows, envs] for key, part in stored.items()}
        if self.features is not None:
            taken[self.key] = self.features[index].astype(taken[self.key].dtype).reshape(-1, 1)
        return {key: self.to_torch(part) for key, part in self._normalize_obs(taken, env).items()}

    def _samples(self, **parts: Any) -> DictReplayBufferSamples:
        return DictReplayBufferSamples(**parts)
