"""Replanning by a full sweep over all visited pairs: the cheaper way where most values fall anyway."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._tables import N_STATES, Tables
from sojourn._typing import FloatArray, PolicyArray

__all__ = ["SweepScratch", "replan_fully"]


class SweepScratch(NamedTuple):
    """Room for a sweep: all pairs in the order of their states, all arcs in the order of their pairs."""

    pairs: PolicyArray  # (pairs,)
    stops: PolicyArray  # (pairs,) where the arcs of a pair end
    n_pairs: PolicyArray  # (states,) pairs of a state
    least: FloatArray  # (states,) −∞, or ∞ where an action was never tried and V stays at its cap
    to: PolicyArray  # (arcs,)
    weights: FloatArray  # (arcs,)
    rewards: FloatArray  # (pairs,)
    roots: FloatArray  # (pairs,)
    above: FloatArray  # (states,) V of the layer above
    here: FloatArray  # (states,) V of this layer


@kernel
def replan_fully(tables: Tables, assumed: AssumedLaw, scratch: SweepScratch) -> None:
    """Bring Q and V up to date, layer by layer from the last."""
    value, q, ratios, bonus, caps = tables.value, tables.q, assumed.ratios, assumed.bonus, assumed.caps
    pairs, stops, n_pairs, least = scratch.pairs, scratch.stops, scratch.n_pairs, scratch.least
    to, weights, rewards, roots = scratch.to, scratch.weights, scratch.rewards, scratch.roots
    above, here = scratch.above, scratch.here
    n_states, n_actions, n_layers = tables.sizes[N_STATES], tables.pair_of.shape[1], ratios.size
    tables.greedy_masks[:n_states] = 0
    i, j, one = np.uint64(0), np.uint64(0), np.uint64(1)
    for state in range(1, n_states):
        n_pairs[state] = tables.tried[state]
        least[state] = -np.inf if tables.tried[state] == n_actions else np.inf
        above[state] = value[state, n_layers]
        for a in range(n_actions):
            played = tables.pair_of[state, a]
            if played >= 0:
                pairs[i], rewards[i], roots[i] = (
                    played,
                    tables.reward_estimate[played],
                    tables.bonus_share[played],
                )
                arc = tables.first_arc[played]
                while arc >= 0:
                    to[j], weights[j] = tables.arc_to[arc], tables.arc_weight[arc]
                    j += one
                    arc = tables.arc_next[arc]
                stops[i] = j
                i += one
    for h in range(n_layers - 1, -1, -1):
        ratio, extra, cap = ratios[h], bonus[h], caps[h]
        above[0] = value[0, h + 1]
        i, j = np.uint64(0), np.uint64(0)
        for state in range(1, n_states):
            best = least[state] if least[state] < cap else cap
            for _ in range(np.int64(n_pairs[state])):
                stop = np.uint64(stops[i])
                expected = weights[j] * above[to[j]]
                j += one
                while j < stop:
                    expected += weights[j] * above[to[j]]
                    j += one
                new = (rewards[i] + ratio * expected) + extra * roots[i]
                pair = np.uint64(pairs[i])
                old = q[pair, h]
                new = new if new < old else old
                q[pair, h] = new
                best = new if new > best else best
                i += one
            value[state, h] = best
            here[state] = best
        above, here = here, above
