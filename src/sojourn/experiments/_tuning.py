"""Every learner at its own best settings, chosen on other seeds than those that it is judged by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.experiments._results import load_results
from sojourn.experiments._run import Watch, run_experiment
from sojourn.experiments.executors._base import Executor
from sojourn.experiments.spec._experiment import Cell, Experiment
from sojourn.experiments.store._store import Store
from sojourn.experiments.trials._trial import Trial

__all__ = ["tune"]


def tune(
    experiment: Experiment,
    store: Store | str | Path,
    *,
    over: Iterable[str],
    seeds: Iterable[int],
    executor: Executor | None = None,
    watch: Watch | None = None,
) -> Experiment:
    """Play an experiment's grids on seeds of their own, and return it with only the best of their values.

    For each problem, law and learner the point of some grids with the smallest mean total regret is kept;
    other grids stay as they are. The experiment that is returned has its own seeds, none of which may be
    among `seeds`: whoever chooses and judges by the same trials praises luck.

    Args:
        experiment: The experiment.
        store: Where trials are kept.
        over: Dotted paths of the grids to choose from, such as "bonus.scale"; learners without them are kept.
        seeds: The seeds to choose by.
        executor: Where trials are played, as `run_experiment` takes it.
        watch: As `run_experiment` takes it.
    """
    paths, chosen_by = set(over), tuple(seeds)
    both = sorted(set(chosen_by) & set(experiment.seeds))
    if both:
        raise ValueError(f"seeds must be others than those of the experiment; got {both[0]} in both.")
    known = {path for cell in experiment.cells for path in cell.varied}
    for path in sorted(paths - known):
        raise ValueError(f"over must name grids of the experiment: {', '.join(sorted(known))}; got {path!r}.")
    store = store if isinstance(store, Store) else Store(store)
    choices = [cell for cell in experiment.cells if paths & set(cell.varied)]
    tuning = replace(
        experiment,
        name=f"{experiment.name}-tuning",
        cells=tuple(replace(cell, trials=_trials(cell, chosen_by)) for cell in choices),
        seeds=chosen_by,
    )
    report = run_experiment(tuning, store, executor=executor, watch=watch)
    if report.failures:
        raise RuntimeError(f"{len(report.failures)} trials failed, first {report.failures[0].name}.")
    totals = {trial.key: _total(trial) for trial in load_results(store.folder, experiment=tuning.name)}
    best: dict[Any, tuple[float, Cell]] = {}
    for cell in tuning.cells:
        mean = float(np.mean([totals[trial.key] for trial in cell.trials]))
        group = _group(cell, paths)
        if group not in best or mean < best[group][0]:
            best[group] = mean, cell
    kept = {_id(cell) for _, cell in best.values()}
    cells = [cell for cell in experiment.cells if not paths & set(cell.varied) or _id(cell) in kept]
    return replace(experiment, cells=tuple(cells))


def _id(cell: Cell) -> str:
    """Return what all trials of a cell, and of no other, have in common."""
    return cell.trials[0].settings


def _trials(cell: Cell, seeds: tuple[int, ...]) -> tuple[Trial, ...]:
    return tuple(Trial(_id(cell), seed) for seed in seeds)


def _group(cell: Cell, paths: set[str]) -> Any:
    """Return what cells that compete with each other have in common."""
    others = tuple(sorted((path, str(value)) for path, value in cell.varied.items() if path not in paths))
    return cell.settings["problem"], cell.settings["law"], cell.name, others


def _total(trial: Any) -> float:
    regret = trial.passing().cumulative_regret
    if regret is None:
        raise ValueError(f"{trial.learner} shows no policy: it has no regret to choose by.")
    return float(regret[-1])
