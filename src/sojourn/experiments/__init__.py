"""Experiments from one file: read, run anywhere, resumed after anything, kept for good.

Names are loaded when first used: a worker needs few of them, and who prints an example needs one.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sojourn.experiments._examples import example_names, read_example
    from sojourn.experiments._executor import Executor, ExecutorError, Job, Outcome
    from sojourn.experiments._export import export_csv, export_parquet
    from sojourn.experiments._here import ThisProcess
    from sojourn.experiments._processes import Processes
    from sojourn.experiments._ray import Ray
    from sojourn.experiments._results import Results, load_results
    from sojourn.experiments._runner import Failure, Report, run_experiment
    from sojourn.experiments._spec import Cell, Experiment, read_experiment
    from sojourn.experiments._stock import Inventory, take_stock
    from sojourn.experiments._store import Store
    from sojourn.experiments._trial_result import TrialResult
    from sojourn.experiments._trials import RESULTS, Trial
    from sojourn.experiments._tuning import tune
    from sojourn.experiments._verify import Finding, Verdict, verify_store
    from sojourn.learning import (
        bootstrap_interval,
        estimate_mean,
        interquartile_mean,
        paired_difference,
        probability_of_improvement,
        standard_error,
    )

__all__ = [
    "RESULTS",
    "Cell",
    "Executor",
    "ExecutorError",
    "Experiment",
    "Failure",
    "Finding",
    "Inventory",
    "Job",
    "Outcome",
    "Processes",
    "Ray",
    "Report",
    "Results",
    "Store",
    "ThisProcess",
    "Trial",
    "TrialResult",
    "Verdict",
    "bootstrap_interval",
    "estimate_mean",
    "example_names",
    "export_csv",
    "export_parquet",
    "interquartile_mean",
    "load_results",
    "paired_difference",
    "probability_of_improvement",
    "read_example",
    "read_experiment",
    "run_experiment",
    "standard_error",
    "take_stock",
    "tune",
    "verify_store",
]

_HOMES = {
    "experiments._examples": "example_names read_example",
    "experiments._executor": "Executor ExecutorError Job Outcome",
    "experiments._export": "export_csv export_parquet",
    "experiments._here": "ThisProcess",
    "experiments._processes": "Processes",
    "experiments._ray": "Ray",
    "experiments._results": "Results load_results",
    "experiments._runner": "Failure Report run_experiment",
    "experiments._spec": "Cell Experiment read_experiment",
    "experiments._stock": "Inventory take_stock",
    "experiments._store": "Store",
    "experiments._trial_result": "TrialResult",
    "experiments._trials": "RESULTS Trial",
    "experiments._tuning": "tune",
    "experiments._verify": "Finding Verdict verify_store",
    "learning": "bootstrap_interval estimate_mean interquartile_mean paired_difference "
    "probability_of_improvement standard_error",
}
_PLACES = {name: f"sojourn.{home}" for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'sojourn.experiments' has no attribute {name!r}")
    globals()[name] = getattr(importlib.import_module(_PLACES[name]), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted(__all__)
