"""The law of episode lengths that a learner assumes, and the model that its backups use.

With survival function γ(h) = P(H ≥ h) and tail Γ(h) = Σ_{i≥h} γ(i), layer h discounts the next layer by
ρ(h) = γ(h+1)/γ(h). With rewards in [0, 1] its values are at most Γ(h)/γ(h).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined
from sojourn._kernels.learning._tables import Tables
from sojourn._typing import FloatArray, IntArray

__all__ = ["AssumedLaw", "initialize_q_row", "refresh_models"]


class AssumedLaw(NamedTuple):
    """The assumed law layer by layer, and the bonus that depends on visit counts alone.

    Bonuses that also look at variances are in `BernsteinUpdate` and `MonotoneBernsteinUpdate`: they are
    parameters of updates of their own, which are chosen by their type at compile time.
    """

    ratios: FloatArray  # (N,) discount ρ(h) from layer h to layer h + 1
    caps: FloatArray  # (N + 1,) initial Q of layers 1 … N, usually Γ(h)/γ(h), and the cap of layer N + 1
    final_value: float  # V_{N+1}, the value of all steps after the last layer
    bonus: FloatArray  # (N,) bonus of a pair with a single visit
    bonus_power: float  # ½ or 1: the bonus of n visits is `bonus`/n^power
    reward_bonus: float  # the same for a reward that is estimated, of one visit; negative if it is known
    prior_rewards: FloatArray  # (S, A) added to `caps` for pairs never played, or (0, 0) for nothing


@inlined
def initialize_q_row(tables: Tables, assumed: AssumedLaw, pair: int) -> None:
    """Set Q of a new pair to the values that an unplayed pair has, so that the policy does not change.

    A pair that was planned for before it was played (PSRL) has a `bonus_share` already and keeps its Q.
    """
    if tables.bonus_share[pair] > 0.0:
        return
    state = tables.state_of[pair]
    prior = 0.0
    if assumed.prior_rewards.size > 0:
        prior = assumed.prior_rewards[tables.names[state], tables.action_of[pair]]
    for h in range(assumed.ratios.size):
        tables.q[pair, h] = assumed.caps[h] + prior


@inlined
def refresh_models(tables: Tables, assumed: AssumedLaw, pairs: IntArray) -> None:
    """Recompute the empirical transition probabilities, reward estimates and bonus shares of some pairs."""
    visits, shares = tables.visits, tables.bonus_share
    totals, estimates = tables.reward_total, tables.reward_estimate
    first_arc, arc_next = tables.first_arc, tables.arc_next
    counts, weights = tables.arc_count, tables.arc_weight
    power, reward_bonus = assumed.bonus_power, assumed.reward_bonus
    for i in range(pairs.size):
        pair = pairs[i]
        n = float(visits[pair])
        inverse_root = 1.0 / np.sqrt(n)
        shares[pair] = inverse_root if power == 0.5 else 1.0 / n
        estimates[pair] = totals[pair]
        if reward_bonus >= 0.0:
            estimates[pair] = totals[pair] / n + reward_bonus * inverse_root
        arc = first_arc[pair]
        while arc >= 0:
            weights[arc] = counts[arc] / n
            arc = arc_next[arc]
