"""The value of a policy from one start state, recomputed only from the first step that can have changed.

On small problems with one start state the probabilities of all states at all steps are cached. The policy of
an episode often differs from the previous one only from some step on: the steps before it are not computed
again. Rows of transitions are filled up to the same size, because the processor mispredicts the end of loops
whose size depends on the action. States are processed in their own order, so the result does not depend on
what was cached. Only learners whose policy is deterministic given Q, apart from ties, use the cache.

Where all actions stay tied, the policy changes in every episode, and the cache saves nothing. Finding all
actions of a state at once, with no branch on ties, makes the valuation of UCBVI with `PaperBonus(1)` on
RiverSwim(6) take 0.3 of the time that it takes action by action.
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
from sojourn._typing import FloatArray, HashArray, IntArray

__all__ = ["ValueCache", "value_incrementally"]


class ValueCache(NamedTuple):
    """What the last valuation computed; all arrays are empty if nothing is cached."""

    rows: IntArray  # (N, S) row s·A + a that the policy plays, less than 0 if unknown
    chances: FloatArray  # (M + 1, S) probability of each state before each step
    totals: FloatArray  # (M + 1,) value earned before each step
    first_reached: IntArray  # (S,) first step at which a state can be reached, M + 1 if never
    successors: IntArray  # (S·A, K) successors of each row, where K is the largest number of a row
    weights: FloatArray  # (S·A, K) their probabilities, and 0 for entries that only fill up a row


@inlined
def _first_change(
    policy: EpisodePolicy, numbers: IntArray, cache: ValueCache, layer_hashes: HashArray, actions: IntArray
) -> int:
    """Update `cache.rows`; return the first step whose policy may differ from that of the last valuation."""
    masks, pair_of, q, caps, prior, is_random, epsilon, episode_hash = policy
    rows, first_reached, n_actions = cache.rows, cache.first_reached, pair_of.shape[1]
    n_layers, n_states = rows.shape
    n_steps = cache.totals.size
    first = n_steps
    for h in range(n_layers):
        layer_hashes[h] = hash_in(episode_hash, h)
    for s in range(n_states):
        fill_actions(masks, pair_of, q, caps, prior, is_random, epsilon, layer_hashes, numbers[s], s, actions)
        reached, late, early = first_reached[s], n_layers, n_layers
        for h in range(n_layers):
            row = s * n_actions + actions[h]
            differs = row != rows[h, s]
            late = min(late, h if differs & (h >= reached) else n_layers)
            early = min(early, h if differs & (h < reached) else n_layers)
            rows[h, s] = row
        if late < n_layers:
            first = min(first, late)
        if early < n_layers and reached < n_steps:  # this layer comes again after the policy has restarted
            first = min(first, n_layers)
    return first


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
    survival, tails, start = reference.survival, reference.tails, reference.start
    rows, chances, totals = cache.rows, cache.chances, cache.totals
    successors, weights = cache.successors, cache.weights
    first_reached, n_steps = cache.first_reached, survival.size
    first = _first_change(policy, scratch.state_numbers, cache, scratch.layer_hashes, scratch.actions)
    first = min(first, n_steps)
    if chances[0, start] == 0.0:  # the first valuation
        chances[0, start] = 1.0
        first_reached[start] = 0
        first = 0
    layer = first
    if first >= n_layers:
        layer = first % n_layers if options.restarts else n_layers - 1
    for h in range(first, n_steps):
        chance, next_chance, here, total, earned = chances[h], chances[h + 1], rows[layer], totals[h], 0.0
        next_chance[:] = 0.0
        for s in range(n_states):
            p, row = (
                chance[s],
                np.uint64(here[s]),
            )
            earned += p * rewards[row]
            for i in range(successors.shape[1]):
                y = np.uint64(successors[row, i])
                if is_terminal[y]:
                    total += p * weights[row, i] * terminal_reward * tails[h + 1]
                else:
                    next_chance[y] += p * weights[row, i]
        totals[h + 1] = total + survival[h] * earned
        layer = next_layer(options, layer)
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
