"""Where a reproduction runs its experiments: shipped files, one store, the ordinary runner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from sojourn.experiments import (
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

__all__ = ["Workbench"]

_TUNING = (1_000, 1_001, 1_002)

Watch = Callable[[Inventory, Outcome | None], object]


@dataclass(frozen=True)
class Workbench:
    """Runs the experiments of a reproduction.

    Attributes:
        store: Where trials are kept.
        quick: Whether everything is shown in small.
        executor: Where trials are played, as `run_experiment` takes it.
        watching: Gives, for the name of an experiment, what is called as its trials come.
    """

    store: Store
    quick: bool = False
    executor: Executor | None = None
    watching: Callable[[str], Watch | None] = lambda name: None

    def read(self, name: str) -> Experiment:
        """Return a shipped experiment."""
        folder = resources.files("sojourn.reproduction") / "specs" / ("quick" if self.quick else "full")
        with resources.as_file(folder / f"{name}.toml") as path:
            experiment = read_experiment(path)
        return replace(experiment, name=f"{name}-quick" if self.quick else name)

    def settings(self, *names: str) -> tuple[tuple[str, str], ...]:
        """Return what experiments are called and the files that state them, for a report."""
        return tuple((f"{name}.toml", self.read(name).source) for name in names)

    @property
    def n_tuning(self) -> int:
        """Number of seeds on which settings are chosen."""
        return 1 if self.quick else len(_TUNING)

    def compare(self, name: str, *, over: Sequence[str] = ()) -> list[Comparison]:
        """Play an experiment, settings of `over` chosen on other seeds, and compare its learners."""
        experiment = self.read(name)
        if over:
            experiment = self.tune(experiment, over)
        return self.play(experiment)

    def tune(self, experiment: Experiment, over: Sequence[str]) -> Experiment:
        """Return an experiment with only the best values of some grids."""
        seeds = _TUNING[: self.n_tuning]
        watch = self.watching(f"{experiment.name}, choosing settings")
        return tune(experiment, self.store, over=over, seeds=seeds, executor=self.executor, watch=watch)

    def play(self, experiment: Experiment) -> list[Comparison]:
        """Play an experiment, and compare its learners on each problem and law."""
        watch = self.watching(experiment.name)
        report = run_experiment(experiment, self.store, executor=self.executor, watch=watch)
        if report.failures:
            first = report.failures[0]
            raise RuntimeError(
                f"{len(report.failures)} trials of {experiment.name} failed, first {first.name}: "
                f"{first.reason}"
            )
        wanted = {trial.key for cell in experiment.cells for trial in cell.trials}
        results = load_results(Path(self.store.folder), experiment=experiment.name)
        return replace(results, trials=tuple(t for t in results if t.key in wanted)).comparisons()
