"""The value of a policy from one start state, where only what changed is followed again.

On small problems with one start state the chances of all states at all steps are kept. An episode's policy
often differs from the last one only from some step on: up to there nothing is followed again. States are gone
through in their own order, so that the result does not depend on what was kept. Only learners that never
explore by chance keep anything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import kernel
from sojourn._kernels._problem import ProblemArrays
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._greedy import greedy_action
from sojourn._kernels.learning._play_options import PlayOptions
from sojourn._kernels.learning._tables import Tables
from sojourn._kernels.learning._tie_breaking import hash_in
from sojourn._kernels.valuation._reference import ReferenceArrays
from sojourn._typing import FloatArray, IntArray

__all__ = ["ValueCache", "value_incrementally"]

_NONE, _TIED = -2, -1


class ValueCache(NamedTuple):
    """What the last valuation saw; empty arrays where nothing is kept."""

    actions: IntArray  # (S, N) the action, −1 where several are tied at random, or less if not known yet
    chances: FloatArray  # (M + 1, S) of being in each state before each step
    totals: FloatArray  # (M + 1,) what was earned before each step
    firsts: IntArray  # (S,) the first step at which a state can be reached
    row: IntArray  # (N,) room to work in


@kernel
def _first_change(
    tables: Tables, assumed: AssumedLaw, is_random: bool, numbers: IntArray, cache: ValueCache
) -> int:
    """Bring `cache.actions` up to date; return the first step whose policy may be another than last time."""
    n_states, n_layers = cache.actions.shape
    n_actions, row, caps = tables.pair_of.shape[1], cache.row, assumed.caps
    first = cache.totals.size
    for s in range(n_states):
        number = numbers[s]
        actions = cache.actions[s]
        for h in range(n_layers):
            row[h] = _NONE
        best = tables.value[number, :n_layers] if number > 0 else caps[:n_layers]
        for a in range(n_actions):
            pair = tables.pair_of[number, a] if number > 0 else -1
            if pair >= 0:
                q = tables.q[pair]
                for h in range(n_layers):
                    found = a if row[h] == _NONE else (_TIED if is_random else row[h])
                    row[h] = found if q[h] == best[h] else row[h]
            else:
                for h in range(n_layers):
                    row[h] = a if row[h] == _NONE else (_TIED if is_random else row[h])
        lowest, early = n_layers, n_layers
        reached = cache.firsts[s]
        for h in range(n_layers):
            differs = (row[h] != actions[h]) | (row[h] == _TIED)
            lowest = min(lowest, h if differs & (h >= reached) else n_layers)
            early = min(early, h if differs & (h < reached) else n_layers)
            actions[h] = row[h]
        if lowest < n_layers:
            first = min(first, lowest)
        if early < n_layers and reached < cache.totals.size:  # played once the clock has started again
            first = min(first, n_layers)
    return first


@kernel
def value_incrementally(
    problem: ProblemArrays,
    tables: Tables,
    assumed: AssumedLaw,
    options: PlayOptions,
    reference: ReferenceArrays,
    numbers: IntArray,
    cache: ValueCache,
    episode_hash: np.uint64,
) -> tuple[float, float]:
    """Return what the policy of an episode is worth from `start`, always the same one; see `policy_value`."""
    n_layers, n_states, n_actions = options.n_layers, problem.is_terminal.size, problem.n_actions
    indptr, indices, data, paid = problem.indptr, problem.indices, problem.data, problem.raw_rewards
    is_terminal, terminal_paid = problem.is_terminal, problem.raw_terminal_reward
    start, caps, prior = reference.start, assumed.caps, assumed.prior_rewards
    masks, pair_of, q = tables.greedy_masks, tables.pair_of, tables.q
    survival, tails = reference.survival, reference.tails
    is_random, restarts = options.is_random, options.restarts
    actions, chances, totals, firsts = cache.actions, cache.chances, cache.totals, cache.firsts
    n_steps = survival.size
    first = min(_first_change(tables, assumed, is_random, numbers, cache), n_steps)
    if chances[0, start] == 0.0:
        chances[0, start] = 1.0
        firsts[start] = 0
        first = 0
    for s in range(n_states):
        if firsts[s] > first:
            firsts[s] = n_steps + 1
    for h in range(first, n_steps):
        layer = h
        if h >= n_layers:
            layer = h % n_layers if restarts else n_layers - 1
        coming, total, earned, layer_hash = chances[h + 1], totals[h], 0.0, hash_in(episode_hash, layer)
        coming[:] = 0.0
        for s in range(n_states):
            p = chances[h, s]
            if p == 0.0:
                continue
            firsts[s] = min(firsts[s], h)
            action = actions[s, layer]
            if action < 0:
                action = greedy_action(
                    masks, pair_of, q, caps, prior, numbers[s], s, layer, layer_hash, is_random, 0.0
                )
            row = s * n_actions + action
            earned += p * paid[row]
            for j in range(indptr[row], indptr[row + 1]):
                y = indices[j]
                if is_terminal[y]:
                    total += p * data[j] * terminal_paid * tails[h + 1]
                else:
                    coming[y] += p * data[j]
        totals[h + 1] = total + survival[h] * earned
    alive = 0.0
    for s in range(n_states):
        alive += chances[n_steps, s]
    return totals[n_steps] + alive * tails[n_steps] * reference.middle, reference.width
