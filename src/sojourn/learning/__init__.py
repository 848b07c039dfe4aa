"""Learning: play agents on a problem, compute their exact regret and compare them."""

from __future__ import annotations

from sojourn.learning._checkpoints import spread_by_ratios, spread_episodes
from sojourn.learning._compare import compare
from sojourn.learning._comparison import TABLE_HEADER, Comparison
from sojourn.learning._comparison_file import load_comparison
from sojourn.learning._estimate import FEWEST_SEEDS, Estimate, estimate_mean
from sojourn.learning._learn import learn
from sojourn.learning._names import name_agents
from sojourn.learning._reference import REGRET_TOLERANCE, check_regret_tolerance
from sojourn.learning._regret_sample import (
    RegretEstimate,
    default_regret_episodes,
    draw_valued_episodes,
    estimate_regret,
    fits_strata,
)
from sojourn.learning._run import Run
from sojourn.learning._statistics import (
    Interval,
    bootstrap_interval,
    interquartile_mean,
    paired_difference,
    percentile_interval,
    probability_of_improvement,
    simultaneous_intervals,
    standard_error,
)

__all__ = [
    "FEWEST_SEEDS",
    "REGRET_TOLERANCE",
    "TABLE_HEADER",
    "Comparison",
    "Estimate",
    "Interval",
    "RegretEstimate",
    "Run",
    "bootstrap_interval",
    "check_regret_tolerance",
    "compare",
    "default_regret_episodes",
    "draw_valued_episodes",
    "estimate_mean",
    "estimate_regret",
    "fits_strata",
    "interquartile_mean",
    "learn",
    "load_comparison",
    "name_agents",
    "paired_difference",
    "percentile_interval",
    "probability_of_improvement",
    "simultaneous_intervals",
    "spread_by_ratios",
    "spread_episodes",
    "standard_error",
]
