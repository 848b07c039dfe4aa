"""Claims about the model that planning decides: the equivalence of lengths and discounts, Lemmas 1 and 2."""

from __future__ import annotations

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.laws import Fixed, Geometric, LengthLaw, Mixture, NegativeBinomial, Uniform
from sojourn.mdps import TabularMDP, garnet, two_paths
from sojourn.planning import clairvoyant_value, evaluate, plan
from sojourn.reports import Claim, ClaimVerdict

__all__ = ["equivalence", "lemma_1", "lemma_2", "reward_range"]

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


def _mean_over_lengths(mdp: TabularMDP, law: LengthLaw, policy: IntArray) -> FloatArray:
    """Return Σ_ℓ P(ℓ) V^π(x; ℓ): the mean of undiscounted rewards over ℓ steps, by plain forward sums."""
    table = mdp.transitions.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)
    states = np.arange(mdp.n_states)
    reached, total = np.eye(mdp.n_states), np.zeros(mdp.n_states)
    mean = np.zeros(mdp.n_states)
    for length, actions in enumerate(policy, start=1):
        total = total + reached @ mdp.rewards[states, actions]
        reached = reached @ table[states, actions]
        mean = mean + float(law.pmf(length)) * total
    return mean


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


def reward_range() -> Claim:
    """Show what mapping Taxi's rewards to [0, 1] does if the absorbing state is not paid the shift."""
    taxi, law = TabularMDP.from_env("Taxi-v4"), Geometric(0.95)
    shifted = (taxi.rewards + 10.0) / 30.0
    shifted[list(taxi.terminal), :] = 0.0
    unshifted = TabularMDP(taxi.transitions, shifted, start=taxi.start, terminal=taxi.terminal)
    earned = []
    for problem in (taxi.normalized(), unshifted):
        best = plan(problem, law)
        earned.append(float(evaluate(taxi, law, best.policy, best.after).value @ taxi.start))
    return Claim(
        "Section 2",
        "“We assume that the rewards are bounded between 0 and 1.” (Taxi, in Appendix B, pays −1 per step, "
        "−10 and 20.)",
        ClaimVerdict.DEPENDS if earned[1] < earned[0] - _ROUNDING else ClaimVerdict.HOLDS,
        "The paper does not say whether or how it maps Taxi's rewards to [0, 1]. Under Geometric(0.95) the "
        f"best policy for (r + 10)/30 earns {earned[0]:.2f} in Taxi's own units if the absorbing state is "
        f"paid the shift too, and {earned[1]:.2f} if it is not.",
    )
