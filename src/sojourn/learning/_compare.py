"""Compares several agents on the same problem and the same seeds."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn._interrupts import signals_held_back
from sojourn._kernels import stopped_between_passes
from sojourn._memory import check_fits
from sojourn._progress import Progress, report_progress
from sojourn._validation import check_whole
from sojourn.agents import Agent
from sojourn.laws import LengthLaw
from sojourn.learning._checkpoints import spread_episodes
from sojourn.learning._comparison import Comparison
from sojourn.learning._gym import read_table
from sojourn.learning._learn import learn
from sojourn.learning._names import name_agents
from sojourn.learning._reference import REGRET_TOLERANCE
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
    regret_episodes: int | None = None,
    regret_tolerance: float = REGRET_TOLERANCE,
    workers: int = 1,
    progress: Progress = None,
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
        regret_episodes: Number of episodes per trial whose regret is computed; see `learn`. All agents are
            valued at the same episodes of a seed. Intervals over seeds include the error of the estimates.
        regret_tolerance: Target of the relative width of the bracket around each regret; see `learn`.
        workers: Number of trials that are played at a time, in threads; results do not depend on it. The
            learners of this package run in parallel, because their code is compiled. Your own learners in
            Python do not: for them, write a spec and use `sojourn run`.
        progress: True for a bar, or a function that is called from time to time with the share of the work
            that is done.
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
    workers = check_whole("workers", workers, least=1)
    if not isinstance(mdp, TabularMDP):
        mdp = read_table(mdp) or mdp  # once, not for every trial
        if workers > 1 and not isinstance(mdp, TabularMDP):
            raise ValueError("workers must be 1 for an environment without a transition table.")
    checkpoints = spread_episodes(episodes, _ALL_KEPT if episodes <= _ALL_KEPT else _MOST_CHECKPOINTS)
    shape = (len(names), len(numbers), checkpoints.size)
    check_fits(16 * int(np.prod(shape)), "The comparison", "take fewer agents or seeds")
    cumulative, error = np.full(shape, np.nan), np.full(shape, np.nan)
    width, rewards = np.full(shape[:2], np.nan), np.empty(shape[:2])
    # Agents are the inner loop, so that an agent which fails does so on the first seed.
    problems, n_valued = list[str](), list[int]()
    trials = [(j, i) for i in range(len(numbers)) for j in range(len(names))]
    with report_progress(progress, f"Playing {len(trials):,} trials") as report:
        shares = _Shares(len(trials), report)

        def play(trial: int) -> None:
            j, i = trials[trial]
            shares.set(trial, 0.0)
            run = learn(
                settings[j],
                mdp,
                law,
                episodes=episodes,
                seed=numbers[i],
                regret_episodes=regret_episodes,
                regret_tolerance=regret_tolerance,
                progress=functools.partial(shares.set, trial),
                reward_range=reward_range,
            )
            rewards[j, i] = run.rewards.mean()
            if run.regret is not None:
                sums = (run.cumulative_regret, run.regret_error)
                cumulative[j, i], error[j, i] = (np.asarray(part)[checkpoints - 1] for part in sums)
                width[j, i] = run.total_regret_width
                n_valued.append(run.regret_episodes)
            problems.append(run.problem)
            shares.finish(trial)

        _play_all(play, len(trials), workers, shares)
    is_estimated = bool(n_valued) and n_valued[0] < episodes  # the same in all trials that have regret
    return Comparison(
        names,
        settings,
        problems[0],
        law,
        numbers,
        checkpoints,
        cumulative,
        width,
        rewards,
        error if is_estimated else None,
        n_valued[0] if is_estimated else None,
    )


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


class _Shares:
    """How much of all trials is done; also stops trials in other threads when one has failed."""

    def __init__(self, n_trials: int, report: Callable[[float], object]) -> None:
        self._n_trials, self._report, self._lock = n_trials, report, threading.Lock()
        self._n_finished, self._running = 0, dict[int, float]()
        self.is_stopped = False

    def set(self, trial: int, share: float) -> None:
        """Report that a share of a running trial is done."""
        with self._lock:  # a caller's function need not be made for threads
            self._running[trial] = share
            self._report_all()

    def finish(self, trial: int) -> None:
        """Report that a trial is finished."""
        with self._lock:
            del self._running[trial]
            self._n_finished += 1
            self._report_all()

    def check_stopped(self) -> None:
        """Raise `_StoppedError` if the trials should end."""
        if self.is_stopped:
            raise _StoppedError

    def _report_all(self) -> None:
        self.check_stopped()
        self._report(math.fsum([self._n_finished, *self._running.values()]) / self._n_trials)


class _StoppedError(Exception):
    """Another trial has failed, or the user has pressed Ctrl-C."""


def _play_all(play: Callable[[int], None], n_trials: int, workers: int, shares: _Shares) -> None:
    """Call a function with the number of each trial, in threads if there are several workers."""
    if workers == 1:
        for trial in range(n_trials):
            play(trial)
        return

    def play_until_stopped(trial: int) -> None:
        shares.check_stopped()
        with stopped_between_passes(shares.check_stopped):
            play(trial)

    threads = ThreadPoolExecutor(workers)
    try:
        with signals_held_back():  # an exception while a thread starts would lose the thread
            waiting = [threads.submit(play_until_stopped, trial) for trial in range(n_trials)]
        for one in as_completed(waiting):
            one.result()
    finally:
        shares.is_stopped = True
        threads.shutdown(cancel_futures=True)
