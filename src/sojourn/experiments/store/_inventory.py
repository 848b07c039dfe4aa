"""The inventory of an experiment: which of its trials the store has, and which files are unusable."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sojourn._threads import usable_cores
from sojourn.experiments.spec._experiment import Cell, Experiment
from sojourn.experiments.store._store import Store
from sojourn.experiments.store._stored_file import StoredFile
from sojourn.experiments.trials._archive import defect_of_file
from sojourn.experiments.trials._trial import Trial

__all__ = ["Inventory", "take_inventory"]

_BATCH = 64  # files per task of a thread


@dataclass(frozen=True)
class Inventory:
    """The trials of an experiment and their files in a store.

    Attributes:
        trials: All different trials by key, each with a cell that it belongs to.
        done: Keys of the trials whose files are sound.
        damaged: Files that are not a sound result of the trial in their name.
        newly_checked: Names of sound files that the store's log of checked files does not have yet.
    """

    trials: dict[str, tuple[Cell, Trial]]
    done: frozenset[str]
    damaged: tuple[StoredFile, ...]
    newly_checked: tuple[str, ...] = ()

    @property
    def missing(self) -> list[str]:
        """Keys of the trials that still have to be played, in order."""
        return [key for key in self.trials if key not in self.done]


def take_inventory(experiment: Experiment, store: Store) -> Inventory:
    """Check the hash of every file, and the content of those that are not in the log of checked files."""
    trials: dict[str, tuple[Cell, Trial]] = {}
    for cell, trial in experiment.trials():
        trials.setdefault(trial.key, (cell, trial))
    stored = [file for file in store.trials() if file.key in trials] if store.exists else []
    known = store.checked.read() if stored else frozenset()
    pairs = ((file, None if file.name in known else trials[file.key][1]) for file in stored)
    with ThreadPoolExecutor(usable_cores()) as threads:
        checked = [found for batch in threads.map(_check_batch, _batches(pairs)) for found in batch]
    sound = [file for file, problem in checked if not problem]
    return Inventory(
        trials,
        done=frozenset(file.key for file in sound),
        damaged=tuple(file for file, problem in checked if problem),
        newly_checked=tuple(file.name for file in sound if file.name not in known),
    )


_Pair = tuple[StoredFile, Trial | None]
"""A file and its trial, or None if the content was checked before and only the hash is to be checked."""


def _batches(pairs: Iterator[_Pair]) -> Iterator[list[_Pair]]:
    while batch := list(itertools.islice(pairs, _BATCH)):
        yield batch


def _check_batch(pairs: Iterable[_Pair]) -> list[tuple[StoredFile, str]]:
    return [(file, defect_of_file(file, trial)) for file, trial in pairs]
