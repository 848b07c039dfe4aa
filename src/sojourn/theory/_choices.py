"""Parameters of the paper's algorithms: the truncation, β and block length that its corollaries choose."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from sojourn.laws import Geometric, LengthLaw, Polynomial, QuasiHyperbolic
from sojourn.theory._checks import check_delta, check_episodes, check_law

__all__ = ["Choice", "block_length", "corollary", "exact_block_length", "printed_truncation"]

Source = Literal["corollary 2", "corollary 3", "default"]


@dataclass(frozen=True)
class Choice:
    """A truncation for algorithm 1, and its source.

    Attributes:
        truncation: Δ, the weight given up beyond the horizon.
        horizon: N, the number of layers: the smallest N with Γ(N) ≤ Δ, at most the longest length.
        beta: β, the free exponent of the analysis, as the corollary chooses it; not used in play.
        source: "corollary 2" (polynomial laws), "corollary 3" (geometric laws) or "default" (the paper has no
            corollary for the law).
    """

    truncation: float
    horizon: int
    beta: float
    source: Source


def printed_truncation(law: LengthLaw, episodes: int) -> Choice:
    """Return the truncation that the paper's corollary chooses for T episodes under this law.

    Geometric and quasi-hyperbolic laws: Δ = 1/(T(1−γ)), β = 3/2. Polynomial laws: Δ = T^(−(p−1)/(2p−1)),
    times (p−1)^(−1/(2p−1)) for p > 2, and β = p − 1. All others: Δ = Γ(1)/T, β = 3/2, which is
    Sojourn's own choice.

    Corollaries 3 and 2 are stated for γ^(h−1) and h^(−p). Their Δ is used for quasi-hyperbolic laws too,
    whose t(h)/γ(h) is that of the geometric law, and for polynomial laws with an offset, whose tail is the
    same.

    Raises:
        ValueError: If the tail is so heavy that N is above 2**53.

    Example:
        >>> from sojourn.laws import Fixed, Geometric, Polynomial
        >>> printed_truncation(Geometric(0.75), 1_000)
        Choice(truncation=0.004, horizon=26, beta=1.5, source='corollary 3')
        >>> printed_truncation(Polynomial(2.0), 1_000).horizon  # Δ = 1/10
        11
        >>> printed_truncation(Fixed(20), 1_000)
        Choice(truncation=0.02, horizon=20, beta=1.5, source='default')
    """
    truncation, beta, source = corollary(check_law(law), check_episodes(episodes))
    try:
        horizon = law.effective_horizon(truncation)
    except ValueError as error:
        raise ValueError(
            f"{law!r} has too heavy a tail for {episodes} episodes: Γ(N) ≤ {truncation:.3g} needs N above "
            "2**53; give a horizon."
        ) from error
    return Choice(truncation, horizon, beta, source)


def corollary(law: LengthLaw, episodes: float) -> tuple[float, float, Source]:
    """Return Δ, β and their source."""
    match law:
        case Geometric() | QuasiHyperbolic():
            return 1.0 / (episodes * (1.0 - law.gamma)), 1.5, "corollary 3"
        case Polynomial(p=p):
            factor = (p - 1.0) ** (-1.0 / (2.0 * p - 1.0)) if p > 2.0 else 1.0
            return factor * episodes ** (-(p - 1.0) / (2.0 * p - 1.0)), p - 1.0, "corollary 2"
        case _:
            return law.mean / episodes, 1.5, "default"


def block_length(episodes: int, *, delta: float = 0.1) -> int:
    """Return the length of the first block of algorithm 2, rounded, at least 1.

    It is B = √T · ln T · ln(ln(T)/δ). If B ≥ T, the law is never estimated; for δ = 0.1 that is so up to
    T = 784.

    Example:
        >>> block_length(100), block_length(5_000)
        (176, 2677)
    """
    return max(1, round(exact_block_length(check_episodes(episodes), check_delta(delta))))


def exact_block_length(episodes: float, delta: float) -> float:
    """Return √T · ln T · ln(ln(T)/δ), or 0 if that is negative (ln T ≤ δ)."""
    log_t = math.log(episodes)
    return math.sqrt(episodes) * log_t * math.log(max(log_t / delta, 1.0))
