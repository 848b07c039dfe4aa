"""Q-learning: Q moves towards what one step and the next value say; no model is kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._tables import Tables
from sojourn._typing import FloatArray, IntArray

__all__ = ["QLearningUpdate", "update_q_learning"]


class QLearningUpdate(NamedTuple):
    """The rule of learners of temporal differences."""

    counts: IntArray  # (pairs, N) updates of each Q value so far
    rate: float  # the learning rate if it is > 0; else that of update t is
    lead: float  # (lead + 1)/(lead + t)
    is_capped: bool  # whether V is at most the cap
    is_stationary: bool  # whether the one layer is its own successor


@kernel
def update_q_learning(
    tables: Tables,
    belief: AssumedLaw,
    rule: QLearningUpdate,
    pairs: IntArray,
    layers: IntArray,
    following: IntArray,
    rewards: FloatArray,
) -> None:
    """Move Q after an episode with these steps, one after the other.

    Q_h(s, a) ← (1 − α) Q_h(s, a) + α (r + ρ(h) V_{h+1}(y) + bonus(h)/√t), where t counts the updates of this
    Q value. A stationary learner's one layer is its own successor.
    """
    q, value, pair_of, state_of = tables.q, tables.value, tables.pair_of, tables.state_of
    ratios, caps, bonus, counts = belief.ratios, belief.caps, belief.bonus, rule.counts
    is_stationary = rule.is_stationary
    for i in range(pairs.size):
        pair, h = pairs[i], 0 if is_stationary else layers[i]
        after = 0 if is_stationary else h + 1
        counts[pair, h] += 1
        t = float(counts[pair, h])
        rate = rule.rate if rule.rate > 0.0 else (rule.lead + 1.0) / (rule.lead + t)
        target = (rewards[i] + ratios[h] * value[following[i], after]) + bonus[h] / np.sqrt(t)
        q[pair, h] = (1.0 - rate) * q[pair, h] + rate * target
        state, best = state_of[pair], -np.inf
        for a in range(pair_of.shape[1]):
            other = pair_of[state, a]
            best = max(best, q[other, h] if other >= 0 else caps[h])
        value[state, h] = min(best, caps[h]) if rule.is_capped else best
