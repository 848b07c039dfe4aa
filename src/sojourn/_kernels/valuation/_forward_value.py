"""The value of the policy that a learner plays, followed forward from the episode's start state."""

from __future__ import annotations

import numpy as np

from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels._problem import PlayOptions, ProblemArrays, ReferenceArrays, exploring
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._greedy import greedy_action
from sojourn._kernels.learning._tables import N_STATES, Tables
from sojourn._kernels.learning._tie_breaking import mix_in
from sojourn._kernels.valuation._incremental_value import ValueCache, value_incrementally
from sojourn._typing import FloatArray, IntArray

__all__ = ["look_up_states", "value_from"]

_HOLD = 16  # steps between two looks whether a policy that holds its last layer runs in a circle
_SHARE = 0.7  # of what a bracket may be wide, that drifts may cost


@kernel
def look_up_states(tables: Tables, numbers: IntArray) -> None:
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
def _go_round(scale: ReferenceArrays, n_steps: int, period: int, loss: float) -> tuple[float, float]:
    """Return what steps after the first n are worth if earnings repeat those of the last period, and a width.

    By Abel's summation what is earned above the mean cannot be worth more than γ times the largest sum of it.
    """
    survival, tails, earned = scale.survival, scale.tails, scale.earned
    last = earned[n_steps - period : n_steps]
    mean = last.mean()
    above, highest, lowest = 0.0, 0.0, 0.0
    for i in range(period):
        above += last[i] - mean
        highest, lowest = max(highest, above), min(lowest, above)
    swing = highest - lowest
    total, h, i = 0.0, n_steps, 0
    while h < survival.size - 1 and 2.0 * swing * survival[h] > (1.0 - _SHARE) * scale.allowed:
        total += survival[h] * last[i]
        h += 1
        i = i + 1 if i + 1 < period else 0
    return total + mean * tails[h], loss + 2.0 * swing * survival[h]


@kernel
def value_from(
    world: ProblemArrays,
    tables: Tables,
    belief: AssumedLaw,
    manner: PlayOptions,
    scale: ReferenceArrays,
    trace: ValueCache,
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
    rewards. NaN is returned where no circle is found that is good enough. `look_up_states` must come before.
    """
    stem = mix_in(manner.key, episode)
    if trace.totals.size > 0 and start == scale.start:
        return value_incrementally(world, tables, belief, manner, scale, trace, stem, start)
    spoilt = 0.5 * scale.spread * _loss(scale.drifts, scale.losses, scale.rounding) if scale.is_far else 0.0
    if spoilt > _SHARE * scale.allowed:
        return np.nan, spoilt
    n_layers, n_actions, epsilon = manner.n_layers, world.n_actions, exploring(manner, episode)
    # Unpacked: a call that passes tables costs far more than the work itself.
    indptr, indices, data, paid = world.indptr, world.indices, world.data, world.paid
    is_terminal, terminal_paid = world.is_terminal, world.terminal_paid
    numbers, caps, prior = scale.numbers, belief.caps, belief.prior
    masks, pair_of, q = tables.best, tables.pair_of, tables.q
    survival, tails, is_far, saved = scale.survival, scale.tails, scale.is_far, scale.saved
    is_random, starts_again = manner.is_random, manner.starts_again
    chance, coming, here, there = scale.chance, scale.coming, scale.here, scale.there
    h, layer, s, p, n_here, total = 0, -1, start, 1.0, 1, 0.0
    # As long as nothing is left to chance, no lists: they would take longer than all else.
    while not is_far and h < survival.size:
        following = layer + 1
        if following == n_layers:
            following = 0 if starts_again else n_layers - 1
        leaf = mix_in(stem, following)
        action = greedy_action(
            masks, pair_of, q, caps, prior, numbers[s], s, following, leaf, is_random, epsilon
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
            layer = 0 if starts_again else n_layers - 1
        n_there, earned, leaf = 0, 0.0, mix_in(stem, layer)
        for i in range(n_here):
            s = here[i]
            p = chance[s]
            chance[s] = 0.0
            action = greedy_action(
                masks, pair_of, q, caps, prior, numbers[s], s, layer, leaf, is_random, epsilon
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
            scale.earned[h - 1] = earned
            if h == look:
                look += n_layers if starts_again else _HOLD
                n_rounds += 1
                alive, apart = 0.0, in_saved
                for i in range(n_here):
                    p = chance[here[i]]
                    alive += p
                    apart += abs(p - saved[here[i]]) - saved[here[i]]
                if saved_at > 0:
                    drift = 2.0 * max(apart, 0.0) / (h - saved_at) + scale.rounding
                    loss = 0.5 * scale.spread * _loss(scale.drifts, scale.losses, drift)
                    if loss <= _SHARE * scale.allowed:
                        period = h - saved_at
                        break
                if alive * tails[h] * scale.spread <= (1.0 - _SHARE) * scale.allowed:
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
        return total + alive * tails[survival.size] * scale.middle, scale.width
    rest, width = alive * tails[h] * scale.middle, alive * tails[h] * scale.spread + spoilt
    if period > 0:
        rest, width = _go_round(scale, h, period, loss)
    return (total + rest, width) if width <= scale.allowed else (np.nan, width)
