"""Evaluation of trained agents under a law: by episodes of random length, and exactly on tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv, VecMonitor, VecNormalize, VecTransposeImage
from stable_baselines3.common.vec_env.base_vec_env import VecEnvWrapper

from sojourn._typing import FloatArray, IntArray, PolicyArray
from sojourn._validation import check_whole
from sojourn.envs import LawDiscount, RandomLength, StepIndex, as_law
from sojourn.laws import LengthLaw, draw_lengths
from sojourn.learning import Estimate, estimate_mean
from sojourn.mdps import TabularMDP
from sojourn.planning import evaluate
from sojourn.sb3._law_clock import LawClock, TrainingLimit

__all__ = ["PolicyReturns", "evaluate_policy", "tabulate"]

_MOST_STEPS = 10_000
"""Default limit on the steps of an evaluation episode."""


@dataclass(frozen=True, eq=False)
class PolicyReturns:
    """Returns of a policy in episodes of random length.

    Attributes:
        returns: `(episodes,)` sums of rewards.
        lengths: `(episodes,)` lengths drawn from the law, the same for every policy with the same seed. An
            episode is shorter where the environment ends it.
        n_cut: Number of episodes that were cut off after `max_steps`.
        omitted: Γ(max_steps + 1), the weight of the steps that no episode plays.
        exact: The exact value of the policy under the law, without a limit on steps, if the environment has
            a table; otherwise None.

    Example:
        >>> import numpy as np
        >>> PolicyReturns(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([1, 2, 3, 4, 5]), 0, 0.0)
        PolicyReturns(mean=3.0 ± 2.0, episodes=5)
    """

    returns: FloatArray
    lengths: IntArray
    n_cut: int
    omitted: float
    exact: float | None = None

    @property
    def estimate(self) -> Estimate:
        """The mean return with its 95% interval."""
        return estimate_mean(self.returns)

    @property
    def mean(self) -> float:
        """The mean return."""
        return float(self.returns.mean())

    def minus(self, other: PolicyReturns) -> Estimate:
        """Return the mean difference from another policy on the same lengths, with its 95% interval.

        Raises:
            ValueError: If the lengths are not the same: use the same law, number of episodes and seed.
        """
        if not np.array_equal(self.lengths, other.lengths):
            raise ValueError("other must have the same lengths: use the same law, episodes and seed.")
        return estimate_mean(self.returns - other.returns)

    def __repr__(self) -> str:
        parts = [f"mean={self.estimate.texts()[0]}", f"episodes={self.returns.size:,}"]
        if self.exact is not None:
            parts.append(f"exact={self.exact:.6g}")
        if self.n_cut:
            parts.append(f"n_cut={self.n_cut:,}")
        return f"PolicyReturns({', '.join(parts)})"


def evaluate_policy(
    model: Any,
    env: Any,
    law: LengthLaw | str,
    episodes: int = 1_000,
    *,
    seed: int = 0,
    deterministic: bool = True,
    max_steps: int | None = None,
) -> PolicyReturns:
    """Play an agent in episodes of random, hidden length and return its sums of rewards.

    Rewards are the environment's own, not weighted: E Σ_{h≤H} r_h = E Σ_h γ(h) r_h. Lengths depend only on
    the law and the seed, so that agents are compared on the same lengths: `a.minus(b)`. The agent's clock
    runs on after its last distinguished step as it did in training.

    Args:
        model: An agent, or anything with SB3's `predict`.
        env: The environment that `prepare` returned, or the plain environment of an agent without a clock.
            The limit on training episodes is lifted; a TimeLimit that was there before stays, and cuts off
            episodes. It is reset: during training, such as in a callback, use another one.
        law: The law of lengths, or its text.
        episodes: Number of episodes.
        seed: Seed of the lengths and of the environment.
        deterministic: Whether the agent plays its most likely action.
        max_steps: Largest number of steps per episode: by default 10,000.

    Raises:
        ValueError: If the environment already ends episodes by a law, or weights rewards; if it was not
            prepared as for the agent's training; if wrappers around it would not be played.
    """
    law = as_law(law)
    episodes = check_whole("episodes", episodes, least=1)
    limit = _MOST_STEPS if max_steps is None else check_whole("max_steps", max_steps, least=1)
    played = _played(model, env)
    inner = played.env
    lengths = draw_lengths(law, np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,))), episodes)
    returns, n_cut = np.zeros(episodes), 0
    observation, _ = inner.reset(seed=seed)
    for k, length in enumerate(lengths):
        if k:
            observation, _ = inner.reset()
        total = 0.0
        for taken in range(min(int(length), limit)):
            action, _ = model.predict(played.show(observation, np.int64(taken)), deterministic=deterministic)
            observation, reward, terminated, truncated, _ = inner.step(_plain(action, inner.action_space))
            total += float(reward)
            if terminated or truncated:
                n_cut += bool(truncated and not terminated and taken + 1 < length)
                break
        else:
            n_cut += length > limit
        returns[k] = total
    return PolicyReturns(
        returns=returns,
        lengths=lengths,
        n_cut=int(n_cut),
        omitted=float(law.tail(limit + 1)),
        exact=_exact_value(model, env, law, deterministic),
    )


def tabulate(model: Any, env: Any, *, deterministic: bool = True) -> PolicyArray:
    """Return the policy of an agent on an environment with numbered states, for `sojourn.evaluate`.

    Args:
        model: An agent, or anything with SB3's `predict`.
        env: The environment that `prepare` returned, or the plain environment of an agent without a clock.
        deterministic: Whether the agent plays its most likely action; otherwise the result holds the action
            probabilities of PPO, A2C or TRPO.

    Returns:
        `(N + 1, S)` actions or `(N + 1, S, A)` probabilities; row h − 1 plays step h, and the last row all
        later steps. There is one row if observations do not show the step. States are those of the
        environment's table (`TabularMDP.from_env`): an end state that no observation shows has action 0.
    """
    played = _played(model, env)
    inner, index = played.env, played.index
    space = inner.observation_space
    if not isinstance(space, spaces.Discrete) or not isinstance(inner.action_space, spaces.Discrete):
        raise TypeError(f"env must have Discrete observations and actions for a table; got {space}.")
    states = np.arange(space.start, space.start + space.n)
    rows = []
    for taken in range(1 if index is None else index.features.size):
        shown = played.show(states, np.full(states.size, taken))
        if deterministic:
            actions = np.asarray(model.predict(shown, deterministic=True)[0]).reshape(-1)
            rows.append(actions - inner.action_space.start)
        else:
            rows.append(_probabilities(model, shown))
    mdp = _table(inner)
    n_unseen = 0 if mdp is None else mdp.n_states - states.size
    unseen = np.zeros((n_unseen, *rows[0].shape[1:]), dtype=rows[0].dtype)
    if not deterministic:
        unseen[:, 0] = 1.0
    return np.stack([np.concatenate([row, unseen]) for row in rows])


def _probabilities(model: Any, observations: Any) -> FloatArray:
    """Return the action probabilities of an agent that learns on policy, `(S, A)`."""
    if not hasattr(model.policy, "get_distribution"):
        raise TypeError(f"model must learn on policy if deterministic is False; got {type(model).__name__}.")
    shown = model.policy.obs_to_tensor(observations)[0]
    found = model.policy.get_distribution(shown).distribution.probs.detach().cpu().numpy().astype(float)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _exact_value(model: Any, env: Any, law: LengthLaw, deterministic: bool) -> float | None:
    """Return the exact value of the agent's policy if the environment has a table; otherwise None."""
    mdp = _table(_played(model, env).env)
    if mdp is None:
        return None
    policy = tabulate(model, env, deterministic=deterministic)
    return float(mdp.start @ evaluate(mdp, law, policy).value)


