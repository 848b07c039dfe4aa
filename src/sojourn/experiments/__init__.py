"""Experiments from one file: read, run anywhere, resumed after anything, kept for good."""

from __future__ import annotations

from sojourn.experiments._executor import Executor, ExecutorError, Job, Outcome
from sojourn.experiments._here import ThisProcess
from sojourn.experiments._processes import Processes
from sojourn.experiments._ray import Ray
from sojourn.experiments._runner import Failure, Inventory, Report, run_experiment, take_stock
from sojourn.experiments._spec import Cell, Experiment, read_experiment
from sojourn.experiments._store import Store
from sojourn.experiments._trials import RESULTS, Trial

__all__ = [
    "RESULTS",
    "Cell",
    "Executor",
    "ExecutorError",
    "Experiment",
    "Failure",
    "Inventory",
    "Job",
    "Outcome",
    "Processes",
    "Ray",
    "Report",
    "Store",
    "ThisProcess",
    "Trial",
    "read_experiment",
    "run_experiment",
    "take_stock",
]
