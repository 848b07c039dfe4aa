"""Trials of several learners, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sojourn.experiments._missing_agent import AbsentAgent
from sojourn.experiments.executors._base import say_error
from sojourn.experiments.spec._agent_settings import build, tell_apart, to_text
from sojourn.experiments.trials._result import TrialResult
from sojourn.laws import parse_law
from sojourn.learning import Comparison
from sojourn.mdps import parse_problem
from sojourn.planning import plan

__all__ = ["build_agent", "by_learner", "compare_trials", "leave_agent", "shared_seeds"]


def by_learner(trials: list[TrialResult]) -> dict[str, dict[int, TrialResult]]:
    """Return the trials by the learner's name, no two alike, and by seed."""
    found: dict[str, dict[int, TrialResult]] = {}
    taken: dict[str, dict[str, int]] = {}
    for trial in trials:
        name = tell_apart(trial.learner, to_text(trial.settings), taken)
        found.setdefault(name, {})[trial.seed] = trial
    return found


def shared_seeds(learners: Mapping[str, Mapping[int, TrialResult]]) -> tuple[int, ...]:
    """Return the seeds that all learners were played with, in order."""
    return tuple(sorted(set.intersection(*(set(seeds) for seeds in learners.values()))))


def compare_trials(trials: list[TrialResult], make_agent: Callable[[TrialResult], Any]) -> Comparison:
    """Return a comparison of the learners of some trials on one problem, over the seeds that all have.

    Args:
        trials: The trials.
        make_agent: Makes a learner's settings from one of its trials.
    """
    learners = by_learner(trials)
    seeds = shared_seeds(learners)
    if not seeds:
        raise ValueError("comparisons need a seed that all learners have; the run is not that far.")
    first = trials[0]
    law, checkpoints = parse_law(first.law), first.passing().checkpoints
    shape = (len(learners), len(seeds))
    cumulative, width = np.full((*shape, checkpoints.size), np.nan), np.full(shape, np.nan)
    rewards = np.empty(shape)
    for i, found in enumerate(learners.values()):
        for j, seed in enumerate(seeds):
            trial = found[seed].passing()
            rewards[i, j] = _last(trial, "rewards") / first.episodes
            regret = trial.cumulative_regret
            if regret is not None:
                cumulative[i, j], width[i, j] = regret, _last(trial, "regret_width")
    agents = tuple(make_agent(next(iter(found.values()))) for found in learners.values())
    return Comparison(
        tuple(learners), agents, first.problem, law, seeds, checkpoints, cumulative, width, rewards
    )


def _last(trial: TrialResult, name: str) -> float:
    found = trial.cumulative(name)
    return float("nan") if found is None else float(found[-1])


def build_agent(trial: TrialResult) -> Any:
    """Return a trial's learner, or what stands for one whose code is not here."""
    settings = trial.settings
    try:
        return build(
            settings["learner"], lambda: plan(parse_problem(settings["problem"]), parse_law(settings["law"]))
        )
    except Exception as error:  # code of the user's own that is not here, or not as it was
        return AbsentAgent(settings["learner"], say_error(error))


def leave_agent(trial: TrialResult) -> AbsentAgent:
    """Return what stands for a trial's learner where only numbers are wanted: nothing is imported."""
    return AbsentAgent(trial.settings["learner"], "nobody asked for it.")
