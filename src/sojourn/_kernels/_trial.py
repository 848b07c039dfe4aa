"""Whole trials without returning to Python: play, learn, replan, and value the policy that is played.

The policy of an episode is never written down: it is asked for where the episode, or its valuation, goes.
"""

from __future__ import annotations

import numpy as np

from sojourn._kernels._belief import Belief
from sojourn._kernels._changes import Desk
from sojourn._kernels._greedy import greedy_action
from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels._replan import replan
from sojourn._kernels._retrace import Trace, retrace
from sojourn._kernels._sweep import Sheet
from sojourn._kernels._tables import N_ARCS, N_PAIRS, N_STATES, Tables, number_state, record
from sojourn._kernels._ties import mix_in
from sojourn._kernels._variance import Spread, sweep_variance
from sojourn._kernels._world import Manner, Scale, World
from sojourn._typing import BoolArray, FloatArray, IntArray

__all__ = ["look_up_all", "play", "value_from"]


@kernel
def look_up_all(tables: Tables, numbers: IntArray) -> None:
    """Fill `numbers` with a learner's numbers of all states, 0 if they have none."""
    numbers[:] = 0
    for number in range(1, tables.sizes[N_STATES]):
        numbers[tables.names[number]] = number


@kernel
def value_from(
    world: World,
    tables: Tables,
    belief: Belief,
    manner: Manner,
    scale: Scale,
    trace: Trace,
    episode: int,
    start: int,
) -> float:
    """Return what the policy of an episode is worth from `start`, in the environment's own units.

    The chances of being in each state are carried forward step by step: only states that can be reached are
    asked for their action. Steps after M pay the middle of all rewards. `look_up_all` must come before.
    """
    stem = mix_in(manner.key, episode)
    if trace.totals.size > 0 and start == scale.start:
        return retrace(world, tables, belief, manner, scale, trace, stem, start)
    n_layers = belief.ratios.size
    n_actions = world.n_actions
    # Unpacked: a call that passes tables costs far more than the work itself.
    indptr, indices, data, paid = world.indptr, world.indices, world.data, world.paid
    is_terminal, terminal_paid = world.is_terminal, world.terminal_paid
    numbers, pair_of, values, caps = scale.numbers, tables.pair_of, tables.q, belief.caps
    survival, tails = scale.survival, scale.tails
    is_random, starts_again = manner.is_random, manner.starts_again
    chance, coming, here, there = scale.chance, scale.coming, scale.here, scale.there
    chance[start] = 1.0
    here[0] = start
    n_here, total, layer = 1, 0.0, -1
    for h in range(survival.size):
        layer += 1
        if layer == n_layers:
            layer = 0 if starts_again else n_layers - 1
        n_there, earned, leaf = 0, 0.0, mix_in(stem, layer)
        for i in range(n_here):
            s = here[i]
            p = chance[s]
            chance[s] = 0.0
            action = greedy_action(pair_of, values, caps, numbers[s], s, layer, leaf, is_random)
            row = s * n_actions + action
            earned += p * paid[row]
            for j in range(indptr[row], indptr[row + 1]):
                y = indices[j]
                mass = p * data[j]
                if is_terminal[y]:
                    total += mass * terminal_paid * tails[h + 1]
                elif mass > 0.0:  # what underflows would be listed again and again, past the end of the list
                    if coming[y] == 0.0:
                        there[n_there] = y
                        n_there += 1
                    coming[y] += mass
        total += survival[h] * earned
        chance, coming, here, there, n_here = coming, chance, there, here, n_there
        if n_here == 0:
            break
    alive = 0.0
    for i in range(n_here):
        alive += chance[here[i]]
        chance[here[i]] = 0.0
    worth: float = total + alive * tails[survival.size] * scale.middle
    return worth


@inlined
def _step(world: World, row: int, uniform: float) -> int:
    """Return the successor that a uniform number picks, as the protocol's world does."""
    left = uniform
    last = world.indptr[row + 1] - 1
    for j in range(world.indptr[row], last):
        left -= world.data[j]
        if left < 0.0:
            return int(world.indices[j])
    return int(world.indices[last])


@kernel
def play(
    world: World,
    tables: Tables,
    belief: Belief,
    desk: Desk,
    sheet: Sheet,
    spread: Spread,
    manner: Manner,
    scale: Scale,
    trace: Trace,
    first: int,
    starts: IntArray,
    drawn: IntArray,
    rng: np.random.Generator,
    lengths: IntArray,
    observed: BoolArray,
    rewards: FloatArray,
    values: FloatArray,
    mark: IntArray,
    played: IntArray,
) -> int:
    """Play episodes from number `first` on; return how many were played.

    It stops before an episode for which the tables might not have room. `values` takes what each policy is
    worth from the episode's start state. `mark` `(pairs,)` and `played` `(pairs,)` are room to work in.
    """
    n_layers, n_actions = belief.ratios.size, world.n_actions
    pair_of, q, caps = tables.pair_of, tables.q, belief.caps
    paid, is_terminal, numbers = world.rewards, world.is_terminal, scale.numbers
    look_up_all(tables, numbers)
    for k in range(starts.size):
        length = drawn[k]
        if (
            tables.sizes[N_STATES] + min(length, world.is_terminal.size) + 1 > tables.names.size
            or tables.sizes[N_PAIRS] + min(length, world.paid.size) > tables.visits.size
            or tables.sizes[N_ARCS] + min(length, world.data.size) > tables.arc_to.size
        ):
            return k
        episode = first + k
        state = starts[k]
        if scale.survival.size > 0:
            values[k] = value_from(world, tables, belief, manner, scale, trace, episode, state)
        stem = mix_in(manner.key, episode)
        n_played, total, h, layer = 0, 0.0, 0, -1
        ended = False
        number = numbers[state]
        while h < length and not ended:
            layer += 1
            if layer == n_layers:
                layer = 0 if manner.starts_again else n_layers - 1
            leaf = mix_in(stem, layer)
            action = greedy_action(pair_of, q, caps, number, state, layer, leaf, manner.is_random)
            row = state * n_actions + action
            following = _step(world, row, rng.random())
            ended = is_terminal[following]
            total += paid[row]
            successor = 0 if ended else numbers[following]
            if manner.counts_all or h < n_layers:
                if number == 0:
                    number = number_state(tables, state)
                    numbers[state] = number
                    successor = 0 if ended else numbers[following]
                if successor == 0 and not ended:
                    successor = number_state(tables, following)
                    numbers[following] = successor
                pair = record(tables, number, action, successor)
                tables.paid[pair] = paid[row]
                if spread.outer.size > 0:
                    tables.visits_at[number, layer] += 1
                if mark[pair] != episode:
                    mark[pair] = episode
                    played[n_played] = pair
                    n_played += 1
            state, number = following, successor
            h += 1
        lengths[k] = h
        observed[k] = not ended
        rewards[k] = total
        if spread.outer.size > 0:
            sweep_variance(tables, belief, spread, played[:n_played])
        else:
            replan(tables, belief, played[:n_played], desk, sheet)
    return int(starts.size)
