"""Running an experiment: what is there, what is missing, and playing that."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sojourn.experiments._executor import Executor, Job, Outcome
from sojourn.experiments._folder import importing_from
from sojourn.experiments._processes import Processes, usable_cores
from sojourn.experiments._spec import Cell, Experiment
from sojourn.experiments._store import MARKER, Store, StoredFile
from sojourn.experiments._trials import Trial, check_trial, read_trial

__all__ = ["Failure", "Inventory", "Report", "run_experiment", "take_stock"]

PLAY = "sojourn.experiments._trials:play_trial"


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
    damaged: tuple[Path, ...]

    @property
    def missing(self) -> list[str]:
        """Keys of the trials that are to be played, in order."""
        return [key for key in self.trials if key not in self.done]


@dataclass(frozen=True)
class Failure:
    """A trial that failed at every try.

    Attributes:
        trial: The trial.
        cell: Where it belongs.
        reason: Why it failed the last time.
        tries: How often it was tried.
    """

    trial: Trial
    cell: Cell
    reason: str
    tries: int

    @property
    def where(self) -> str:
        """Learner, problem and law in words."""
        settings = self.cell.settings
        return f"{self.cell.learner} on {settings['problem']}, {settings['law']}"

    @property
    def name(self) -> str:
        """The trial in words."""
        return f"{self.where}, seed {self.trial.seed}"


@dataclass(frozen=True)
class Report:
    """What came of a run.

    Attributes:
        total: Number of different trials.
        reused: How many were there already.
        played: How many were played now.
        failures: Those that failed.
        notes: What was found damaged and made good, a line each.
    """

    total: int
    reused: int
    played: int
    failures: tuple[Failure, ...]
    notes: tuple[str, ...]


def take_stock(experiment: Experiment, store: Store) -> Inventory:
    """Return what there is of an experiment; every file of it is read and its hash checked."""
    trials: dict[str, tuple[Cell, Trial]] = {}
    for cell, trial in experiment.trials():
        trials.setdefault(trial.key, (cell, trial))
    stored = [trial for trial in store.trials() if trial.key in trials] if store.exists else []
    with ThreadPoolExecutor(usable_cores()) as threads:
        sound = list(threads.map(_are_sound, _batched(stored, 64)))
    judged = list(zip(stored, itertools.chain.from_iterable(sound), strict=True))
    done = frozenset(trial.key for trial, is_sound in judged if is_sound)
    return Inventory(trials, done, tuple(trial.path for trial, is_sound in judged if not is_sound))


def _are_sound(trials: list[StoredFile]) -> list[bool]:
    return [trial.read() is not None for trial in trials]


def _batched(items: list[Any], size: int) -> Iterable[list[Any]]:
    return (items[i : i + size] for i in range(0, len(items), size))


def run_experiment(
    experiment: Experiment,
    store: Store | str | Path,
    *,
    executor: Executor | None = None,
    watch: Callable[[Inventory, Outcome | None], object] | None = None,
) -> Report:
    """Play every trial of an experiment that its store does not have.

    Trials are kept as they come: whatever ends the run, the next one goes on from there. A trial that fails
    is set aside and named in the report. The same store may be run on by several processes at once.

    Args:
        experiment: What to play.
        store: Where trials are kept.
        executor: Where they are played; by default in processes of this machine.
        watch: Called with what there is before the first trial, and then with the outcome of each.
    """
    store = store if isinstance(store, Store) else Store(store)
    executor = executor if executor is not None else Processes()
    with store.writing(), importing_from(experiment.folder):
        notes = list(_mend(store))
        stock = take_stock(experiment, store)
        for path in stock.damaged:
            kept = store.set_aside(path)
            notes.append(f"A damaged trial was set aside as {kept}, and is played again.")
        told = _told(experiment)
        store.add_experiment(told)
        if watch is not None:
            watch(stock, None)
        failures = []
        played = 0
        jobs = [Job(key, stock.trials[key][1].text) for key in stock.missing]
        with contextlib.closing(executor.run(PLAY, jobs)) as outcomes:
            for outcome in map(_checked, outcomes if jobs else ()):
                if outcome.content is None:
                    cell, trial = stock.trials[outcome.key]
                    failures.append(Failure(trial, cell, outcome.reason, outcome.tries))
                else:
                    store.add_trial(outcome.key, outcome.content, outcome.seconds)
                    played += 1
                if watch is not None:
                    watch(stock, outcome)
        store.add_experiment(told)  # another run may have put its own in its place
    return Report(len(stock.trials), len(stock.done), played, tuple(failures), tuple(notes))


def _checked(outcome: Outcome) -> Outcome:
    """Return an outcome, as a failure if what came back is not the file of its trial."""
    if outcome.content is None:
        return outcome
    try:
        about, _ = read_trial(outcome.content, "what came back", only_about=True)
        check_trial(about, outcome.key)
    except ValueError as error:
        return replace(outcome, content=None, reason=f"what came back is no result of it: {error}")
    return outcome


def _mend(store: Store) -> Iterator[str]:
    """Make good what is damaged beside the trials; yield what was done."""
    if store.mend_marker():
        yield f"{store.folder / MARKER} was damaged, and is written again."
    times, damaged = store.timings.read()
    if damaged:
        kept = store.set_aside(store.timings.path)
        for key, seconds in times.items():
            store.timings.append(key, seconds)
        yield f"{len(damaged):,} lines of the log of timings were damaged; it was set aside as {kept}."
    untimed = {file.key for file in store.trials()} - times.keys()
    for key in sorted(untimed):
        store.timings.append(key, math.nan)
    if untimed:
        yield f"The timings of {len(untimed):,} trials are lost; their results are there."
    for file in store.experiments():
        if file.read() is None:
            kept = store.set_aside(file.path)
            yield f"A damaged record of an experiment was set aside as {kept}; running it makes it anew."


def _told(experiment: Experiment) -> dict[str, Any]:
    """Return what an experiment asks for, for who reads the store: names of learners and their trials."""
    cells = []
    for cell in experiment.cells:
        keys = [trial.key for trial in cell.trials]
        cells.append({"learner": cell.learner, "varied": dict(cell.varied), "trials": keys})
    return {
        "format": "sojourn experiment 1",
        "name": experiment.name,
        "source": experiment.source,
        "cells": cells,
    }
