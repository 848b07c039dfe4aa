"""Change-driven replanning: after an episode only what can have changed is computed again.

A backup is Q_h(s, a) ← min(Q_h(s, a), r + ρ(h) Σ_y P̂(y|s, a) V_{h+1}(y) + bonus(h)/√n), summed in the order
in which successors were first seen. It is monotone in V, and so is its rounding, so that any order of backups
ends at the same bits as a full sweep from the last layer to the first.

Pairs that were played are backed up in all layers at once, which the vector units do; often nothing falls,
and that is all. What does fall is followed layer by layer, from the highest, along the arcs into the states
whose value fell: each pair is backed up at most once a layer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels._tables import Tables
from sojourn._typing import FloatArray, IntArray

__all__ = ["Belief", "Desk", "refresh", "replan"]


class Belief(NamedTuple):
    """The law that a learner believes in, layer by layer, and its bonus."""

    ratios: FloatArray  # (N,) ρ(h)
    caps: FloatArray  # (N,) Γ(h)/γ(h)
    bonus: FloatArray  # (N,) bonus of a single visit
    reward_bonus: float  # the same for a reward that is learned; negative if rewards are known


class Desk(NamedTuple):
    """Room to work in, kept between replannings."""

    clock: IntArray  # (1,) tokens given out so far
    token: IntArray  # (pairs,) the layer for which a pair was last listed
    now: IntArray  # (pairs,) pairs to back up in this layer
    later: IntArray  # (pairs,) pairs to back up in the next one down
    seeds: IntArray  # (pairs,) states whose value fell when played pairs were backed up
    tops: IntArray  # (pairs,) up to which layer
    layers: FloatArray  # (N,)


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


@kernel
def replan(tables: Tables, belief: Belief, played: IntArray, desk: Desk) -> int:
    """Bring Q and V up to date after an episode that played these pairs; return how many layers fell in all.

    A state with an action that was never played keeps its cap.
    """
    # Unpacked, and nothing called: a call that passes tables costs more than the work itself.
    value, q, pair_of, tried, into = tables.value, tables.q, tables.pair_of, tables.tried, tables.into
    first_arc, arc_next, arc_to = tables.first_arc, tables.arc_next, tables.arc_to
    arc_other, arc_from, arc_weight = tables.arc_other, tables.arc_from, tables.arc_weight
    state_of, reward, root = tables.state_of, tables.reward, tables.root
    ratios, bonus = belief.ratios, belief.bonus
    layers, seeds, tops, token = desk.layers, desk.seeds, desk.tops, desk.token
    n_actions, n_layers = pair_of.shape[1], ratios.size
    n_seeds, highest, n_fallen = 0, 0, 0

    for i in range(played.size):
        refresh(tables, belief, played[i])
    for i in range(played.size - 1, -1, -1):
        pair = played[i]
        # All layers of a pair at once.
        arc = first_arc[pair]
        weight, following = arc_weight[arc], value[arc_to[arc], 1:]
        for h in range(n_layers):
            layers[h] = weight * following[h]
        arc = arc_next[arc]
        while arc >= 0:
            weight, following = arc_weight[arc], value[arc_to[arc], 1:]
            for h in range(n_layers):
                layers[h] += weight * following[h]
            arc = arc_next[arc]
        mine, paid, share = q[pair], reward[pair], root[pair]
        falls = False
        for h in range(n_layers):
            layers[h] = (paid + ratios[h] * layers[h]) + bonus[h] * share
            falls |= layers[h] < mine[h]
        if not falls:
            continue
        top = 0
        for h in range(n_layers):
            if layers[h] < mine[h]:
                mine[h] = layers[h]
                top = h + 1
        n_fallen += top
        state = state_of[pair]
        if tried[state] < n_actions:
            continue
        # The best of all actions, up to the highest layer that fell.
        mine = q[pair_of[state, 0]]
        for h in range(top):
            layers[h] = mine[h]
        for a in range(1, n_actions):
            mine = q[pair_of[state, a]]
            for h in range(top):
                layers[h] = max(layers[h], mine[h])
        mine, fell = value[state], 0
        for h in range(top):
            if layers[h] < mine[h]:
                mine[h] = layers[h]
                fell = h + 1
        if fell > 1:
            seeds[n_seeds], tops[n_seeds] = state, fell
            n_seeds += 1
            highest = max(highest, fell)

    now, later, n_now = desk.now, desk.later, 0
    base = desk.clock[0]
    desk.clock[0] += n_layers + 1
    for h in range(highest - 2, -1, -1):
        for i in range(n_seeds):
            if tops[i] > h + 1:
                arc = into[seeds[i]]
                while arc >= 0:
                    pair = arc_from[arc]
                    if token[pair] != base + h:
                        token[pair] = base + h
                        now[n_now] = pair
                        n_now += 1
                    arc = arc_other[arc]
        n_later = 0
        for i in range(n_now):
            pair = now[i]
            arc = first_arc[pair]
            expected = arc_weight[arc] * value[arc_to[arc], h + 1]
            arc = arc_next[arc]
            while arc >= 0:
                expected += arc_weight[arc] * value[arc_to[arc], h + 1]
                arc = arc_next[arc]
            new = (reward[pair] + ratios[h] * expected) + bonus[h] * root[pair]
            old = q[pair, h]
            if new < old:
                q[pair, h] = new
                n_fallen += 1
                state = state_of[pair]
                if old == value[state, h] and tried[state] == n_actions:
                    best = q[pair_of[state, 0], h]
                    for a in range(1, n_actions):
                        best = max(best, q[pair_of[state, a], h])
                    if best < old:
                        value[state, h] = best
                        arc = into[state]
                        while arc >= 0:
                            pair = arc_from[arc]
                            if token[pair] != base + h - 1:
                                token[pair] = base + h - 1
                                later[n_later] = pair
                                n_later += 1
                            arc = arc_other[arc]
        now, later, n_now = later, now, n_later
    return n_fallen
