"""Constants and scratch arrays of policy valuation."""

from __future__ import annotations

from typing import NamedTuple

from sojourn._kernels.learning._greedy import ActionScratch
from sojourn._typing import FloatArray, IntArray

__all__ = ["Distribution", "Path", "ReferenceArrays", "ValueScratch", "Walk"]


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


class Path(NamedTuple):
    """One round of a policy's path through states without random transitions, one entry per layer."""

    states: IntArray  # (N,) state in which the layer was last played, −1 if it was not
    successors: IntArray  # (N,) state after it
    chances: FloatArray  # (N,) probability of that transition, which is 1 up to rounding
    rewards: FloatArray  # (N,) reward of that step


class ValueScratch(NamedTuple):
    """Scratch arrays of policy valuation, one set per learner."""

    now: Distribution  # distribution at the current step
    following: Distribution  # distribution at the next step
    saved_chance: FloatArray  # (S,) probabilities at an earlier step, in the search for a cycle
    earned: FloatArray  # (M,) expected reward of each step
    state_numbers: IntArray  # (S,) the learner's number of each state, 0 if none; see `fill_state_numbers`
    ties: ActionScratch  # for `fill_actions`
    actions: IntArray  # (N,) actions of one state
    path: Path  # the path that a policy takes as long as no transition is random
    n_valued: IntArray  # (1,) number of valuations so far: the stamp of the entries of `rows`
    rows: IntArray  # (N, S) row s·A + a that the policy plays, and a stamp above 32 bits; (0, 0) if not kept


class Walk(NamedTuple):
    """How far the distribution of states has been carried forward."""

    h: int  # number of steps taken
    layer: int  # layer of the last step, counted from 0; −1 before the first step
    total: float  # value of these steps, and of all later steps in absorbing states
    n_states: int  # number of states that the distribution reaches
    now: Distribution  # distribution before the next step
    spare: Distribution  # arrays for the distribution after it, all 0
