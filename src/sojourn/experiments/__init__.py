"""Experiments from one file: read, run anywhere, resumed after anything, kept for good."""

from __future__ import annotations

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
