"""Replanning with bonuses of Bernstein's kind, which look at the variance of the next value.

Such a backup is not monotone in V, so all visited pairs are backed up, layer by layer from the last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw, refresh
from sojourn._kernels.learning._tables import N_PAIRS, N_STATES, Tables
from sojourn._typing import FloatArray, IntArray

__all__ = ["BernsteinUpdate", "update_bernstein"]


class BernsteinUpdate(NamedTuple):
    """A bonus outer·[√(variance·Var(V)/n) + plain/n + √(8 Σ_y P̂(y) min(rare/n'(y), most)/n)], by layers.

    n'(y) counts the visits of y at the next layer; the value of the absorbing state is known, and has no such
    term. Empty arrays stand for a bonus of another kind.
    """

    outer: FloatArray  # (N,)
    variance: float
    plain: FloatArray  # (N,)
    rare: FloatArray  # (N,)
    most: FloatArray  # (N,)


@kernel
def update_bernstein(tables: Tables, belief: AssumedLaw, spread: BernsteinUpdate, played: IntArray) -> None:
    """Bring Q and V of all visited pairs up to date after an episode that played these."""
    for i in range(played.size):
        refresh(tables, belief, played[i])
    n_actions = tables.pair_of.shape[1]
    value, q, visits_at = tables.value, tables.q, tables.visits_at
    first_arc, arc_next = tables.first_arc, tables.arc_next
    arc_to, arc_weight = tables.arc_to, tables.arc_weight
    for h in range(belief.ratios.size - 1, -1, -1):
        for pair in range(tables.sizes[N_PAIRS]):
            mean, rare = 0.0, 0.0
            arc = first_arc[pair]
            while arc >= 0:
                y = arc_to[arc]
                mean += arc_weight[arc] * value[y, h + 1]
                if y > 0:
                    count = visits_at[y, h + 1]
                    term = spread.most[h]
                    if count > 0:
                        term = min(term, spread.rare[h] / count)
                    rare += arc_weight[arc] * term
                arc = arc_next[arc]
            variance = 0.0
            arc = first_arc[pair]
            while arc >= 0:
                variance += arc_weight[arc] * (value[arc_to[arc], h + 1] - mean) ** 2
                arc = arc_next[arc]
            n = float(tables.visits[pair])
            bonus = np.sqrt(spread.variance * variance / n) + spread.plain[h] / n + np.sqrt(8.0 * rare / n)
            new = (tables.reward[pair] + belief.ratios[h] * mean) + spread.outer[h] * bonus
            q[pair, h] = min(q[pair, h], new)
        for state in range(1, tables.sizes[N_STATES]):
            if tables.tried[state] == n_actions:
                best = q[tables.pair_of[state, 0], h]
                for a in range(1, n_actions):
                    best = max(best, q[tables.pair_of[state, a], h])
                value[state, h] = best
