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
from sojourn.laws import read_law
from sojourn.learning import REGRET_TOLERANCE, Run, learn, spread_by_ratios
from sojourn.mdps import TabularMDP, parse_problem
from sojourn.planning import plan

__all__ = ["play_trial"]

_PER_EPISODE = ("starts", "lengths", "observed", "rewards", "regret", "regret_width", "price")
_SUMMED = ("lengths", "observed", "rewards", "regret", "regret_width", "price")
_ESTIMATED = ("regret", "regret_width")


def play_trial(text: str) -> bytes:
    """Play the trial that a line of JSON describes, and return the content of its file.

    The result depends on nothing but that line and the code that it names.

    Raises:
        ValueError: If the code of an agent, problem or law changed after the run began.
    """
    trial = json.loads(text)
    settings, seed = trial["settings"], trial["seed"]
    _check_code(settings)
    mdp, law = _problem(settings["problem"]), read_law(settings["law"]).law
    agent = build(settings["learner"], lambda: plan(mdp, law))
    record, episodes = settings["record"], settings["episodes"]
    n_valued = episodes if isinstance(record, str) else record.get("regret_episodes", episodes)
    with np.errstate(all="warn", under="ignore"):  # as by default, whatever an agent's module told NumPy
        run = learn(
            agent,
            mdp,
            law,
            episodes=episodes,
            seed=seed,
            regret_episodes=n_valued,
            regret_tolerance=settings.get("regret_tolerance", REGRET_TOLERANCE),
        )
    _check_code(settings)  # again: the trial itself may have imported more modules
    return pack_trial(settings, seed, run.problem, _recorded(run, record))


def _check_code(settings: Mapping[str, Any]) -> None:
    if code_of(own_modules(settings)) != settings.get("code", {}):
        raise ValueError("the code of an agent, problem or law changed after the run began.")


@functools.lru_cache(maxsize=8)
def _problem(text: str) -> TabularMDP:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NewerVersionWarning)  # shown once, when the spec was read
        return parse_problem(text)


def _recorded(run: Run, record: str | Mapping[str, int]) -> dict[str, Any]:
    """Return the arrays to store: one entry per episode, or sums up to each checkpoint.

    If only some episodes were valued, regrets have one entry per valued episode, or sums are estimates.
    """
    if isinstance(record, str) or "checkpoints" not in record:
        arrays = {name: getattr(run, name) for name in _PER_EPISODE} | {"valued": run.valued}
        if run.valued is not None:
            arrays |= {name: arrays[name][run.valued] for name in _ESTIMATED}
        return {name: array for name, array in arrays.items() if array is not None}
    checkpoints = spread_by_ratios(run.lengths.size, record["checkpoints"])
    sums: dict[str, Any] = {"checkpoints": checkpoints}
    for name in _SUMMED:
        array = getattr(run, name)
        if array is not None:
            summed = getattr(run, f"cumulative_{name}") if name in _ESTIMATED else np.cumsum(array)
            sums[f"sum_{name}"] = summed[checkpoints - 1]
    if run.valued is not None and run.regret_error is not None:
        sums["regret_error"] = run.regret_error[checkpoints - 1]
    return sums
