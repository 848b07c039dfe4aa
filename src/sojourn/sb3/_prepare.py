"""From an environment and a law to the arguments of an agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import gymnasium
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.wrappers import TimeLimit
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

from sojourn._validation import check_choice, check_flag, check_whole, did_you_mean
from sojourn.envs import FEATURES, StepIndex, as_law
from sojourn.laws import LengthLaw
from sojourn.sb3._clock import StepClock, default_last
from sojourn.sb3._law_clock import LawClock, TrainingLimit, TrainingMonitor
from sojourn.sb3._replay import LawDictReplayBuffer, LawReplayBuffer
from sojourn.sb3._rollout import LawDictRolloutBuffer, LawRolloutBuffer

__all__ = ["prepare"]

OFF_POLICY = ("DQN", "QRDQN", "SAC", "TD3", "DDPG", "TQC", "CrossQ", "MultiHorizonDQN")
ON_POLICY = ("PPO", "A2C", "TRPO")
REFUSED = {
    "MaskablePPO": "it needs a rollout buffer of its own, with masks",
    "RecurrentPPO": "it needs a rollout buffer of its own, with hidden states",
    "ARS": "it uses no discount: use RandomLength, or LawDiscount and StepIndex, of sojourn.envs",
    "HER": "HerReplayBuffer computes rewards anew, without the step",
}
"""Algorithms that cannot use these buffers, and why."""

MOST_ONE_HOT = 64
"""Largest number of distinguished steps that discrete observations show as one-hot, on policy."""

EPISODE_FACTOR = 2
"""Default ratio of the length of training episodes to N, so that enough steps show the tail after step N."""


def prepare(
    env: gymnasium.Env[Any, Any] | str | EnvSpec | Callable[[], gymnasium.Env[Any, Any]],
    law: LengthLaw | str,
    algorithm: str | type,
    *,
    n_envs: int | None = None,
    seed: int | None = None,
    vec_env_class: type[VecEnv] = DummyVecEnv,
    last: int | None = None,
    max_steps: int | None = None,
    normalize: bool = True,
    relabel: float = 0.5,
    feature: str | None = "auto",
    n_steps: int = 1,
) -> tuple[Any, dict[str, Any]]:
    """Return an environment and keyword arguments with which an SB3 agent maximizes rewards under a law.

    The agent then maximizes E Σ_h γ(h) r_h, the mean sum of rewards in episodes of random, hidden length. It
    plays no random lengths in training, so that late steps are seen as often as early ones. Do not override
    the keyword arguments; settings of the agent that they do not contain are free.

    Args:
        env: An environment, or a Gymnasium id or function that makes one. Not one whose episodes end by the
            law already, such as `RandomLength`.
        law: The law of lengths, or its text, such as "polynomial(1.4, offset=20)".
        algorithm: Name or class of the agent: DQN, QRDQN, SAC, TD3, DDPG, TQC, CrossQ, PPO, A2C or TRPO.
        n_envs: Number of parallel environments; needs an id or a function. None returns a plain environment.
        seed: Seed of parallel environments.
        vec_env_class: How parallel environments are run: `DummyVecEnv` or `SubprocVecEnv`.
        last: Number N of steps that the agent distinguishes. Later steps count as a geometric tail of the
            same weight (`GeometricTail`), at a certified cost: `env.clock.tail_cost` times the range of
            rewards (with 0 in it if episodes can end by themselves). By default all steps up to the law's
            longest length, or as many as keep the cost below 1% of the mean length, and at most 256.
            For agents that learn on policy it must be below a TimeLimit of the environment. By default it is
            then at most half of the TimeLimit, unless the law has no longer episodes, because the values of
            the tail are learned only from steps after N.
        max_steps: Largest number of steps per training episode, after which it is truncated. By default the
            environment's own TimeLimit, or 2·N if it has none, and no more than the law's longest length.
        normalize: Whether values are means of later rewards (the normalized Bellman equation) or sums. Both
            have the same best policy; means have the same size at every step and are learned faster.
        relabel: Probability that an agent that learns off policy replays a transition at a random step.
        feature: How observations show the step: "log", "remaining" or "index" as in `StepIndex`, or None for
            not at all. "auto" selects None for geometric laws; "index", one-hot, on policy for discrete
            observations if N is at most 64; "remaining" for laws with a longest length of at most N + 1;
            otherwise "log".
        n_steps: Number of successive rewards in a target, for agents that learn off policy.

    Returns:
        The wrapped environment and the keyword arguments.

    Example:
        >>> import sojourn as sj
        >>> from stable_baselines3 import DQN
        >>> env, kwargs = prepare("CartPole-v1", sj.Polynomial(1.4, offset=20), "DQN")
        >>> agent = DQN("MlpPolicy", env, **kwargs, seed=0).learn(200)
        >>> env.observation_space.shape, sorted(kwargs)
        ((5,), ['gamma', 'replay_buffer_class', 'replay_buffer_kwargs'])
    """
    on_policy = _learns_on_policy(algorithm)
    law = as_law(law)
    check_flag("normalize", normalize)
    make = _maker(env, n_envs)

    def wrap(inner: gymnasium.Env[Any, Any], clock: StepClock | None = None) -> LawClock:
        limit = _time_limit(inner)
        if max_steps is not None:
            limit = min(limit or max_steps, check_whole("max_steps", max_steps, least=1))
        if clock is None:
            n_distinguished = _last_step(law, last, limit if on_policy else None)
            clock = StepClock(law, n_distinguished, normalize=normalize)
        longest = clock.effective_law.longest
        if max_steps is None and longest is not None:  # later steps count nothing
            limit = min(limit or longest, longest)
        limit = limit or EPISODE_FACTOR * clock.last or None
        if limit is not None and limit != _time_limit(inner):
            inner = TrainingLimit(inner, limit)
        inner = TrainingMonitor(inner)  # inside the other wrappers: logs show the environment's own rewards
        form = _feature(feature, clock, inner.observation_space if on_policy else None)
        if form is not None:
            space = inner.observation_space
            if isinstance(space, spaces.Dict) and "step" in space.spaces:
                rule = "env must not have 'step' among the keys of its observations, where the step is added"
                raise ValueError(f"{rule}: rename it; got {list(space.spaces)}.")
            inner = StepIndex(inner, clock.last, feature=form, law=law if form == "remaining" else None)
        return LawClock(inner, clock, on_policy=on_policy)

    if n_envs is None:
        made: Any = wrap(make())
        shown = made
    else:
        shown = wrap(make())
        clock = shown.clock  # to find the number of distinguished steps can take a second
        made = vec_env_class([lambda: wrap(make(), clock)] * check_whole("n_envs", n_envs, least=1))
        if seed is not None:
            made.seed(seed)
        made.clock = clock
    arguments = _arguments(shown, on_policy, relabel, n_steps)
    if shown is not made:
        shown.close()
    return made, arguments


def _maker(env: Any, n_envs: int | None) -> Callable[[], gymnasium.Env[Any, Any]]:
    """Return a function that makes the environment."""
    if isinstance(env, (str, EnvSpec)):
        return lambda: gymnasium.make(env)
    if isinstance(env, gymnasium.Env):
        if n_envs is not None:
            raise TypeError(f"env must be an id or a function if n_envs is given; got {env}.")
        return lambda: env
    if isinstance(env, VecEnv):
        raise TypeError(
            "env must be one environment, or an id or function with n_envs=…, because the step is added to "
            f"each environment before they are stacked; got {type(env).__name__}."
        )
    if not callable(env):
        raise TypeError(f"env must be a Gymnasium environment, an id or a function; got {env!r}.")
    return cast("Callable[[], gymnasium.Env[Any, Any]]", env)


def _arguments(env: LawClock, on_policy: bool, relabel: float, n_steps: int) -> dict[str, Any]:
    """Return the keyword arguments of the agent."""
    clock, is_dict = env.clock, isinstance(env.observation_space, spaces.Dict)
    gamma = float(clock.discounts[-1])
    if on_policy:
        if n_steps != 1:
            raise ValueError(
                f"n_steps must be 1 for agents that learn on policy, which use GAE; got {n_steps}."
            )
        rollout = LawDictRolloutBuffer if is_dict else LawRolloutBuffer
        return {"gamma": gamma, "rollout_buffer_class": rollout, "rollout_buffer_kwargs": {"clock": clock}}
    settings: dict[str, Any] = {"clock": clock, "relabel": relabel, "n_steps": n_steps}
    if isinstance(env.env, StepIndex):
        settings["features"] = env.env.features
    replay = LawDictReplayBuffer if is_dict else LawReplayBuffer
    return {"gamma": gamma, "replay_buffer_class": replay, "replay_buffer_kwargs": settings}


def _learns_on_policy(algorithm: str | type) -> bool:
    """Return whether an algorithm learns on policy; raise an error if it cannot use these buffers."""
    if not isinstance(algorithm, (str, type)):
        raise TypeError(f'algorithm must be the name or class of an agent, such as "DQN"; got {algorithm!r}.')
    name = algorithm if isinstance(algorithm, str) else algorithm.__name__
    bases = [name] if isinstance(algorithm, str) else [kind.__name__ for kind in algorithm.__mro__]
    known = {one.lower(): one for one in (*OFF_POLICY, *ON_POLICY, *REFUSED)}
    for base in bases:
        found = known.get(base.lower().replace("-", ""))
        if found in REFUSED:
            raise ValueError(f"algorithm must not be {found}: {REFUSED[found]}.")
        if found is not None:
            return found in ON_POLICY
    listed = ", ".join((*OFF_POLICY, *ON_POLICY))
    raise ValueError(f"algorithm must be one of {listed}; got {name!r}.{did_you_mean(name, known.values())}")


def _time_limit(env: gymnasium.Env[Any, Any]) -> int | None:
    """Return the smallest TimeLimit inside an environment, or None."""
    limits: list[int] = []
    layer: Any = env
    while isinstance(layer, gymnasium.Wrapper):
        if isinstance(layer, TimeLimit):
            limits.append(layer._max_episode_steps)
        layer = layer.env
    return min(limits, default=None)


def _last_step(law: LengthLaw, last: int | None, limit: int | None) -> int:
    """Return the number of steps that are distinguished; on policy it must be below the limit."""
    if last is None:
        if limit is None or (law.longest is not None and law.longest <= limit):
            return default_last(law)
        return min(default_last(law), limit // EPISODE_FACTOR)
    check_whole("last", last, least=0)
    if limit is not None and last >= limit:
        raise ValueError(
            f"last must be below the length of training episodes, {limit}, for agents that learn on policy: "
            f"at truncations they discount the next value as after step N; got {last}."
        )
    return last if law.longest is None else min(last, law.longest - 1)


def _feature(feature: str | None, clock: StepClock, space: spaces.Space[Any] | None) -> str | None:
    """Return how observations show the step, or None; `space` is that of an agent that learns on policy.

    Such an agent sees late steps more often than early ones, and with one smooth number what it learns there
    spills over: PPO may settle on one action for all steps. Off policy, random steps are replayed.
    """
    if feature is not None:
        check_choice("feature", feature, ["auto", *FEATURES])
    if feature is None or clock.last == 0:
        return None
    if feature != "auto":
        return feature
    if isinstance(space, (spaces.Discrete, spaces.MultiDiscrete)) and clock.last <= MOST_ONE_HOT:
        return "index"
    return "log" if clock.effective_law.longest is None else "remaining"
