"""The update of PSRL: draw a model from the posterior, and plan in it by backward induction.

The successors of a pair have a symmetric Dirichlet prior. Successors that the pair was seen to have are drawn
one by one. All others share the rest of the probability: a share B of it goes to one of them, drawn
uniformly, and 1 − B to all of them evenly. With B = U^(a/2), where U is uniform and a is the prior weight of
these successors, E[B²] = 1/(1 + a). So all probabilities have the means, variances and covariances of the
Dirichlet posterior, with one draw instead of S.

In the drawn model Q_h(s, a) = r + ρ(h) Σ_y P(y|s, a) V_{h+1}(y), without a bonus. All pairs of states that
have no number yet share one draw: their Q is `prior_rewards` + `caps`, and the update writes `caps`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._tables import N_PAIRS, N_STATES, Tables, find_state, number_state, open_pair
from sojourn._typing import FloatArray, IntArray

__all__ = ["PSRLScratch", "PSRLUpdate", "update_psrl"]

_NO_PAIR = -2  # stands for a pair that was never played, with which no state is marked


class PSRLScratch(NamedTuple):
    """Scratch arrays of the update of PSRL: the draws for successors that a pair was never seen to have."""

    even: FloatArray  # (pairs,) probability of each single one of these successors
    lump: FloatArray  # (pairs,) additional probability of one of them, the target
    target: IntArray  # (pairs,) number of the target, or −1 if it is a state that was never seen at all
    extra: FloatArray  # (pairs,) largest reward of the target if it was never seen, else 0
    mark: IntArray  # (states,) the last pair that was seen to lead to the state, in the order of the draws
    above: FloatArray  # (states,) V of the layer above


class PSRLUpdate(NamedTuple):
    """Parameters and scratch arrays of the update of PSRL."""

    rng: np.random.Generator  # random numbers for the draws
    n_states: int  # number of states S of the problem
    is_apart: bool  # draw states that were never seen one by one; they must be named 0 … S − 1
    weight: float  # weight of the prior in visits; each successor has weight/S
    noise: float  # standard deviation of one reward if rewards are estimated; negative if they are known
    best: FloatArray  # (S,) largest known reward of each state, or (0,) if rewards are estimated
    all_best: float  # sum of `best`
    scratch: PSRLScratch  # the draws of one episode


@inlined
def _pick(tables: Tables, update: PSRLUpdate, n_all: int, pair: int) -> tuple[int, float]:
    """Draw uniformly one of the states that a pair was never seen to lead to; return its target and extra.

    States that are marked with the pair are rejected; there are at most as many rejections, on average, as
    the pair has arcs.
    """
    first = 0 if tables.last_arc_into[0] >= 0 else 1
    number = -1
    while number < 0 or update.scratch.mark[number] == pair:
        number = first + int(update.rng.random() * n_all)
        if number >= tables.sizes[N_STATES]:
            break
    if number < tables.sizes[N_STATES]:
        return number, 0.0
    if update.best.size == 0:
        return -1, 0.0
    name = int(update.rng.random() * update.best.size)
    while find_state(tables, name) >= 0:
        name = int(update.rng.random() * update.best.size)
    return -1, float(update.best[name])


@kernel
def _draw(tables: Tables, update: PSRLUpdate, n_all: int) -> None:
    """Draw the transition probabilities and rewards of all pairs, in the order of their numbers."""
    rng, scratch, weight = update.rng, update.scratch, update.weight / n_all
    for pair in range(tables.sizes[N_PAIRS]):
        total, n_left = 0.0, n_all
        arc = tables.first_arc[pair]
        while arc >= 0:
            drawn = rng.standard_gamma(weight + tables.arc_count[arc])
            tables.arc_weight[arc] = drawn
            total += drawn
            n_left -= 1
            scratch.mark[tables.arc_to[arc]] = pair
            arc = tables.arc_next[arc]
        even, lump, target, extra = 0.0, 0.0, 0, 0.0
        if n_left > 0:
            # A pair never played has all probability left; a gamma draw with a small shape might underflow.
            rest = rng.standard_gamma(weight * n_left) if n_left < n_all else 1.0
            total += rest
            lump = rest / total * rng.random() ** (0.5 * weight * n_left)
            even = (rest / total - lump) / n_left
            target, extra = _pick(tables, update, n_all, pair)
        scratch.even[pair], scratch.lump[pair] = even, lump
        scratch.target[pair], scratch.extra[pair] = target, extra
        arc = tables.first_arc[pair]
        while arc >= 0:
            tables.arc_weight[arc] /= total
            arc = tables.arc_next[arc]
        tables.reward_estimate[pair] = tables.reward_total[pair]
        if update.noise >= 0.0:
            n = float(tables.visits[pair]) + 1.0
            mean, spread = (1.0 + tables.reward_total[pair]) / n, update.noise / np.sqrt(n)
            tables.reward_estimate[pair] = mean + spread * rng.standard_normal()


@kernel
def _open_all(tables: Tables, assumed: AssumedLaw, update: PSRLUpdate) -> None:
    """Open a pair for every action of every numbered state, and number all states if they are drawn apart.

    The tables must have room.
    """
    if update.is_apart and tables.sizes[N_STATES] == 1:
        for name in range(update.n_states):
            number_state(tables, name)
    for state in range(1, tables.sizes[N_STATES]):
        for a in range(tables.pair_of.shape[1]):
            if tables.pair_of[state, a] < 0:
                pair = open_pair(tables, state, a)
                tables.bonus_share[pair] = 1.0  # so that playing it does not initialize its Q
                if assumed.prior_rewards.size > 0:
                    tables.reward_total[pair] = assumed.prior_rewards[tables.names[state], a]


@kernel
def _count_unseen(tables: Tables, update: PSRLUpdate) -> tuple[int, int, float]:
    """Return the number of states, the number of those never seen, and the sum of the latters' best rewards.

    The number of states is the given one, or the number of states seen if that is larger. The absorbing state
    is counted in addition once an episode was seen to end there.
    """
    n_seen = tables.sizes[N_STATES] - 1
    n_given = max(update.n_states, n_seen)
    n_all = n_given + (1 if tables.last_arc_into[0] >= 0 else 0)
    if n_seen == n_given or update.best.size == 0:
        return n_all, n_given - n_seen, 0.0
    total = update.all_best
    for state in range(1, tables.sizes[N_STATES]):
        total -= update.best[tables.names[state]]
    return n_all, n_given - n_seen, total


@kernel
def update_psrl(tables: Tables, assumed: AssumedLaw, update: PSRLUpdate) -> None:
    """Draw a model from the posterior and plan in it by backward induction."""
    _open_all(tables, assumed, update)
    n_all, n_unseen, unseen_rewards = _count_unseen(tables, update)
    _draw(tables, update, n_all)
    n_states, n_pairs, n_actions = tables.sizes[N_STATES], tables.sizes[N_PAIRS], tables.pair_of.shape[1]
    unseen_lump = update.rng.random() ** (0.5 * update.weight)
    unseen_target, unseen_extra = _pick(tables, update, n_all, _NO_PAIR)
    top = 1.0 + update.noise * update.rng.standard_normal() if update.noise >= 0.0 else 0.0
    value, q, pair_of, reward = tables.value, tables.q, tables.pair_of, tables.reward_estimate
    first_arc, arc_next, arc_to, weights = tables.first_arc, tables.arc_next, tables.arc_to, tables.arc_weight
    scratch = update.scratch
    even, lump, targets, extras = scratch.even, scratch.lump, scratch.target, scratch.extra
    above = scratch.above
    n_layers, sees_end = assumed.ratios.size, tables.last_arc_into[0] >= 0
    # V of a state never seen is `unseen` at the next layer, plus its best reward unless there is no layer.
    unseen, pays = value[0, n_layers], 0.0
    above[:n_states] = unseen
    total = unseen * n_all
    for h in range(n_layers - 1, -1, -1):
        ratio = assumed.ratios[h]
        one = above[unseen_target] if unseen_target >= 0 else unseen + pays * unseen_extra
        assumed.caps[h] = top + ratio * ((1.0 - unseen_lump) * (total / n_all) + unseen_lump * one)
        for pair in range(n_pairs):
            target = targets[pair]
            one = above[target] if target >= 0 else unseen + pays * extras[pair]
            expected, rest = lump[pair] * one, total
            arc = first_arc[pair]
            while arc >= 0:
                following = above[arc_to[arc]]
                expected += weights[arc] * following
                rest -= following
                arc = arc_next[arc]
            q[pair, h] = reward[pair] + ratio * (expected + even[pair] * rest)
        unseen, pays = assumed.caps[h], 1.0
        total = n_unseen * unseen + unseen_rewards + (value[0, h] if sees_end else 0.0)
        above[0] = value[0, h]
        for state in range(1, n_states):
            best = q[pair_of[state, 0], h]
            for a in range(1, n_actions):
                best = max(best, q[pair_of[state, a], h])
            value[state, h] = best
            above[state] = best
            total += best
