"""What an experiment asks for, and what its store has of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sojourn.experiments.executors._pool import usable_cores
from sojourn.experiments.spec._experiment import Cell, Experiment
from sojourn.experiments.store._store import Store
from sojourn.experiments.store._stored_file import StoredFile
from sojourn.experiments.trials._archive import FileState, check_trial_file
from sojourn.experiments.trials._trial import Trial

__all__ = ["Inventory", "take_inventory"]

_AT_ONCE = 64  # files that a thread looks at before it takes more


@dataclass(frozen=True)
class Inventory:
    """What an experiment asks for and what its store has of it.

    Attributes:
        trials: All different trials by their key, with a cell that asks for each.
        done: Keys of those that are there and sound.
        damaged: Files of those that are there and are not.
        strays: Files under the key of one of them that hold another trial, or none.
    """

    trials: dict[str, tuple[Cell, Trial]]
    done: frozenset[str]
    damaged: tuple[StoredFile, ...]
    strays: tuple[StoredFile, ...] = ()

    @property
    def missing(self) -> list[str]:
        """Keys of the trials that are to be played, in order."""
        return [key for key in self.trials if key not in self.done]


def take_inventory(experiment: Experiment, store: Store) -> Inventory:
    """Return what there is of an experiment; every file of it is read, its hash checked and whose it is."""
    trials: dict[str, tuple[Cell, Trial]] = {}
    for cell, trial in experiment.trials():
        trials.setdefault(trial.key, (cell, trial))
    stored = [trial for trial in store.trials() if trial.key in trials] if store.exists else []
    asked = ((file, trials[file.key][1]) for file in stored)
    with ThreadPoolExecutor(usable_cores()) as threads:
        judged = [found for batch in threads.map(_judged, _batches(asked)) for found in batch]
    by_verdict = {verdict: tuple(file for file, found in judged if found is verdict) for verdict in FileState}
    done = frozenset(file.key for file in by_verdict[FileState.SOUND])
    return Inventory(trials, done, by_verdict[FileState.DAMAGED], by_verdict[FileState.MISNAMED])


def _judged(asked: Iterable[tuple[StoredFile, Trial]]) -> list[tuple[StoredFile, FileState]]:
    return [(file, check_trial_file(file, trial)) for file, trial in asked]


def _batches(asked: Iterable[tuple[StoredFile, Trial]]) -> Iterator[list[tuple[StoredFile, Trial]]]:
    asked = iter(asked)
    while batch := list(itertools.islice(asked, _AT_ONCE)):
        yield batch
