"""The value of a policy from one start state, recomputed only from the first step that can have changed.

On small problems with one start state the probabilities of all states at all steps are cached. The policy of
an episode often differs from the previous one only from some step on: the steps before it are not computed
again. Rows of transitions are filled up to the same size, because the processor mispredicts the end of loops
whose size depends on the action. States are processed in their own order, so the result does not depend on
what was cached. Only learners whose policy is deterministic given Q, apart from ties, use the cache.

Where all actions stay tied, the policy changes in every episode, and the cache saves nothing. Therefore all
actions of a state are found at once, in loops over layers that the processor computes several at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels._problem import ProblemArrays
from sojourn._kernels.learning._greedy import EpisodePolicy, fill_actions
from sojourn._kernels.learning._play_options import PlayOptions, next_layer
from sojourn._kernels.learning._tie_breaking import hash_in
from sojourn._kernels.valuation._reference import ReferenceArrays, ValueScratch
from sojourn._typing import BoolArray, FloatArray, IntArray

__all__ = ["ValueCache", "value_incrementally"]


class ValueCache(NamedTuple):
    """What the last valuation computed; all arrays are empty if nothing is cached."""

    rows: IntArray  # (S, min(N, M)) row s·A + a that the policy plays, less than 0 if unknown
    chances: FloatArray  # (M + 1, S) probability of each state before each step
    totals: FloatArray  # (M + 1,) value earned before each step
    first_reached: IntArray  # (S,) first step at which a state can be reached, M + 1 if never
    successors: IntArray  # (S·A, K) successors of each row, where K is the largest number of a row
    weights: FloatArray  # (S·A, K) their probabilities, and 0 for entries that only fill up a row
    table: FloatArray  # (S·A, S) probability of each state that is not absorbing; (0, 0) if S is not tiny
    absorbed: FloatArray  # (S·A,) probability of all absorbing states together; (0,) if S is not tiny


@inlined
def _first_change(policy: EpisodePolicy, scratch: ValueScratch, cache: ValueCache) -> int:
    """Update `cache.rows`; return the first step whose policy may differ from that of the last valuation."""
    masks, pair_of, q, caps, prior, is_random, epsilon, episode_hash = policy
    numbers, layer_hashes = scratch.state_numbers, scratch.ties.layer_hashes
    rows, first_reached, n_actions = cache.rows, cache.first_reached, pair_of.shape[1]
    n_states, n_layers = rows.shape
    actions, n_steps = scratch.actions[:n_layers], cache.totals.size
    first = n_steps
    for h in range(n_layers):
        layer_hashes[h] = hash_in(episode_hash, h)
    for s in range(n_states):
        fill_actions(masks, pair_of, q, caps, prior, is_random, epsilon, numbers[s], s, actions, scratch.ties)
        for h in range(n_layers):
            actions[h] += s * n_actions
        here, reached = rows[s], first_reached[s]
        n_early = min(reached, n_layers)  # number of layers at which the state cannot be reached at first
        early, late = 0, n_early
        while early < n_early and here[early] == actions[early]:
            early += 1
        while late < n_layers and here[late] == actions[late]:
            late += 1
        here[:] = actions
        if late < n_layers:
            first = min(first, late)
        if early < n_early and reached < n_steps:  # this layer comes again after the policy has restarted
            first = min(first, n_layers)
    return first


@inlined
def _carry_forward(
    options: PlayOptions,
    reference: ReferenceArrays,
    cache: ValueCache,
    rewards: FloatArray,
    is_terminal: BoolArray,
    terminal_reward: float,
    first: int,
    layer: int,
) -> None:
    """Recompute the cached probabilities and totals from step `first` on, which is played at `layer`."""
    survival, tails, rows = reference.survival, reference.tails, cache.rows
    chances, totals, successors, weights = cache.chances, cache.totals, cache.successors, cache.weights
    for h in range(first, survival.size):
        chance, next_chance, total, earned = chances[h], chances[h + 1], totals[h], 0.0
        next_chance[:] = 0.0
        for s in range(rows.shape[0]):
            p, row = chance[s], np.uint64(rows[s, layer])
            earned += p * rewards[row]
            for i in range(successors.shape[1]):
                y = np.uint64(successors[row, i])
                if is_terminal[y]:
                    total += p * weights[row, i] * terminal_reward * tails[h + 1]
                else:
                    next_chance[y] += p * weights[row, i]
        totals[h + 1] = total + survival[h] * earned
        layer = next_layer(options, layer)


@inlined
def _carry_densely(
    options: PlayOptions,
    reference: ReferenceArrays,
    cache: ValueCache,
    rewards: FloatArray,
    terminal_reward: float,
    first: int,
    layer: int,
) -> None:
    """Do the same as `_carry_forward` with a dense table.

    Each probability is a sum of its own, while in `_carry_forward` every addition waits until the last one is
    written to memory: on RiverSwim(6) this takes 0.6 of the time.
    """
    survival, tails, rows = reference.survival, reference.tails, cache.rows
    chances, totals, table, absorbed = cache.chances, cache.totals, cache.table, cache.absorbed
    n_states = rows.shape[0]
    for h in range(first, survival.size):
        chance, next_chance, total, earned, ended = chances[h], chances[h + 1], totals[h], 0.0, 0.0
        for s in range(n_states):
            p, row = chance[s], np.uint64(rows[s, layer])
            earned += p * rewards[row]
            ended += p * absorbed[row]
        for y in range(n_states):
            mass = 0.0
            for s in range(n_states):
                mass += chance[s] * table[np.uint64(rows[s, layer]), y]
            next_chance[y] = mass
        totals[h + 1] = total + (ended * terminal_reward * tails[h + 1] + survival[h] * earned)
        layer = next_layer(options, layer)


@kernel
def value_incrementally(
    problem: ProblemArrays,
    policy: EpisodePolicy,
    options: PlayOptions,
    reference: ReferenceArrays,
    scratch: ValueScratch,
    cache: ValueCache,
) -> tuple[float, float]:
    """Return the value of an episode's policy from `reference.start`; see `policy_value`."""
    n_layers, n_states, rewards = options.n_layers, problem.is_terminal.size, problem.raw_rewards
    is_terminal, terminal_reward = problem.is_terminal, problem.raw_terminal_reward
    tails, start = reference.tails, reference.start
    chances, totals = cache.chances, cache.totals
    first_reached, n_steps = cache.first_reached, reference.survival.size
    first = min(_first_change(policy, scratch, cache), n_steps)
    if chances[0, start] == 0.0:  # the first valuation
        chances[0, start] = 1.0
        first_reached[start] = 0
        first = 0
    layer = first
    if first >= n_layers:
        layer = first % n_layers if options.restarts else n_layers - 1
    if cache.table.size > 0:
        _carry_densely(options, reference, cache, rewards, terminal_reward, first, layer)
    else:
        _carry_forward(options, reference, cache, rewards, is_terminal, terminal_reward, first, layer)
    for s in range(n_states):
        if first_reached[s] > first:
            h = first
            while h < n_steps and chances[h, s] == 0.0:
                h += 1
            first_reached[s] = h if h < n_steps else n_steps + 1
    alive = 0.0
    for s in range(n_states):
        alive += chances[n_steps, s]
    return totals[n_steps] + alive * tails[n_steps] * reference.middle, reference.width
