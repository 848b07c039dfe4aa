"""Playing a learner on a Gymnasium environment: read if it has a table, else played by the protocol."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn._typing import IntArray
from sojourn.agents import Agent, OptimalPlayer
from sojourn.errors import NoTableError
from sojourn.laws import LengthLaw
from sojourn.learning._run import Run
from sojourn.mdps import TabularMDP

if TYPE_CHECKING:
    from sojourn.envs import NumberedEnv

__all__ = ["play_env", "read_table"]


def read_table(env: Any) -> TabularMDP | None:
    """Return the problem that an environment's table describes, or None if it must be played instead."""
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
    """Play a learner on an environment that has no table; nothing is known of it but what is seen."""
    from sojourn.envs._contract import wrapper_with_law  # noqa: PLC0415 - all of them load Gymnasium
    from sojourn.envs._numbered import NumberedEnv, open_env  # noqa: PLC0415
    from sojourn.mdps import wrapper_hiding_table  # noqa: PLC0415

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
        world = NumberedEnv(made)
        low, span = _check_range(reward_range, name, wrapper)
        streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(4)]
        for_lengths, _, for_world, for_learner = streams
        drawn = law.sample(for_lengths, episodes)
        # One seed an episode, so that every learner meets the same start states.
        seeds = for_world.integers(2**31, size=episodes)
        learner = _start(agent, world, episodes, (0.0 - low) / span, for_learner)
        began = time.perf_counter()
        played = _play(learner, world, drawn, seeds, low=low, span=span, progress=progress)
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
        observations=world.observations,
        learner=learner,
        **played,
    )


def _start(agent: Agent, world: NumberedEnv, episodes: int, terminal_reward: float, rng: Any) -> Any:
    """Start the learner; of the states it is told how many there can be, unless its settings say it."""
    return agent.start(
        n_states=world.n_states if getattr(agent, "n_states", None) is None else None,
        n_actions=world.n_actions,
        episodes=episodes,
        terminal_reward=terminal_reward,
        rng=rng,
    )


def _play(
    learner: Any,
    world: NumberedEnv,
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
    for k in range(episodes):
        state, h, limit = world.reset(int(seeds[k])), 0, int(drawn[k])
        starts[k] = state
        ended = cut_off = False
        while h < limit and not (ended or cut_off):
            h += 1
            action = learner.act(state, h)
            if not 0 <= action < world.n_actions:
                raise ValueError(f"act must return an action in 0 … {world.n_actions - 1}; got {action!r}.")
            following, reward, ended, cut_off = world.step(action)
            totals[k] += reward
            seen = (reward - low) / span
            if not 0.0 <= seen <= 1.0:
                raise ValueError(
                    f"reward_range must hold every reward; got {reward!r} in episode {k + 1}, "
                    f"outside ({low!r}, {low + span!r})."
                )
            learner.observe(state, action, seen, following, ended)
            state = following
        # Cut off or ended at the very step of its length, that length is not seen either.
        lengths[k], observed[k] = h, not (ended or cut_off)
        learner.end_episode(h, bool(observed[k]))
        if (k + 1) % max(1, episodes // 100) == 0:
            progress((k + 1) / episodes)
    return {"starts": starts, "lengths": lengths, "observed": observed, "rewards": totals}


def _check_range(
    reward_range: tuple[float, float] | None, name: str, wrapper: str | None
) -> tuple[float, float]:
    """Return the least reward and the range's width; 0, what comes after an end, is taken in."""
    if reward_range is None:
        why = "which has no transition table"
        if wrapper is not None:
            why = f"whose transition table does not hold what {wrapper} around it does"
        raise ValueError(
            f"reward_range must be given for {name}, {why}; "
            "write reward_range=(low, high), the least and the largest reward of a step."
        )
    rule = "reward_range must be two finite numbers, the lower first"
    try:
        low, high = (float(end) for end in reward_range)
    except (TypeError, ValueError):
        raise TypeError(f"{rule}; got {reward_range!r}.") from None
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"{rule}; got {reward_range!r}.")
    low, high = min(low, 0.0), max(high, 0.0)
    if not high - low < math.inf:
        raise ValueError(f"{rule}; got {reward_range!r}.")
    return low, high - low
