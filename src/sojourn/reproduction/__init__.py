"""Reproduction of the paper: experiments, figures, and a report on which of its claims hold."""

from __future__ import annotations

from sojourn.reproduction._balancing import BalancingWithTruncation
from sojourn.reproduction._censoring import censoring_errors, fitted_slope
from sojourn.reproduction._reproduce import PARTS, Reproduction, reproduce
from sojourn.reproduction._runner import (
    EXPERIMENTS,
    TUNING_SEEDS,
    ExperimentRunner,
    Watch,
    read_shipped_experiment,
)
from sojourn.reproduction.claims import (
    Interval,
    bootstrap_ratio,
    bootstrap_slope,
    describe_growth,
    printed_slope,
)

__all__ = [
    "EXPERIMENTS",
    "PARTS",
    "TUNING_SEEDS",
    "BalancingWithTruncation",
    "ExperimentRunner",
    "Interval",
    "Reproduction",
    "Watch",
    "bootstrap_ratio",
    "bootstrap_slope",
    "censoring_errors",
    "describe_growth",
    "fitted_slope",
    "printed_slope",
    "read_shipped_experiment",
    "reproduce",
]
