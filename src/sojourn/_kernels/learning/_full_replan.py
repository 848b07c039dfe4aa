"""Replanning by a full sweep over all visited pairs: cheaper than incremental replanning if most values fall.

Layer by layer from the last, Q_h of every pair is backed up and V_h(s) = max_a Q_h(s, a). Pairs and arcs are
first copied to the order in which the sweep reads them, which is the same in every layer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._backup import backup
from sojourn._kernels.learning._tables import N_STATES, Tables
from sojourn._typing import FloatArray, PolicyArray

__all__ = ["SweepScratch", "replan_fully"]

_ONE = np.uint64(1)  # positions are unsigned: numba then omits the check for negative indices


class SweepScratch(NamedTuple):
    """Scratch arrays of a full sweep: pairs in the order of their states, arcs in that of their pairs."""

    pairs: PolicyArray  # (pairs,) pairs in the order of the sweep
    arc_stops: PolicyArray  # (pairs,) position in `successors` at which the arcs of each pair end
    n_pairs: PolicyArray  # (states,) number of pairs of each state
    least: FloatArray  # (states,) lower bound of V: −∞, or ∞ (the cap) if an action was never tried
    successors: PolicyArray  # (arcs,) successor of each arc
    weights: FloatArray  # (arcs,) empirical probability of each arc
    rewards: FloatArray  # (pairs,) reward estimate of each pair
    bonus_shares: FloatArray  # (pairs,) factor of each pair on the bonus of a single visit
    above: FloatArray  # (states,) V of the layer above
    here: FloatArray  # (states,) V of the current layer


@inlined
def _copy_model(tables: Tables, scratch: SweepScratch) -> None:
    """Copy pairs, arcs and the model to the order of the sweep."""
    n_actions = tables.pair_of.shape[1]
    i, j = np.uint64(0), np.uint64(0)
    for state in range(1, tables.sizes[N_STATES]):
        scratch.n_pairs[state] = tables.tried[state]
        scratch.least[state] = -np.inf if tables.tried[state] == n_actions else np.inf
        for a in range(n_actions):
            pair = tables.pair_of[state, a]
            if pair >= 0:
                scratch.pairs[i] = pair
                scratch.rewards[i] = tables.reward_estimate[pair]
                scratch.bonus_shares[i] = tables.bonus_share[pair]
                arc = tables.first_arc[pair]
                while arc >= 0:
                    scratch.successors[j], scratch.weights[j] = tables.arc_to[arc], tables.arc_weight[arc]
                    j += _ONE
                    arc = tables.arc_next[arc]
                scratch.arc_stops[i] = j
                i += _ONE


@kernel
def replan_fully(tables: Tables, assumed: AssumedLaw, scratch: SweepScratch) -> None:
    """Update Q and V of all visited pairs, layer by layer from the last."""
    _copy_model(tables, scratch)
    value, q, ratios, bonus, caps = tables.value, tables.q, assumed.ratios, assumed.bonus, assumed.caps
    pairs, arc_stops, n_pairs, least = scratch.pairs, scratch.arc_stops, scratch.n_pairs, scratch.least
    successors, weights = scratch.successors, scratch.weights
    rewards, bonus_shares = scratch.rewards, scratch.bonus_shares
    above, here = scratch.above, scratch.here
    n_states, n_layers = tables.sizes[N_STATES], ratios.size
    tables.greedy_masks[:n_states] = 0
    for state in range(1, n_states):
        above[state] = value[state, n_layers]
    for h in range(n_layers - 1, -1, -1):
        ratio, extra, cap = ratios[h], bonus[h], caps[h]
        above[0] = value[0, h + 1]
        i, j = np.uint64(0), np.uint64(0)
        for state in range(1, n_states):
            best = least[state] if least[state] < cap else cap
            for _ in range(np.int64(n_pairs[state])):
                stop = np.uint64(arc_stops[i])
                expected = weights[j] * above[successors[j]]
                j += _ONE
                while j < stop:
                    expected += weights[j] * above[successors[j]]
                    j += _ONE
                new = backup(rewards[i], ratio, expected, extra * bonus_shares[i])
                pair = np.uint64(pairs[i])
                old = q[pair, h]
                new = new if new < old else old
                q[pair, h] = new
                best = new if new > best else best
                i += _ONE
            value[state, h] = best
            here[state] = best
        above, here = here, above
