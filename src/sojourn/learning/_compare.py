"""Compares several agents on the same problem and the same seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn._memory import check_fits
from sojourn._validation import check_whole
from sojourn.agents import Agent
from sojourn.laws import LengthLaw
from sojourn.learning._checkpoints import spread_episodes
from sojourn.learning._comparison import Comparison
from sojourn.learning._gym import read_table
from sojourn.learning._learn import learn
from sojourn.learning._names import name_agents
from sojourn.mdps import TabularMDP

if TYPE_CHECKING:
    from gymnasium import Env
    from gymnasium.envs.registration import EnvSpec

__all__ = ["compare"]

_ALL_KEPT = 10_000
"""Up to this number of episodes, the regret after every episode is kept."""

_MOST_CHECKPOINTS = 2_000
"""Number of checkpoints of longer trials."""


def compare(
    agents: Iterable[Agent] | Mapping[str, Agent],
    mdp: TabularMDP | str | EnvSpec | Env[Any, Any],
    law: LengthLaw,
    *,
    episodes: int,
    seeds: int | Iterable[int] = 20,
    progress: Callable[[float], object] | None = None,
    reward_range: tuple[float, float] | None = None,
) -> Comparison:
    """Play several agents on the same seeds and compare their exact regret.

    On each seed all agents get the same lengths and start states, so their differences, paired by seed, are
    more precise than the regret of either. The cumulative regret is kept after every episode up to 10,000
    episodes, and at about 2,000 checkpoints of longer trials.

    Args:
        agents: The agents' settings, as a list or by display name:
            `{"ours": UCBVI(law), "chance": RandomPlayer()}`. Differences are relative to the first.
        mdp: The problem, as `learn` takes it. Without a transition table only rewards can be compared, not
            regret.
        law: The law that lengths are drawn from.
        episodes: Number of episodes per agent and seed.
        seeds: Number of seeds, counted from 0, or the seeds themselves.
        progress: Called from time to time with the share of the work that is done.
        reward_range: Least and largest reward per step, only for an environment without a table.

    Example:
        >>> import sojourn as sj
        >>> from sojourn.learning import compare
        >>> law = sj.Fixed(5)
        >>> agents = {"careful": sj.UCBVI(law), "bold": sj.UCBVI(law, sj.PaperBonus(0.01))}
        >>> found = compare(agents, sj.mdps.river_swim(4), law, episodes=300, seeds=5)
        >>> found.names, found.cumulative_regret.shape
        (('careful', 'bold'), (2, 5, 300))
        >>> bool(found.difference.high[1] < 0)  # bold is better, and significantly so
        True
    """
    names, settings = _check_agents(agents)
    episodes = check_whole("episodes", episodes, least=1)
    numbers = _check_seeds(seeds)
    if not isinstance(mdp, TabularMDP):
        mdp = read_table(mdp) or mdp  # once, not for every trial
    checkpoints = spread_episodes(episodes, _ALL_KEPT if episodes <= _ALL_KEPT else _MOST_CHECKPOINTS)
    shape = (len(names), len(numbers), checkpoints.size)
    check_fits(8 * int(np.prod(shape)), "The comparison", "take fewer agents or seeds")
    cumulative, width, rewards = np.full(shape, np.nan), np.full(shape[:2], np.nan), np.empty(shape[:2])
    problem, n_trials = "", len(names) * len(numbers)
    # Agents are the inner loop, so that an agent which fails does so on the first seed.
    for i, seed in enumerate(numbers):
        for j, agent in enumerate(settings):
            done = i * len(names) + j
            share = _share_of(progress, done, n_trials) if progress is not None else None
            run = learn(
                agent, mdp, law, episodes=episodes, seed=seed, progress=share, reward_range=reward_range
            )
            problem, rewards[j, i] = run.problem, run.rewards.mean()
            if run.regret is not None and run.regret_width is not None:
                cumulative[j, i] = np.cumsum(run.regret)[checkpoints - 1]
                width[j, i] = run.regret_width.sum()
            if progress is not None:
                progress((done + 1) / n_trials)
    return Comparison(names, settings, problem, law, numbers, checkpoints, cumulative, width, rewards)


def _check_agents(
    agents: Iterable[Agent] | Mapping[str, Agent],
) -> tuple[tuple[str, ...], tuple[Agent, ...]]:
    if not isinstance(agents, Iterable):
        raise TypeError(f"agents must be a list, or a mapping from names to agents; got {agents!r}.")
    if isinstance(agents, Mapping):
        for name in agents:
            if not isinstance(name, str) or not name.strip() or not name.isprintable():
                raise ValueError(f"agents must have names that are one line of text; got {name!r}.")
        settings = tuple(agents.values())
        places = [f"agents[{name!r}]" for name in agents]
    else:
        settings = tuple(agents)
        places = [f"agents[{i}]" for i in range(len(settings))]
    if not settings:
        raise ValueError("agents must have at least one agent; got none.")
    for place, agent in zip(places, settings, strict=True):
        if isinstance(agent, type) or not isinstance(agent, Agent):
            raise TypeError(
                f"{place} must be an agent's settings, such as UCBVI(Geometric(0.95)); got {agent!r}."
            )
    return tuple(agents) if isinstance(agents, Mapping) else name_agents(settings), settings


def _check_seeds(seeds: int | Iterable[int]) -> tuple[int, ...]:
    if not isinstance(seeds, Iterable) or isinstance(seeds, (str, bytes)):
        return tuple(range(check_whole("seeds", seeds, least=1)))
    numbers = tuple(check_whole(f"seeds[{i}]", seed, least=0) for i, seed in enumerate(seeds))
    if not numbers:
        raise ValueError("seeds must have at least one seed; got none.")
    if len(set(numbers)) < len(numbers):
        twice = next(seed for seed in numbers if numbers.count(seed) > 1)
        raise ValueError(f"seeds must all be different; got {twice} more than once.")
    return numbers


def _share_of(progress: Callable[[float], object], done: int, n_trials: int) -> Callable[[float], object]:
    return lambda share: progress((done + share) / n_trials)
