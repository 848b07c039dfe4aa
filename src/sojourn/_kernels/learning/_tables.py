"""What an optimistic learner knows: tables that grow with what was visited.

States are numbered as they appear; number 0 is the one absorbing state of all transitions that end an
episode. A pair is a (state, action) that was played; posterior sampling gives one to all actions of a state
that was seen. An arc is a successor that a pair was seen to have, in the order of first sight; arcs are
linked from their pair and into their successor. Values of all layers of a pair or state lie side by side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined
from sojourn._typing import FloatArray, IntArray, MaskArray, PolicyArray

__all__ = ["MOST_MASKED", "Tables", "find_state", "number_state", "open_pair", "record"]

N_STATES, N_PAIRS, N_ARCS = 0, 1, 2
MOST_MASKED = 8  # actions of which a set fits in a byte


class Tables(NamedTuple):
    """Arrays with room to grow; `sizes` says how much of them is in use."""

    sizes: IntArray  # (3,) states, pairs, arcs
    slots: PolicyArray  # (2^k,) open addressing: number of the state that hashes here, or −1
    names: IntArray  # (states,) what the environment calls a state
    tried: PolicyArray  # (states,) how many of its actions have a pair
    pair_of: PolicyArray  # (states, A) pair, or −1
    value: FloatArray  # (states, N + 1) V_1 … V_{N+1}
    watch: PolicyArray  # (states, N) a pair that attains V, or −1 until all actions were tried; see `replan`
    second: FloatArray  # (states, N) no other pair of the state has a larger Q
    visits_at: PolicyArray  # (states, N + 1) visits by layer, or (states, 0) where nobody asks for them
    best: MaskArray  # (states, N) bits of the actions that attain V, or 0 if not known; see `greedy_action`
    into: PolicyArray  # (states,) last arc into it, or −1
    state_of: PolicyArray  # (pairs,)
    action_of: PolicyArray  # (pairs,)
    visits: IntArray  # (pairs,)
    paid: FloatArray  # (pairs,) known reward, or the sum of those seen
    reward: FloatArray  # (pairs,) what a backup starts from: the reward, or its mean and a bonus
    root: FloatArray  # (pairs,) share of a single visit's bonus: 1/√visits, or 1/visits
    q: FloatArray  # (pairs, N)
    first_arc: PolicyArray  # (pairs,)
    last_arc: PolicyArray  # (pairs,)
    arc_from: PolicyArray  # (arcs,) pair
    arc_to: PolicyArray  # (arcs,) state
    arc_count: FloatArray  # (arcs,)
    arc_weight: FloatArray  # (arcs,) count/visits, as of the last replanning
    arc_next: PolicyArray  # (arcs,) next arc of the same pair, or −1
    arc_other: PolicyArray  # (arcs,) next arc into the same state, or −1


@inlined
def _first_slot(name: int, mask: int) -> int:
    return int((np.uint64(name) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask


@inlined
def find_state(tables: Tables, name: int) -> int:
    """Return the number of a state, or −1 if it was never seen."""
    mask = tables.slots.size - 1
    slot = _first_slot(name, mask)
    while tables.slots[slot] >= 0:
        if tables.names[tables.slots[slot]] == name:
            return int(tables.slots[slot])
        slot = (slot + 1) & mask
    return -1


@inlined
def number_state(tables: Tables, name: int) -> int:
    """Return the number of a state, a new one if it was never seen; there must be room."""
    number = find_state(tables, name)
    if number >= 0:
        return number
    mask = tables.slots.size - 1
    slot = _first_slot(name, mask)
    while tables.slots[slot] >= 0:
        slot = (slot + 1) & mask
    number = tables.sizes[N_STATES]
    tables.sizes[N_STATES] += 1
    tables.slots[slot] = number
    tables.names[number] = name
    return int(number)


@inlined
def open_pair(tables: Tables, state: int, action: int) -> int:
    """Return the number of a pair that had none; there must be room."""
    pair = tables.sizes[N_PAIRS]
    tables.sizes[N_PAIRS] += 1
    tables.pair_of[state, action] = pair
    tables.state_of[pair] = state
    tables.action_of[pair] = action
    tables.tried[state] += 1
    return int(pair)


@inlined
def record(tables: Tables, state: int, action: int, successor: int, counts_arcs: bool) -> int:
    """Count a step between numbered states, its arc too if asked, and return its pair; there must be room."""
    pair = tables.pair_of[state, action]
    if pair < 0:
        pair = open_pair(tables, state, action)
    tables.visits[pair] += 1
    if not counts_arcs:
        return int(pair)
    arc = tables.first_arc[pair]
    while arc >= 0:
        if tables.arc_to[arc] == successor:
            tables.arc_count[arc] += 1.0
            return int(pair)
        arc = tables.arc_next[arc]
    arc = tables.sizes[N_ARCS]
    tables.sizes[N_ARCS] += 1
    tables.arc_from[arc] = pair
    tables.arc_to[arc] = successor
    tables.arc_count[arc] = 1.0
    if tables.first_arc[pair] < 0:
        tables.first_arc[pair] = arc
    else:
        tables.arc_next[tables.last_arc[pair]] = arc
    tables.last_arc[pair] = arc
    tables.arc_other[arc] = tables.into[successor]
    tables.into[successor] = arc
    return int(pair)
