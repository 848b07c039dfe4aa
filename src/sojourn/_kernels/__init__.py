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
from sojourn._kernels._gain import gain_slope, lower_gain, preserving_residual, raise_gain, residuals
from sojourn._kernels._slices import fill_slices, measure_slices

__all__ = [
    "accumulate_horizons",
    "evaluate_deterministic",
    "evaluate_stochastic",
    "fill_slices",
    "gain_slope",
    "induce",
    "lower_gain",
    "measure_slices",
    "preserving_residual",
    "raise_gain",
    "residuals",
    "sweep",
]
