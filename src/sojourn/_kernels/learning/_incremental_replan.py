"""Change-driven replanning: after an episode only what can have changed is computed again.

The order of backups is chosen so that the vector units do most of them. Values go first, layer by layer:
V_h(s) can fall only if the backup of an action that attains it falls, so one such action is watched, and
while it stays above the others nothing else is looked at. What it moves is followed along the arcs into the
states that fell. Q values come last, when all V are final: all layers of a pair at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._tables import N_STATES, Tables
from sojourn._typing import FloatArray, IntArray, PolicyArray

__all__ = ["IncrementalScratch", "find_all_incumbents", "replan_incrementally"]


class IncrementalScratch(NamedTuple):
    """Room to work in, kept between replannings."""

    clock: IntArray  # (1,) tokens given out so far
    state_token: IntArray  # (states,) the layer for which a state was last listed
    pair_token: IntArray  # (pairs,) the replanning for which a pair was last listed
    fallen_token: IntArray  # (states,) the replanning in which a state last fell
    now: PolicyArray  # (states,) states to look at in this layer
    fell: PolicyArray  # (states,) states that fell in the layer above
    fallen: PolicyArray  # (states,) states that fell in any layer
    rows: PolicyArray  # (pairs,) pairs to back up in all layers
    seeds: PolicyArray  # (pairs,) played pairs whose Q fell where they are watched
    tops: IntArray  # (pairs,) up to which layer
    layers: FloatArray  # (N,)


@kernel
def find_incumbents(tables: Tables, state: int) -> None:
    """Choose which action of a state to watch in each layer, once all of them were tried."""
    value, watch, second = tables.value[state], tables.incumbent[state], tables.runner_up[state]
    for h in range(watch.size):
        best, rest, action = -np.inf, -np.inf, 0
        for a in range(tables.pair_of.shape[1]):
            here = tables.q[tables.pair_of[state, a], h]
            if here > best:
                best, rest, action = here, best, a
            elif here > rest:
                rest = here
        value[h], watch[h], second[h] = best, tables.pair_of[state, action], rest


@kernel
def find_all_incumbents(tables: Tables) -> None:
    """Do so for all states of which every action was tried."""
    if tables.incumbent.shape[1] > 0:
        for state in range(1, tables.sizes[N_STATES]):
            if tables.tried[state] == tables.pair_of.shape[1]:
                find_incumbents(tables, state)


@kernel
def replan_incrementally(
    tables: Tables, assumed: AssumedLaw, scratch: IncrementalScratch, played: IntArray
) -> int:
    """Bring Q and V up to date after an episode that played these pairs; return how many V were looked at."""
    # Unpacked, and nothing called: a call that passes tables costs more than the work itself. Numbers that
    # are never −1 here are taken as unsigned, which spares a look whether they count from the end.
    value, q, second, masks = tables.value, tables.q, tables.runner_up, tables.greedy_masks
    tried, into = tables.tried, tables.last_arc_into
    watch, pair_of = tables.incumbent.view(np.uint32), tables.pair_of.view(np.uint32)
    arc_next, arc_other, arc_weight = tables.arc_next, tables.arc_next_into, tables.arc_weight
    arc_from, arc_to = tables.arc_from.view(np.uint32), tables.arc_to.view(np.uint32)
    first_arc, state_of = tables.first_arc.view(np.uint32), tables.state_of.view(np.uint32)
    reward, root, ratios, bonus = tables.reward_estimate, tables.bonus_share, assumed.ratios, assumed.bonus
    layers, rows, seeds, tops = scratch.layers, scratch.rows, scratch.seeds, scratch.tops
    now, fell, fallen = scratch.now, scratch.fell, scratch.fallen
    state_token, pair_token, fallen_token = scratch.state_token, scratch.pair_token, scratch.fallen_token
    n_actions, n_layers = pair_of.shape[1], ratios.size
    base = scratch.clock[0]
    scratch.clock[0] += n_layers
    highest, n_rows, n_seeds, n_now, n_fell, n_fallen, n_seen = 0, played.size, 0, 0, 0, 0, 0
    for i in range(played.size):
        pair = np.uint32(played[i])
        state = state_of[pair]
        if tried[state] == n_actions and tables.incumbent[state, 0] < 0:
            find_incumbents(tables, state)
        rows[i] = pair

    for is_last in range(2):
        for i in range(n_rows):
            pair = rows[i]
            # All layers of a pair at once.
            n = n_layers if is_last == 0 else highest
            arc = first_arc[pair]
            weight, following = arc_weight[arc], value[arc_to[arc], 1:]
            for h in range(n):
                layers[h] = weight * following[h]
            arc = arc_next[arc]
            while arc >= 0:
                weight, following = arc_weight[arc], value[arc_to[arc], 1:]
                for h in range(n):
                    layers[h] += weight * following[h]
                arc = arc_next[arc]
            mine, paid, share = q[pair], reward[pair], root[pair]
            falls = False
            for h in range(n):
                layers[h] = (paid + ratios[h] * layers[h]) + bonus[h] * share
                falls |= layers[h] < mine[h]
            if not falls:
                continue
            for h in range(n):
                mine[h] = layers[h] if layers[h] < mine[h] else mine[h]
            masks[state_of[pair]] = 0  # in all layers: to look which would take longer
            if is_last == 1:
                continue
            watched, worth, top = watch[state_of[pair]], value[state_of[pair]], 0
            for h in range(n):
                if watched[h] == pair and mine[h] < worth[h]:
                    top = h + 1
            if top > 0:
                seeds[n_seeds], tops[n_seeds] = pair, top
                n_seeds += 1
                highest = max(highest, top)
        if is_last == 1:
            break

        for h in range(highest - 1, -1, -1):
            n_now = 0
            for i in range(n_seeds):
                if tops[i] > h:
                    pair = seeds[i]
                    state = state_of[pair]
                    if watch[state, h] == pair and q[pair, h] < value[state, h]:
                        state_token[state] = base + h
                        now[n_now] = state
                        n_now += 1
            for i in range(n_fell):
                arc = into[fell[i]]
                while arc >= 0:
                    pair = arc_from[arc]
                    state = state_of[pair]
                    if watch[state, h] == pair and state_token[state] != base + h:
                        state_token[state] = base + h
                        now[n_now] = state
                        n_now += 1
                    arc = arc_other[arc]
            n_seen += n_now
            n_fell = 0
            ratio, extra = ratios[h], bonus[h]
            for i in range(n_now):
                state = now[i]
                pair = watch[state, h]
                arc = first_arc[pair]
                expected = arc_weight[arc] * value[arc_to[arc], h + 1]
                arc = arc_next[arc]
                while arc >= 0:
                    expected += arc_weight[arc] * value[arc_to[arc], h + 1]
                    arc = arc_next[arc]
                new = (reward[pair] + ratio * expected) + extra * root[pair]
                old = value[state, h]
                if new <= second[state, h]:
                    # Another action may be the best now: those above the best so far are backed up.
                    best, rest = new, -np.inf
                    q[pair, h] = min(q[pair, h], new)
                    for a in range(n_actions):
                        other = pair_of[state, a]
                        here = q[other, h]
                        if here > best:
                            arc = first_arc[other]
                            expected = arc_weight[arc] * value[arc_to[arc], h + 1]
                            arc = arc_next[arc]
                            while arc >= 0:
                                expected += arc_weight[arc] * value[arc_to[arc], h + 1]
                                arc = arc_next[arc]
                            new = (reward[other] + ratio * expected) + extra * root[other]
                            if new < here:
                                here = new
                                q[other, h] = here
                        if here > best:
                            best, rest, pair = here, best, other
                        elif here > rest and other != pair:
                            rest = here
                    if masks.shape[1] > 0:
                        masks[state, h] = 0
                    watch[state, h] = pair
                    second[state, h] = rest
                    new = best
                if new < old:
                    value[state, h] = new
                    fell[n_fell] = state
                    n_fell += 1
                    if fallen_token[state] != base:
                        fallen_token[state] = base
                        fallen[n_fallen] = state
                        n_fallen += 1

        n_rows = 0
        for i in range(n_fallen):
            arc = into[fallen[i]]
            while arc >= 0:
                pair = arc_from[arc]
                if pair_token[pair] != base:
                    pair_token[pair] = base
                    rows[n_rows] = pair
                    n_rows += 1
                arc = arc_other[arc]
    return n_seen
