"""Incremental replanning: after an episode only what can have changed is computed again.

V_h(s) = max_a Q_h(s, a) can fall only if the backup of an action that attains it falls. So each state keeps
one such action per layer, the incumbent, and the largest Q of its other actions, the runner-up. As long as
the incumbent stays above the runner-up, no other action of the state is looked at.

Replanning takes three steps, ordered so that most backups run over all layers of a pair at once, which the
processor's vector units do:

1. Back up the pairs that were played, in all layers. Note the incumbents whose Q fell below V.
2. Layer by layer from the last: lower V of the states whose incumbent fell, or leads to a state whose V fell
   in the layer above.
3. Back up all pairs that lead to a state whose V fell in some layer, in all layers.

Each step is one inlined function that unpacks its arrays once. Numbers that are never −1 are taken as
unsigned views: numba then omits the check for negative indices. The parts of step 2 are not functions of
their own: if arrays are passed in structs to parts that run once per layer or state, numba counts references
to each of them every time, and episodes of UCBVI on RiverSwim(6) take 1.14 times as long.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._backup import backup, expect, expect_all_layers
from sojourn._kernels.learning._tables import N_STATES, Tables
from sojourn._typing import FloatArray, IntArray, PolicyArray

__all__ = ["IncrementalScratch", "find_all_incumbents", "replan_incrementally"]


class IncrementalScratch(NamedTuple):
    """Scratch arrays of incremental replanning.

    Lists are kept free of duplicates by tokens, which are never reset: each replanning takes N new tokens,
    one per layer, and an entry is in the current list if its token is the current one.
    """

    clock: IntArray  # (1,) number of tokens used so far
    state_token: IntArray  # (states,) token of the layer for which a state was last a candidate
    pair_token: IntArray  # (pairs,) first token of the replanning in which a pair was last listed
    fallen_token: IntArray  # (states,) first token of the replanning in which V of a state last fell
    candidates: PolicyArray  # (states,) list of the states whose V may fall in the current layer
    fell_above: PolicyArray  # (states,) list of the states whose V fell in the layer above
    fallen: PolicyArray  # (states,) list of the states whose V fell in some layer
    lowered: PolicyArray  # (pairs,) list of the played incumbents whose Q fell below V
    lowered_layers: IntArray  # (pairs,) for each of them, the number of layers up to the last such layer
    row: FloatArray  # (N,) backups of one pair in all layers


@kernel
def find_incumbents(tables: Tables, state: int) -> None:
    """Find the incumbent and the runner-up of a state in each layer; all its actions must have a pair."""
    value, incumbent, runner_up = tables.value[state], tables.incumbent[state], tables.runner_up[state]
    for h in range(incumbent.size):
        best, second, action = -np.inf, -np.inf, 0
        for a in range(tables.pair_of.shape[1]):
            q = tables.q[tables.pair_of[state, a], h]
            if q > best:
                best, second, action = q, best, a
            elif q > second:
                second = q
        value[h], incumbent[h], runner_up[h] = best, tables.pair_of[state, action], second


@kernel
def find_all_incumbents(tables: Tables) -> None:
    """Call `find_incumbents` for each state whose actions have all been tried."""
    if tables.incumbent.shape[1] > 0:
        for state in range(1, tables.sizes[N_STATES]):
            if tables.tried[state] == tables.pair_of.shape[1]:
                find_incumbents(tables, state)


@inlined
def _lower_q(
    q: FloatArray, expected: FloatArray, reward: float, share: float, ratios: FloatArray, bonus: FloatArray
) -> bool:
    """Lower Q of a pair to its backups in the layers of `expected`; return whether some Q fell.

    `expected` is overwritten by the backups.
    """
    falls = False
    for h in range(expected.size):
        expected[h] = backup(reward, ratios[h], expected[h], bonus[h] * share)
        falls |= expected[h] < q[h]
    if falls:
        for h in range(expected.size):
            q[h] = expected[h] if expected[h] < q[h] else q[h]
    return falls


@inlined
def _lower_played(
    tables: Tables, assumed: AssumedLaw, scratch: IncrementalScratch, played: IntArray
) -> tuple[int, int]:
    """Step 1: back up the played pairs in all layers, and list the incumbents whose Q fell below V.

    Returns:
        The length of the list `lowered`, and the largest entry of `lowered_layers`.
    """
    value, all_q, masks = tables.value, tables.q, tables.greedy_masks
    arc_next, arc_weight = tables.arc_next, tables.arc_weight
    arc_to, first_arc = tables.arc_to.view(np.uint32), tables.first_arc.view(np.uint32)
    incumbents, state_of = tables.incumbent.view(np.uint32), tables.state_of.view(np.uint32)
    reward, share, ratios, bonus = tables.reward_estimate, tables.bonus_share, assumed.ratios, assumed.bonus
    row, lowered, lowered_layers = scratch.row, scratch.lowered, scratch.lowered_layers
    n_lowered, highest = 0, 0
    for i in range(played.size):
        pair: Any = np.uint32(played[i])
        q, state = all_q[pair], state_of[pair]
        expect_all_layers(first_arc, arc_next, arc_to, arc_weight, value, pair, row)
        if not _lower_q(q, row, reward[pair], share[pair], ratios, bonus):
            continue
        masks[state] = 0  # in all layers: finding out in which ones would take longer
        incumbent, old, top = incumbents[state], value[state], 0
        for h in range(row.size):
            if incumbent[h] == pair and q[h] < old[h]:
                top = h + 1
        if top > 0:
            lowered[n_lowered], lowered_layers[n_lowered] = pair, top
            n_lowered += 1
            highest = max(highest, top)
    return n_lowered, highest


@inlined
def _lower_values(
    tables: Tables, assumed: AssumedLaw, scratch: IncrementalScratch, n_lowered: int, highest: int, base: int
) -> tuple[int, int]:
    """Step 2: lower V layer by layer, from layer `highest` down.

    Returns:
        The number of V that were recomputed, and the length of the list `fallen`.
    """
    value, q, runner_up, masks = tables.value, tables.q, tables.runner_up, tables.greedy_masks
    incumbent, pair_of = tables.incumbent.view(np.uint32), tables.pair_of.view(np.uint32)
    arc_next, arc_weight = tables.arc_next, tables.arc_weight
    arc_to, first_arc = tables.arc_to.view(np.uint32), tables.first_arc.view(np.uint32)
    last_arc_into, arc_next_into = tables.last_arc_into, tables.arc_next_into
    arc_from, state_of = tables.arc_from.view(np.uint32), tables.state_of.view(np.uint32)
    reward, share, ratios, bonus = tables.reward_estimate, tables.bonus_share, assumed.ratios, assumed.bonus
    lowered, lowered_layers = scratch.lowered, scratch.lowered_layers
    candidates, state_token = scratch.candidates, scratch.state_token
    fell_above, fallen, fallen_token = scratch.fell_above, scratch.fallen, scratch.fallen_token
    n_fell, n_fallen, n_recomputed = 0, 0, 0
    for h in range(highest - 1, -1, -1):
        # List the states whose V may fall: their incumbent was lowered in step 1 …
        n_candidates = 0
        for i in range(n_lowered):
            if lowered_layers[i] > h:
                pair = lowered[i]
                state = state_of[pair]
                if incumbent[state, h] == pair and q[pair, h] < value[state, h]:
                    state_token[state] = base + h
                    candidates[n_candidates] = state
                    n_candidates += 1
        # … or leads to a state whose V fell in the layer above.
        for i in range(n_fell):
            arc = last_arc_into[fell_above[i]]
            while arc >= 0:
                pair = arc_from[arc]
                state = state_of[pair]
                if incumbent[state, h] == pair and state_token[state] != base + h:
                    state_token[state] = base + h
                    candidates[n_candidates] = state
                    n_candidates += 1
                arc = arc_next_into[arc]
        n_recomputed += n_candidates
        n_fell = 0
        ratio, extra = ratios[h], bonus[h]
        for i in range(n_candidates):
            state = candidates[i]
            pair = incumbent[state, h]
            expected = expect(first_arc, arc_next, arc_to, arc_weight, value, pair, h)
            new = backup(reward[pair], ratio, expected, extra * share[pair])
            if new <= runner_up[state, h]:
                # Another action may be the best now. Back up those whose Q is above the best so far.
                best, second = new, -np.inf
                q[pair, h] = min(q[pair, h], new)
                for a in range(pair_of.shape[1]):
                    other = pair_of[state, a]
                    here = q[other, h]
                    if here > best:
                        expected = expect(first_arc, arc_next, arc_to, arc_weight, value, other, h)
                        new = backup(reward[other], ratio, expected, extra * share[other])
                        if new < here:
                            here = new
                            q[other, h] = here
                    if here > best:
                        best, second, pair = here, best, other
                    elif here > second and other != pair:
                        second = here
                if masks.shape[1] > 0:
                    masks[state, h] = 0
                incumbent[state, h] = pair
                runner_up[state, h] = second
                new = best
            if new < value[state, h]:
                value[state, h] = new
                fell_above[n_fell] = state
                n_fell += 1
                if fallen_token[state] != base:
                    fallen_token[state] = base
                    fallen[n_fallen] = state
                    n_fallen += 1
    return n_recomputed, n_fallen


@inlined
def _lower_predecessors(
    tables: Tables, assumed: AssumedLaw, scratch: IncrementalScratch, n_fallen: int, highest: int, base: int
) -> None:
    """Step 3: back up the pairs that lead to a state whose V fell, in the layers up to `highest`."""
    value, q, masks, state_of = tables.value, tables.q, tables.greedy_masks, tables.state_of
    arc_next, arc_weight = tables.arc_next, tables.arc_weight
    arc_to, first_arc = tables.arc_to.view(np.uint32), tables.first_arc.view(np.uint32)
    last_arc_into, arc_next_into = tables.last_arc_into, tables.arc_next_into
    arc_from = tables.arc_from.view(np.uint32)
    reward, share, ratios, bonus = tables.reward_estimate, tables.bonus_share, assumed.ratios, assumed.bonus
    fallen, pair_token, row = scratch.fallen, scratch.pair_token, scratch.row[:highest]
    for i in range(n_fallen):
        into = last_arc_into[fallen[i]]
        while into >= 0:
            pair = arc_from[into]
            if pair_token[pair] != base:
                pair_token[pair] = base
                expect_all_layers(first_arc, arc_next, arc_to, arc_weight, value, pair, row)
                if _lower_q(q[pair], row, reward[pair], share[pair], ratios, bonus):
                    masks[state_of[pair]] = 0
            into = arc_next_into[into]


@kernel
def replan_incrementally(
    tables: Tables, assumed: AssumedLaw, scratch: IncrementalScratch, played: IntArray
) -> int:
    """Update Q and V after an episode that played the pairs `played`; return how many V were recomputed."""
    for i in range(played.size):
        state = tables.state_of[played[i]]
        if tables.tried[state] == tables.pair_of.shape[1] and tables.incumbent[state, 0] < 0:
            find_incumbents(tables, state)
    base = scratch.clock[0]
    scratch.clock[0] += assumed.ratios.size
    n_lowered, highest = _lower_played(tables, assumed, scratch, played)
    n_recomputed, n_fallen = _lower_values(tables, assumed, scratch, n_lowered, highest, base)
    _lower_predecessors(tables, assumed, scratch, n_fallen, highest, base)
    return n_recomputed
