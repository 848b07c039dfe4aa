"""The inventory of an experiment: which of its trials the store has, and which files are unusable."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sojourn.experiments.spec._experiment import Cell, Experiment
from sojourn.experiments.store._store import Store
from sojourn.experiments.store._stored_file import StoredFile
from sojourn.experiments.trials._archive import defect_of_file
from sojourn.experiments.trials._trial import Trial

__all__ = ["Inventory", "take_inventory"]


@dataclass(frozen=True)
class Inventory:
    """The trials of an experiment and their files in a store.

    Attributes:
        trials: All different trials by key, each with a cell that it belongs to.
        done: Keys of the trials that have one sound file.
        damaged: Files that are not a sound result of the trial in their name, or not the only one.
    """

    trials: dict[str, tuple[Cell, Trial]]
    done: frozenset[str]
    damaged: tuple[StoredFile, ...]

    @property
    def missing(self) -> list[str]:
        """Keys of the trials that still have to be played, in order."""
        return [key for key in self.trials if key not in self.done]


def take_inventory(experiment: Experiment, store: Store) -> Inventory:
    """Check every file of the experiment's trials, as `verify_store` and readers do."""
    trials: dict[str, tuple[Cell, Trial]] = {}
    for cell, trial in experiment.trials():
        trials.setdefault(trial.key, (cell, trial))
    stored = [file for file in store.trials() if file.key in trials] if store.exists else []
    # Without threads: they would take 1.6 times as long, because most of the work needs Python's lock.
    checked = [(file, defect_of_file(file, trials[file.key][1])) for file in stored]
    sound = Counter(file.key for file, problem in checked if not problem)
    return Inventory(
        trials,
        done=frozenset(key for key, count in sound.items() if count == 1),
        damaged=tuple(file for file, problem in checked if problem or sound[file.key] > 1),
    )
