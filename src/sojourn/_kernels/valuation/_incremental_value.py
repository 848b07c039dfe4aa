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
from sojourn._kernels._problem import PlayOptions, ProblemArrays, ReferenceArrays
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._greedy import greedy_action
from sojourn._kernels.learning._tables import Tables
from sojourn._kernels.learning._tie_breaking import mix_in
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
    tables: Tables, belief: AssumedLaw, is_random: bool, numbers: IntArray, trace: ValueCache
) -> int:
    """Bring `trace.actions` up to date; return the first step whose policy may be another than last time."""
    n_states, n_layers = trace.actions.shape
    n_actions, row, caps = tables.pair_of.shape[1], trace.row, belief.caps
    first = trace.totals.size
    for s in range(n_states):
        number = numbers[s]
        actions = trace.actions[s]
        for h in range(n_layers):
            row[h] = _NONE
        best = tables.value[number, :n_layers] if number > 0 else caps
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
        reached = trace.firsts[s]
        for h in range(n_layers):
            differs = (row[h] != actions[h]) | (row[h] == _TIED)
            lowest = min(lowest, h if differs & (h >= reached) else n_layers)
            early = min(early, h if differs & (h < reached) else n_layers)
            actions[h] = row[h]
        if lowest < n_layers:
            first = min(first, lowest)
        if early < n_layers and reached < trace.totals.size:  # played once the clock has started again
            first = min(first, n_layers)
    return first


@kernel
def value_incrementally(
    world: ProblemArrays,
    tables: Tables,
    belief: AssumedLaw,
    manner: PlayOptions,
    scale: ReferenceArrays,
    trace: ValueCache,
    stem: np.uint64,
    start: int,
) -> tuple[float, float]:
    """Return what the policy of an episode is worth from `start`, always the same one; see `value_from`."""
    n_layers, n_states, n_actions = manner.n_layers, world.is_terminal.size, world.n_actions
    indptr, indices, data, paid = world.indptr, world.indices, world.data, world.paid
    is_terminal, terminal_paid = world.is_terminal, world.terminal_paid
    numbers, caps, prior = scale.numbers, belief.caps, belief.prior
    masks, pair_of, q = tables.best, tables.pair_of, tables.q
    survival, tails = scale.survival, scale.tails
    is_random, starts_again = manner.is_random, manner.starts_again
    actions, chances, totals, firsts = trace.actions, trace.chances, trace.totals, trace.firsts
    n_steps = survival.size
    first = min(_first_change(tables, belief, is_random, numbers, trace), n_steps)
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
            layer = h % n_layers if starts_again else n_layers - 1
        coming, total, earned, leaf = chances[h + 1], totals[h], 0.0, mix_in(stem, layer)
        coming[:] = 0.0
        for s in range(n_states):
            p = chances[h, s]
            if p == 0.0:
                continue
            firsts[s] = min(firsts[s], h)
            action = actions[s, layer]
            if action < 0:
                action = greedy_action(
                    masks, pair_of, q, caps, prior, numbers[s], s, layer, leaf, is_random, 0.0
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
    return totals[n_steps] + alive * tails[n_steps] * scale.middle, scale.width
