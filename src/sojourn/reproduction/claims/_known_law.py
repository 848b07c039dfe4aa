"""Claims about regret with a known law: Theorem 1, Lemma 3, Corollaries 2 and 3, the minimax remark."""

from __future__ import annotations

import math

import numpy as np

from sojourn.laws import Geometric, LengthLaw, Polynomial, QuasiHyperbolic
from sojourn.reports import Claim, ClaimVerdict
from sojourn.reproduction.claims._optimism import Optimism
from sojourn.theory import (
    error_growth,
    printed_known_law_bound,
    printed_truncation,
    rare_choice_lower_bound,
)

__all__ = [
    "corollary_2_claims",
    "corollary_3",
    "error_growth_claim",
    "least_episodes",
    "lemma_3",
    "minimax_remark",
    "printed_slope",
    "theorem_1",
]

_LONG_EPISODES, _GAMMA, _DELTA = 400, 0.9, 0.01
"""Mean number of episodes longer than one step in the counterexample, its γ, and the failure probability."""


def theorem_1() -> Claim:
    """Evaluate the printed bound on the counterexample beside the lower bound for every learner."""
    rows, contradicted = [], False
    for exponent in (10, 14):
        law = QuasiHyperbolic(10.0**-exponent, _GAMMA)
        episodes = round(_LONG_EPISODES / (_GAMMA * law.beta))
        printed, least = _smallest_printed_bound(law, episodes), rare_choice_lower_bound(law, episodes)
        # Regret is at most gap · Γ(3) per episode, so a bound that holds with probability 1 − δ on both
        # problems is at least this.
        most = 0.025 * float(law.tail(3)) * episodes
        needed = least - _DELTA * most
        contradicted = contradicted or 10.0 * printed < needed
        rows.append(f"{printed:.2g} at β = 10^−{exponent}")
    return Claim(
        "Theorem 1",
        "“[A] generic bound that holds for any discount factor”: with probability 1 − δ, Reg(π; γ) ≤ "
        "ΔT·t(N+1)/γ(N+1) + max_h t(h)Γ(h+1)/γ(h) · Õ(√(SATN)), N = N(Δ). (In full: Theorem 7.)",
        ClaimVerdict.FAILS if contradicted else ClaimVerdict.OPEN,
        "Not for every law, if constants may not depend on the law and the learner sees only steps 1 … H of "
        "an episode. We read it so because the model has steps h ∈ [H_k] only and the algorithm “acts in an "
        "episodic setting with uncertain episode lengths”. For γ(h) = β·0.9^(h−1) (h > 1) and T = "
        f"400/(0.9β), one of two four-state problems costs every learner at least {least:.2f} in "
        f"expectation. Regret is at most {most:.0f} on every path, so a bound that holds with "
        f"probability 1 − δ on both is at least {least:.2f} − {most:.0f}δ, which is "
        f"{needed:.2f} for δ = {_DELTA}; the printed one, with constants 1, is {' and '.join(rows)}. The "
        "proof counts T·N(Δ) visits, before equation (19), as if every episode showed N(Δ) steps. The "
        "example needs a mean length near 1. For geometric laws, and for polynomial ones with p ≥ 2 and "
        "large T, we prove the paper's rates again (Theorem B of docs/theory.md).",
    )


def _smallest_printed_bound(law: LengthLaw, episodes: int) -> float:
    """Return the printed bound with constants 1 for the best N, where Δ = Γ(N), and the best exponent."""
    return min(
        printed_known_law_bound(
            law, episodes, n_states=4, n_actions=2, delta=_DELTA, truncation=float(law.tail(n))
        ).total
        for n in range(5, 200, 5)
    )


def lemma_3(checks: list[Optimism], control: Optimism) -> Claim:
    """Judge optimism by checks before every episode; `control` is a check with a bonus that is too small."""
    n_episodes, n_failed = sum(c.n_episodes for c in checks), sum(c.n_failed for c in checks)
    return Claim(
        "Lemma 3",
        "With probability at least 1 − δ, Q_{k,h}(x, a) ≥ Q*_h(x, a) and V_{k,h}(x) ≥ V*_h(x) for all k, h, "
        "x and a.",
        ClaimVerdict.HOLDS if n_failed == 0 else ClaimVerdict.OPEN,
        "Proven again as part of Theorem B (docs/theory-proofs.md), with a union bound over all counts. "
        f"Checked before each of {n_episodes:,} episodes at bonus scale 1, for all layers, states and "
        f"actions ({len(checks)} runs): it fails in {n_failed}. By the end, "
        f"{min(c.learned for c in checks):.0%} to {max(c.learned for c in checks):.0%} of the Q values had "
        "left their initial value. With the bonus times 0.001, the same check fails in "
        f"{control.n_failed / control.n_episodes:.0%} of the episodes.",
    )


