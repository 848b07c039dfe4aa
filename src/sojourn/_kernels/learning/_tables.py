"""A learner's tables: counts, model, Q and V, which grow with what was visited.

States are numbered in the order of their first visit; number 0 stands for all absorbing states. A pair is a
(state, action) that was played; posterior sampling opens a pair for every action of a state that it has seen.
An arc is a successor that a pair was seen to have. Each arc is in two linked lists: the arcs of its pair, in
the order of first sight, and the arcs into its successor. Values of all layers of a pair or state are
contiguous in memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined
from sojourn._typing import FloatArray, IntArray, MaskArray, PolicyArray

__all__ = ["MOST_MASKED", "Tables", "count_step", "find_state", "number_state", "open_pair"]

N_STATES, N_PAIRS, N_ARCS = 0, 1, 2  # positions in `Tables.sizes`
MOST_MASKED = 8  # largest number of actions for which `Tables.greedy_masks` is kept: one bit per action


class Tables(NamedTuple):
    """Arrays with spare capacity; `sizes` says how many states, pairs and arcs are in use."""

    sizes: IntArray  # (3,) number of states, pairs and arcs in use
    slots: PolicyArray  # (2^k,) hash table with open addressing: the state number in a slot, or −1
    names: IntArray  # (states,) the environment's number of each state
    tried: PolicyArray  # (states,) how many actions of the state have a pair
    pair_of: PolicyArray  # (states, A) pair of each action, or −1
    value: FloatArray  # (states, N + 1) V_1 … V_{N+1}
    incumbent: PolicyArray  # (states, N) a pair that attains V, or −1 until all actions were tried
    runner_up: FloatArray  # (states, N) no other pair of the state has a larger Q; see `_incremental_replan`
    visits_at: PolicyArray  # (states, N + 1) visits of a state per layer, or (states, 0) if not counted
    greedy_masks: MaskArray  # (states, N) bit set of the greedy actions, 0 if unknown; see `greedy_action`
    last_arc_into: PolicyArray  # (states,) newest arc into the state, or −1
    state_of: PolicyArray  # (pairs,) state of the pair
    action_of: PolicyArray  # (pairs,) action of the pair
    visits: IntArray  # (pairs,) how often the pair was played
    reward_total: FloatArray  # (pairs,) the reward if it is known, else the sum of the observed rewards
    reward_estimate: FloatArray  # (pairs,) reward used in backups: the known one, or the mean plus a bonus
    bonus_share: FloatArray  # (pairs,) factor on the bonus of one visit: 1/√visits, 1/visits or c·ι/visits
    q: FloatArray  # (pairs, N) Q_1 … Q_N
    first_arc: PolicyArray  # (pairs,) first arc of the pair, or −1
    last_arc: PolicyArray  # (pairs,) last arc of the pair, or −1
    arc_from: PolicyArray  # (arcs,) pair that the arc leaves
    arc_to: PolicyArray  # (arcs,) state that the arc enters
    arc_count: FloatArray  # (arcs,) how often the transition was seen
    arc_weight: FloatArray  # (arcs,) empirical probability count/visits, as of the last replanning
    arc_next: PolicyArray  # (arcs,) next arc of the same pair, or −1
    arc_next_into: PolicyArray  # (arcs,) next older arc into the same state, or −1


@inlined
def _first_slot(name: int, mask: int) -> int:
    return int((np.uint64(name) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask


@inlined
def find_state(tables: Tables, name: int) -> int:
    """Return the number of a state by its environment's name, or −1 if it was never seen."""
    mask = tables.slots.size - 1
    slot = _first_slot(name, mask)
    while tables.slots[slot] >= 0:
        if tables.names[tables.slots[slot]] == name:
            return int(tables.slots[slot])
        slot = (slot + 1) & mask
    return -1


@inlined
def number_state(tables: Tables, name: int) -> int:
    """Return the number of a state, assigning the next one if it is new; the tables must have room."""
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
    """Open a new pair and return its number; the tables must have room."""
    pair = tables.sizes[N_PAIRS]
    tables.sizes[N_PAIRS] += 1
    tables.pair_of[state, action] = pair
    tables.state_of[pair] = state
    tables.action_of[pair] = action
    tables.tried[state] += 1
    return int(pair)


@inlined
def count_step(tables: Tables, state: int, action: int, successor: int, counts_arcs: bool) -> int:
    """Count a step between numbered states and return its pair; the tables must have room.

    The successor is counted too if `counts_arcs` is true.
    """
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
    # The first such transition: append an arc to both lists.
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
    tables.arc_next_into[arc] = tables.last_arc_into[successor]
    tables.last_arc_into[successor] = arc
    return int(pair)
