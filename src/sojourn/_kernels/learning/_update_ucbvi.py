"""Replanning after an episode, by whichever way is cheaper.

A backup is Q_h(s, a) ← min(Q_h(s, a), r + ρ(h) Σ_y P̂(y|s, a) V_{h+1}(y) + bonus(h)/√n), summed in the order
in which successors were first seen. It is monotone in V, and so is its rounding, so that any order of backups
ends at the same bits. Changes are followed as long as they are few; where most values fall, as on tiny
problems, a sweep over everything is cheaper.
"""

from __future__ import annotations

from typing import NamedTuple

from sojourn._kernels._jit import kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw, refresh
from sojourn._kernels.learning._full_replan import SweepScratch, replan_fully
from sojourn._kernels.learning._incremental_replan import IncrementalScratch, replan_incrementally, watch_all
from sojourn._kernels.learning._tables import N_PAIRS, Tables
from sojourn._typing import IntArray

__all__ = ["UCBVIUpdate", "replan"]

_DEAR = 12  # how many backups of a sweep cost as much as following one change
_LONGEST = 64  # row of sweeps before changes are followed again, to see how many there are


class UCBVIUpdate(NamedTuple):
    """The rule of learners with bonuses that fall with the number of visits alone: replan what changed."""

    desk: IncrementalScratch
    sheet: SweepScratch


@kernel
def replan(
    tables: Tables, belief: AssumedLaw, played: IntArray, desk: IncrementalScratch, sheet: SweepScratch
) -> None:
    """Bring Q and V up to date after an episode that played these pairs.

    A state with an action that was never played keeps its cap.
    """
    for i in range(played.size):
        refresh(tables, belief, played[i])
    if desk.sweeps[0] > 0:
        replan_fully(tables, belief, sheet)
        desk.sweeps[0] -= 1
        if desk.sweeps[0] == 0:
            watch_all(tables)
    else:
        n_seen = replan_incrementally(tables, belief, played, desk)
        if _DEAR * n_seen > tables.sizes[N_PAIRS] * belief.ratios.size:
            desk.sweeps[1] = min(2 * desk.sweeps[1] + 1, _LONGEST)
        else:
            desk.sweeps[1] = 0
        desk.sweeps[0] = desk.sweeps[1]
