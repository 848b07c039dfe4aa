"""Chooses each agent's best settings, on other seeds than those that it is judged by."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sojourn._validation import check_whole
from sojourn.errors import SojournWarning
from sojourn.experiments._results import results_of
from sojourn.experiments._run import Watch, run_experiment
from sojourn.experiments.executors._base import Executor
from sojourn.experiments.spec._experiment import Cell, Experiment
from sojourn.experiments.store._manifest import Manifest, manifest_of
from sojourn.experiments.store._store import Store
from sojourn.experiments.trials._content_checks import LARGEST_SEED
from sojourn.experiments.trials._result import TrialResult
from sojourn.experiments.trials._trial import Trial

__all__ = ["tune", "tuning_name"]


def tuning_name(experiment: Experiment) -> str:
    """Return the name under which `tune` stores the trials that it chooses an experiment's settings by."""
    return f"{experiment.name}-tuning"


def tune(
    experiment: Experiment,
    store: Store | str | Path,
    *,
    over: Iterable[str],
    seeds: Iterable[int],
    executor: Executor | None = None,
    watch: Watch | None = None,
) -> Experiment:
    """Play an experiment's grids on separate seeds, and return the experiment with only the best values.

    For each problem, law and agent, the grid point with the smallest mean total regret is kept; grids that
    `over` does not name stay as they are. The returned experiment keeps its own seeds. None of them may be
    among `seeds`: choosing and judging by the same trials rewards luck.

    Args:
        experiment: The experiment.
        store: Where trials are kept.
        over: Dotted paths of the grids to choose from, such as "bonus.scale"; agents without them are kept.
        seeds: The seeds to choose by.
        executor: Where trials are played, as in `run_experiment`.
        watch: As in `run_experiment`.
    """
    paths, tuning_seeds = set(over), tuple(check_whole("seeds", seed, least=0) for seed in seeds)
    if not tuning_seeds or max(tuning_seeds) > LARGEST_SEED:
        raise ValueError(f"seeds must be one or more seeds of at most 2^53; got {tuning_seeds!r:.60}.")
    both = sorted(set(tuning_seeds) & set(experiment.seeds))
    if both:
        raise ValueError(f"seeds must be others than those of the experiment; got {both[0]} in both.")
    known = {path for cell in experiment.cells for path in cell.varied}
    for path in sorted(paths - known):
        raise ValueError(f"over must name grids of the experiment: {', '.join(sorted(known))}; got {path!r}.")
    store = store if isinstance(store, Store) else Store(store)
    candidates = [cell for cell in experiment.cells if paths & set(cell.varied)]
    tuning = replace(
        experiment,
        name=tuning_name(experiment),
        cells=tuple(replace(cell, trials=_trials(cell, tuning_seeds)) for cell in candidates),
        seeds=tuning_seeds,
        purpose="tuning",
    )
    report = run_experiment(
        tuning,
        store,
        executor=executor,
        watch=watch,
        on_note=lambda note: warnings.warn(note, SojournWarning, stacklevel=2),
    )
    if report.failures:
        raise RuntimeError(f"{len(report.failures)} trials failed, first {report.failures[0].name}.")
    manifest = Manifest(tuning.name, tuple(manifest_of(tuning)["cells"]), "tuning")
    totals = {trial.key: _total(trial) for trial in results_of(manifest, store)}
    best: dict[Any, tuple[float, Cell]] = {}
    for cell in tuning.cells:
        mean = float(np.mean([totals[trial.key] for trial in cell.trials]))
        rivals = _rivals(cell, paths)
        if rivals not in best or mean < best[rivals][0]:
            best[rivals] = mean, cell
    kept = {_identity(cell) for _, cell in best.values()}
    cells = [cell for cell in experiment.cells if not paths & set(cell.varied) or _identity(cell) in kept]
    return replace(experiment, cells=tuple(cells))


def _identity(cell: Cell) -> str:
    """Return the text that all trials of this cell share, and of no other cell."""
    return cell.trials[0].settings


def _trials(cell: Cell, seeds: tuple[int, ...]) -> tuple[Trial, ...]:
    return tuple(Trial(_identity(cell), seed) for seed in seeds)


def _rivals(cell: Cell, paths: set[str]) -> Any:
    """Return a key that cells share if only the best of them is kept."""
    others = tuple(sorted((path, repr(value)) for path, value in cell.varied.items() if path not in paths))
    return cell.settings["problem"], cell.settings["law"], cell.name, others


def _total(trial: TrialResult) -> float:
    regret = trial.uncached().cumulative_regret
    if regret is None:
        raise ValueError(f"{trial.agent} shows no policy, so there is no regret to choose by.")
    return float(regret[-1])
