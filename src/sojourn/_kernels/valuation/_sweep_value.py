"""The value of a policy that reaches most states: contiguous sweeps over all states until a round repeats.

Once a distribution reaches most states, lists of states only cost time. The rows of all states are then found
layer by layer in one go, and each step adds up all transitions in the order of the states.

A policy that restarts is a Markov chain from round to round, and on well connected problems its distribution
hardly changes after a few rounds. Let d be the L1 distance of the distributions at the two ends of a round,
where all that is absorbed counts as one more state. As a step of a chain never increases a distance, the
distribution k rounds later differs by at most k·d. So if the rewards of the round are repeated, all later
steps together are wrong by at most half the spread of the rewards times d Σ_k Γ(n + kN + 1), where n is
the number of steps taken and N that of a round. The value may be too large or too small by that, so the
bracket becomes wider by twice as much. The sum stops as soon as this is a quarter of the tolerance.
"""

from __future__ import annotations

import numpy as np

from sojourn._kernels._jit import kernel
from sojourn._kernels._problem import ProblemArrays
from sojourn._kernels.learning._greedy import EpisodePolicy, fill_actions
from sojourn._kernels.learning._play_options import PlayOptions, next_layer
from sojourn._kernels.learning._tie_breaking import hash_in
from sojourn._kernels.valuation._reference import ReferenceArrays, ValueScratch, Walk
from sojourn._typing import FloatArray

__all__ = ["FEWEST_SWEPT", "value_by_sweeps"]

FEWEST_SWEPT = 64  # problems with fewer states are not valued by sweeps
_HOLD_PERIOD = 16  # steps of a round for a policy that repeats its last layer
_DRIFT_SHARE = 0.25  # share of `ReferenceArrays.tolerance` that repeated rounds may use
_ONE = np.uint64(1)  # rows are unsigned: numba then omits the check for negative indices


@kernel
def _fill_rows(
    problem: ProblemArrays,
    policy: EpisodePolicy,
    options: PlayOptions,
    scratch: ValueScratch,
    n_steps: int,
) -> None:
    """Fill `scratch.rows` with the row of every state in every layer that is played."""
    masks, pair_of, q, caps, prior, is_random, epsilon, episode_hash = policy
    n_states, n_actions = problem.is_terminal.size, problem.n_actions
    n_layers = min(options.n_layers, n_steps)
    layer_hashes, actions = scratch.ties.layer_hashes, scratch.actions[:n_layers]
    numbers, rows = scratch.state_numbers, scratch.rows
    for h in range(n_layers):
        layer_hashes[h] = hash_in(episode_hash, h)
    for s in range(n_states):
        fill_actions(masks, pair_of, q, caps, prior, is_random, epsilon, numbers[s], s, actions, scratch.ties)
        for h in range(n_layers):
            rows[h, s] = s * n_actions + actions[h]


@kernel
def value_by_sweeps(
    problem: ProblemArrays,
    policy: EpisodePolicy,
    options: PlayOptions,
    reference: ReferenceArrays,
    scratch: ValueScratch,
    walk: Walk,
) -> tuple[float, float]:
    """Return the value of a policy under a light tail after a walk, and the width of its bracket."""
    indptr, indices, data, rewards = problem.indptr, problem.indices, problem.data, problem.raw_rewards
    is_terminal, terminal_reward = problem.is_terminal, problem.raw_terminal_reward
    survival, tails, earned_by_step = reference.survival, reference.tails, scratch.earned
    rows, saved = scratch.rows, scratch.saved_chance
    chance, next_chance, terminal = walk.now.chance, walk.spare.chance, walk.spare.support
    n_states, n_steps = is_terminal.size, survival.size
    _fill_rows(problem, policy, options, scratch, n_steps)
    n_terminal = 0
    for s in range(n_states):
        if is_terminal[s]:
            terminal[n_terminal] = s
            n_terminal += 1
    h, layer, total, width = walk.h, walk.layer, walk.total, reference.width
    period = options.n_layers if options.restarts else _HOLD_PERIOD
    saved_at, compare_at = -1, options.n_layers
    while h < n_steps:
        if h == compare_at:
            if saved_at >= 0:
                more = _width_of_repeating(reference, _distance(chance, saved), h, period)
                if more <= _DRIFT_SHARE * reference.tolerance:
                    width += more
                    break
            saved[:] = chance
            saved_at, compare_at = h, h + period
        layer = next_layer(options, layer)
        here, earned = rows[layer], 0.0
        next_chance[:] = 0.0
        for s in range(n_states):
            p = chance[s]
            row = np.uint64(here[s])
            earned += p * rewards[row]
            for j in range(np.uint64(indptr[row]), np.uint64(indptr[row + _ONE])):
                next_chance[np.uint64(indices[j])] += p * data[j]
        for i in range(n_terminal):
            total += next_chance[terminal[i]] * terminal_reward * tails[h + 1]
            next_chance[terminal[i]] = 0.0
        total += survival[h] * earned
        earned_by_step[h] = earned
        chance, next_chance = next_chance, chance
        h += 1
    for i in range(h, n_steps):
        earned_by_step[i] = earned_by_step[i - period]
        total += survival[i] * earned_by_step[i]
    alive = chance.sum()
    chance[:] = 0.0
    next_chance[:] = 0.0
    return total + alive * tails[n_steps] * reference.middle, width


@kernel
def _distance(chance: FloatArray, saved: FloatArray) -> float:
    """Return the L1 distance of two distributions; what was absorbed between them counts twice."""
    distance, absorbed = 0.0, 0.0
    for s in range(chance.size):
        distance += abs(chance[s] - saved[s])
        absorbed += saved[s] - chance[s]
    return distance + max(absorbed, 0.0)


@kernel
def _width_of_repeating(reference: ReferenceArrays, distance: float, n: int, period: int) -> float:
    """Return how much wider the bracket becomes if the last round is repeated from step n on."""
    later = 0.0
    for h in range(n, reference.tails.size, period):
        later += reference.tails[h]
    return float(reference.spread * distance * later)  # twice the largest error
