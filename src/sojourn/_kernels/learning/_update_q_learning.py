"""The update of Q-learning: Q moves toward the reward plus the value of the next state; no model is kept.

Q_h(s, a) ← (1 − α) Q_h(s, a) + α (r + ρ(h) V_{h+1}(y) + bonus(h)/√t), where y is the next state and t counts
the updates of this Q value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._backup import backup
from sojourn._kernels.learning._tables import Tables
from sojourn._typing import FloatArray, IntArray

__all__ = ["QLearningUpdate", "update_q_learning"]


class QLearningUpdate(NamedTuple):
    """Parameters and counts of the update of Q-learning."""

    counts: IntArray  # (pairs, N) number of updates of each Q value so far
    rate: float  # constant learning rate α, or 0 for one that decreases
    lead: float  # if `rate` is 0, update t has the rate (lead + 1)/(lead + t)
    is_capped: bool  # whether V is at most the cap of its layer
    is_stationary: bool  # whether there is one layer, which is its own successor


@kernel
def update_q_learning(
    tables: Tables,
    assumed: AssumedLaw,
    update: QLearningUpdate,
    pairs: IntArray,
    layers: IntArray,
    successors: IntArray,
    rewards: FloatArray,
) -> None:
    """Update Q and V after an episode, one step after the other."""
    q, value, pair_of, state_of = tables.q, tables.value, tables.pair_of, tables.state_of
    ratios, caps, bonus, counts = assumed.ratios, assumed.caps, assumed.bonus, update.counts
    is_stationary = update.is_stationary
    for i in range(pairs.size):
        pair, h = pairs[i], 0 if is_stationary else layers[i]
        next_layer = 0 if is_stationary else h + 1
        counts[pair, h] += 1
        t = float(counts[pair, h])
        rate = update.rate if update.rate > 0.0 else (update.lead + 1.0) / (update.lead + t)
        target = backup(rewards[i], ratios[h], value[successors[i], next_layer], bonus[h] / np.sqrt(t))
        q[pair, h] = (1.0 - rate) * q[pair, h] + rate * target
        state, best = state_of[pair], -np.inf
        for a in range(pair_of.shape[1]):
            other = pair_of[state, a]
            best = max(best, q[other, h] if other >= 0 else caps[h])
        value[state, h] = min(best, caps[h]) if update.is_capped else best