def corollary_2_claims(growth: dict[str, str]) -> tuple[Claim, Claim]:
    """Return the claims about polynomial laws; `growth` has sentences on measured growth by case."""
    return (
        Claim(
            "Corollary 2, p ≥ 2",
            "For γ(h) = h^−p, p ≥ 2 and T ≥ O(S³A): Reg(T) ≤ Õ(√(SA) T^{1/(2−1/p)}).",
            ClaimVerdict.HOLDS_IN_PART,
            "The rate is proven for larger T. The printed proof has the gap of Theorem 1; Theorem B of "
            "docs/theory.md gives the same rate for the same learner and truncation (corollary in "
            "docs/theory-proofs.md) once T ≥ (κ²SA)^((2p−1)/(2p−2)) up to logarithms, where κ is the largest "
            "number of successors. From T = S³A up to there it is unproven. " + growth["p ≥ 2"],
        ),
        Claim(
            "Corollary 2, 1 < p < 2",
            "For γ(h) = h^−p, 1 < p < 2 and T ≥ O((S³A)^{(2p−1)/(p−1)}): Reg(T) ≤ Õ((p−1)^{−p/(p−1)} √(SA) "
            "T^{1/(2−1/p)}).",
            ClaimVerdict.UNPROVEN,
            "The printed proof has the gap of Theorem 1. For the paper's learner we prove T^(2/(p+1)), "
            "which is larger, with another truncation; another learner achieves T^(1/p), which is smaller, "
            "so no counterexample can work for all learners (Theorems B and C of docs/theory.md). "
            + growth["p < 2"],
        ),
    )


def corollary_3(growth: str) -> Claim:
    """Return the claim about geometric laws; `growth` is a sentence on measured growth."""
    return Claim(
        "Corollary 3",
        "For γ(h) = γ^{h−1} and T ≥ S³A/(1−γ)⁴, Algorithm 1 has regret at most Õ(√(SAT)/(1−γ)^{1.5}).",
        ClaimVerdict.HOLDS,
        "The printed proof has the gap of Theorem 1; Theorem B of docs/theory.md proves the same rate for "
        "the same learner with the printed Δ and N(Δ) (corollary in docs/theory-proofs.md) from T ≥ "
        "κ²SA(1−γ) on, up to logarithms, which the printed condition implies. " + growth,
    )


def error_growth_claim() -> Claim:
    """Compare t(h)/γ(h) with the bound in the proof of Corollary 3."""
    gamma, steps = 0.95, np.arange(1, 2_001)
    growth = error_growth(Geometric(gamma), steps, beta=1.5)
    above = np.flatnonzero(growth > math.exp(1.0 - gamma))
    return Claim(
        "Proof of Corollary 3",
        "Π_{j=2}^h (1 + (1−γ)/j^{3/2}) ≤ e^{1−γ}.",
        ClaimVerdict.FAILS if above.size > 0 else ClaimVerdict.HOLDS,
        "A slip in a constant, without consequence: Σ_(j≥2) j^−1.5 is 1.612, not at most 1. At γ = 0.95 the "
        f"product is above e^0.05 from h = {int(steps[above[0]]) if above.size else 0} on; e^(1.613(1−γ)) is "
        "right.",
    )


def minimax_remark() -> Claim:
    """Return the claim that the rate of Corollary 3 is minimax."""
    return Claim(
        "Section 4",
        "“Our regret bound for the geometric discounting matches the minimax optimal regret bound of the "
        "non-episodic setting of [HZG21].”",
        ClaimVerdict.DEPENDS,
        "On what “matches” means. The formula is the same, but T counts steps in HZG21 and episodes here. "
        "For T episodes, Theorem C and Theorem D of docs/theory.md give √(SAT)/(1−γ) from above (with "
        "another bonus) and γ^1.5 √(SAT)/(1−γ) from below, up to constants and logarithms and for large T: "
        "the paper's bound is larger than the minimax rate for T episodes by (1−γ)^−½.",
    )


def least_episodes(law: LengthLaw, n_states: int, n_actions: int) -> int:
    """Return the T from which on the corollary for this law is stated, with constants 1, rounded up.

    Example:
        >>> least_episodes(Geometric(0.9), 2, 2), least_episodes(Polynomial(1.4), 2, 2)
        (160000, 262144)
    """
    size = n_states**3 * n_actions
    if isinstance(law, Geometric):
        least = size / (1.0 - law.gamma) ** 4
    elif isinstance(law, Polynomial) and law.offset == 0:
        least = size if law.p >= 2.0 else size ** ((2.0 * law.p - 1.0) / (law.p - 1.0))
    else:
        raise ValueError(f"law must be geometric, or polynomial without an offset; got {law}.")
    return math.ceil(round(least, 6))


def printed_slope(law: LengthLaw, n_states: int, n_actions: int, first: int, last: int) -> float:
    """Return the log-log slope between two numbers of episodes of the leading terms of Theorem 1 as printed.

    They are those with ΔT, √(TN) and √(SATN), logarithms included, at the corollary's choices of Δ and β.
    """

    def leading(episodes: int) -> float:
        beta = printed_truncation(law, episodes).beta
        bound = printed_known_law_bound(law, episodes, n_states=n_states, n_actions=n_actions, beta=beta)
        return bound.truncation + bound.noise + bound.bonus

    return math.log(leading(last) / leading(first)) / math.log(last / first)
