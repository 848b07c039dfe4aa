"""Running an experiment: making good what is damaged, and playing what is missing."""

from __future__ import annotations

import contextlib
import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sojourn.experiments.executors._base import Executor, Job, Outcome
from sojourn.experiments.executors._pool import Processes
from sojourn.experiments.spec._experiment import Cell, Experiment
from sojourn.experiments.spec._import_path import importing_from
from sojourn.experiments.store._inventory import Inventory, take_inventory
from sojourn.experiments.store._manifest import manifest_of
from sojourn.experiments.store._store import Store
from sojourn.experiments.trials._archive import read_trial
from sojourn.experiments.trials._trial import Trial

__all__ = ["Failure", "Report", "Watch", "run_experiment"]

PLAY = "sojourn.experiments.trials._play:play_trial"
_BETWEEN_LOOKS = 1.0  # seconds after which a run looks again what others have played
_LOOKING_SHARE = 20.0  # times as long as a look takes, at least


Watch = Callable[[Inventory, Outcome | None], object]
"""Who is told what there is before the first trial (with None), and then the outcome of each."""


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
        return f"{self.cell.agent} on {settings['problem']}, {settings['law']}"

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
        elsewhere: How many another run on the same store played meanwhile.
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
) -> Report:
    """Play every trial of an experiment that its store does not have.

    Trials are kept as they come: whatever ends the run, the next one goes on from there. A trial that fails
    is set aside and named in the report. Several runs on the same store share the work: each looks again
    before a trial whether another has played it.

    Args:
        experiment: What to play.
        store: Where trials are kept.
        executor: Where they are played; by default in processes of this machine.
        watch: Called with what there is before the first trial, and then with the outcome of each; one that
            was not tried at all is of a trial that another run played meanwhile.
    """
    store = store if isinstance(store, Store) else Store(store)
    executor = executor if executor is not None else Processes()
    with store.writing() as is_alone, importing_from(experiment.folder):
        notes = list(_mend(store))
        stock = take_inventory(experiment, store)
        notes += _set_aside(store, stock)
        told = manifest_of(experiment)
        store.add_experiment(told)
        if watch is not None:
            watch(stock, None)
        run = _Run(stock, store, watch)
        with contextlib.closing(executor.run(PLAY, run.jobs(mixed=not is_alone))) as outcomes:
            for outcome in outcomes if stock.missing else ():
                run.take(_checked(outcome))
        store.add_experiment(told)  # another run may have put its own in its place
    return Report(
        len(stock.trials), len(stock.done), run.played, tuple(run.failures), tuple(notes), run.elsewhere
    )


class _Run:
    """What comes of the trials that are missing."""

    def __init__(self, stock: Inventory, store: Store, watch: Watch | None) -> None:
        self._stock, self._store, self._watch = stock, store, watch
        self.played = self.elsewhere = 0
        self.failures: list[Failure] = []

    def jobs(self, *, mixed: bool) -> Iterator[Job]:
        """Yield what is still to be played, each when it is asked for.

        Args:
            mixed: In an order of its own, so that runs that go on side by side seldom play the same.
        """
        keys, others = self._stock.missing, _Others(self._store)
        if mixed:
            random.shuffle(keys)
        for key in keys:
            if others.have_played(key):
                self.elsewhere += 1
                if self._watch is not None:
                    self._watch(self._stock, Outcome(key, b"", "", 0.0, 0))
            else:
                yield Job(key, self._stock.trials[key][1].text)

    def take(self, outcome: Outcome) -> None:
        """Keep what came of a trial."""
        if outcome.content is None:
            cell, trial = self._stock.trials[outcome.key]
            self.failures.append(Failure(trial, cell, outcome.reason, outcome.tries))
        else:
            self._store.add_trial(outcome.key, outcome.content, outcome.seconds)
            self.played += 1
        if self._watch is not None:
            self._watch(self._stock, outcome)


class _Others:
    """What is in the store by now; looked at again and again, but never for much of the time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._keys: set[str] = set()
        self._look_again = 0.0

    def have_played(self, key: str) -> bool:
        """Whether a trial is there; one that came a moment ago may be missed, and is then played twice."""
        begun = time.monotonic()
        if begun >= self._look_again:
            self._keys = self._store.trial_keys()
            ended = time.monotonic()
            self._look_again = ended + max(_BETWEEN_LOOKS, _LOOKING_SHARE * (ended - begun))
        return key in self._keys


def _set_aside(store: Store, stock: Inventory) -> Iterator[str]:
    for file in stock.damaged:
        kept = store.set_aside(file)
        if kept is not None:
            yield f"A damaged trial was set aside as {kept}, and is played again."
    for file in stock.strays:
        kept = store.set_aside(file.path)  # nobody makes it good: its hash is that of what is in it
        if kept is not None:
            yield f"A file with another trial's content was set aside as {kept}; that of its name is played."


def _checked(outcome: Outcome) -> Outcome:
    """Return an outcome, as a failure if what came back is not the file of its trial."""
    if outcome.content is None:
        return outcome
    try:
        read_trial(outcome.content, outcome.key, header_only=True)
    except ValueError as error:
        return replace(outcome, content=None, reason=f"what came back is not its result: {error}")
    return outcome


def _mend(store: Store) -> Iterator[str]:
    """Make good what is damaged beside the trials; yield what was done."""
    if store.marker.mend():
        yield f"{store.marker.path} was damaged, and is written again."
    present = store.trial_keys()  # first: a run beside this one adds a trial after its time
    times, n_damaged, kept = store.mend_timings()
    if n_damaged:
        yield f"{n_damaged:,} lines of the log of timings were damaged; it was set aside as {kept}."
    untimed = present - times.keys()
    if untimed:
        store.timings.extend(dict.fromkeys(sorted(untimed), math.nan))
        yield f"The timings of {len(untimed):,} trials are lost; their results are there."
    for file in store.experiments():
        aside = None if file.is_sound() else store.set_aside(file)
        if aside is not None:
            yield f"A damaged record of an experiment was set aside as {aside}; running it makes it anew."
