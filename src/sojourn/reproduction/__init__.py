"""Reproduction of the paper: experiments, figures, and a report on which of its claims hold."""

from __future__ import annotations

from sojourn.reproduction._censoring import censoring_errors, fitted_slope
from sojourn.reproduction._reproduce import PARTS, Reproduction, reproduce
from sojourn.reproduction._runner import EXPERIMENTS, TUNING_SEEDS, ExperimentRunner, read_shipped_experiment

__all__ = [
    "EXPERIMENTS",
    "PARTS",
    "TUNING_SEEDS",
    "ExperimentRunner",
    "Reproduction",
    "censoring_errors",
    "fitted_slope",
    "read_shipped_experiment",
    "reproduce",
]
