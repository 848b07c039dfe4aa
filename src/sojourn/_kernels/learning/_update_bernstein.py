"""The update of UCBVI with Bernstein bonuses, which depend on the variance of the next layer's value.

Q_h(s, a) ← min(Q_h(s, a), r + ρ(h) Σ_y P̂(y|s, a) V_{h+1}(y) + bonus_h(s, a)). Such a backup is not monotone
in V, so all visited pairs are backed up, layer by layer from the last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw, refresh_models
from sojourn._kernels.learning._backup import backup
from sojourn._kernels.learning._tables import N_PAIRS, N_STATES, Tables
from sojourn._typing import FloatArray, IntArray

__all__ = ["BernsteinUpdate", "update_bernstein"]


class BernsteinUpdate(NamedTuple):
    """The bonus factor·[√(variance·Var(V)/n) + linear/n + √(8 Σ_y P̂(y) min(next_term/n'(y), next_cap)/n)].

    Var(V) is the variance of V_{h+1} under P̂(·|s, a), n counts the visits of (s, a), and n'(y) those of y at
    the next layer. The value of the absorbing state is known: it has no part in the last sum.
    """

    factor: FloatArray  # (N,) factor on the whole bonus
    variance: float  # weight of the variance
    linear: FloatArray  # (N,) numerator of the term 1/n
    next_term: FloatArray  # (N,) numerator of the term in the visits at the next layer
    next_cap: FloatArray  # (N,) largest value of that term


@inlined
def _expect(tables: Tables, update: BernsteinUpdate, pair: int, h: int) -> tuple[float, float]:
    """Return the mean of V_{h+1} under P̂(·|s, a), and the bonus without its factor."""
    value, visits_at = tables.value, tables.visits_at
    first_arc, arc_next = tables.first_arc, tables.arc_next
    arc_to, arc_weight = tables.arc_to, tables.arc_weight
    mean, next_terms = 0.0, 0.0
    arc = first_arc[pair]
    while arc >= 0:
        y = arc_to[arc]
        mean += arc_weight[arc] * value[y, h + 1]
        if y > 0:
            count = visits_at[y, h + 1]
            term = update.next_cap[h]
            if count > 0:
                term = min(term, update.next_term[h] / count)
            next_terms += arc_weight[arc] * term
        arc = arc_next[arc]
    variance = 0.0
    arc = first_arc[pair]
    while arc >= 0:
        variance += arc_weight[arc] * (value[arc_to[arc], h + 1] - mean) ** 2
        arc = arc_next[arc]
    n = float(tables.visits[pair])
    bonus = np.sqrt(update.variance * variance / n) + update.linear[h] / n + np.sqrt(8.0 * next_terms / n)
    return mean, bonus


@kernel
def update_bernstein(tables: Tables, assumed: AssumedLaw, update: BernsteinUpdate, played: IntArray) -> None:
    """Update Q and V after an episode that played the pairs `played`."""
    refresh_models(tables, assumed, played)
    n_actions, value, q, pair_of = tables.pair_of.shape[1], tables.value, tables.q, tables.pair_of
    for h in range(assumed.ratios.size - 1, -1, -1):
        for pair in range(tables.sizes[N_PAIRS]):
            mean, bonus = _expect(tables, update, pair, h)
            new = backup(tables.reward_estimate[pair], assumed.ratios[h], mean, update.factor[h] * bonus)
            q[pair, h] = min(q[pair, h], new)
        for state in range(1, tables.sizes[N_STATES]):
            if tables.tried[state] == n_actions:
                best = q[pair_of[state, 0], h]
                for a in range(1, n_actions):
                    best = max(best, q[pair_of[state, a], h])
                value[state, h] = best
