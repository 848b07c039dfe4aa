"""Runs the shipped experiments of the reproduction, and keeps their trials and other results."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from sojourn._files import make_folder, read_at_most, write_atomically
from sojourn.errors import SojournWarning
from sojourn.experiments import (
    RESULTS_VERSION,
    Executor,
    Experiment,
    Inventory,
    Outcome,
    Store,
    load_results,
    read_experiment,
    run_experiment,
    tune,
)
from sojourn.learning import Comparison

__all__ = ["EXPERIMENTS", "TUNING_SEEDS", "ExperimentRunner", "Watch", "read_shipped_experiment"]

EXPERIMENTS = (
    "figure1",
    "tuned-100",
    "growth-short",
    "growth-medium",
    "growth-long",
    "unknown",
    "selection",
    "shape",
)
"""Names of the shipped experiments."""

TUNING_SEEDS = (1_000, 1_001, 1_002)
"""Seeds on which settings are chosen; a quick run uses only the first."""

_MAX_BYTES = 1_000_000
"""Size of the largest table that is read back."""

_LARGEST = 1e100
"""Larger numbers count as infinite, because their squares and sums are."""

Watch = Callable[[Inventory, Outcome | None], object]
"""Progress callback of `run_experiment`."""


def read_shipped_experiment(name: str, *, quick: bool = False) -> Experiment:
    """Read the spec of a shipped experiment, or its quick version."""
    folder = resources.files("sojourn.reproduction") / "specs" / ("quick" if quick else "full")
    with resources.as_file(folder / f"{name}.toml") as path:
        experiment = read_experiment(path)
    return replace(experiment, name=f"{name}-quick" if quick else name)


@dataclass(frozen=True)
class ExperimentRunner:
    """Runs shipped experiments.

    Attributes:
        store: Store of the trials.
        quick: Whether to run small versions of the experiments.
        executor: Where trials are run; see `run_experiment`.
        watching: Called with the name of each experiment; returns the progress callback for its trials.

    Results that are not trials, such as exact values, are kept in the folder "tables" beside the store.
    """

    store: Store
    quick: bool = False
    executor: Executor | None = None
    watching: Callable[[str], Watch | None] = lambda name: None

    def read(self, name: str) -> Experiment:
        """Read a shipped experiment."""
        return read_shipped_experiment(name, quick=self.quick)

    def settings(self, *names: str) -> tuple[tuple[str, str], ...]:
        """Return the file names and texts of specs, for a report."""
        return tuple((f"{name}.toml", self.read(name).source) for name in names)

    @property
    def n_tuning(self) -> int:
        """Number of seeds on which settings are chosen."""
        return 1 if self.quick else len(TUNING_SEEDS)

    @property
    def tuning_seeds(self) -> str:
        """The seeds on which settings are chosen, in words: "3 other seeds"."""
        return f"{self.n_tuning} other seed{'s' * (self.n_tuning > 1)}"

    def compare(self, name: str, *, over: Sequence[str] = ()) -> list[Comparison]:
        """Run an experiment, with the settings in `over` tuned on other seeds, and compare its learners."""
        experiment = self.read(name)
        if over:
            experiment = self.tune(experiment, over)
        return self.play(experiment)

    def tune(self, experiment: Experiment, over: Sequence[str]) -> Experiment:
        """Return the experiment reduced to the best values of the grids in `over`."""
        seeds = TUNING_SEEDS[: self.n_tuning]
        watch = self.watching(f"{experiment.name}, choosing settings")
        return tune(experiment, self.store, over=over, seeds=seeds, executor=self.executor, watch=watch)

    def play(self, experiment: Experiment) -> list[Comparison]:
        """Run an experiment and compare its learners on each problem and law."""
        watch = self.watching(experiment.name)
        report = run_experiment(
            experiment,
            self.store,
            executor=self.executor,
            watch=watch,
            on_note=lambda note: warnings.warn(note, SojournWarning, stacklevel=2),
        )
        if report.failures:
            first = report.failures[0]
            raise RuntimeError(
                f"{len(report.failures)} trials of {experiment.name} failed, first {first.name}: "
                f"{first.reason}"
            )
        wanted = {trial.key for cell in experiment.cells for trial in cell.trials}
        results = load_results(Path(self.store.folder), experiment=experiment.name)
        return replace(results, trials=tuple(t for t in results if t.key in wanted)).comparisons()

    def remember(self, compute: Callable[..., object], *, like: object, **arguments: Any) -> Any:
        """Return the result of a function as plain data; an earlier run may have computed it.

        Args:
            compute: The function. Like trials, its results are computed again if `RESULTS_VERSION` changes.
            like: A result of the same form, such as `(0.0, 0.0)` for a pair of numbers. A stored result of
                another form, or one that is not finite, is computed again.
            arguments: Its arguments. They and the result must be plain data: what JSON can express.
        """
        call = [RESULTS_VERSION, f"{compute.__module__}.{compute.__qualname__}", arguments]
        path = self.store.folder.with_name("tables") / f"{compute.__name__.lstrip('_')}-{_digest(call)}.json"
        try:
            found = json.loads(read_at_most(path, _MAX_BYTES))
            result = found["result"]
            is_sound = found["call"] == json.loads(json.dumps(call)) and _has_form_of(like, result)
            if is_sound and found["hash"] == _digest([call, result]):
                return result
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            pass  # missing or damaged: it is computed and written again
        result = json.loads(json.dumps(compute(**arguments)))
        content = json.dumps({"call": call, "result": result, "hash": _digest([call, result])}, indent=1)
        make_folder(path.parent)
        write_atomically(path, lambda file: file.write(content.encode()))
        return result


def _has_form_of(like: object, result: object) -> bool:
    """Whether plain data has the types and lengths of an example, and only finite numbers."""
    if isinstance(like, (list, tuple)):
        return isinstance(result, list) and len(result) == len(like) and all(map(_has_form_of, like, result))
    if isinstance(like, float):
        return isinstance(result, (int, float)) and type(result) is not bool and abs(result) <= _LARGEST
    return type(result) is type(like)


def _digest(data: Any) -> str:
    """Return a hash of plain data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]
