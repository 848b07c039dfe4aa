"""One backup of every visited pair on stationary values: value iteration that moves on with the episodes."""

from __future__ import annotations

from typing import NamedTuple

from sojourn._kernels._jit import kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._tables import N_STATES, Tables
from sojourn._kernels.learning._update_bernstein import BernsteinUpdate, update_bernstein
from sojourn._typing import IntArray

__all__ = ["UCBVIGammaUpdate", "update_ucbvi_gamma"]


class UCBVIGammaUpdate(NamedTuple):
    """The rule of UCBVI-γ: a bonus of Bernstein's kind, and one layer that is its own successor."""

    spread: BernsteinUpdate


@kernel
def update_ucbvi_gamma(tables: Tables, belief: AssumedLaw, spread: BernsteinUpdate, played: IntArray) -> None:
    """Back up all visited pairs once, from the values as they were before; column 1 holds those."""
    for state in range(tables.sizes[N_STATES]):
        tables.value[state, 1] = tables.value[state, 0]
        total = 0
        for a in range(tables.pair_of.shape[1]):
            pair = tables.pair_of[state, a]
            total += tables.visits[pair] if pair >= 0 else 0
        tables.visits_at[state, 1] = total
    update_bernstein(tables, belief, spread, played)
