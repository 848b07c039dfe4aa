"""What a learner believes of lengths, and what its backups take from counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined
from sojourn._kernels._tables import Tables
from sojourn._typing import FloatArray

__all__ = ["Belief", "refresh"]


class Belief(NamedTuple):
    """The law that a learner believes in, layer by layer, and its bonus."""

    ratios: FloatArray  # (N,) ρ(h)
    caps: FloatArray  # (N,) Γ(h)/γ(h)
    bonus: FloatArray  # (N,) bonus of a single visit
    reward_bonus: float  # the same for a reward that is learned; negative if rewards are known


@inlined
def refresh(tables: Tables, belief: Belief, pair: int) -> None:
    """Bring up to date what a backup of this pair takes from its counts."""
    n = float(tables.visits[pair])
    tables.root[pair] = 1.0 / np.sqrt(n)
    tables.reward[pair] = tables.paid[pair]
    if belief.reward_bonus >= 0.0:
        tables.reward[pair] = tables.paid[pair] / n + belief.reward_bonus * tables.root[pair]
    arc = tables.first_arc[pair]
    while arc >= 0:
        tables.arc_weight[arc] = tables.arc_count[arc] / n
        arc = tables.arc_next[arc]
