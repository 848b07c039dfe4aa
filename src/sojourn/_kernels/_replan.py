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


@inlined
def _back_up_all(tables: Tables, belief: Belief, pair: int, layers: FloatArray) -> int:
    """Back up all layers of a pair; return the highest that fell (1 …), or 0."""
    n_layers = belief.ratios.size
    arc = tables.first_arc[pair]
    weight, following = tables.arc_weight[arc], tables.value[tables.arc_to[arc], 1:]
    for h in range(n_layers):
        layers[h] = weight * following[h]
    arc = tables.arc_next[arc]
    while arc >= 0:
        weight, following = tables.arc_weight[arc], tables.value[tables.arc_to[arc], 1:]
        for h in range(n_layers):
            layers[h] += weight * following[h]
        arc = tables.arc_next[arc]
    q, reward, root = tables.q[pair], tables.reward[pair], tables.root[pair]
    ratios, bonus = belief.ratios, belief.bonus
    falls = False
    for h in range(n_layers):
        layers[h] = (reward + ratios[h] * layers[h]) + bonus[h] * root
        falls |= layers[h] < q[h]
    top = 0
    if falls:
        for h in range(n_layers):
            if layers[h] < q[h]:
                q[h] = layers[h]
                top = h + 1
    return top


@inlined
def _best_of_all(tables: Tables, state: int, top: int, layers: FloatArray) -> int:
    """Recompute a state's value up to layer `top`; return the highest that fell (1 …), or 0."""
    q = tables.q[tables.pair_of[state, 0]]
    for h in range(top):
        layers[h] = q[h]
    for a in range(1, tables.pair_of.shape[1]):
        q = tables.q[tables.pair_of[state, a]]
        for h in range(top):
            layers[h] = max(layers[h], q[h])
    value = tables.value[state]
    fell = 0
    for h in range(top):
        if layers[h] < value[h]:
            value[h] = layers[h]
            fell = h + 1
    return fell


@kernel
def replan(tables: Tables, belief: Belief, played: IntArray, desk: Desk) -> int:
    """Bring Q and V up to date after an episode that played these pairs; return how many layers fell in all.

    A state with an action that was never played keeps its cap.
    """
    n_actions = tables.pair_of.shape[1]
    n_layers = belief.ratios.size
    n_seeds, highest, n_fallen = 0, 0, 0
    for i in range(played.size - 1, -1, -1):
        pair = played[i]
        refresh(tables, belief, pair)
        top = _back_up_all(tables, belief, pair, desk.layers)
        n_fallen += top
        state = tables.state_of[pair]
        if top > 0 and tables.tried[state] == n_actions:
            top = _best_of_all(tables, state, top, desk.layers)
            if top > 1:
                desk.seeds[n_seeds] = state
                desk.tops[n_seeds] = top
                n_seeds += 1
                highest = max(highest, top)

    # Unpacked, and arcs followed in place: a call that passes tables costs more than the work itself.
    value, q, pair_of, tried, into = tables.value, tables.q, tables.pair_of, tables.tried, tables.into
    first_arc, arc_next, arc_to, arc_weight = (
        tables.first_arc,
        tables.arc_next,
        tables.arc_to,
        tables.arc_weight,
    )
    arc_other, arc_from, state_of = tables.arc_other, tables.arc_from, tables.state_of
    reward, root, ratios, bonus = tables.reward, tables.root, belief.ratios, belief.bonus
    seeds, tops, token = desk.seeds, desk.tops, desk.token
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
