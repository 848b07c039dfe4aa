"""Claims about the model that planning decides: lengths and discounts are equivalent, Lemmas 1 and 2."""

from __future__ import annotations

import itertools

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.laws import Fixed, Geometric, LengthLaw, Mixture, NegativeBinomial, Uniform
from sojourn.mdps import TabularMDP, garnet, two_paths
from sojourn.planning import clairvoyant_value, evaluate, plan
from sojourn.reports import Claim, ClaimVerdict

__all__ = ["equivalence", "lemma_1", "lemma_2", "same_minimizers"]

_ROUNDING = 1e-9
"""Largest difference between two computations of the same value."""

_LAWS: tuple[LengthLaw, ...] = (
    Uniform(1, 12),
    Fixed(7),
    Mixture([0.7, 0.3], [Fixed(1), Fixed(20)]),
    Geometric(0.6),
    NegativeBinomial(2.0, 0.5),
)
"""Laws of the check of the equivalence; P(H > 200) is below 1e-40 under all of them."""


def equivalence() -> Claim:
    """Compare the mean over lengths of undiscounted rewards with the discounted reward, policy by policy."""
    rng, worst = np.random.default_rng(0), 0.0
    for seed in range(10):
        mdp = garnet(5, 3, 2, seed=seed)
        policy = rng.integers(mdp.n_actions, size=(200, mdp.n_states))
        for law in _LAWS:
            discounted = evaluate(mdp, law, policy, after="hold").value
            worst = max(worst, float(np.abs(_mean_over_lengths(mdp, law, policy) - discounted).max()))
    return Claim(
        "Section 2.1",
        "With γ(h) = P(H ≥ h), the expected reward of an episode of random length H is the discounted sum E "
        "Σ_h γ(h) r(x_h, a_h).",
        ClaimVerdict.HOLDS if worst <= _ROUNDING else ClaimVerdict.FAILS,
        "It follows by exchanging two sums, because H is drawn independently of the trajectory. Over 10 "
        f"random problems, 10 policies that change with the step and {len(_LAWS)} laws, the two sides differ "
        f"by at most {worst:.0e}.",
    )


def same_minimizers() -> Claim:
    """Compare both regrets of every policy on small problems, with all best values by enumeration."""
    law, rounding, constants, spread, n_policies = Uniform(1, 4), 0.0, [], [], 0
    weights = law.pmf(np.arange(1, 5))
    for seed in range(5):
        mdp = garnet(2, 2, 2, seed=seed)
        policies = np.array(list(itertools.product(range(2), repeat=8))).reshape(-1, 4, 2)
        earned = np.array([_by_length(mdp, policy) for policy in policies])  # (policies, lengths, states)
        discounted = np.array([evaluate(mdp, law, policy, after="hold").value for policy in policies])
        by_length = np.einsum("l,pls->ps", weights, earned.max(axis=0) - earned)
        by_discount = discounted.max(axis=0) - discounted
        difference = by_length - by_discount
        rounding = max(rounding, float(np.ptp(difference, axis=0).max()))
        constants += list(difference.mean(axis=0))
        spread.append(float(by_discount.max()))
        n_policies = len(policies)
    return Claim(
        "Abstract",
        "“[M]inimizing regret with this new general discounting is equivalent to minimizing regret with "
        "uncertain episode lengths.”",
        ClaimVerdict.HOLDS if rounding <= _ROUNDING else ClaimVerdict.FAILS,
        "By the identity of Section 2.1, Reg(π; P_H) − Reg(π; γ) is the same for all learners, so the same "
        "learners are best. On 5 random problems with two states and H = 1 … 4, the two regrets of all "
        f"{n_policies} policies, with the best values by enumeration, differ by a constant for each problem "
        f"and start, up to {max(constants):.3f}, to within {_ROUNDING:.0e}; regret itself goes up to "
        f"{max(spread):.2f}. (The constant is not 0: see Lemma 1.)",
    )


def _mean_over_lengths(mdp: TabularMDP, law: LengthLaw, policy: IntArray) -> FloatArray:
    """Return Σ_ℓ P(ℓ) V^π(x; ℓ): the mean of undiscounted rewards over ℓ steps."""
    return np.asarray(law.pmf(np.arange(1, len(policy) + 1)) @ _by_length(mdp, policy))


def _by_length(mdp: TabularMDP, policy: IntArray) -> FloatArray:
    """Return V^π(x; ℓ), undiscounted, for ℓ = 1 … as many as there are layers, by plain forward sums."""
    table = mdp.transitions.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)
    states = np.arange(mdp.n_states)
    reached, totals = np.eye(mdp.n_states), [np.zeros(mdp.n_states)]
    for actions in policy:
        totals.append(totals[-1] + reached @ mdp.rewards[states, actions])
        reached = reached @ table[states, actions]
    return np.array(totals[1:])


def lemma_1(n_positive: int, n_cases: int) -> Claim:
    """Judge Lemma 1 by `two_paths`, whose values can be computed by hand."""
    law, mdp = Mixture([0.5, 0.5], [Fixed(1), Fixed(10)]), two_paths()
    clairvoyant = float(mdp.start @ clairvoyant_value(mdp, law))
    blind = float(mdp.start @ plan(mdp, law).value)
    return Claim(
        "Lemma 1",
        "For any learning algorithm, Reg(π; P_H) ≤ Reg(π; γ). (The first compares with the best policy for "
        "each length H_k, the second with the best policy under γ.)",
        ClaimVerdict.FAILS if clairvoyant > blind + _ROUNDING else ClaimVerdict.HOLDS,
        "The two differ by the value of knowing each length in advance, the same for all learners. On three "
        f"states with H = 1 or 10 (two_paths), a policy for each length earns {clairvoyant:.1f} on average "
        f"and the best single policy {blind:.1f}, so that Reg(π; P_H) ≥ {clairvoyant - blind:.1f} T for "
        f"every learner. The difference is positive in {n_positive} of {n_cases} cases here. The proof "
        "replaces the histories of one policy by those of another.",
    )


def lemma_2(smallest: float, n_cases: int) -> Claim:
    """Judge Lemma 2 by the smallest difference of clairvoyant and blind values, relative to the first."""
    return Claim(
        "Lemma 2",
        "If γ is non-increasing, there is a distribution of lengths for which Reg(π; γ) ≤ Reg(π; P_H).",
        ClaimVerdict.HOLDS if smallest >= -_ROUNDING else ClaimVerdict.FAILS,
        "The printed proof is right: a policy that is chosen for each length earns at least as much as the "
        f"best single one. In all {n_cases} cases here it does, to within {_ROUNDING:.0e} of its value.",
    )
