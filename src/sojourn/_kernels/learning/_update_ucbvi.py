"""The update of UCBVI: optimistic replanning after an episode, by whichever of two ways is cheaper.

A backup is Q_h(s, a) ← min(Q_h(s, a), r + ρ(h) Σ_y P̂(y|s, a) V_{h+1}(y) + bonus(h)/√n), where the sum runs
over successors in the order of their first sight, and V_h(s) = max_a Q_h(s, a). The backup is monotone in V,
and so is its rounding, so any order of backups ends at the same bits. Incremental replanning recomputes only
what can have changed. Where most values change, as on tiny problems, a full sweep is cheaper.
"""

from __future__ import annotations

from typing import NamedTuple

from sojourn._kernels._jit import kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw, refresh_models
from sojourn._kernels.learning._full_replan import SweepScratch, replan_fully
from sojourn._kernels.learning._incremental_replan import (
    IncrementalScratch,
    find_all_incumbents,
    replan_incrementally,
)
from sojourn._kernels.learning._tables import N_PAIRS, Tables
from sojourn._typing import IntArray

__all__ = ["UCBVIUpdate", "update_ucbvi"]

_INCREMENTAL_COST = 12  # cost of recomputing one V incrementally, in backups of a full sweep
_MOST_SWEEPS = 64  # full sweeps in a row before incremental replanning is tried again

SWEEPS_LEFT, SWEEPS_IN_ROW = 0, 1  # positions in `UCBVIUpdate.sweeps`


class UCBVIUpdate(NamedTuple):
    """Scratch arrays of the update of UCBVI with a bonus that depends on visit counts alone."""

    sweeps: IntArray  # (2,) full sweeps left before incremental replanning is tried again, and their number
    incremental: IncrementalScratch  # scratch arrays of incremental replanning
    full: SweepScratch  # scratch arrays of full sweeps


@kernel
def update_ucbvi(tables: Tables, assumed: AssumedLaw, update: UCBVIUpdate, played: IntArray) -> None:
    """Update Q and V after an episode that played the pairs `played`.

    V of a state with an action that was never played stays at its cap.
    """
    refresh_models(tables, assumed, played)
    sweeps = update.sweeps
    if sweeps[SWEEPS_LEFT] > 0:
        replan_fully(tables, assumed, update.full)
        sweeps[SWEEPS_LEFT] -= 1
        if sweeps[SWEEPS_LEFT] == 0:
            find_all_incumbents(tables)
        return
    n_recomputed = replan_incrementally(tables, assumed, update.incremental, played)
    if _INCREMENTAL_COST * n_recomputed > tables.sizes[N_PAIRS] * assumed.ratios.size:
        sweeps[SWEEPS_IN_ROW] = min(2 * sweeps[SWEEPS_IN_ROW] + 1, _MOST_SWEEPS)
    else:
        sweeps[SWEEPS_IN_ROW] = 0
    sweeps[SWEEPS_LEFT] = sweeps[SWEEPS_IN_ROW]
