"""Compiled loops: arrays in, arrays out, no checks.

A problem's transitions are `rows` = (indptr, indices, data, A): compressed sparse rows, row s·A + a holding
P(·|s, a); rewards are flat in the same order. `packed` holds the same numbers in the order of `_slices`.
"""

from __future__ import annotations

from sojourn._kernels._backward import (
    accumulate_horizons,
    evaluate_deterministic,
    evaluate_stochastic,
    induce,
    sweep,
)
from sojourn._kernels._belief import Belief, open_row
from sojourn._kernels._changes import Desk, watch_all
from sojourn._kernels._gain import gain_slope, lower_gain, preserving_residual, raise_gain, residuals
from sojourn._kernels._greedy import choose, fill_policy
from sojourn._kernels._lessons import Steps, take_in
from sojourn._kernels._posterior import Sampling
from sojourn._kernels._replan import Replanning
from sojourn._kernels._retrace import Trace
from sojourn._kernels._rolling import Rolling
from sojourn._kernels._rounds import follow_round
from sojourn._kernels._slices import fill_slices, measure_slices
from sojourn._kernels._sweep import Sheet
from sojourn._kernels._tables import MOST_MASKED, Tables, find_state, number_state, record
from sojourn._kernels._temporal import Temporal
from sojourn._kernels._ties import mix_in, priority
from sojourn._kernels._trial import follow, play
from sojourn._kernels._value import look_up_all, value_from
from sojourn._kernels._variance import Spread
from sojourn._kernels._world import Manner, Scale, World

__all__ = [
    "MOST_MASKED",
    "Belief",
    "Desk",
    "Manner",
    "Replanning",
    "Rolling",
    "Sampling",
    "Scale",
    "Sheet",
    "Spread",
    "Steps",
    "Tables",
    "Temporal",
    "Trace",
    "World",
    "accumulate_horizons",
    "choose",
    "evaluate_deterministic",
    "evaluate_stochastic",
    "fill_policy",
    "fill_slices",
    "find_state",
    "follow",
    "follow_round",
    "gain_slope",
    "induce",
    "look_up_all",
    "lower_gain",
    "measure_slices",
    "mix_in",
    "number_state",
    "open_row",
    "play",
    "preserving_residual",
    "priority",
    "raise_gain",
    "record",
    "residuals",
    "sweep",
    "take_in",
    "value_from",
    "watch_all",
]
