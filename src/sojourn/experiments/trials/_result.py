"""The result of one trial; its arrays are read from the trial's file on first use."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.experiments.spec._experiment import Purpose
from sojourn.experiments.store._stored_file import StoredFile
from sojourn.experiments.trials._archive import TrialContent, read_trial_file
from sojourn.learning import RegretEstimate, estimate_regret

__all__ = ["TrialResult", "read_result_file"]


@dataclass(frozen=True, eq=False)
class TrialResult:
    """The result of one trial of an experiment; arrays are read from its file on first use.

    Attributes:
        experiment: Name of the experiment.
        problem: Name of the problem, or its text in the spec if it has no name or shares it with another.
        law: The true law, as text.
        agent: The agent's name in the spec, with the values of its grids.
        varied: The values of the agent's grids by dotted path.
        settings: All settings, as plain settings.
        seed: The seed.
        key: Key of the trial.
        path: Path of its file.
        purpose: "evaluation", or "tuning" if the experiment only served to choose settings.
    """

    experiment: str
    problem: str
    law: str
    agent: str
    varied: Mapping[str, Any]
    settings: Mapping[str, Any]
    seed: int
    key: str
    path: Path
    purpose: Purpose = "evaluation"

    @property
    def learner(self) -> str:
        """Former name of `agent`."""
        return self.agent

    @property
    def episodes(self) -> int:
        """Number of episodes."""
        return int(self.settings["episodes"])

    @functools.cached_property
    def arrays(self) -> dict[str, Any]:
        """All arrays of the file: one entry per episode, or sums up to each checkpoint."""
        return read_result_file(StoredFile(str(self.path.parent), self.path.name)).arrays

    def uncached(self) -> TrialResult:
        """Return a copy whose arrays are freed with it, for loops over many trials."""
        return replace(self)

    @property
    def checkpoints(self) -> IntArray:
        """Episode numbers, counted from 1, for which cumulative values are known."""
        found = self.arrays.get("checkpoints")
        return np.arange(1, self.episodes + 1) if found is None else found

    @property
    def cumulative_regret(self) -> FloatArray | None:
        """Regret summed up to each checkpoint, or None if the agent does not show its policy.

        It is exact, or an unbiased estimate if only some episodes were valued.
        """
        return self.cumulative("regret")

    @property
    def regret_episodes(self) -> int | None:
        """Number of episodes whose regret was computed, or None for all."""
        record = self.settings["record"]
        return None if isinstance(record, str) else record.get("regret_episodes")

    @property
    def regret_error(self) -> FloatArray | None:
        """Standard error of `cumulative_regret` if it is an estimate, otherwise None."""
        if "valued" in self.arrays:
            return self._estimate("regret").error
        return self.arrays.get("regret_error")

    def cumulative(self, name: str) -> FloatArray | None:
        """Return sums up to each checkpoint, or None if they were not recorded.

        Args:
            name: "regret", "regret_width", "rewards", "lengths", "observed" or "price"; or "regret_error",
                the standard error of an estimated sum.
        """
        if name == "regret_error":
            return self.regret_error
        if f"sum_{name}" in self.arrays:
            return np.asarray(self.arrays[f"sum_{name}"])
        if "valued" in self.arrays and name in {"regret", "regret_width"}:
            return self._estimate(name).cumulative
        return np.cumsum(self.arrays[name]) if name in self.arrays else None

    def _estimate(self, name: str) -> RegretEstimate:
        return estimate_regret(self.arrays[name], self.arrays["valued"], self.episodes)


def read_result_file(file: StoredFile, *, header_only: bool = False) -> TrialContent:
    """Read a trial file of a store; a bad one raises `ValueError` with its path and the remedy."""
    try:
        return read_trial_file(file, header_only=header_only)
    except ValueError as error:
        raise ValueError(
            f"{file.path} is damaged: {error}. Delete it and run the experiment again."
        ) from error
