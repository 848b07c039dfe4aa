"""The value of the policy that a learner plays, followed forward from the episode's start state."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels._problem import ProblemArrays
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._greedy import greedy_action
from sojourn._kernels.learning._play_options import PlayOptions, exploration_rate
from sojourn._kernels.learning._tables import N_STATES, Tables
from sojourn._kernels.learning._tie_breaking import hash_in
from sojourn._kernels.valuation._incremental_value import ValueCache, value_incrementally
from sojourn._kernels.valuation._reference import ReferenceArrays, ValueScratch
from sojourn._typing import FloatArray, IntArray

__all__ = ["Valuation", "fill_state_numbers", "policy_value"]

_HOLD = 16  # steps between two looks whether a policy that holds its last layer runs in a circle
_SHARE = 0.7  # of what a bracket may be wide, that drifts may cost


class Valuation(NamedTuple):
    """Everything that the valuation of a learner's policies needs beside the learner and the problem."""

    reference: ReferenceArrays  # constants of the problem and the true law
    scratch: ValueScratch  # scratch arrays
    cache: ValueCache  # what the last valuation computed, for `value_incrementally`


@kernel
def fill_state_numbers(tables: Tables, numbers: IntArray) -> None:
    """Fill `numbers` with a learner's numbers of all states, 0 if they have none."""
    numbers[:] = 0
    for number in range(1, tables.sizes[N_STATES]):
        numbers[tables.names[number]] = number


@inlined
def _loss(drifts: FloatArray, losses: FloatArray, drift: float) -> float:
    """Return Σ_h γ(h) min(2, drift·h), from above."""
    for i in range(drifts.size):
        if drift <= drifts[i]:
            return float(losses[i])
    return np.inf


