"""Posterior sampling: a model drawn from what was seen, and the best plan for it.

A pair's probabilities have a symmetric Dirichlet law at first. Successors that it was seen to have are drawn
one by one. All others share what is left: B of it goes to one of them, drawn evenly, and 1 − B to all of them
evenly. With B = U^(a/2) for a uniform U, a the weight of their prior, E[B²] = 1/(1 + a): so all probabilities
have the means, variances and covariances that the Dirichlet law gives them, with one draw in place of S.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._tables import N_PAIRS, N_STATES, Tables, find_state, number_state, open_pair
from sojourn._typing import FloatArray, IntArray

__all__ = ["PSRLUpdate", "update_psrl"]

_NO_PAIR = -2  # leads nowhere; see `mark`


class PSRLUpdate(NamedTuple):
    """The update of PSRL: what the posterior starts from, and room to draw and to plan in."""

    rng: np.random.Generator
    n_states: int  # S, all states that there are
    is_apart: bool  # whether states that were never seen are drawn one by one, and named 0 … S − 1
    weight: float  # of the prior, in visits: weight/S for each successor
    noise: float  # standard deviation of one reward, where rewards are learned; negative if they are known
    best: FloatArray  # (S,) the largest known reward of each state, or (0,) where rewards are learned
    all_best: float  # their sum
    even: FloatArray  # (pairs,) probability that was drawn for each of all successors never seen
    lump: FloatArray  # (pairs,) probability of one of them on top of that
    target: IntArray  # (pairs,) which one: its number, or −1 if that state was never seen itself
    extra: FloatArray  # (pairs,) what it pays then above `caps`
    mark: IntArray  # (states,) a pair that was seen to lead there, or −1
    above: FloatArray  # (states,) V of the next layer


@inlined
def _pick(tables: Tables, update: PSRLUpdate, n_all: int, pair: int) -> tuple[int, float]:
    """Draw one of the states that a pair was never seen to lead to, evenly; see `target` and `extra`.

    Those with `mark` at the pair are thrown back, which is not more work than it was to draw them.
    """
    first = 0 if tables.last_arc_into[0] >= 0 else 1
    number = -1
    while number < 0 or update.mark[number] == pair:
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
    """Draw successors and rewards of all pairs of states that were seen, in the order of their numbers."""
    rng, weight = update.rng, update.weight / n_all
    for pair in range(tables.sizes[N_PAIRS]):
        total, n_left = 0.0, n_all
        arc = tables.first_arc[pair]
        while arc >= 0:
            drawn = rng.standard_gamma(weight + tables.arc_count[arc])
            tables.arc_weight[arc] = drawn
            total += drawn
            n_left -= 1
            update.mark[tables.arc_to[arc]] = pair
            arc = tables.arc_next[arc]
        even, lump, target, extra = 0.0, 0.0, 0, 0.0
        if n_left > 0:
            # Never played: everything is left, and a gamma variable of little weight would underflow.
            rest = rng.standard_gamma(weight * n_left) if n_left < n_all else 1.0
            total += rest
            lump = rest / total * rng.random() ** (0.5 * weight * n_left)
            even = (rest / total - lump) / n_left
            target, extra = _pick(tables, update, n_all, pair)
        update.even[pair], update.lump[pair], update.target[pair], update.extra[pair] = (
            even,
            lump,
            target,
            extra,
        )
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
    """Give all actions of all states that are drawn one by one a pair, played or not; there must be room."""
    if update.is_apart and tables.sizes[N_STATES] == 1:
        for name in range(update.n_states):
            number_state(tables, name)
    for state in range(1, tables.sizes[N_STATES]):
        for a in range(tables.pair_of.shape[1]):
            if tables.pair_of[state, a] < 0:
                pair = open_pair(tables, state, a)
                tables.bonus_share[pair] = (
                    1.0  # Q is planned from now on: playing it does not open its row again
                )
                if assumed.prior_rewards.size > 0:
                    tables.reward_total[pair] = assumed.prior_rewards[tables.names[state], a]


@kernel
def _look_at_unseen(tables: Tables, update: PSRLUpdate) -> tuple[int, int, float]:
    """Return how many states there are, how many were never seen, and the sum of their best rewards.

    There are as many as were said, or as were seen if those are more; the absorbing one comes on top of them
    once an episode was seen to end there.
    """
    n_seen = tables.sizes[N_STATES] - 1
    n_said = max(update.n_states, n_seen)
    n_all = n_said + (1 if tables.last_arc_into[0] >= 0 else 0)
    if n_seen == n_said or update.best.size == 0:
        return n_all, n_said - n_seen, 0.0
    total = update.all_best
    for state in range(1, tables.sizes[N_STATES]):
        total -= update.best[tables.names[state]]
    return n_all, n_said - n_seen, total


@kernel
def update_psrl(tables: Tables, assumed: AssumedLaw, update: PSRLUpdate) -> None:
    """Draw a model from the posterior and plan in it by backward induction.

    All pairs of states that have no number yet share one draw: their Q is their reward and `assumed.caps`,
    which takes ρ times what that draw is worth (and the reward, if it is learned).
    """
    _open_all(tables, assumed, update)
    n_all, n_unseen, paid_unseen = _look_at_unseen(tables, update)
    _draw(tables, update, n_all)
    n_states, n_pairs, n_actions = tables.sizes[N_STATES], tables.sizes[N_PAIRS], tables.pair_of.shape[1]
    unseen_lump = update.rng.random() ** (0.5 * update.weight)
    unseen_target, unseen_extra = _pick(tables, update, n_all, _NO_PAIR)
    top = 1.0 + update.noise * update.rng.standard_normal() if update.noise >= 0.0 else 0.0
    value, q, pair_of, above, reward = (
        tables.value,
        tables.q,
        tables.pair_of,
        update.above,
        tables.reward_estimate,
    )
    first_arc, arc_next, arc_to, weights = tables.first_arc, tables.arc_next, tables.arc_to, tables.arc_weight
    even, lump, targets, extras = update.even, update.lump, update.target, update.extra
    n_layers, sees_end = assumed.ratios.size, tables.last_arc_into[0] >= 0
    # V of the next layer: of a state never seen it is `unseen`, and what it pays unless there is no next one.
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
        total = n_unseen * unseen + paid_unseen + (value[0, h] if sees_end else 0.0)
        above[0] = value[0, h]
        for state in range(1, n_states):
            best = q[pair_of[state, 0], h]
            for a in range(1, n_actions):
                best = max(best, q[pair_of[state, a], h])
            value[state, h] = best
            above[state] = best
            total += best
