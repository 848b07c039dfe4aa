"""Claims about an unknown law that arithmetic decides: Theorem 4, its lemmas, corollaries and rates."""

from __future__ import annotations

import math

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.laws import Geometric, LengthLaw, Polynomial
from sojourn.reports import Claim, ClaimVerdict
from sojourn.theory import (
    block_length,
    printed_known_law_exponent,
    printed_unknown_law_bound,
    printed_unknown_law_exponent,
)

__all__ = [
    "announced_exponent",
    "corollary_5",
    "corollary_6",
    "dkw",
    "factor_between_rates",
    "lemma_5",
    "lemma_6",
    "lemma_7",
    "theorem_4",
]

_SIZE = {"n_states": 6, "n_actions": 2}
"""Size of the problem for which bounds are evaluated: that of RiverSwim(6)."""


def _fails(failed: bool) -> ClaimVerdict:
    return ClaimVerdict.FAILS if failed else ClaimVerdict.HOLDS


def announced_exponent() -> Claim:
    """Compare the exponent of the introduction with that of Corollary 5 and with ½."""
    p = 2.0
    announced, stated = p / (1.0 + 2.0 * p), printed_unknown_law_exponent(Polynomial(p))
    assert stated is not None  # p ≥ 2 has a corollary
    return Claim(
        "Introduction",
        "With an unknown distribution, “for the polynomial discounting we obtain a regret bound of Õ(√(SA) "
        "T^{p/(1+2p)}), which asymptotically matches the previous regret bound.”",
        _fails(announced < 0.5),
        f"For p = 2 this is T^{announced:.2f}; the paper's own Corollary 5 has T^{stated:.2f}. The exponent "
        "is below ½ for every p, and no learner achieves less than √T on all problems, even if it knows the "
        "law (Theorem D of docs/theory.md). We take it for a misprint of Corollary 5.",
    )


def theorem_4() -> Claim:
    """Say which steps of the proof of Theorem 4 fail, and from which T on its bound could be contradicted."""
    law = Geometric(0.9)
    last = max(k for k in range(3, 30) if _unknown_law_bound(law, 10**k) >= 10**k * law.mean)
    return Claim(
        "Theorem 4",
        "Run with horizon length H*, Algorithm 2 has with probability 1 − δ a regret of at most min_L "
        "(TΓ(L+1) + 2L log(T)√T) + Γ(H*)T + max_h t(h)/γ(h) g(h) Γ(h+1) O(T^−¼)/Γ(h+1) Õ(√(SATH*)). "
        "(Informal; in full: Theorem 8.)",
        ClaimVerdict.UNPROVEN,
        "We judge Theorem 8, which has Γ(H*+1)T and 1 + O(T^−¼)/Γ(h+1), and further terms; the informal "
        "Theorem 4 prints Γ(H*)T and omits “1 +”. The proof uses Theorem 1 in each block, where data come "
        "with the true γ and weights with γ̂; it uses Lemmas 5 and 7, which fail; and in equation (30) it "
        "bounds a product of two sums by their sum. We know no counterexample. Runs are no test: with "
        "constants 1, geometric lengths with γ = 0.9 and a problem of RiverSwim's size, the bound is above "
        f"T·E[H], which no learner exceeds, up to about T = 10^{last} (at the H* of Corollary 6).",
    )


def _unknown_law_bound(law: Geometric, episodes: int) -> float:
    """Return the bound of Theorem 8 with constants 1 and the best β, at the H* of Corollary 6."""
    return printed_unknown_law_bound(law, episodes, horizon=_corollary_horizon(law, episodes), **_SIZE).total


def _corollary_horizon(law: Geometric, episodes: float) -> int:
    """Return H* = ln T/(2 ln(1/γ)), with which Corollary 6 is proved, rounded."""
    return round(math.log(episodes) / (2.0 * math.log(1.0 / law.gamma)))


