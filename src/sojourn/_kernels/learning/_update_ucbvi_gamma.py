"""The update of UCBVI-γ: backups of every visited pair on stationary values.

Q(s, a) ← min(Q(s, a), r + γ Σ_y P̂(y|s, a) V(y) + bonus), all from the V of the previous sweep: value
iteration that advances by one step per sweep. The tables have one layer; the backup of `update_bernstein`
reads the next layer from column 1, which is a copy of the values and visits before the sweep.
"""

from __future__ import annotations

from typing import NamedTuple

from sojourn._kernels._jit import kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._tables import N_STATES, Tables
from sojourn._kernels.learning._update_bernstein import BernsteinUpdate, update_bernstein
from sojourn._typing import IntArray

__all__ = ["UCBVIGammaUpdate", "update_ucbvi_gamma"]


class UCBVIGammaUpdate(NamedTuple):
    """Parameters of the update of UCBVI-γ."""

    bernstein: BernsteinUpdate  # its bonus, with arrays of one layer


@kernel
def update_ucbvi_gamma(
    tables: Tables, assumed: AssumedLaw, update: UCBVIGammaUpdate, played: IntArray, n_sweeps: int
) -> None:
    """Update Q and V by `n_sweeps` sweeps after an episode that played the pairs `played`."""
    for state in range(tables.sizes[N_STATES]):
        total = 0
        for a in range(tables.pair_of.shape[1]):
            pair = tables.pair_of[state, a]
            total += tables.visits[pair] if pair >= 0 else 0
        tables.visits_at[state, 1] = total
    for sweep in range(n_sweeps):
        has_changed = sweep == 0
        for state in range(tables.sizes[N_STATES]):
            has_changed |= tables.value[state, 1] != tables.value[state, 0]
            tables.value[state, 1] = tables.value[state, 0]
        if not has_changed:  # further sweeps would repeat the last one
            return
        update_bernstein(tables, assumed, update.bernstein, played)
