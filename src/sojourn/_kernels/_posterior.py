"""Posterior sampling: a model drawn from what was seen, and the best plan for it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._belief import Belief
from sojourn._kernels._jit import kernel
from sojourn._kernels._tables import N_PAIRS, N_STATES, Tables
from sojourn._typing import FloatArray

__all__ = ["Sampling", "sample_and_plan"]


class Sampling(NamedTuple):
    """The rule of PSRL: what the posterior starts from, and room to plan in."""

    rng: np.random.Generator
    n_states: int  # S, all states that there are
    weight: float  # of the prior, in visits: weight/S for each successor
    noise: float  # standard deviation of one reward, where rewards are learned; negative if they are known
    unseen: FloatArray  # (S,) the best known reward of each state, or (0,) where rewards are learned
    absorbing: float  # what the absorbing state pays a step
    rest: FloatArray  # (pairs,) probability that was drawn for all successors never seen
    untried: FloatArray  # (states,) the best prior reward among actions never tried, −∞ if there are none
    totals: FloatArray  # (N + 1,) sum of V over all S states


@kernel
def _all_states(tables: Tables, rule: Sampling) -> int:
    """Return how many states there are: as many as were said, or as were seen if those are more."""
    return int(max(rule.n_states, tables.sizes[N_STATES] - (0 if tables.into[0] >= 0 else 1)))


@kernel
def _draw(tables: Tables, rule: Sampling) -> None:
    """Draw successors and rewards of all visited pairs, in the order of their numbers."""
    rng, n_all = rule.rng, _all_states(tables, rule)
    share = rule.weight / n_all
    for pair in range(tables.sizes[N_PAIRS]):
        total, n_seen = 0.0, 0
        arc = tables.first_arc[pair]
        while arc >= 0:
            drawn = rng.standard_gamma(share + tables.arc_count[arc])
            tables.arc_weight[arc] = drawn
            total += drawn
            n_seen += 1
            arc = tables.arc_next[arc]
        rest = 0.0
        if n_seen < n_all:
            rest = rng.standard_gamma(share * (n_all - n_seen))
        total += rest
        rule.rest[pair] = rest / total
        arc = tables.first_arc[pair]
        while arc >= 0:
            tables.arc_weight[arc] /= total
            arc = tables.arc_next[arc]
        tables.reward[pair] = tables.paid[pair]
        if rule.noise >= 0.0:
            n = float(tables.visits[pair]) + 1.0
            tables.reward[pair] = (1.0 + tables.paid[pair]) / n + rule.noise / np.sqrt(
                n
            ) * rng.standard_normal()


@kernel
def _look_at_untried(tables: Tables, belief: Belief, rule: Sampling) -> tuple[int, float]:
    """Fill `untried`; return how many states were never seen, and the sum of their best rewards."""
    n_known, knows_rewards, total = 0, rule.unseen.size > 0, rule.unseen.sum()
    if tables.into[0] >= 0:
        n_known += 1  # the absorbing state is one of all S
        if knows_rewards:
            total -= rule.absorbing
    for state in range(1, tables.sizes[N_STATES]):
        n_known += 1
        name, best = tables.names[state], -np.inf
        for a in range(tables.pair_of.shape[1]):
            if tables.pair_of[state, a] < 0:
                best = max(best, belief.prior[name, a] if knows_rewards else 0.0)
        rule.untried[state] = best
        if knows_rewards:
            total -= rule.unseen[name]
    n_unseen = max(0, _all_states(tables, rule) - n_known)
    return n_unseen, (total if n_unseen > 0 else 0.0)


@kernel
def sample_and_plan(tables: Tables, belief: Belief, rule: Sampling) -> None:
    """Draw a model from the posterior and plan in it by backward induction.

    Successors of a pair that were never seen share the probability that was drawn for all of them evenly: it
    is worth the mean of their values. A pair that was never played has seen none: its Q is its reward and ρ
    times the mean value of all S states; `belief.caps` takes what comes on top of the known reward.
    """
    _draw(tables, rule)
    n_unseen, paid_unseen = _look_at_untried(tables, belief, rule)
    n_states, n_pairs, n_actions = tables.sizes[N_STATES], tables.sizes[N_PAIRS], tables.pair_of.shape[1]
    value, q, pair_of, totals = tables.value, tables.q, tables.pair_of, rule.totals
    first_arc, arc_next, arc_to, weights = tables.first_arc, tables.arc_next, tables.arc_to, tables.arc_weight
    n_layers, sees_end, n_all = belief.ratios.size, tables.into[0] >= 0, _all_states(tables, rule)
    top = 0.0 if rule.unseen.size > 0 else 1.0  # prior mean of a reward that is learned
    last = value[0, n_layers]
    totals[n_layers] = last * n_all
    for state in range(1, n_states):
        value[state, n_layers] = last
    for h in range(n_layers - 1, -1, -1):
        ratio, above = belief.ratios[h], totals[h + 1]
        belief.caps[h] = top + ratio * (above / n_all)
        for pair in range(n_pairs):
            expected, seen, n_seen = 0.0, 0.0, 0
            arc = first_arc[pair]
            while arc >= 0:
                following = value[arc_to[arc], h + 1]
                expected += weights[arc] * following
                seen += following
                n_seen += 1
                arc = arc_next[arc]
            if n_seen < n_all:
                expected += rule.rest[pair] * ((above - seen) / (n_all - n_seen))
            q[pair, h] = tables.reward[pair] + ratio * expected
        total = value[0, h] if sees_end else 0.0
        for state in range(1, n_states):
            best = belief.caps[h] + rule.untried[state]
            for a in range(n_actions):
                pair = pair_of[state, a]
                if pair >= 0:
                    best = max(best, q[pair, h])
            value[state, h] = best
            total += best
        totals[h] = total + (n_unseen * belief.caps[h] + paid_unseen)
