"""The value of a learner's policy from the start state of an episode, computed forward in time.

The probabilities of all states are carried forward step by step, and V = Σ_h γ(h) E[r_h] is added up on the
way: only states that can be reached need an action. What remains after M steps is bracketed.

* Light tails: M is so large that Γ(M+1) is negligible; the steps after M are assumed to earn the middle of
  the rewards' range. Where most states are reached, `value_by_sweeps` takes over.
* Heavy tails: no M is large enough. But the policy is periodic (it restarts after N layers, or repeats its
  last one), so the distribution of states approaches a cycle. Brent's algorithm finds it: the distribution is
  compared with one that was saved at a power of two of the number of periods. From then on the rewards
  repeat. One step of a Markov chain never increases the distance of two distributions, so the distance
  between the two ends of a period, per step, bounds the speed at which the distribution drifts away from
  the cycle; a drift d costs at most Σ_h γ(h) min(2, d·h) times half the spread of the rewards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels._problem import ProblemArrays
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._greedy import (
    EpisodePolicy,
    all_actions,
    episode_policy,
    greedy_action,
    masked_action,
)
from sojourn._kernels.learning._play_options import PlayOptions, next_layer
from sojourn._kernels.learning._tables import N_STATES, Tables
from sojourn._kernels.learning._tie_breaking import hash_in
from sojourn._kernels.valuation._incremental_value import ValueCache, value_incrementally
from sojourn._kernels.valuation._reference import Distribution, ReferenceArrays, ValueScratch, Walk
from sojourn._kernels.valuation._sweep_value import FEWEST_SWEPT, value_by_sweeps
from sojourn._typing import FloatArray, IntArray

__all__ = ["Valuation", "fill_state_numbers", "policy_value"]

_HOLD_PERIOD = 16  # steps between two comparisons for a policy that repeats its last layer
_DRIFT_SHARE = 0.7  # share of the tolerance that drifts may use; the rest is for truncation
_STAMP_BITS = 32  # position of the stamp in an entry of `ValueScratch.rows`
_ROW_BITS = (1 << _STAMP_BITS) - 1
_NONE = np.uint64(0)  # the empty set of actions
_ONE = np.uint64(1)  # rows are unsigned: numba then omits the check for negative indices


class Valuation(NamedTuple):
    """Everything that the valuation of a learner's policies needs beside the learner and the problem."""

    reference: ReferenceArrays  # constants of the problem and the true law
    scratch: ValueScratch  # scratch arrays
    cache: ValueCache  # what the last valuation computed, for `value_incrementally`


@kernel
def fill_state_numbers(tables: Tables, numbers: IntArray) -> None:
    """Fill `numbers` with the learner's number of every state, 0 if it was never seen."""
    numbers[:] = 0
    for number in range(1, tables.sizes[N_STATES]):
        numbers[tables.names[number]] = number


@kernel
def policy_value(
    problem: ProblemArrays,
    tables: Tables,
    assumed: AssumedLaw,
    options: PlayOptions,
    valuation: Valuation,
    episode: int,
    start: int,
) -> tuple[float, float]:
    """Return the value of an episode's policy from `start` in the environment's units, and a bracket's width.

    The value is NaN if under a heavy tail no cycle is found that is good enough. `fill_state_numbers` must
    have been called for `valuation.scratch.state_numbers`.
    """
    reference, scratch, cache = valuation.reference, valuation.scratch, valuation.cache
    policy = episode_policy(tables, assumed, options, episode)
    if cache.totals.size > 0 and start == reference.start:
        return value_incrementally(problem, policy, options, reference, scratch, cache)
    if reference.is_heavy:
        return _heavy_value(problem, policy, options, reference, scratch, start)
    n_steps, n_states, walk = reference.survival.size, problem.is_terminal.size, _start_walk(scratch, start)
    most = n_states // 2 if n_states >= FEWEST_SWEPT and scratch.rows.size > 0 else n_states
    walk = _follow_path(problem, policy, options, reference, scratch, walk, n_steps)
    walk = _carry_forward(problem, policy, options, reference, scratch, walk, n_steps, most)
    if walk.h < n_steps and walk.n_states > 0:
        return value_by_sweeps(problem, policy, options, reference, scratch, walk)
    alive = _clear(walk.now, walk.n_states)
    return walk.total + alive * reference.tails[n_steps] * reference.middle, reference.width