def dkw() -> Claim:
    """Simulate the bound on the largest error of γ̂ in one block, under a light and a heavy tail."""
    rng, n, n_blocks, delta, n_samples = np.random.default_rng(0), 200, 6, 0.1, 10_000
    bound = math.sqrt(math.log(2.0 * n_blocks / delta) / (2 * n))  # n = 2^{j−1} B lengths, so 2^j B = 2n
    shares = [
        float((_largest_errors(law, law.sample(rng, (n_samples, n))) > bound).mean())
        for law in (Geometric(0.9), Polynomial(1.4))
    ]
    return Claim(
        "Proof of Theorem 4",
        "By the Dvoretzky–Kiefer–Wolfowitz inequality and a union bound, with probability 1 − δ the largest "
        "error of γ̂_j(h) over h is at most ε_j = √(log(2 log(T/B)/δ)/(2^j B)) in all blocks j.",
        ClaimVerdict.HOLDS if max(shares) <= delta / n_blocks else ClaimVerdict.OPEN,
        "γ̂_j comes from the 2^(j−1) B lengths of the block before, and for that number ε_j is exactly "
        "Massart's form of the inequality, which holds for every law; log(T/B), in base 2, is the number of "
        f"blocks. In {n_samples:,} samples of "
        f"2^(j−1) B = {n} lengths, with {n_blocks} blocks and δ = 0.1, it is exceeded in {shares[0]:.2%} "
        f"(Geometric(0.9)) and {shares[1]:.2%} (Polynomial(1.4)) of the samples; {delta / n_blocks:.2%} are "
        "allowed.",
    )


def _largest_errors(law: LengthLaw, samples: IntArray) -> FloatArray:
    """Return sup_h of the error of the empirical survival for each row; γ̂ is constant between lengths."""
    samples = np.sort(samples, axis=1)
    n, edge = samples.shape[1], np.full((len(samples), 1), True)
    changes = np.diff(samples) > 0
    is_first, is_last = np.hstack([edge, changes]), np.hstack([changes, edge])  # among equal lengths
    at = np.abs(1.0 - np.arange(n) / n - law.survival(samples))
    after = np.abs(1.0 - np.arange(1, n + 1) / n - law.survival(samples + 1))
    errors: FloatArray = np.maximum(np.where(is_first, at, 0.0), np.where(is_last, after, 0.0)).max(axis=1)
    return errors


def lemma_5() -> Claim:
    """Simulate the bound on the error of Γ̂ where the range of H is large."""
    rng, n, longest, delta = np.random.default_rng(0), 1_000, 1_000, 0.1
    means = np.where(rng.random((400, n)) < 0.5, 1, longest).mean(axis=1)
    bound = math.sqrt((math.log(longest) + math.log(1.0 / delta)) / n)
    exceeded = float((np.abs(means - (1 + longest) / 2) > bound).mean())
    return Claim(
        "Lemma 5",
        "With n lengths, with probability 1 − δ, the largest error of Γ̂_n(h) for h = 1, …, D is at most "
        "√((log D + log(1/δ))/n).",
        _fails(exceeded > delta),
        f"For H = 1 or 1,000 with probability ½ each and n = 1,000, the bound ({bound:.3f}) is exceeded in "
        f"{exceeded:.0%} of 400 samples, where δ = 0.1 allows 10%: a factor for the range of H is missing. "
        "With γ(h) = h^−p and p < 2 no such factor helps: the mean of H converges more slowly than 1/√n.",
    )


def lemma_6() -> Claim:
    """Search for a violation of the first ratio inequality."""
    rng, n = np.random.default_rng(0), 1_000_000
    gamma, eps = rng.random(n), rng.random(n) ** 3
    factor = 1.0 + np.sqrt(np.log(10.0 ** rng.uniform(1.0, 12.0, n)))
    tail = gamma * (1.0 + rng.exponential(3.0, n))
    # Half of the errors are as large as allowed.
    estimate = np.clip(gamma + eps * np.clip(rng.uniform(-2.0, 2.0, n), -1.0, 1.0), 0.0, 1.0)
    tail_estimate = tail + eps * factor * np.clip(rng.uniform(-2.0, 2.0, n), -1.0, 1.0)
    allowed = (tail_estimate >= estimate) & (tail_estimate > 0.0)
    error = np.abs(estimate / np.where(allowed, tail_estimate, 1.0) - gamma / tail)
    violations = int((error > eps * (1.0 + factor) / tail * (1.0 + 1e-9))[allowed].sum())
    return Claim(
        "Lemma 6",
        "If γ̂_j(h) is within ε_j of γ(h) and Γ̂_j(h) within ε_j(1 + √(log T)) of Γ(h), then "
        "γ̂_j(h)/Γ̂_j(h) is within ε_j(2 + √(log T))/Γ(h) of γ(h)/Γ(h).",
        _fails(violations > 0),
        f"The printed proof is right. Random search: {violations} violations in {int(allowed.sum()):,} "
        "cases.",
    )


