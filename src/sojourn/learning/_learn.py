"""Plays an agent on a problem and computes its exact regret."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn._progress import Progress, report_progress
from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn._validation import check_whole
from sojourn.agents import (
    Agent,
    CompiledLearner,
    EpisodeBatch,
    PlanningLearner,
    Played,
    play_episode,
    step_on_table,
)
from sojourn.laws import LengthLaw, draw_lengths
from sojourn.learning._gym import play_env, read_table
from sojourn.learning._reference import (
    REGRET_TOLERANCE,
    Reference,
    cached_reference,
    check_regret_tolerance,
    problem_arrays,
)
from sojourn.learning._regret_sample import check_regret_episodes, draw_valued_episodes
from sojourn.learning._run import Run
from sojourn.mdps import TabularMDP

if TYPE_CHECKING:
    from gymnasium import Env
    from gymnasium.envs.registration import EnvSpec

__all__ = ["learn", "play_by_protocol", "play_compiled", "start_on"]

_SHORT, _MOST_EPISODES = 0.05, 65_536
"""Pieces of a trial in compiled code grow while they take less than this many seconds, up to this size."""

_NO_REGRET: dict[str, Any] = {"regret": None, "regret_width": None}


def learn(
    agent: Agent,
    mdp: TabularMDP | str | EnvSpec | Env[Any, Any],
    law: LengthLaw,
    *,
    episodes: int,
    seed: int = 0,
    regret_episodes: int | None = None,
    regret_tolerance: float = REGRET_TOLERANCE,
    progress: Progress = None,
    reward_range: tuple[float, float] | None = None,
) -> Run:
    """Play an agent for a number of episodes with lengths drawn from `law`; return its exact regret.

    The regret of an episode is V*(x) − V^π(x): the value that the episode's policy π gives up against the
    best policy that does not know the length either, from the episode's start state x. It is computed by
    policy evaluation, not from the rewards that happened, and its certified width is returned with it. In
    long trials of large problems, that is done for some episodes only (`regret_episodes`).

    Lengths, start states, transitions, the learner and the choice of valued episodes have separate random
    streams, children of `seed`. One length and one start state are drawn per episode whatever the learner
    does, so that all agents get the same ones.

    Args:
        agent: The agent's settings, such as `UCBVI(Geometric(0.95))`.
        mdp: The problem: a `TabularMDP`, or a Gymnasium id or environment with discrete observations and
            actions. An environment with a transition table is read by `TabularMDP.from_env`, and a TimeLimit
            around it has no effect, because it is not in the table. Any other environment is played step by
            step: observations other than `Discrete` are numbered as they appear, rewards are learned, a
            TimeLimit censors the length, and there is no regret. The learner sees rewards mapped to [0, 1];
            results are in the problem's own units.
        law: The law that lengths are drawn from.
        episodes: Number of episodes.
        seed: Seed of all random numbers.
        regret_episodes: Number of episodes whose regret is computed, at least 2. They are drawn at random,
            more densely at the beginning, and `run.cumulative_regret` is then an unbiased estimate with the
            standard error `run.regret_error`. By default `default_regret_episodes`: all, unless states ×
            steps × episodes is above 2·10¹⁰. What is played does not depend on it.
        regret_tolerance: Target of the width of the bracket around each regret, from 1e-12 to 1e-2, relative
            to the best value from a start state, or to max|r|·E[H] if the law has a heavy tail. With a
            smaller one policies are followed for more steps. Rounding limits the width to about 1e-11, and
            heavy tails to about 1e-8; `run.regret_width` has the widths that are reached.
        progress: True for a bar, or a function that is called from time to time with the share of the
            episodes that is done.
        reward_range: Least and largest reward per step, only for an environment without a table.

    Example:
        >>> import sojourn as sj
        >>> law = sj.Geometric(0.9)
        >>> run = sj.learn(sj.UCBVI(law, sj.PaperBonus(0.01)), sj.mdps.river_swim(6), law, episodes=200)
        >>> run.regret.shape, bool((run.regret >= -run.regret_width).all())
        ((200,), True)
        >>> run = sj.learn(sj.RandomPlayer(), sj.mdps.river_swim(6), law, episodes=1_000, regret_episodes=50)
        >>> run.regret_episodes, run.cumulative_regret.shape, bool(np.isnan(run.regret).any())
        (50, (1000,), True)
        >>> run = sj.learn(sj.UCBVI(law), "Blackjack-v1", law, episodes=100, reward_range=(-1, 1))
        >>> run.regret is None, run.rewards.min(), run.observations[run.starts[0]]
        (True, np.float64(-1.0), (18, 10, 0))
    """
    if isinstance(agent, type) or not isinstance(agent, Agent):
        raise TypeError(f"agent must be an agent's settings, such as UCBVI(Geometric(0.95)); got {agent!r}.")
    if not isinstance(law, LengthLaw):
        raise TypeError(f"law must be a LengthLaw, such as Geometric(0.95); got {law!r}.")
    episodes = check_whole("episodes", episodes, least=1)
    seed = check_whole("seed", seed, least=0)
    table = mdp if isinstance(mdp, TabularMDP) else read_table(mdp)
    with report_progress(progress, f"Playing {episodes:,} episodes") as report:
        if table is None:
            if regret_episodes is not None or regret_tolerance != REGRET_TOLERANCE:
                name = "regret_tolerance" if regret_episodes is None else "regret_episodes"
                raise ValueError(f"{name} must be left out: regret needs a transition table.")
            return play_env(
                agent, mdp, law, episodes=episodes, seed=seed, progress=report, reward_range=reward_range
            )
        if reward_range is not None:
            raise ValueError(f"reward_range must be left out: the rewards are known; got {reward_range!r}.")
        return _play_table(
            agent,
            table,
            law,
            episodes=episodes,
            n_valued=check_regret_episodes(regret_episodes, table, law, episodes),
            regret_tolerance=check_regret_tolerance(regret_tolerance),
            seed=seed,
            progress=report,
        )


def _play_table(
    agent: Agent,
    mdp: TabularMDP,
    law: LengthLaw,
    *,
    episodes: int,
    n_valued: int,
    regret_tolerance: float,
    seed: int,
    progress: Callable[[float], object],
) -> Run:
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(5)]
    for_lengths, for_starts, for_transitions, for_learner, for_valued = streams
    learner = start_on(agent, mdp, episodes, for_learner)
    drawn = draw_lengths(law, for_lengths, episodes)
    starts = np.searchsorted(np.cumsum(mdp.start), for_starts.random(episodes), side="right")
    starts = np.minimum(starts, np.flatnonzero(mdp.start)[-1])
    valued, is_valued = None, None
    if n_valued < episodes:
        valued = draw_valued_episodes(episodes, n_valued, for_valued)
        is_valued = np.isin(np.arange(episodes), valued, assume_unique=True)
    reference = cached_reference(mdp, law, regret_tolerance)
    is_compiled = isinstance(learner, CompiledLearner) and learner.has_compiled_loop
    player = play_compiled if is_compiled else play_by_protocol
    began = time.perf_counter()
    played = player(
        learner, reference, starts, drawn, rng=for_transitions, progress=progress, is_valued=is_valued
    )
    seconds = time.perf_counter() - began
    return Run(
        agent=agent,
        problem=mdp.label,
        law=law,
        seed=seed,
        starts=starts,
        price=reference.price[starts],
        seconds=seconds,
        learner=learner,
        valued=valued if played["regret"] is not None else None,
        **played,
    )


def play_compiled(
    learner: Any,
    reference: Reference,
    starts: IntArray,
    drawn: IntArray,
    *,
    rng: np.random.Generator,
    progress: Callable[[float], object],
    is_valued: BoolArray | None = None,
) -> dict[str, Any]:
    """Play all episodes in compiled code, one piece after the other; return the parts of a `Run`.

    The pieces do not change the results. They grow while they are short: a call of compiled code costs about
    half a millisecond, and an interrupt waits for the end of a piece.
    """
    whole = EpisodeBatch(problem_arrays(reference.mdp), reference.arrays, rng, starts, drawn, is_valued)
    parts, piece, stop = [], 1, 0
    while stop < starts.size:
        first, stop = stop, min(stop + piece, starts.size)
        began = time.perf_counter()
        parts.append(learner.play(whole.part(slice(first, stop)), value_of=reference.value_of_table))
        progress(stop / starts.size)
        if time.perf_counter() - began < _SHORT:
            piece = min(2 * piece, _MOST_EPISODES)
    played = Played.joined(parts)
    return {
        "lengths": played.lengths,
        "observed": played.observed,
        "rewards": played.rewards,
        **_regret(reference, starts, played.values, played.widths, is_valued),
    }


def _regret(
    reference: Reference,
    starts: IntArray,
    values: FloatArray,
    widths: FloatArray,
    is_valued: BoolArray | None,
) -> dict[str, Any]:
    """Return the regrets and their widths; NaN for episodes that were not valued."""
    regret, width = reference.regret(values, starts), reference.regret_width(starts, widths)
    if is_valued is not None:
        regret[~is_valued] = width[~is_valued] = np.nan
    return {"regret": regret, "regret_width": width}


def start_on(agent: Agent, mdp: TabularMDP, episodes: int, rng: np.random.Generator) -> Any:
    """Return a new learner for a problem; it knows the rewards, mapped to [0, 1]."""
    normalized = mdp.normalized()
    return agent.start(
        n_states=mdp.n_states,
        n_actions=mdp.n_actions,
        episodes=episodes,
        rewards=normalized.rewards,
        terminal_reward=normalized.terminal_reward,
        rng=rng,
    )


def play_by_protocol(
    learner: Any,
    reference: Reference,
    starts: IntArray,
    drawn: IntArray,
    *,
    rng: np.random.Generator,
    progress: Callable[[float], object],
    is_valued: BoolArray | None = None,
) -> dict[str, Any]:
    """Play all episodes by `act`, `observe` and `end_episode`; return the parts of a `Run`."""
    problem, n_actions, episodes = problem_arrays(reference.mdp), reference.mdp.n_actions, starts.size
    lengths, observed = np.empty(episodes, dtype=np.int64), np.empty(episodes, dtype=np.bool_)
    totals, values, widths = (np.zeros(episodes) for _ in range(3))
    shows_policy, step = isinstance(learner, PlanningLearner), step_on_table(problem, rng)
    due = time.perf_counter()
    for k in range(episodes):
        start = int(starts[k])
        if shows_policy and (is_valued is None or is_valued[k]):
            values[k], widths[k] = reference.value(learner, problem, start)
        one = play_episode(learner, step, start, int(drawn[k]), n_actions=n_actions)
        lengths[k], observed[k], totals[k] = one.length, one.observed, one.total
        if (k + 1) % max(1, episodes // 100) == 0 or time.perf_counter() > due:
            progress((k + 1) / episodes)  # it also ends a thread whose comparison was interrupted
            due = time.perf_counter() + _SHORT
    return {
        "lengths": lengths,
        "observed": observed,
        "rewards": totals,
        **(_regret(reference, starts, values, widths, is_valued) if shows_policy else _NO_REGRET),
    }