@inlined
def _carry_forward(
    problem: ProblemArrays,
    policy: EpisodePolicy,
    options: PlayOptions,
    reference: ReferenceArrays,
    scratch: ValueScratch,
    walk: Walk,
    stop: int,
    most: int,
) -> Walk:
    """Carry the distribution forward to step `stop`, until it is absorbed or reaches more than `most` states.

    Probability that reaches an absorbing state leaves the distribution: its rewards of all later steps are
    added to the total at once. The action of a state in a layer is found once per valuation, not in every
    round of a policy that restarts. Arrays are unpacked before the loop over steps: doing so at every step
    makes episodes of EpsilonGreedy on RiverSwim(6) take 1.45 times as long.
    """
    masks, pair_of, q, caps, prior, is_random, epsilon, episode_hash = policy
    n_actions, indptr, indices, data = problem.n_actions, problem.indptr, problem.indices, problem.data
    rewards, terminal_reward = problem.raw_rewards, problem.raw_terminal_reward
    is_terminal, numbers, earned_by_step = problem.is_terminal, scratch.state_numbers, scratch.earned
    survival, tails, is_heavy = reference.survival, reference.tails, reference.is_heavy
    rows, stamp = scratch.rows, scratch.n_valued[0]
    has_masks, unseen = masks.shape[1] > 0 and epsilon == 0.0, all_actions(n_actions)
    keeps_rows = rows.size > 0
    chance, support = walk.now
    next_chance, next_support = walk.spare
    h, layer, total, n_states = walk.h, walk.layer, walk.total, walk.n_states
    while h < stop and 0 < n_states <= most:
        layer = next_layer(options, layer)
        n_next, earned, layer_hash = 0, 0.0, hash_in(episode_hash, layer)
        for i in range(n_states):
            s = support[i]
            p = chance[s]
            chance[s] = 0.0
            row = rows[layer, s] if keeps_rows else 0
            if row >> _STAMP_BITS == stamp:
                row &= _ROW_BITS
            else:
                number = numbers[s]
                mask = np.uint64(masks[number, layer] if number > 0 else unseen) if has_masks else _NONE
                if mask != _NONE:
                    action = masked_action(mask, is_random, n_actions, layer_hash, s)
                else:
                    action = greedy_action(
                        masks, pair_of, q, caps, prior, is_random, epsilon, layer_hash, number, s, layer
                    )
                row = s * n_actions + action
                if keeps_rows:
                    rows[layer, s] = stamp << _STAMP_BITS | row
            earned += p * rewards[row]
            for j in range(indptr[row], indptr[row + 1]):
                y = indices[j]
                mass = p * data[j]
                if is_terminal[y]:
                    total += mass * terminal_reward * tails[h + 1]
                elif mass > 0.0:  # a state whose probability underflows would be listed again and again
                    if next_chance[y] == 0.0:
                        next_support[n_next] = y
                        n_next += 1
                    next_chance[y] += mass
        total += survival[h] * earned
        if is_heavy:
            earned_by_step[h] = earned
        chance, next_chance, support, next_support = next_chance, chance, next_support, support
        n_states = n_next
        h += 1
    return Walk(
        h, layer, total, n_states, Distribution(chance, support), Distribution(next_chance, next_support)
    )


@inlined
def _start_walk(scratch: ValueScratch, start: int) -> Walk:
    """Begin a valuation: before the first step the policy is in `start`, and nothing is known of it."""
    scratch.now.support[0], scratch.now.chance[start] = start, 1.0
    scratch.path.states[:] = -1
    scratch.n_valued[0] += 1
    return Walk(0, -1, 0.0, 1, scratch.now, scratch.following)


