"""The growth rates of regret that the corollaries state."""

from __future__ import annotations

from sojourn.laws import Geometric, LengthLaw, Polynomial, QuasiHyperbolic
from sojourn.theory._checks import check_law

__all__ = ["known_law_exponent", "unknown_law_exponent"]


def known_law_exponent(law: LengthLaw) -> float | None:
    """Return the power of T in the regret of algorithm 1, or None if the paper has no corollary.

    Geometric (corollary 2): ½, Reg ≤ Õ(√(SAT)/(1−γ)^1.5). Polynomial (corollary 1): p/(2p−1),
    Reg ≤ Õ(√(SA) T^(p/(2p−1))), for p ≥ 2 once T ≥ (S³A)^(p−½) (the paper states T ≥ S³A, because its proof
    uses N^½ instead of N^β by mistake), and for p < 2 once T ≥ (S³A)^((2p−1)/(2(p−1))), as in the proof.

    Quasi-hyperbolic laws count as geometric, polynomial laws with an offset as polynomial: constants change,
    powers of T do not.

    Example:
        >>> from sojourn.laws import Geometric, Polynomial, Uniform
        >>> known_law_exponent(Geometric(0.9)), known_law_exponent(Polynomial(2.0))
        (0.5, 0.6666666666666666)
        >>> known_law_exponent(Uniform(1, 40)) is None
        True
    """
    match check_law(law):
        case Geometric() | QuasiHyperbolic():
            return 0.5
        case Polynomial(p=p):
            return p / (2.0 * p - 1.0)
        case _:
            return None


def unknown_law_exponent(law: LengthLaw) -> float | None:
    """Return the power of T in the regret of algorithm 2, or None if the paper has no corollary.

    Polynomial, p ≥ 2 (corollary 3): (p+1)/(2p), Reg ≤ Õ(√(SA) T^((p+1)/(2p))); for p < 2 there is none. The
    introduction states p/(1+2p) instead, which is below ½ and therefore impossible.

    Geometric (corollary 4): ½, as stated, with H* = ln T/(2 ln(1/γ)). Theorem 2 does not imply it: the
    proof replaces 1/γ^(H*−1), which is γ √T, by T^(1/4), so at this H* the factor g(H*) grows faster than
    every power of T. With the best H*, the bound of theorem 2 grows like T^(3/4).

    Example:
        >>> from sojourn.laws import Geometric, Polynomial
        >>> unknown_law_exponent(Geometric(0.9)), unknown_law_exponent(Polynomial(2.0))
        (0.5, 0.75)
        >>> unknown_law_exponent(Polynomial(1.4)) is None
        True
    """
    match check_law(law):
        case Geometric() | QuasiHyperbolic():
            return 0.5
        case Polynomial(p=p) if p >= 2.0:
            return (p + 1.0) / (2.0 * p)
        case _:
            return None
