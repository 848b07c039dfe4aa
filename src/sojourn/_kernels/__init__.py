"""Compiled loops: arrays in, arrays out, no checks.

A problem is five arrays: `indptr`, `indices`, `data` (compressed sparse rows, row s·A + a holds P(·|s, a)),
`rewards` (S·A,) in the same order, and the number of actions A.
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

__all__ = [
    "accumulate_horizons",
    "evaluate_deterministic",
    "evaluate_stochastic",
    "gain_slope",
    "induce",
    "lower_gain",
    "preserving_residual",
    "raise_gain",
    "residuals",
    "sweep",
]
