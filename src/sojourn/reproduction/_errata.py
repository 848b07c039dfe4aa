"""Claims of the paper that are decided by arithmetic or planning alone."""

from __future__ import annotations

import math

import numpy as np

from sojourn.laws import Geometric, Polynomial
from sojourn.mdps import TabularMDP
from sojourn.planning import evaluate, plan
from sojourn.reports import Claim, ClaimVerdict
from sojourn.theory import error_growth, printed_known_law_exponent

__all__ = ["errata"]


def errata() -> tuple[Claim, ...]:
    """Return the claims that need no trials; docs/notes-on-the-paper.md has the proofs."""
    return (_polynomial_rate(), _estimated_tail(), _unknown_geometric(), _error_growth(), _reward_shift())


def _fails(failed: bool) -> ClaimVerdict:
    return ClaimVerdict.FAILS if failed else ClaimVerdict.HOLDS


def _polynomial_rate() -> Claim:
    law = Polynomial(2.0)
    announced, known = law.p / (1.0 + 2.0 * law.p), printed_known_law_exponent(law)
    assert known is not None  # a polynomial law has a corollary
    return Claim(
        "Introduction",
        "With an unknown polynomial law, regret grows like T^{p/(1+2p)}.",
        _fails(announced < 0.5),
        f"For p = 2 this is T^{announced:.2f}: less than √T, which no learner can achieve on every problem, "
        f"and less than the T^{known:.2f} that the paper proves for a known law.",
    )


def _estimated_tail() -> Claim:
    rng, n, longest, delta = np.random.default_rng(0), 1_000, 1_000, 0.1
    means = np.where(rng.random((400, n)) < 0.5, 1, longest).mean(axis=1)
    bound = math.sqrt((math.log(longest) + math.log(1.0 / delta)) / n)
    exceeded = float((np.abs(means - (1 + longest) / 2) > bound).mean())
    return Claim(
        "Section 4",
        "With n observed lengths, |Γ̂(h) − Γ(h)| ≤ √((ln D + ln 1/δ)/n) for all h ≤ D, with probability "
        "1 − δ.",
        _fails(exceeded > delta),
        f"With H = 1 or 1,000 and n = 1,000, the bound is exceeded in {exceeded:.0%} of 400 samples, where "
        "δ = 0.1 allows 10%: a factor for the range of H is missing.",
    )


def _unknown_geometric() -> Claim:
    gamma, episodes = 0.9, 10**8
    horizon = math.log(episodes) / (2.0 * math.log(1.0 / gamma))
    true, assumed = gamma ** (1.0 - horizon), episodes**0.25
    return Claim(
        "Corollary 4",
        "With an unknown geometric law, regret grows like √T; this follows from Theorem 2.",
        _fails(true > 2.0 * assumed),
        f"The proof replaces γ^(1−H*) by T^(1/4); at T = 10⁸ and γ = 0.9 it is {true:,.0f}, not "
        f"{assumed:,.0f}. So it does not follow from Theorem 2; it may still be true.",
    )


def _error_growth() -> Claim:
    gamma = 0.95
    steps = np.arange(1, 2_001)
    above = np.flatnonzero(error_growth(Geometric(gamma), steps, beta=1.5) > math.exp(1.0 - gamma))
    return Claim(
        "Corollary 2",
        "t(h)/γ(h) ≤ e^(1−γ) for all h.",
        _fails(above.size > 0),
        f"At γ = 0.95 the bound is exceeded from h = {int(steps[above[0]]) if above.size else 0} on; "
        "the bound e^(1.62(1−γ)) holds. Only a constant changes.",
    )


def _reward_shift() -> Claim:
    taxi, law = TabularMDP.from_env("Taxi-v4"), Geometric(0.95)
    shifted = (taxi.rewards + 10.0) / 30.0
    shifted[list(taxi.terminal), :] = 0.0
    unshifted = TabularMDP(taxi.transitions, shifted, start=taxi.start, terminal=taxi.terminal)
    earned = []
    for problem in (taxi.normalized(), unshifted):
        best = plan(problem, law)
        earned.append(float(evaluate(taxi, law, best.policy, best.after).value @ taxi.start))
    return Claim(
        "Section 6",
        "Taxi's rewards can be mapped to [0, 1].",
        ClaimVerdict.DEPENDS if earned[1] < earned[0] - 1e-6 else ClaimVerdict.HOLDS,
        f"Under Geometric(0.95) the best policy of the mapped problem earns {earned[0]:.2f} in Taxi's own "
        f"units if the absorbing state also gets the shift, and {earned[1]:.2f} if not. The paper does "
        "not say which it uses.",
    )