@inlined
def _follow_path(
    problem: ProblemArrays,
    policy: EpisodePolicy,
    options: PlayOptions,
    reference: ReferenceArrays,
    scratch: ValueScratch,
    walk: Walk,
    stop: int,
) -> Walk:
    """Follow the policy from a single state until step `stop`, or until a transition is random.

    It needs no list of states, so it is fast. A policy that restarts plays the same action whenever it is in
    the same state at the same layer. So a path that meets its previous round follows it until the end of the
    round; then no action is computed.
    """
    masks, pair_of, q, caps, prior, is_random, epsilon, episode_hash = policy
    survival, tails, is_terminal = reference.survival, reference.tails, problem.is_terminal
    n_actions, indptr, indices, data = problem.n_actions, problem.indptr, problem.indices, problem.data
    rewards, terminal_reward = problem.raw_rewards, problem.raw_terminal_reward
    numbers, earned_by_step, is_heavy = scratch.state_numbers, scratch.earned, reference.is_heavy
    states, successors, path_chances, path_rewards = scratch.path
    chance, support = walk.now
    h, layer, total, n_states = walk.h, walk.layer, walk.total, walk.n_states
    has_masks, unseen = masks.shape[1] > 0 and epsilon == 0.0, all_actions(n_actions)
    is_deterministic = indices.size == indptr.size - 1
    if n_states != 1:
        return walk
    s = support[0]
    p = chance[s]
    chance[s] = 0.0
    while h < stop:
        following = next_layer(options, layer)
        if states[following] == s:
            y, share, reward = successors[following], path_chances[following], path_rewards[following]
        else:
            layer_hash, number = hash_in(episode_hash, following), numbers[np.uint64(s)]
            mask = np.uint64(masks[number, following] if number > 0 else unseen) if has_masks else _NONE
            if mask != _NONE:
                action = masked_action(mask, is_random, n_actions, layer_hash, s)
            else:
                action = greedy_action(
                    masks, pair_of, q, caps, prior, is_random, epsilon, layer_hash, number, s, following
                )
            row = np.uint64(s * n_actions + action)
            j = row
            if not is_deterministic:
                j = np.uint64(indptr[row])
                if indptr[row + _ONE] > indptr[row] + 1:
                    break
            y, share, reward = np.int64(indices[j]), data[j], rewards[row]
            states[following], successors[following] = s, y
            path_chances[following], path_rewards[following] = share, reward
        layer, h, earned = following, h + 1, p * reward
        p, s = p * share, y
        if is_heavy:
            earned_by_step[h - 1] = earned
        if is_terminal[s]:
            total += p * terminal_reward * tails[h]
            total += survival[h - 1] * earned
            n_states = 0
            break
        total += survival[h - 1] * earned
    if n_states > 0:
        support[0], chance[s] = s, p
    return Walk(h, layer, total, n_states, walk.now, walk.spare)


@inlined
def _clear(distribution: Distribution, n: int) -> float:
    """Set all probabilities of a distribution to 0; return their sum."""
    chance, support = distribution
    total = 0.0
    for i in range(n):
        total += chance[support[i]]
        chance[support[i]] = 0.0
    return total


@inlined
def _drift_loss(reference: ReferenceArrays, drift: float) -> float:
    """Return an upper bound of the loss of value by a drift per step: Σ_h γ(h) min(2, drift·h)·spread/2."""
    for i in range(reference.drifts.size):
        if drift <= reference.drifts[i]:
            return float(0.5 * reference.spread * reference.drift_losses[i])
    return 0.5 * reference.spread * np.inf


