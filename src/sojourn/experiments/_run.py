"""Running an experiment: sets damaged files aside and plays the trials that are missing."""

from __future__ import annotations

import contextlib
import errno
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sojourn.experiments.executors._base import Executor, ExecutorError, Job, Outcome
from sojourn.experiments.executors._pool import Processes
from sojourn.experiments.spec._experiment import Cell, Experiment
from sojourn.experiments.spec._import_path import importing_from
from sojourn.experiments.store._inventory import Inventory, take_inventory
from sojourn.experiments.store._manifest import manifest_of, read_manifest_file
from sojourn.experiments.store._store import Store, WriteAccess
from sojourn.experiments.trials._archive import defect_of_content, defect_of_file
from sojourn.experiments.trials._trial import Trial

__all__ = ["Failure", "Report", "Watch", "run_experiment"]

_NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)
PLAY = "sojourn.experiments.trials._play:play_trial"
_REFRESH_SECONDS = 1.0  # shortest time between two listings of the store
_REFRESH_FACTOR = 20.0  # shortest time between two listings, as a multiple of how long one takes


Watch = Callable[[Inventory, Outcome | None], object]
"""Called with None before the first trial, and then with the outcome of each trial."""


@dataclass(frozen=True)
class Failure:
    """A trial that failed at every try.

    Attributes:
        trial: The trial.
        cell: The cell that it belongs to.
        reason: Why the last try failed.
        tries: Number of tries.
    """

    trial: Trial
    cell: Cell
    reason: str
    tries: int

    @property
    def where(self) -> str:
        """The agent, problem and law in words."""
        settings = self.cell.settings
        return f"{self.cell.agent} on {settings['problem']}, {settings['law']}"

    @property
    def name(self) -> str:
        """The trial in words."""
        return f"{self.where}, seed {self.trial.seed}"


@dataclass(frozen=True)
class Report:
    """The result of a run.

    Attributes:
        total: Number of different trials.
        reused: Number of trials that the store had already.
        played: Number of trials that this run played.
        failures: Trials that failed at every try.
        notes: One line per damaged file that was set aside or rebuilt, and one if finished trials of an
            earlier experiment with the same name do not belong to this one.
        elsewhere: Number of trials that another run on the same store played in the meantime.
    """

    total: int
    reused: int
    played: int
    failures: tuple[Failure, ...]
    notes: tuple[str, ...]
    elsewhere: int = 0


def run_experiment(
    experiment: Experiment,
    store: Store | str | Path,
    *,
    executor: Executor | None = None,
    watch: Watch | None = None,
    on_note: Callable[[str], object] | None = None,
) -> Report:
    """Play every trial of an experiment that its store does not have.

    Each trial is written as soon as it is finished: whatever ends a run, the next one continues from there. A
    trial that fails does not stop the others; the report names it. Several runs on the same store share the
    work: each checks before a trial whether another run has played it.

    Args:
        experiment: The experiment.
        store: The store.
        executor: Where trials are played; by default in processes of this machine.
        watch: Called with the inventory and None before the first trial, and then with the inventory and the
            outcome of each trial. An outcome with 0 tries means that another run played the trial.
        on_note: Called with each of the report's notes at once: a run that is stopped later makes no report.
    """
    notes: list[str] = []

    def note(text: str) -> None:
        notes.append(text)
        if on_note is not None:
            on_note(text)

    store = store if isinstance(store, Store) else Store(store)
    executor = executor if executor is not None else Processes()
    with store.writing() as access, importing_from(experiment.folder):
        for text in _check_side_files(store, access):
            note(text)
        inventory = take_inventory(experiment, store)
        for text in _set_aside_trials(store, inventory):
            note(text)
        for text in _note_replaced_trials(store, experiment, inventory):
            note(text)
        manifest = manifest_of(experiment)
        try:
            store.add_manifest(manifest)
        except OSError as error:
            if inventory.missing or error.errno not in _NOT_WRITABLE:
                raise
            note(
                f"{store.folder} cannot be written to: reports and exports show {experiment.name!r} as the "
                "store lists it, if at all."
            )
            return Report(len(inventory.trials), len(inventory.done), 0, (), tuple(notes))
        if watch is not None:
            watch(inventory, None)
        run = _Run(inventory, store, watch)
        with contextlib.closing(executor.run(PLAY, run.jobs(shuffle=not access.is_alone))) as outcomes:
            for outcome in outcomes if inventory.missing else ():
                run.add(outcome)
        if run.n_outcomes < len(inventory.missing):
            raise ExecutorError(
                "The executor ended before all trials were played. Finished trials are kept; "
                "the same command resumes the run."
            )
        store.add_manifest(manifest)  # again: another run may have replaced it
    return Report(
        total=len(inventory.trials),
        reused=len(inventory.done),
        played=run.played,
        failures=tuple(run.failures),
        notes=tuple(notes),
        elsewhere=run.elsewhere,
    )


