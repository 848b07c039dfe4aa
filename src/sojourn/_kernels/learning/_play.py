"""Whole trials without returning to Python: play, learn, replan, and value the policy that is played.

The policy of an episode is never written down: it is asked for where the episode, or its valuation, goes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels._problem import PlayOptions, ProblemArrays, ReferenceArrays, exploring
from sojourn._kernels.learning._assumed_law import AssumedLaw, initialize_q_row
from sojourn._kernels.learning._greedy import greedy_action
from sojourn._kernels.learning._tables import N_ARCS, N_PAIRS, N_STATES, Tables, number_state, record
from sojourn._kernels.learning._tie_breaking import mix_in
from sojourn._kernels.learning._updates import EpisodeBuffer, update_learner
from sojourn._kernels.valuation._forward_value import look_up_states, value_from
from sojourn._kernels.valuation._incremental_value import ValueCache
from sojourn._typing import BoolArray, FloatArray, IntArray

__all__ = ["follow", "play"]


@inlined
def follow(world: ProblemArrays, row: int, uniform: float) -> int:
    """Return the successor of a pair, by its row, that a uniform number picks."""
    left = uniform
    last = world.indptr[row + 1] - 1
    for j in range(world.indptr[row], last):
        left -= world.data[j]
        if left < 0.0:
            return int(world.indices[j])
    return int(world.indices[last])


@kernel
def play(
    world: ProblemArrays,
    tables: Tables,
    belief: AssumedLaw,
    rule: Any,
    manner: PlayOptions,
    scale: ReferenceArrays,
    trace: ValueCache,
    steps: EpisodeBuffer,
    first: int,
    starts: IntArray,
    drawn: IntArray,
    rng: np.random.Generator,
    lengths: IntArray,
    observed: BoolArray,
    rewards: FloatArray,
    n_early: int,
    early: FloatArray,
    values: FloatArray,
    widths: FloatArray,
    known: FloatArray,
) -> int:
    """Play episodes from number `first` on; return how many were played.

    It stops before an episode for which there might not be room, and before one whose policy could not be
    valued: it then returns −1 less the number. To `early` the rewards of the first `n_early` steps are
    added; `values` and `widths` take what each policy is worth from the episode's start state; `known` `(2,)`
    is that of the first one, or NaN. After each episode `update_learner` applies the learner's `rule`.
    """
    n_layers, n_actions = manner.n_layers, world.n_actions
    masks, pair_of, q, caps, prior = tables.best, tables.pair_of, tables.q, belief.caps, belief.prior
    mark, played, keeps_steps = steps.mark, steps.played, steps.pairs.size > 0
    is_random, starts_again, counts_all = manner.is_random, manner.starts_again, manner.counts_all
    counts_arcs, counts_layers = manner.counts_arcs, manner.counts_layers
    paid, is_terminal, numbers = world.rewards, world.is_terminal, scale.numbers
    look_up_states(tables, numbers)
    for k in range(starts.size):
        length = drawn[k]
        if (
            tables.sizes[N_STATES] + min(length, world.is_terminal.size) + 1 > tables.names.size
            or tables.sizes[N_PAIRS] + min(length, world.paid.size) > tables.visits.size
            or tables.sizes[N_ARCS] + min(length, world.data.size) > tables.arc_to.size
            or (keeps_steps and length > steps.pairs.size)
        ):
            return k
        episode = first + k
        state = starts[k]
        if k == 0 and not np.isnan(known[0]):
            values[k], widths[k] = known
        elif scale.survival.size > 0:
            value, width = value_from(world, tables, belief, manner, scale, trace, episode, state)
            if np.isnan(value):
                return -1 - k
            values[k], widths[k] = value, width
        stem, epsilon = mix_in(manner.key, episode), exploring(manner, episode)
        n_steps, n_played, total, h, layer = 0, 0, 0.0, 0, -1
        ended = False
        number = numbers[state]
        while h < length and not ended:
            layer += 1
            if layer == n_layers:
                layer = 0 if starts_again else n_layers - 1
            leaf = mix_in(stem, layer)
            action = greedy_action(
                masks, pair_of, q, caps, prior, number, state, layer, leaf, is_random, epsilon
            )
            row = state * n_actions + action
            following = follow(world, row, rng.random())
            ended = is_terminal[following]
            total += world.paid[row]
            if h < n_early:
                early[k] += paid[row]
            successor = 0 if ended else numbers[following]
            if counts_all or h < n_layers:
                if number == 0:
                    number = number_state(tables, state)
                    numbers[state] = number
                    successor = 0 if ended else numbers[following]
                if successor == 0 and not ended:
                    successor = number_state(tables, following)
                    numbers[following] = successor
                pair = record(tables, number, action, successor, counts_arcs)
                if tables.visits[pair] == 1:
                    initialize_q_row(tables, belief, pair)
                tables.paid[pair] = paid[row]
                if counts_layers:
                    tables.visits_at[number, layer] += 1
                if keeps_steps:
                    steps.pairs[n_steps], steps.following[n_steps] = pair, successor
                    steps.layers[n_steps], steps.rewards[n_steps] = layer, paid[row]
                    n_steps += 1
                if mark[pair] != episode:
                    mark[pair] = episode
                    played[n_played] = pair
                    n_played += 1
            state, number = following, successor
            h += 1
        lengths[k] = h
        observed[k] = not ended
        rewards[k] = total
        update_learner(rule, tables, belief, steps, n_played, n_steps)
    return int(starts.size)
