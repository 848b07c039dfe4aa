"""Compares the stored trials of several agents on one problem."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sojourn._memory import check_fits
from sojourn._text import UniqueNames, one_line
from sojourn.experiments._missing_agent import MissingAgent
from sojourn.experiments.executors._failure_reasons import describe_error
from sojourn.experiments.spec._agent_settings import build_offered, to_text
from sojourn.experiments.trials._result import TrialResult
from sojourn.laws import parse_stored_law, read_stored_law
from sojourn.learning import Comparison

__all__ = [
    "compare_trials",
    "group_by_agent",
    "problem_name",
    "rebuild_agent",
    "shared_seeds",
    "without_agent",
]

_MOST_LETTERS = (
    200  # of a name in a table or a figure; specs allow names of agents of 100 and values of grids
)


def group_by_agent(trials: list[TrialResult]) -> dict[str, dict[int, TrialResult]]:
    """Return the trials by the agent's name, on one line, and then by seed; equal names are numbered."""
    found: dict[str, dict[int, TrialResult]] = {}
    names = UniqueNames()
    texts: dict[int, str] = {}  # by identity: trials with equal settings share them
    for trial in trials:
        if id(trial.settings) not in texts:
            texts[id(trial.settings)] = to_text(trial.settings)
        name = names.name(one_line(trial.agent, _MOST_LETTERS), texts[id(trial.settings)])
        found.setdefault(name, {})[trial.seed] = trial
    return found


def shared_seeds(trials_by_agent: Mapping[str, Mapping[int, TrialResult]]) -> tuple[int, ...]:
    """Return the seeds that all agents were played with, in order."""
    return tuple(sorted(set.intersection(*(set(seeds) for seeds in trials_by_agent.values()))))


def compare_trials(
    trials: list[TrialResult], make_agent: Callable[[TrialResult], Any], *, only_last: bool = False
) -> Comparison:
    """Return a comparison of agents on one problem, over the seeds that all of them have.

    Args:
        trials: The trials.
        make_agent: Returns the agent of a trial: `rebuild_agent`, or `without_agent` if only numbers are
            needed.
        only_last: Whether to keep only the last checkpoint, which is all that a table needs.
    """
    by_agent = group_by_agent(trials)
    seeds = shared_seeds(by_agent)
    if not seeds:
        raise ValueError("comparisons need a seed that all agents have; the run is not that far.")
    first = trials[0]
    law, checkpoints = read_stored_law(first.law), first.uncached().checkpoints
    kept = slice(-1 if only_last else None, None)
    checkpoints = checkpoints[kept]
    shape = (len(by_agent), len(seeds))
    n_bytes = 8 * math.prod(shape) * checkpoints.size * (1 if first.regret_episodes is None else 2)
    check_fits(n_bytes, "A comparison of all agents and seeds", "select fewer, or record fewer checkpoints")
    cumulative, width = np.full((*shape, checkpoints.size), np.nan), np.full(shape, np.nan)
    rewards, n_valued = np.empty(shape), first.regret_episodes
    error = None if n_valued is None else np.full(cumulative.shape, np.nan)
    places: dict[str, tuple[int, int]] = {}  # of trials: one may belong to several agents
    for i, found in enumerate(by_agent.values()):
        for j, seed in enumerate(seeds):
            trial = found[seed].uncached()
            same = places.setdefault(trial.key, (i, j))
            if same != (i, j):
                for array in (cumulative, width, rewards, *([] if error is None else [error])):
                    array[i, j] = array[same]
                continue
            rewards[i, j] = _last(trial, "rewards") / first.episodes
            regret = trial.cumulative_regret
            if regret is not None:
                cumulative[i, j], width[i, j] = regret[kept], _last(trial, "regret_width")
                errors = trial.regret_error
                if error is not None and errors is not None:
                    error[i, j] = errors[kept]
    agents = tuple(make_agent(next(iter(found.values()))) for found in by_agent.values())
    return Comparison(
        tuple(by_agent),
        agents,
        problem_name(first),
        law,
        seeds,
        checkpoints,
        cumulative,
        width,
        rewards,
        error,
        n_valued,
    )


def problem_name(trial: TrialResult) -> str:
    """Return the name of a trial's problem for tables and figures: one line of some length."""
    return one_line(trial.problem, _MOST_LETTERS)


def _last(trial: TrialResult, name: str) -> float:
    found = trial.cumulative(name)
    return float("nan") if found is None else float(found[-1])


def rebuild_agent(trial: TrialResult) -> Any:
    """Return a trial's agent if it is one of `sojourn.agents`, or else a `MissingAgent`.

    Nothing that the trial names is imported.
    """
    settings = trial.settings["learner"]
    try:
        return build_offered(settings, parse_stored_law)
    except Exception as error:  # the settings may be those of another version, or of a damaged file
        return MissingAgent(settings, describe_error(error))


def without_agent(trial: TrialResult) -> MissingAgent:
    """Return a stand-in for a trial's agent, for callers that need only numbers."""
    return MissingAgent(trial.settings["learner"], "it was not loaded.")