class _Run:
    """Provides the jobs of missing trials and writes their outcomes to the store."""

    def __init__(self, inventory: Inventory, store: Store, watch: Watch | None) -> None:
        self._inventory, self._store, self._watch = inventory, store, watch
        self.played = self.elsewhere = 0
        self.failures: list[Failure] = []

    @property
    def n_outcomes(self) -> int:
        """Number of trials that were played, failed or played by another run."""
        return self.played + self.elsewhere + len(self.failures)

    def jobs(self, *, shuffle: bool) -> Iterator[Job]:
        """Yield the trials that are still missing at the moment when each is requested.

        Args:
            shuffle: Use a random order, so that runs side by side seldom play the same trial.
        """
        keys, finished = self._inventory.missing, _FinishedTrials(self._store)
        if shuffle:
            random.shuffle(keys)
        for key in keys:
            if key in finished:
                self.elsewhere += 1
                if self._watch is not None:
                    self._watch(self._inventory, Outcome(key, b"", "", 0.0, 0))
            else:
                yield Job(key, self._inventory.trials[key][1].text)

    def add(self, outcome: Outcome) -> None:
        """Write the result of a trial to the store, or note that it failed."""
        if outcome.key not in self._inventory.trials:
            raise ExecutorError(f"The executor returned an outcome of an unknown job, {outcome.key!r:.60}.")
        cell, trial = self._inventory.trials[outcome.key]
        outcome = _check_content(outcome, trial)
        if outcome.content is None:
            self.failures.append(Failure(trial, cell, outcome.reason, outcome.tries))
        else:
            self._store.add_trial(outcome.key, outcome.content, outcome.seconds)
            self.played += 1
        if self._watch is not None:
            self._watch(self._inventory, outcome)


class _FinishedTrials:
    """The keys of all trials in a store, listed again from time to time.

    A trial that was finished a moment ago may be missed; it is then played twice, with the same result.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._keys: set[str] = set()
        self._refresh_at = 0.0

    def __contains__(self, key: str) -> bool:
        begun = time.monotonic()
        if begun >= self._refresh_at:
            self._keys = self._store.trial_keys()
            ended = time.monotonic()
            self._refresh_at = ended + max(_REFRESH_SECONDS, _REFRESH_FACTOR * (ended - begun))
        return key in self._keys


def _check_side_files(store: Store, access: WriteAccess) -> Iterator[str]:
    """Set damaged manifests aside; yield one note per damaged file that is not a trial."""
    if access.marker_was_rebuilt:
        yield f"{store.marker.path} was damaged or missing, and was written again."
    for file in store.manifests():
        try:
            read_manifest_file(file)
        except ValueError:
            moved = store.set_aside(file.path)
        else:
            continue
        if moved is not None:
            yield f"A damaged manifest was set aside as {moved}; running its experiment writes it again."


def _set_aside_trials(store: Store, inventory: Inventory) -> Iterator[str]:
    """Set unusable files of trials aside; yield one note per file."""
    counts = Counter(file.key for file in store.trials())
    for file in inventory.damaged:
        what, why = "damaged trial", defect_of_file(file, inventory.trials[file.key][1])
        if not why and counts[file.key] > 1:
            what, why = "trial", "there are different results of it, of which at most one can be right"
        moved = store.set_aside(file.path) if why else None  # another run may have repaired it
        if moved is not None:
            again = "" if file.key in inventory.done else " and is played again"
            yield f"A {what} was set aside as {moved}{again}: {why}."


def _note_replaced_trials(store: Store, experiment: Experiment, inventory: Inventory) -> Iterator[str]:
    """Yield a note if the store has finished trials of another experiment with the same name."""
    others: set[str] = set()
    for file in (*store.manifests(), *store.older_manifests()):
        with contextlib.suppress(ValueError):  # damaged since it was checked
            manifest = read_manifest_file(file)
            if manifest.name == experiment.name:
                others |= manifest.keys.difference(inventory.trials)
    n = len(others & store.trial_keys()) if others else 0
    if n:
        yield (
            f"From now on reports and exports leave out {n:,} finished trial{'s' * (n > 1)} of an earlier "
            f"{experiment.name!r} with other settings; the store keeps what it has."
        )


def _check_content(outcome: Outcome, trial: Trial) -> Outcome:
    """Return an outcome, as a failure if its content is not a sound result of its trial."""
    if outcome.content is None:
        return outcome
    is_bytes = isinstance(outcome.content, bytes)
    problem = defect_of_content(outcome.content, trial) if is_bytes else "it is not a trial file"
    if not problem:
        return outcome
    return replace(outcome, content=None, reason=f"what came back is not its result: {problem}")
