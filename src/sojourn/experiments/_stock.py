"""What an experiment asks for, and what its store has of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sojourn.experiments._processes import usable_cores
from sojourn.experiments._spec import Cell, Experiment
from sojourn.experiments._store import Store
from sojourn.experiments._stored import StoredFile
from sojourn.experiments._trials import Trial

__all__ = ["Inventory", "take_stock"]

_AT_ONCE = 64  # files that a thread looks at before it takes more


@dataclass(frozen=True)
class Inventory:
    """What an experiment asks for and what its store has of it.

    Attributes:
        trials: All different trials by their key, with a cell that asks for each.
        done: Keys of those that are there and sound.
        damaged: Files of those that are there and are not.
    """

    trials: dict[str, tuple[Cell, Trial]]
    done: frozenset[str]
    damaged: tuple[StoredFile, ...]

    @property
    def missing(self) -> list[str]:
        """Keys of the trials that are to be played, in order."""
        return [key for key in self.trials if key not in self.done]


def take_stock(experiment: Experiment, store: Store) -> Inventory:
    """Return what there is of an experiment; every file of it is read and its hash checked."""
    trials: dict[str, tuple[Cell, Trial]] = {}
    for cell, trial in experiment.trials():
        trials.setdefault(trial.key, (cell, trial))
    stored = [trial for trial in store.trials() if trial.key in trials] if store.exists else []
    with ThreadPoolExecutor(usable_cores()) as threads:
        sound = list(threads.map(_are_sound, _batches(stored)))
    judged = list(zip(stored, itertools.chain.from_iterable(sound), strict=True))
    done = frozenset(trial.key for trial, is_sound in judged if is_sound)
    return Inventory(trials, done, tuple(trial for trial, is_sound in judged if not is_sound))


def _are_sound(trials: list[StoredFile]) -> list[bool]:
    return [trial.is_sound() for trial in trials]


def _batches(files: list[StoredFile]) -> Iterator[list[StoredFile]]:
    return (files[i : i + _AT_ONCE] for i in range(0, len(files), _AT_ONCE))
