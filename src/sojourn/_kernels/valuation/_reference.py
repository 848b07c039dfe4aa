"""Constants and scratch arrays of policy valuation."""

from __future__ import annotations

from typing import NamedTuple

from sojourn._typing import FloatArray, IntArray

__all__ = ["Distribution", "ReferenceArrays", "ValueScratch"]


class ReferenceArrays(NamedTuple):
    """Constants with which the value of a policy is computed: the true law, the rewards' range, tolerances.

    Policies are followed for M steps. The law's survival function is γ(h) = P(H ≥ h), its tail is
    Γ(h) = Σ_{i≥h} γ(i).
    """

    survival: FloatArray  # (M,) γ(1) … γ(M); empty if policies are not valued at all
    tails: FloatArray  # (M + 1,) Γ(1) … Γ(M+1)
    start: int  # the start state if there is only one, else −1
    middle: float  # midpoint of the rewards' range: the reward assumed for each step after M
    spread: float  # largest minus smallest reward
    width: float  # width of the bracket of every value if `is_heavy` is false
    is_heavy: bool  # Γ(M+1) is not negligible: policies are followed until they repeat; see `policy_value`
    tolerance: float  # largest width of a bracket that is accepted if `is_heavy` is true
    rounding: float  # bound of the rounding error that one step adds to all probabilities together
    drifts: FloatArray  # (K,) grid of drifts per step, increasing
    drift_losses: FloatArray  # (K,) upper bounds of Σ_h γ(h) min(2, drift·h) for each drift of the grid


class Distribution(NamedTuple):
    """A probability distribution over states at one step, and the list of states that it reaches."""

    chance: FloatArray  # (S,) probability of each state; all 0 between valuations
    support: IntArray  # (S,) the states with positive probability, as many as the caller counts


class ValueScratch(NamedTuple):
    """Scratch arrays of policy valuation, one set per learner."""

    now: Distribution  # distribution at the current step
    following: Distribution  # distribution at the next step
    saved_chance: FloatArray  # (S,) probabilities at an earlier step, in the search for a cycle
    earned: FloatArray  # (M,) expected reward of each step, or (0,) if `is_heavy` is false
    state_numbers: IntArray  # (S,) the learner's number of each state, 0 if none; see `fill_state_numbers`
