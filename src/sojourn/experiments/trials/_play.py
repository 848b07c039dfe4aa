"""Plays one trial, from a line of JSON to the bytes of its file."""

from __future__ import annotations

import functools
import json
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from sojourn.errors import NewerVersionWarning
from sojourn.experiments.spec._agent_settings import build
from sojourn.experiments.spec._code_identity import code_of, own_modules
from sojourn.experiments.trials._archive import pack_trial
from sojourn.laws import parse_law
from sojourn.learning import Run, learn, spread_by_ratios
from sojourn.mdps import TabularMDP, parse_problem
from sojourn.planning import plan

__all__ = ["play_trial"]

_PER_EPISODE = ("starts", "lengths", "observed", "rewards", "regret", "regret_width", "price")
_SUMMED = ("lengths", "observed", "rewards", "regret", "regret_width", "price")


def play_trial(text: str) -> bytes:
    """Play the trial that a line of JSON describes, and return the content of its file.

    The result depends on nothing but that line and the code that it names.

    Raises:
        ValueError: If the code of an agent or problem changed after the run began.
    """
    trial = json.loads(text)
    settings, seed = trial["settings"], trial["seed"]
    _check_code(settings)
    mdp, law = _problem(settings["problem"]), parse_law(settings["law"])
    agent = build(settings["learner"], lambda: plan(mdp, law))
    run = learn(agent, mdp, law, episodes=settings["episodes"], seed=seed)
    _check_code(settings)  # again: the trial itself may have imported more modules
    return pack_trial(settings, seed, run.problem, _recorded(run, settings["record"]))


def _check_code(settings: Mapping[str, Any]) -> None:
    if code_of(own_modules(settings["problem"], settings["learner"])) != settings.get("code", {}):
        raise ValueError("the code of an agent or problem changed after the run began.")


@functools.lru_cache(maxsize=8)
def _problem(text: str) -> TabularMDP:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NewerVersionWarning)  # shown once, when the spec was read
        return parse_problem(text)


def _recorded(run: Run, record: str | Mapping[str, int]) -> dict[str, Any]:
    """Return the arrays to store: one entry per episode, or sums up to each checkpoint."""
    if isinstance(record, str):
        arrays = {name: getattr(run, name) for name in _PER_EPISODE}
        return {name: array for name, array in arrays.items() if array is not None}
    checkpoints = spread_by_ratios(run.lengths.size, record["checkpoints"])
    sums: dict[str, Any] = {"checkpoints": checkpoints}
    for name in _SUMMED:
        array = getattr(run, name)
        if array is not None:
            sums[f"sum_{name}"] = np.cumsum(array)[checkpoints - 1]
    return sums