@kernel
def _go_round(
    reference: ReferenceArrays, earned: FloatArray, n_steps: int, period: int, loss: float
) -> tuple[float, float]:
    """Return what steps after the first n are worth if earnings repeat those of the last period, and a width.

    By Abel's summation what is earned above the mean cannot be worth more than γ times the largest sum of it.
    """
    survival, tails = reference.survival, reference.tails
    last = earned[n_steps - period : n_steps]
    mean = last.mean()
    above, highest, lowest = 0.0, 0.0, 0.0
    for i in range(period):
        above += last[i] - mean
        highest, lowest = max(highest, above), min(lowest, above)
    swing = highest - lowest
    total, h, i = 0.0, n_steps, 0
    while h < survival.size - 1 and 2.0 * swing * survival[h] > (1.0 - _SHARE) * reference.tolerance:
        total += survival[h] * last[i]
        h += 1
        i = i + 1 if i + 1 < period else 0
    return total + mean * tails[h], loss + 2.0 * swing * survival[h]


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
    """Return what the policy of an episode is worth from `start` in the environment's own units, and a width.

    The chances of being in each state are carried forward step by step: only states that can be reached are
    asked for their action. Under light tails, steps after M pay the middle of all rewards. Under heavy ones
    no M is enough; but the policy is the same in every round of its clock, so that the chances come closer
    and closer to a circle, which Brent's search finds, and from then on what is earned goes round. A step of
    a chain takes no two distributions further apart, so the distance between two rounds bounds how fast the
    circle can be left: a drift a step costs at most Σ_h γ(h) min(2, drift·h) times half the spread of
    rewards. NaN is returned where no circle is found that is good enough.
    `fill_state_numbers` must come before.
    """
    reference, scratch, cache = valuation.reference, valuation.scratch, valuation.cache
    episode_hash = hash_in(options.key, episode)
    if cache.totals.size > 0 and start == reference.start:
        parts = reference, scratch.state_numbers, cache
        return value_incrementally(problem, tables, assumed, options, *parts, episode_hash)
    spoilt = (
        0.5 * reference.spread * _loss(reference.drifts, reference.drift_losses, reference.rounding)
        if reference.is_heavy
        else 0.0
    )
    if spoilt > _SHARE * reference.tolerance:
        return np.nan, spoilt
    n_layers, n_actions, epsilon = options.n_layers, problem.n_actions, exploration_rate(options, episode)
    # Unpacked: a call that passes tables costs far more than the work itself.
    indptr, indices, data, paid = problem.indptr, problem.indices, problem.data, problem.raw_rewards
    is_terminal, terminal_paid = problem.is_terminal, problem.raw_terminal_reward
    numbers, caps, prior = scratch.state_numbers, assumed.caps, assumed.prior_rewards
    masks, pair_of, q = tables.greedy_masks, tables.pair_of, tables.q
    survival, tails, is_far, saved = (
        reference.survival,
        reference.tails,
        reference.is_heavy,
        scratch.saved_chance,
    )
    is_random, restarts = options.is_random, options.restarts
    chance, coming = scratch.chance, scratch.next_chance
    here, there = scratch.support, scratch.next_support
    h, layer, s, p, n_here, total = 0, -1, start, 1.0, 1, 0.0
    # As long as nothing is left to chance, no lists: they would take longer than all else.
    while not is_far and h < survival.size:
        following = layer + 1
        if following == n_layers:
            following = 0 if restarts else n_layers - 1
        layer_hash = hash_in(episode_hash, following)
        action = greedy_action(
            masks, pair_of, q, caps, prior, numbers[s], s, following, layer_hash, is_random, epsilon
        )
        row = s * n_actions + action
        j = indptr[row]
        if indptr[row + 1] > j + 1:
            break
        layer, h, earned, p, s = following, h + 1, p * paid[row], p * data[j], indices[j]
        if is_terminal[s]:
            total += p * terminal_paid * tails[h]
            n_here = 0
        total += survival[h - 1] * earned
        if n_here == 0:
            break
    here[0], chance[s] = s, (p if n_here > 0 else 0.0)
    n_rounds, saved_at, save_next, in_saved, loss, period = 0, 0, 1, 0.0, np.inf, 0
    look = n_layers
    while h < survival.size and n_here > 0:
        layer += 1
        if layer == n_layers:
            layer = 0 if restarts else n_layers - 1
        n_there, earned, layer_hash = 0, 0.0, hash_in(episode_hash, layer)
        for i in range(n_here):
            s = here[i]
            p = chance[s]
            chance[s] = 0.0
            action = greedy_action(
                masks, pair_of, q, caps, prior, numbers[s], s, layer, layer_hash, is_random, epsilon
            )
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
        h += 1
        if is_far:
            scratch.earned[h - 1] = earned
            if h == look:
                look += n_layers if restarts else _HOLD
                n_rounds += 1
                alive, apart = 0.0, in_saved
                for i in range(n_here):
                    p = chance[here[i]]
                    alive += p
                    apart += abs(p - saved[here[i]]) - saved[here[i]]
                if saved_at > 0:
                    drift = 2.0 * max(apart, 0.0) / (h - saved_at) + reference.rounding
                    loss = 0.5 * reference.spread * _loss(reference.drifts, reference.drift_losses, drift)
                    if loss <= _SHARE * reference.tolerance:
                        period = h - saved_at
                        break
                if alive * tails[h] * reference.spread <= (1.0 - _SHARE) * reference.tolerance:
                    break
                if n_rounds == save_next:
                    save_next *= 2
                    saved_at, in_saved = h, alive
                    saved[:] = 0.0
                    for i in range(n_here):
                        saved[here[i]] = chance[here[i]]
    alive = 0.0
    for i in range(n_here):
        alive += chance[here[i]]
        chance[here[i]] = 0.0
    if not is_far:
        return total + alive * tails[survival.size] * reference.middle, reference.width
    rest, width = alive * tails[h] * reference.middle, alive * tails[h] * reference.spread + spoilt
    if period > 0:
        rest, width = _go_round(reference, scratch.earned, h, period, loss)
    return (total + rest, width) if width <= reference.tolerance else (np.nan, width)
