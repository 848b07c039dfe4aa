"""Evaluation of trained agents under a law: by episodes of random length, and exactly on tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from sojourn._typing import FloatArray, IntArray, PolicyArray
from sojourn._validation import check_whole
from sojourn.envs import LawDiscount, RandomLength, StepIndex
from sojourn.laws import LengthLaw, draw_lengths, parse_law
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
            episodes.
        law: The law of lengths, or its text.
        episodes: Number of episodes.
        seed: Seed of the lengths and of the environment.
        deterministic: Whether the agent plays its most likely action.
        max_steps: Largest number of steps per episode: by default 10,000.

    Raises:
        ValueError: If the environment already ends episodes by a law, or weights rewards.
    """
    law = parse_law(law) if isinstance(law, str) else law
    episodes = check_whole("episodes", episodes, least=1)
    limit = _MOST_STEPS if max_steps is None else check_whole("max_steps", max_steps, least=1)
    inner, index = _bare(env)
    lengths = draw_lengths(law, np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,))), episodes)
    returns, n_cut = np.zeros(episodes), 0
    observation, _ = inner.reset(seed=seed)
    for k, length in enumerate(lengths):
        if k:
            observation, _ = inner.reset()
        total = 0.0
        for taken in range(min(int(length), limit)):
            shown = observation if index is None else index.join(observation, np.int64(taken))
            action, _ = model.predict(shown, deterministic=deterministic)
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
    inner, index = _bare(env)
    space = inner.observation_space
    if not isinstance(space, spaces.Discrete) or not isinstance(inner.action_space, spaces.Discrete):
        raise TypeError(f"env must have Discrete observations and actions for a table; got {space}.")
    states = np.arange(space.start, space.start + space.n)
    rows = []
    for taken in range(1 if index is None else index.features.size):
        shown = states if index is None else index.join(states, np.full(states.size, taken))
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
    mdp = _table(_bare(env)[0])
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


def _layers(env: Any) -> Iterator[Any]:
    """Yield the wrappers of an environment from the outside in, and the environment itself."""
    if isinstance(env, VecEnv):
        while hasattr(env, "venv"):
            env = env.venv
        env = env.envs[0] if hasattr(env, "envs") else env
    if not isinstance(env, gymnasium.Env):
        raise TypeError(f"env must be an environment that prepare returned, or a Gymnasium one; got {env!r}.")
    yield env
    while isinstance(env, gymnasium.Wrapper):
        env = env.env
        yield env


def _bare(env: Any) -> tuple[gymnasium.Env[Any, Any], StepIndex | None]:
    """Return the environment inside the wrappers of `prepare`, and the wrapper that shows the step."""
    layers = list(_layers(env))
    for layer in layers:
        if isinstance(layer, (RandomLength, LawDiscount)):
            rule = f"env must not have {type(layer).__name__} inside, or the law counts twice"
            raise ValueError(f"{rule}; got {env}.")
    index = next((layer for layer in layers if isinstance(layer, StepIndex)), None)
    clock = next((layer for layer in layers if isinstance(layer, LawClock)), None)
    outermost = index or clock
    inner = layers[0] if outermost is None else outermost.env
    while isinstance(inner, (Monitor, TrainingLimit)):
        inner = inner.env
    return inner, index


def _plain(action: Any, space: spaces.Space[Any]) -> Any:
    """Return an action as environments take it."""
    return action.item() if isinstance(space, spaces.Discrete) else action
