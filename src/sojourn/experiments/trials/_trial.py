"""Trials: settings and a seed, what they are called, and playing one."""

from __future__ import annotations

import functools
import hashlib
import io
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from sojourn._files import pack_archive, unpack_archive
from sojourn._typing import IntArray
from sojourn.errors import NewerVersionWarning
from sojourn.experiments.spec._agent_settings import build, to_text
from sojourn.experiments.spec._code_identity import code_of, own_modules
from sojourn.laws import parse_law
from sojourn.learning import Run, learn
from sojourn.mdps import TabularMDP, parse_problem
from sojourn.planning import plan

__all__ = [
    "FORMAT",
    "RESULTS",
    "Trial",
    "check_trial",
    "play_trial",
    "read_trial",
    "spread_by_ratios",
    "trial_key",
]

RESULTS = 2
"""Raised whenever a change of code changes results: trials of another number are not reused."""

FORMAT = "sojourn trial 1"
_EPISODES = ("starts", "lengths", "observed", "rewards", "regret", "regret_width", "price")
_SUMS = ("lengths", "observed", "rewards", "regret", "regret_width", "price")


@dataclass(frozen=True)
class Trial:
    """One learner, one problem, one law, one seed.

    Attributes:
        settings: Everything that the result depends on but the seed, as the text of plain settings.
        seed: The seed.
    """

    settings: str
    seed: int

    @property
    def text(self) -> str:
        """The trial as one line of JSON, the same for the same trial."""
        return f'{{"seed":{self.seed},"settings":{self.settings}}}'

    @functools.cached_property
    def key(self) -> str:
        """What the trial is called: a hash of `text` and of the results number, 32 hexadecimal digits."""
        return trial_key(self.text, RESULTS)


def trial_key(text: str, results: int) -> str:
    """Return what the trial that a line of JSON states is called, at a results number."""
    return hashlib.sha256(f"{results} {text}".encode()).hexdigest()[:32]


def check_trial(about: Mapping[str, Any], key: str) -> None:
    """Raise `ValueError` if a file that says this of itself is not the one of the trial with this key."""
    try:
        trial = Trial(to_text(about["settings"]), about["seed"])
        found = trial_key(trial.text, about["results"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("it is not a trial's file") from error
    if found != key:
        raise ValueError("it is another trial's")


def play_trial(text: str) -> bytes:
    """Play the trial that one line of JSON states, and return its file: a function of that line alone."""
    told = json.loads(text)
    settings, seed = told["settings"], told["seed"]
    _check_code(settings)
    mdp, law = _problem(settings["problem"]), parse_law(settings["law"])
    agent = build(settings["learner"], lambda: plan(mdp, law))
    run = learn(agent, mdp, law, episodes=settings["episodes"], seed=seed)
    _check_code(settings)  # again: it may have imported more meanwhile
    about = {
        "format": FORMAT,
        "results": RESULTS,
        "settings": settings,
        "seed": seed,
        "problem": run.problem,
    }
    return pack_archive(about, _recorded(run, settings["record"]))


def _check_code(settings: Mapping[str, Any]) -> None:
    if code_of(own_modules(settings["problem"], settings["learner"])) != settings.get("code", {}):
        raise ValueError("the code of a learner or problem is not the one that the run began with.")


@functools.lru_cache(maxsize=8)
def _problem(text: str) -> TabularMDP:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NewerVersionWarning)  # said once, when the experiment was read
        return parse_problem(text)


def _recorded(run: Run, record: str | Mapping[str, int]) -> dict[str, Any]:
    """Return what is kept of a run: every episode as it was, or sums up to some of them."""
    if isinstance(record, str):
        kept = {name: getattr(run, name) for name in _EPISODES}
        return {name: array for name, array in kept.items() if array is not None}
    checkpoints = spread_by_ratios(run.lengths.size, record["checkpoints"])
    arrays: dict[str, Any] = {"checkpoints": checkpoints}
    for name in _SUMS:
        array = getattr(run, name)
        if array is not None:
            arrays[f"sum_{name}"] = np.cumsum(array)[checkpoints - 1]
    return arrays


def spread_by_ratios(episodes: int, most: int) -> IntArray:
    """Return at most `most` episode numbers from 1 to the last, each about the same multiple of the last one.

    Example:
        >>> spread_by_ratios(1000, 4).tolist()
        [1, 10, 100, 1000]
    """
    if most >= episodes:
        return np.arange(1, episodes + 1)
    return np.unique(np.geomspace(1, episodes, most).round().astype(np.int64))


def read_trial(
    content: bytes | IO[bytes], name: str, *, only_about: bool = False
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a trial's file says of itself and, if wanted, holds; `name` is what messages call it."""
    file = io.BytesIO(content) if isinstance(content, bytes) else content
    return unpack_archive(file, name=name, form=FORMAT, writer="sojourn run", only_about=only_about)
