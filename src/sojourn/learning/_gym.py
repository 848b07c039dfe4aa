"""Plays a learner on a Gymnasium environment: through its transition table, or step by step without one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn._typing import IntArray
from sojourn._validation import check_reward_range
from sojourn.agents import Agent, OptimalPlayer, Step, play_episode
from sojourn.errors import NoTableError
from sojourn.laws import LengthLaw, draw_lengths
from sojourn.learning._run import Run
from sojourn.mdps import TabularMDP

if TYPE_CHECKING:
    from sojourn.envs import NumberedEnv

__all__ = ["play_env", "read_table"]


def read_table(env: Any) -> TabularMDP | None:
    """Return the problem that an environment's table describes, or None if it has no such table."""
    if not isinstance(env, str) and not any(hasattr(env, name) for name in ("unwrapped", "P", "entry_point")):
        raise TypeError(f"mdp must be a TabularMDP, or a Gymnasium id or environment; got {env!r}.")
    try:
        return TabularMDP.from_env(env)
    except NoTableError:
        return None


def play_env(
    agent: Agent,
    env: Any,
    law: LengthLaw,
    *,
    episodes: int,
    seed: int,
    progress: Callable[[float], object],
    reward_range: tuple[float, float] | None,
) -> Run:
    """Play a learner on an environment without a transition table; it knows only what it observes."""
    from sojourn.envs import NumberedEnv, open_env, wrapper_with_law  # noqa: PLC0415 - loads Gymnasium
    from sojourn.mdps import wrapper_hiding_table  # noqa: PLC0415 - loads Gymnasium

    with open_env(env) as (made, name):
        inside = wrapper_with_law(made)
        if inside is not None:
            raise ValueError(f"env must not have {inside} inside: learn draws the lengths; got {made}.")
        wrapper = wrapper_hiding_table(made)
        if isinstance(agent, OptimalPlayer):
            lacks = (
                "has no transition table" if wrapper is None else f"has {wrapper} around its table, and none"
            )
            raise ValueError(f"agent must learn: {name} {lacks} to plan on; got {agent!r}.")
        numbered = NumberedEnv(made)
        low, span = _range_with_zero(reward_range, name, wrapper)
        streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(4)]
        for_lengths, _, for_env, for_learner = streams
        drawn = draw_lengths(law, for_lengths, episodes)
        # One seed per episode, so that every learner gets the same start states.
        seeds = for_env.integers(2**31, size=episodes)
        learner = _start(agent, numbered, episodes, (0.0 - low) / span, for_learner)
        began = time.perf_counter()
        played = _play(learner, numbered, drawn, seeds, low=low, span=span, progress=progress)
        seconds = time.perf_counter() - began
    return Run(
        agent=agent,
        problem=name,
        law=law,
        seed=seed,
        regret=None,
        regret_width=None,
        price=None,
        seconds=seconds,
        observations=numbered.observations,
        learner=learner,
        **played,
    )


def _start(agent: Agent, env: NumberedEnv, episodes: int, terminal_reward: float, rng: Any) -> Any:
    """Start the learner with the environment's number of states, unless its settings give another."""
    return agent.start(
        n_states=env.n_states if getattr(agent, "n_states", None) is None else None,
        n_actions=env.n_actions,
        episodes=episodes,
        terminal_reward=terminal_reward,
        rng=rng,
    )


def _play(
    learner: Any,
    env: NumberedEnv,
    drawn: IntArray,
    seeds: IntArray,
    *,
    low: float,
    span: float,
    progress: Callable[[float], object],
) -> dict[str, Any]:
    """Play all episodes by `act`, `observe` and `end_episode`; return the parts of a `Run`."""
    episodes = drawn.size
    starts, lengths = np.empty(episodes, dtype=np.int64), np.empty(episodes, dtype=np.int64)
    observed, totals = np.empty(episodes, dtype=np.bool_), np.zeros(episodes)

    def step(_: int, action: int) -> Step:
        next_state, paid, terminated, truncated = env.step(action)
        reward = (paid - low) / span
        if not 0.0 <= reward <= 1.0:
            raise ValueError(
                f"reward_range must hold every reward; got {paid!r} in episode {k + 1}, "
                f"outside ({low!r}, {low + span!r})."
            )
        return Step(next_state, reward, paid, terminated, truncated)

    for k in range(episodes):
        starts[k] = state = env.reset(int(seeds[k]))
        one = play_episode(learner, step, state, int(drawn[k]), n_actions=env.n_actions)
        lengths[k], observed[k], totals[k] = one.length, one.observed, one.total
        if (k + 1) % max(1, episodes // 100) == 0:
            progress((k + 1) / episodes)
    return {"starts": starts, "lengths": lengths, "observed": observed, "rewards": totals}


def _range_with_zero(
    reward_range: tuple[float, float] | None, name: str, wrapper: str | None
) -> tuple[float, float]:
    """Return the least reward and the width of the range, extended to include 0, the reward after the end."""
    if reward_range is None:
        why = "which has no transition table"
        if wrapper is not None:
            why = f"whose transition table does not hold what {wrapper} around it does"
        raise ValueError(
            f"reward_range must be given for {name}, {why}; "
            "write reward_range=(low, high), the least and the largest reward of a step."
        )
    low, high = check_reward_range(reward_range)
    low, high = min(low, 0.0), max(high, 0.0)
    return low, high - low
