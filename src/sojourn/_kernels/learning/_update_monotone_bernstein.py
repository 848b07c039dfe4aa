"""The update of UCBVI with the monotone Bernstein bonus, which recomputes only what can have changed.

Q_h(s, a) ← min(Q_h(s, a), r + ρ(h) Σ_y P̂(y|s, a) V_{h+1}(y) + bonus_h(s, a)), with

    bonus_h(s, a) = factor(h) · max(√(x·Var), x·m(h+1)),    x = c·ι(n)/n,

where Var is the variance of V_{h+1} under P̂(·|s, a). In exact arithmetic the backup is monotone in V. In
floating-point numbers it is not monotone to the last bit: the rounding of the variance can turn a tiny fall
of V into a tiny rise. So the result must not depend on monotonicity. Layers are updated from the last to the
first. In each layer, those pairs are backed up whose inputs have changed since their last backup: pairs that
were played, and pairs that lead to a state whose value in the layer above fell. Any other backup would give
what it gave before. The result has the bits of a full sweep.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw, refresh_models
from sojourn._kernels.learning._backup import backup, expect, expect_all_layers
from sojourn._kernels.learning._tables import Tables
from sojourn._typing import FloatArray, IntArray, PolicyArray

__all__ = [
    "MonotoneBernsteinScratch",
    "MonotoneBernsteinTerms",
    "MonotoneBernsteinUpdate",
    "update_monotone_bernstein",
]


class MonotoneBernsteinTerms(NamedTuple):
    """The bonus factor·max(√(x·Var), x·cap) with x = weight·ι(n)/n and ι(n) = log + log_visits·ln(n(n+1))."""

    factor: FloatArray  # (N,) factor on the whole bonus
    caps: FloatArray  # (N,) m(h+1) = Γ(h+1)/γ(h+1), the largest value of the next layer
    weight: float  # c, the constant of both parts
    log: float  # the part of ι that does not depend on n
    log_visits: float  # 1 if ι grows with n, 0 if it does not


class MonotoneBernsteinScratch(NamedTuple):
    """Scratch arrays of the update.

    Lists are kept free of duplicates by tokens, which are never reset: each update takes N new tokens, one
    per layer, and an entry is in the list of a layer if its token is the layer's.
    """

    clock: IntArray  # (1,) number of tokens used so far
    pair_token: IntArray  # (pairs,) token of the layer for which a pair was last listed
    state_token: IntArray  # (states,) token of the layer for which a state was last a candidate
    played_layers: IntArray  # (pairs,) for each played pair, the number of layers up to the last that falls
    changed: PolicyArray  # (pairs,) list of the pairs to back up in the current layer
    candidates: PolicyArray  # (states,) list of the states whose V may fall in the current layer
    fell_above: PolicyArray  # (states,) list of the states whose V fell in the layer above
    means: FloatArray  # (N,) means of V_{h+1} for one pair
    variances: FloatArray  # (N,) variances of V_{h+1} for one pair


class MonotoneBernsteinUpdate(NamedTuple):
    """Parameters and scratch arrays of the update."""

    terms: MonotoneBernsteinTerms  # the bonus
    scratch: MonotoneBernsteinScratch  # scratch arrays


@inlined
def monotone_bonus(share: float, variance: float, cap: float) -> float:
    """Return max(√(x·Var), x·cap)."""
    root, linear = np.sqrt(share * variance), share * cap
    return root if root > linear else linear


@inlined
def _variance(
    first_arc: PolicyArray,
    arc_next: PolicyArray,
    arc_to: PolicyArray,
    arc_weight: FloatArray,
    value: FloatArray,
    pair: int,
    h: int,
    mean: float,
) -> float:
    """Return the variance of V_{h+1} under P̂(·|s, a), at layer h, counted from 0."""
    variance = 0.0
    arc = first_arc[pair]
    while arc >= 0:
        difference = value[arc_to[arc], h + 1] - mean
        variance += arc_weight[arc] * (difference * difference)
        arc = arc_next[arc]
    return variance


@inlined
def _find_layers_that_fall(
    tables: Tables, assumed: AssumedLaw, update: MonotoneBernsteinUpdate, played: IntArray
) -> int:
    """Fill `played_layers`, computed with the values before the update, and return its largest entry.

    Where a value falls later in the update, the pair is backed up again.
    """
    value, all_q = tables.value, tables.q
    arc_next, arc_weight = tables.arc_next, tables.arc_weight
    arc_to, first_arc = tables.arc_to.view(np.uint32), tables.first_arc.view(np.uint32)
    rewards, shares, ratios = tables.reward_estimate, tables.bonus_share, assumed.ratios
    factor, caps = update.terms.factor, update.terms.caps
    means, variances = update.scratch.means, update.scratch.variances
    played_layers = update.scratch.played_layers
    highest = 0
    for i in range(played.size):
        pair = played[i]
        q, reward, share = all_q[pair], rewards[pair], shares[pair]
        expect_all_layers(first_arc, arc_next, arc_to, arc_weight, value, pair, means)
        variances[:] = 0.0
        arc = tables.first_arc[pair]
        while arc >= 0:
            weight, following = arc_weight[arc], value[arc_to[arc], 1:]
            for h in range(means.size):
                difference = following[h] - means[h]
                variances[h] += weight * (difference * difference)
            arc = arc_next[arc]
        for h in range(means.size):
            bonus = factor[h] * monotone_bonus(share, variances[h], caps[h])
            means[h] = backup(reward, ratios[h], means[h], bonus)
        top = means.size
        while top > 0 and means[top - 1] >= q[top - 1]:
            top -= 1
        played_layers[i] = top
        highest = max(highest, top)
    return highest


@inlined
def _lower_layers(
    tables: Tables, assumed: AssumedLaw, update: MonotoneBernsteinUpdate, played: IntArray, highest: int
) -> None:
    """Lower Q and V layer by layer, from layer `highest` down."""
    value, q, tried = tables.value, tables.q, tables.tried
    pair_of, state_of = tables.pair_of, tables.state_of
    first_arc, arc_next, arc_to = tables.first_arc, tables.arc_next, tables.arc_to
    arc_weight, arc_from = tables.arc_weight, tables.arc_from
    last_arc_into, arc_next_into = tables.last_arc_into, tables.arc_next_into
    rewards, shares, ratios = tables.reward_estimate, tables.bonus_share, assumed.ratios
    factor, caps = update.terms.factor, update.terms.caps
    scratch = update.scratch
    pair_token, state_token, played_layers = scratch.pair_token, scratch.state_token, scratch.played_layers
    changed, candidates, fell_above = scratch.changed, scratch.candidates, scratch.fell_above
    n_actions, base, n_fell = pair_of.shape[1], scratch.clock[0], 0
    scratch.clock[0] += ratios.size
    for h in range(highest - 1, -1, -1):
        # List the pairs that were played, and those that lead to a state whose value fell in the layer above.
        n_changed = 0
        for i in range(played.size):
            if played_layers[i] > h:
                pair_token[played[i]] = base + h
                changed[n_changed] = played[i]
                n_changed += 1
        for i in range(n_fell):
            arc = last_arc_into[fell_above[i]]
            while arc >= 0:
                pair = arc_from[arc]
                if pair_token[pair] != base + h:
                    pair_token[pair] = base + h
                    changed[n_changed] = pair
                    n_changed += 1
                arc = arc_next_into[arc]
        # Back them up. The value of a state may fall if the largest of its Q did.
        n_candidates = 0
        for i in range(n_changed):
            pair = changed[i]
            mean = expect(first_arc, arc_next, arc_to, arc_weight, value, pair, h)
            variance = _variance(first_arc, arc_next, arc_to, arc_weight, value, pair, h, mean)
            bonus = factor[h] * monotone_bonus(shares[pair], variance, caps[h])
            new, old = backup(rewards[pair], ratios[h], mean, bonus), q[pair, h]
            if new < old:
                q[pair, h] = new
                state = state_of[pair]
                is_largest = old >= value[state, h] and tried[state] == n_actions
                if is_largest and state_token[state] != base + h:
                    state_token[state] = base + h
                    candidates[n_candidates] = state
                    n_candidates += 1
        n_fell = 0
        for i in range(n_candidates):
            state = candidates[i]
            best = q[pair_of[state, 0], h]
            for a in range(1, n_actions):
                best = max(best, q[pair_of[state, a], h])
            if best < value[state, h]:
                value[state, h] = best
                fell_above[n_fell] = state
                n_fell += 1


@kernel
def update_monotone_bernstein(
    tables: Tables, assumed: AssumedLaw, update: MonotoneBernsteinUpdate, played: IntArray
) -> None:
    """Update Q and V after an episode that played the pairs `played`.

    V of a state with an action that was never played stays at its cap.
    """
    terms = update.terms
    refresh_models(tables, assumed, played)
    for i in range(played.size):
        pair = played[i]
        n = float(tables.visits[pair])
        tables.bonus_share[pair] = terms.weight * (terms.log + terms.log_visits * np.log(n * (n + 1.0))) / n
    highest = _find_layers_that_fall(tables, assumed, update, played)
    _lower_layers(tables, assumed, update, played, highest)
