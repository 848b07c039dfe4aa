"""What a learner believes of lengths, and what its backups take from counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined
from sojourn._kernels.learning._tables import Tables
from sojourn._typing import FloatArray

__all__ = ["AssumedLaw", "initialize_q_row", "refresh"]


class AssumedLaw(NamedTuple):
    """The law that a learner believes in, layer by layer, and its bonus."""

    ratios: FloatArray  # (N,) ρ(h)
    caps: FloatArray  # (N,) Γ(h)/γ(h)
    bonus: FloatArray  # (N,) bonus of a single visit
    power: float  # of n visits it is that over n^power: ½ or 1
    reward_bonus: float  # of one visit, for a reward that is learned; negative if rewards are known
    prior: FloatArray  # (S, A) what pairs that were never played are worth above their caps, or (0, 0)


@inlined
def initialize_q_row(tables: Tables, belief: AssumedLaw, pair: int) -> None:
    """Give a pair that is new the Q values that it had without being one, all through the episode.

    One that was planned for before it was played, and so has a `root`, keeps what it has.
    """
    if tables.root[pair] > 0.0:
        return
    state = tables.state_of[pair]
    above = belief.prior[tables.names[state], tables.action_of[pair]] if belief.prior.size > 0 else 0.0
    for h in range(belief.caps.size):
        tables.q[pair, h] = belief.caps[h] + above


@inlined
def refresh(tables: Tables, belief: AssumedLaw, pair: int) -> None:
    """Bring up to date what a backup of this pair takes from its counts."""
    n = float(tables.visits[pair])
    root = 1.0 / np.sqrt(n)
    tables.root[pair] = root if belief.power == 0.5 else 1.0 / n
    tables.reward[pair] = tables.paid[pair]
    if belief.reward_bonus >= 0.0:
        tables.reward[pair] = tables.paid[pair] / n + belief.reward_bonus * root
    arc = tables.first_arc[pair]
    while arc >= 0:
        tables.arc_weight[arc] = tables.arc_count[arc] / n
        arc = tables.arc_next[arc]
