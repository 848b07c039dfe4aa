"""Compiled loops: arrays in, arrays out, no checks.

A problem's transitions are `rows` = (indptr, indices, data, A): compressed sparse rows, row s·A + a holding
P(·|s, a); rewards are flat in the same order. `packed` holds the same numbers in the order of `_slices`.
"""

from __future__ import annotations

from sojourn._kernels._problem import PlayOptions, ProblemArrays, ReferenceArrays
from sojourn._kernels.learning._assumed_law import AssumedLaw, initialize_q_row
from sojourn._kernels.learning._full_replan import SweepScratch
from sojourn._kernels.learning._greedy import choose, fill_policy
from sojourn._kernels.learning._incremental_replan import IncrementalScratch, watch_all
from sojourn._kernels.learning._play import follow, play
from sojourn._kernels.learning._tables import MOST_MASKED, Tables, find_state, number_state, record
from sojourn._kernels.learning._tie_breaking import mix_in, priority
from sojourn._kernels.learning._update_bernstein import BernsteinUpdate
from sojourn._kernels.learning._update_psrl import PSRLUpdate
from sojourn._kernels.learning._update_q_learning import QLearningUpdate
from sojourn._kernels.learning._update_ucbvi import UCBVIUpdate
from sojourn._kernels.learning._update_ucbvi_gamma import UCBVIGammaUpdate
from sojourn._kernels.learning._updates import EpisodeBuffer, apply_update
from sojourn._kernels.planning._backward_induction import (
    accumulate_horizons,
    evaluate_deterministic,
    evaluate_stochastic,
    induce,
    sweep,
)
from sojourn._kernels.planning._blocked_rows import fill_slices, measure_slices
from sojourn._kernels.planning._gain import gain_slope, lower_gain, preserving_residual, raise_gain, residuals
from sojourn._kernels.planning._policy_cycle import follow_policy_cycle
from sojourn._kernels.valuation._forward_value import look_up_states, value_from
from sojourn._kernels.valuation._incremental_value import ValueCache

__all__ = [
    "MOST_MASKED",
    "AssumedLaw",
    "BernsteinUpdate",
    "EpisodeBuffer",
    "IncrementalScratch",
    "PSRLUpdate",
    "PlayOptions",
    "ProblemArrays",
    "QLearningUpdate",
    "ReferenceArrays",
    "SweepScratch",
    "Tables",
    "UCBVIGammaUpdate",
    "UCBVIUpdate",
    "ValueCache",
    "accumulate_horizons",
    "apply_update",
    "choose",
    "evaluate_deterministic",
    "evaluate_stochastic",
    "fill_policy",
    "fill_slices",
    "find_state",
    "follow",
    "follow_policy_cycle",
    "gain_slope",
    "induce",
    "initialize_q_row",
    "look_up_states",
    "lower_gain",
    "measure_slices",
    "mix_in",
    "number_state",
    "play",
    "preserving_residual",
    "priority",
    "raise_gain",
    "record",
    "residuals",
    "sweep",
    "value_from",
    "watch_all",
]
