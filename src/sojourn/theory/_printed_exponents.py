"""The powers of T that the paper prints: Corollaries 2, 3, 5 and 6."""

from __future__ import annotations

from sojourn.laws import Geometric, LengthLaw, Polynomial, QuasiHyperbolic
from sojourn.theory._checks import check_law

__all__ = ["printed_known_law_exponent", "printed_unknown_law_exponent"]


def printed_known_law_exponent(law: LengthLaw) -> float | None:
    """Return the power of T that the paper prints for a known law, or None if it has no corollary.

    Geometric (Corollary 3): ½, Reg ≤ Õ(√(SAT)/(1−γ)^1.5). Polynomial (Corollary 2): p/(2p−1),
    Reg ≤ Õ(√(SA) T^(p/(2p−1))), for p ≥ 2 once T ≥ S³A, and for p < 2 once T ≥ (S³A)^((2p−1)/(p−1)). (For
    p ≥ 2 the condition needs β = ½ in the analysis, not β = p − 1 as the paper says; that costs only a
    constant, at most e^(1.61 (p−1)).)

    `proven_exponent` has the powers that are proven for the paper's bonus: the same for geometric laws and
    for p = 2, smaller for p > 2, larger for 1 < p < 2.

    Quasi-hyperbolic laws count as geometric, polynomial laws with an offset as polynomial: constants change,
    powers of T do not.

    Example:
        >>> from sojourn.laws import Geometric, Polynomial, Uniform
        >>> printed_known_law_exponent(Geometric(0.9)), printed_known_law_exponent(Polynomial(2.0))
        (0.5, 0.6666666666666666)
        >>> printed_known_law_exponent(Uniform(1, 40)) is None
        True
    """
    match check_law(law):
        case Geometric() | QuasiHyperbolic():
            return 0.5
        case Polynomial(p=p):
            return p / (2.0 * p - 1.0)
        case _:
            return None


def printed_unknown_law_exponent(law: LengthLaw) -> float | None:
    """Return the power of T that the paper prints for an unknown law, or None if it has no corollary.

    Polynomial, p ≥ 2 (Corollary 5): (p+1)/(2p), Reg ≤ Õ(√(SA) T^((p+1)/(2p))); for p < 2 there is none. The
    introduction states p/(1+2p) instead, which is below ½ and therefore impossible.

    Geometric (Corollary 6): ½ with H* = ln T/(2 ln(1/γ)). The printed proof sets β = 3/2 and replaces
    1/γ^(H*−1), which is γ √T, by T^(1/4). But β is free in the analysis, and with β = ln T/(4 ln H*) the
    printed Theorem 4 does give √T up to logarithms.

    Example:
        >>> from sojourn.laws import Geometric, Polynomial
        >>> printed_unknown_law_exponent(Geometric(0.9)), printed_unknown_law_exponent(Polynomial(2.0))
        (0.5, 0.75)
        >>> printed_unknown_law_exponent(Polynomial(1.4)) is None
        True
    """
    match check_law(law):
        case Geometric() | QuasiHyperbolic():
            return 0.5
        case Polynomial(p=p) if p >= 2.0:
            return (p + 1.0) / (2.0 * p)
        case _:
            return None