@kernel
def _heavy_value(
    problem: ProblemArrays,
    policy: EpisodePolicy,
    options: PlayOptions,
    reference: ReferenceArrays,
    scratch: ValueScratch,
    start: int,
) -> tuple[float, float]:
    """Return the value of a policy under a heavy tail, and the width of its bracket; or NaN."""
    tolerance, spread = reference.tolerance, reference.spread
    survival, tails, saved = reference.survival, reference.tails, scratch.saved_chance
    rounding_loss = _drift_loss(reference, reference.rounding)
    if rounding_loss > _DRIFT_SHARE * tolerance:
        return np.nan, rounding_loss
    walk = _start_walk(scratch, start)
    period = options.n_layers if options.restarts else _HOLD_PERIOD
    n_periods, saved_at, saved_mass, save_next, compare_at = 0, 0, 0.0, 1, options.n_layers
    cycle, cycle_loss = 0, np.inf
    while walk.h < survival.size and walk.n_states > 0:
        stop = min(compare_at, survival.size)
        walk = _follow_path(problem, policy, options, reference, scratch, walk, stop)
        walk = _carry_forward(problem, policy, options, reference, scratch, walk, stop, saved.size)
        if walk.h < compare_at:
            break
        compare_at += period
        n_periods += 1
        alive, distance = _compare(walk.now, walk.n_states, saved, saved_mass)
        if saved_at > 0:
            drift = 2.0 * max(distance, 0.0) / (walk.h - saved_at) + reference.rounding
            cycle_loss = _drift_loss(reference, drift)
            if cycle_loss <= _DRIFT_SHARE * tolerance:
                cycle = walk.h - saved_at
                break
        if alive * tails[walk.h] * spread <= (1.0 - _DRIFT_SHARE) * tolerance:
            break
        if n_periods == save_next:
            save_next *= 2
            saved_at, saved_mass = walk.h, alive
            _save(walk.now, walk.n_states, saved)
    h, alive = walk.h, _clear(walk.now, walk.n_states)
    rest, width = alive * tails[h] * reference.middle, alive * tails[h] * spread + rounding_loss
    if cycle > 0:
        rest, width = _value_of_cycle(reference, scratch.earned[h - cycle : h], h, cycle_loss)
    return (walk.total + rest, width) if width <= tolerance else (np.nan, width)


@inlined
def _compare(now: Distribution, n_now: int, saved: FloatArray, saved_mass: float) -> tuple[float, float]:
    """Return the total probability of `now`, and its L1 distance from the saved distribution."""
    alive, distance = 0.0, saved_mass
    for i in range(n_now):
        p = now.chance[now.support[i]]
        alive += p
        distance += abs(p - saved[now.support[i]]) - saved[now.support[i]]
    return alive, distance


@inlined
def _save(now: Distribution, n_now: int, saved: FloatArray) -> None:
    """Copy the probabilities of `now` to `saved`."""
    saved[:] = 0.0
    for i in range(n_now):
        saved[now.support[i]] = now.chance[now.support[i]]


@inlined
def _dot(left: FloatArray, right: FloatArray) -> float:
    """Return Σ_i left[i]·right[i] in four separate sums: a single one would wait for each addition."""
    n = right.size - right.size % 4
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for i in range(0, n, 4):
        a += left[i] * right[i]
        b += left[i + 1] * right[i + 1]
        c += left[i + 2] * right[i + 2]
        d += left[i + 3] * right[i + 3]
    for i in range(n, right.size):
        a += left[i] * right[i]
    return (a + b) + (c + d)


@kernel
def _value_of_cycle(
    reference: ReferenceArrays, rewards: FloatArray, n_steps: int, loss: float
) -> tuple[float, float]:
    """Return the value of all steps after the first n if the rewards of a cycle repeat, and a width.

    By Abel summation, the part of the rewards above their mean is worth at most γ times the largest partial
    sum of it.
    """
    survival, tails = reference.survival, reference.tails
    negligible = (1.0 - _DRIFT_SHARE) * reference.tolerance
    mean = rewards.mean()
    above, highest, lowest = 0.0, 0.0, 0.0
    for i in range(rewards.size):
        above += rewards[i] - mean
        highest, lowest = max(highest, above), min(lowest, above)
    swing = highest - lowest
    total, h, i = 0.0, n_steps, 0
    while h + rewards.size < survival.size and 2.0 * swing * survival[h + rewards.size] > negligible:
        total += _dot(survival[h : h + rewards.size], rewards)
        h += rewards.size
    while h < survival.size - 1 and 2.0 * swing * survival[h] > negligible:
        total += survival[h] * rewards[i]
        h += 1
        i = i + 1 if i + 1 < rewards.size else 0
    return total + mean * tails[h], loss + 2.0 * swing * survival[h]
