"""What came of one trial, read from its file when it is asked for."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.experiments.store._stored_file import StoredFile
from sojourn.experiments.trials._archive import TrialContent, read_trial_file

__all__ = ["TrialResult", "read_result_file"]


@dataclass(frozen=True, eq=False)
class TrialResult:
    """What came of one trial, as an experiment calls it; arrays are read from the file when first asked for.

    Attributes:
        experiment: The experiment's name.
        problem: The problem's name, or its text in the experiment if it has none or shares it with another.
        law: The true law, as text.
        learner: What the learner is called: its name in the experiment, and the values of its grids.
        varied: Those values by their dotted path.
        settings: All settings, as plain settings.
        seed: The seed.
        key: What the trial is called.
        path: Its file.
    """

    experiment: str
    problem: str
    law: str
    learner: str
    varied: Mapping[str, Any]
    settings: Mapping[str, Any]
    seed: int
    key: str
    path: Path

    @property
    def episodes(self) -> int:
        """Number of episodes."""
        return int(self.settings["episodes"])

    @functools.cached_property
    def arrays(self) -> dict[str, Any]:
        """What is in the file: an array each, an entry an episode, or sums up to each of the checkpoints."""
        return read_result_file(StoredFile(str(self.path.parent), self.path.name)).arrays

    def passing(self) -> TrialResult:
        """Return the same trial with arrays of its own: they are let go of with it, and not kept here."""
        return replace(self)

    @property
    def checkpoints(self) -> IntArray:
        """Episodes, counted from 1, after which something is known."""
        found = self.arrays.get("checkpoints")
        return np.arange(1, self.episodes + 1) if found is None else found

    @property
    def cumulative_regret(self) -> FloatArray | None:
        """Exact regret summed up to each checkpoint, or None if the learner does not show its policy."""
        return self.cumulative("regret")

    def cumulative(self, name: str) -> FloatArray | None:
        """Return what "regret", "regret_width", "rewards", "lengths", "observed" or "price" sum up to."""
        if f"sum_{name}" in self.arrays:
            return np.asarray(self.arrays[f"sum_{name}"])
        return np.cumsum(self.arrays[name]) if name in self.arrays else None


def read_result_file(file: StoredFile, *, header_only: bool = False) -> TrialContent:
    """Read a trial file of a store; a bad one raises `ValueError` with its path and the remedy."""
    try:
        return read_trial_file(file, header_only=header_only)
    except ValueError as error:
        raise ValueError(f"{file.path} is damaged: {error}. Run the experiment again.") from error
