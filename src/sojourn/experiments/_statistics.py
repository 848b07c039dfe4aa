"""Re-exports the statistics over seeds of `sojourn.learning`, next to the results that they summarize."""

from __future__ import annotations

from sojourn.learning import (
    bootstrap_interval,
    estimate_mean,
    interquartile_mean,
    paired_difference,
    probability_of_improvement,
    simultaneous_intervals,
    standard_error,
)

__all__ = [
    "bootstrap_interval",
    "estimate_mean",
    "interquartile_mean",
    "paired_difference",
    "probability_of_improvement",
    "simultaneous_intervals",
    "standard_error",
]