def lemma_7() -> Claim:
    """Evaluate the second ratio inequality at one counterexample, with the ε of Algorithm 2 at T = 10⁶."""
    episodes, delta = 10**6, 0.1
    first_block = block_length(episodes, delta=delta)
    eps = math.sqrt(math.log(2.0 * math.log2(episodes / first_block) / delta) / (2.0 * first_block))
    eps = math.floor(eps * 1e5) / 1e5
    gamma, tail, estimate, tail_estimate = 0.006, 0.06, 0.00035, 0.08665
    factor = 1.0 + math.sqrt(math.log(episodes))
    assert abs(estimate - gamma) <= eps + 1e-12
    assert abs(tail_estimate - tail) <= eps * factor
    error, allowed = tail_estimate / estimate - tail / gamma, eps * factor / gamma
    return Claim(
        "Lemma 7",
        "Under the conditions of Lemma 6, Γ̂_j(h)/γ̂_j(h) is within ε_j(1 + √(log T))/γ(h) of Γ(h)/γ(h).",
        _fails(error > allowed),
        f"At T = 10⁶ and δ = 0.1, ε_1 = {eps:.5f} (base 2 in log(T/B)). With γ(h) = {gamma}, Γ(h) = {tail}, "
        f"γ̂(h) = {estimate:.5f} and Γ̂(h) = {tail_estimate:.5f}, which are within the conditions, the ratios "
        f"differ by {error:.0f}; the lemma allows {allowed:.1f}. The last display of its proof divides by γ "
        "+ ε where the rearrangement gives γ − ε.",
    )


def corollary_5() -> Claim:
    """Return the claim about an unknown polynomial law."""
    return Claim(
        "Corollary 5",
        "For γ(h) = h^−p, p ≥ 2, the regret of Algorithm 2 is Õ(√(SA) T^{(p+1)/2p}) if T ≥ "
        "O((S^{3/2}A^{1/2})^p), and Õ(S²A T^{1/(2−1/p)}) if T ≤ O((S^{3/2}A^{1/2})^p).",
        ClaimVerdict.UNPROVEN,
        "It follows from Theorem 4, whose proof has gaps; at p = 2 the variance of H, which would have to "
        "enter Lemma 5, is infinite. (The proof of the second case ends with T^{(p−1)/2p}, which is smaller "
        "than what is stated.) Runs at p = 2 are in docs/evidence.md.",
    )


def corollary_6() -> Claim:
    """Say with which β the printed Theorem 4 gives the rate, and under which condition on T."""
    gamma = 0.9
    exact = gamma ** (1.0 - math.log(1e8) / (2.0 * math.log(1.0 / gamma)))
    return Claim(
        "Corollary 6",
        "For an unknown γ(h) = γ^{h−1} and T/log³T ≥ S³A/(1−γ)⁴, Algorithm 2 has regret at most "
        "Õ(√(SAT)/(1−γ)^{1.5}): “up to logarithmic factors” (introduction) that of a known law.",
        ClaimVerdict.UNPROVEN,
        "The rate follows from Theorem 4, whose proof has gaps, but not as printed: the proof, with β = "
        f"3/2, replaces γ^(1−H*) by T^¼ (at T = 10⁸ and γ = {gamma} it is {exact:,.0f}, not 100). The "
        "analysis allows any β. With β = ln T/(4 ln H*), that is (H*)^β = T^¼, the logarithm of γ^(1−k) k^−β "
        "is convex in k, so up to k = H* this is at most the geometric sequence from 1 to γT^¼; its sum is "
        "of order T^¼/(1−γ), and g is bounded. The last term, S²A(H*)^β/(1−γ)², is then of lower order for T "
        "≥ S⁶A²/(1−γ)², up to logarithms, which is another condition than the printed one. Runs are in "
        "docs/evidence.md.",
    )


def factor_between_rates() -> Claim:
    """Compute the factor between Corollaries 5 and 2."""
    p = 2.0
    known, unknown = printed_known_law_exponent(Polynomial(p)), printed_unknown_law_exponent(Polynomial(p))
    assert known is not None  # polynomial laws have a corollary
    assert unknown is not None
    exponent, stated = unknown - known, 1.0 / (2.0 * p)
    return Claim(
        "Section 5",
        "“For the polynomial discounting we get a regret of the order of T^{(p+1)/2p} which is worse than "
        "the regret bound of theorem 1 by a factor of T^{1/2p}.” (Before Corollary 5: “we can obtain regret "
        "bounds similar to corollary 2, and 3 up to logarithmic factors”.)",
        _fails(abs(exponent - stated) > 1e-9),
        "A slip to the paper's own disadvantage: T^((p+1)/2p) is T^((p−1)/(2p(2p−1))) times the "
        f"T^(p/(2p−1)) of Corollary 2. At p = 2 that is T^{exponent:.3f}, not T^{stated:.2f}. The same "
        "factor, which is no logarithm, contradicts the announcement before Corollary 5 for polynomial laws.",
    )