def _table(env: gymnasium.Env[Any, Any]) -> TabularMDP | None:
    """Return the table of an environment without wrappers of ours, or None."""
    try:
        return TabularMDP.from_env(env)
    except (TypeError, ValueError):
        return None


@dataclass(frozen=True)
class _Played:
    """An environment without the wrappers of training, and how the agent sees its observations."""

    env: gymnasium.Env[Any, Any]
    index: StepIndex | None
    scaling: VecNormalize | None

    def show(self, observations: Any, taken: Any) -> Any:
        """Return what the agent sees, one or a batch, after `taken` steps."""
        shown = observations if self.index is None else self.index.join(observations, taken)
        return shown if self.scaling is None else self.scaling.normalize_obs(shown)


def _played(model: Any, env: Any) -> _Played:
    """Return the environment inside the wrappers of `prepare`, as the agent sees it."""
    one, scaling = _unstacked(env)
    if scaling is None and hasattr(model, "get_vec_normalize_env"):
        scaling = model.get_vec_normalize_env()
    layers = list(_layers(one))
    for layer in layers:
        if isinstance(layer, (RandomLength, LawDiscount)):
            rule = f"env must not have {type(layer).__name__} inside, or the law counts twice"
            raise ValueError(f"{rule}; got {one}.")
    index = next((layer for layer in layers if isinstance(layer, StepIndex)), None)
    clock = next((layer for layer in layers if isinstance(layer, LawClock)), None)
    if clock is not None:
        _check_clock(model, clock)
    for layer in layers[: layers.index(clock or index or one)]:
        if not isinstance(layer, Monitor):
            rule = f"env must have {type(layer).__name__} inside the wrappers of prepare, not around them"
            raise ValueError(f"{rule}: wrap the environment first; got {one}.")
    outermost = index or clock
    inner = one if outermost is None else outermost.env
    while isinstance(inner, (Monitor, TrainingLimit)):
        inner = inner.env
    return _Played(inner, index, scaling)


def _unstacked(env: Any) -> tuple[gymnasium.Env[Any, Any], VecNormalize | None]:
    """Return one of the stacked environments, and the wrapper that scales its observations, if any."""
    scaling = None
    while isinstance(env, VecEnvWrapper):
        if isinstance(env, VecNormalize):
            scaling = env
        elif not isinstance(env, (VecMonitor, VecTransposeImage)):
            raise TypeError(f"env must have no {type(env).__name__} around it: it would not be played.")
        env = env.venv
    if isinstance(env, VecEnv):
        if not hasattr(env, "envs"):
            raise TypeError(
                f"env must be in this process; got {type(env).__name__}. Call prepare without n_envs for one."
            )
        env = env.envs[0]
    if not isinstance(env, gymnasium.Env):
        raise TypeError(f"env must be an environment that prepare returned, or a Gymnasium one; got {env!r}.")
    return env, scaling


def _layers(env: Any) -> Iterator[Any]:
    """Yield the wrappers of an environment from the outside in, and the environment itself."""
    yield env
    while isinstance(env, gymnasium.Wrapper):
        env = env.env
        yield env


def _check_clock(model: Any, env: LawClock) -> None:
    """Raise an error if an agent was trained with another clock than that of an environment."""
    for name in ("replay_buffer_kwargs", "rollout_buffer_kwargs"):
        trained = (getattr(model, name, None) or {}).get("clock")
        if trained is not None and not np.array_equal(trained.discounts, env.clock.discounts):
            raise ValueError(f"env must be prepared as for training, with {trained}; got {env.clock}.")


def _plain(action: Any, space: spaces.Space[Any]) -> Any:
    """Return an action as environments take it."""
    return action.item() if isinstance(space, spaces.Discrete) else action
