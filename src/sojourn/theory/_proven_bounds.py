"""Regret bounds with complete proofs: Theorems B and C of the theory page.

Both hold for a known law, known rewards in [0, 1], and a learner that replans before every episode. The
constants are those of the proofs, which are not sharp: the bounds show how regret grows and how it depends on
the law, and they fall below the trivial bound T·Γ(1) only for many episodes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sojourn._validation import check_choice, check_positive, check_whole
from sojourn.laws import Geometric, LengthLaw, Polynomial, QuasiHyperbolic
from sojourn.theory._checks import check_delta, check_episodes, check_law
from sojourn.theory._truncation import PROVEN_BONUSES, BonusKind, check_sizes, proven_truncation

__all__ = ["ProvenBound", "proven_bound", "proven_exponent"]

_EXACT = 10**6
"""Layers that are summed one by one; later ones are bounded from above in blocks."""

_BLOCKS_PER_FACTOR_E = 20_000
"""Blocks in which h grows by a factor of e: sums over later layers are too large by about 10⁻⁴ at most."""


@dataclass(frozen=True)
class ProvenBound:
    """The terms of a proven regret bound for T episodes with N layers, constants included.

    Attributes:
        leading: Exploration of all state-action pairs; grows like √T for a fixed number of layers.
        truncation: Rewards after layer N; a multiple of T·Γ(N+1).
        lower_order: Learning the model; κSA·m₊ times logarithms.
        failure: Addition to the expected regret for the event that a confidence interval fails; 0 for a bound
            that holds with high probability.
        probability: Probability with which the bound holds, at least 0; 1 for a bound on the expected regret.
        horizon: Number of layers N.
    """

    leading: float
    truncation: float
    lower_order: float
    failure: float
    probability: float
    horizon: int

    @property
    def total(self) -> float:
        """Sum of the terms."""
        return math.fsum((self.leading, self.truncation, self.lower_order, self.failure))


def proven_bound(
    law: LengthLaw,
    episodes: int,
    *,
    n_states: int,
    n_actions: int,
    bonus: BonusKind = "paper",
    scale: float = 1.0,
    n_successors: int | None = None,
    delta: float = 0.1,
    horizon: int | None = None,
    count: Literal["first", "all"] = "first",
    expected: bool = False,
) -> ProvenBound:
    """Return a proven bound on the regret of optimistic value iteration with a known law.

    Regret is relative to the best policy that does not know the length of the episode.

    Theorem B, for a bonus c·Γ(h+1)/γ(h)/√n with c ≥ √(ι/2); "paper" has c = scale·3·ln(SATN/δ), as
    `PaperBonus` does, and "hoeffding" the smallest proven c = √(ι/2):
    Reg ≤ 4c √(2SAℓ·T·Σ_N) + 3TΔ + 20κSA·m₊·ι·ℓ, with Σ_N = Σ_{h≤N} Γ(h+1)²/γ(h).

    Theorem C, for the monotone Bernstein bonus ρ(h)·max(√(8ι·Var/n), 8ι·m(h+1)/n):
    Reg ≤ 17 √(SA·T·ι·ℓ·𝒱) + 5TΔ + 900κSA·m₊·ι·ℓ, with 𝒱 = min(E[(min(H, N) − 1)²], Σ_N/4).

    Here ι = ln(2SATN²/δ), at least 1 in the last terms; m(h) = Γ(h)/γ(h); m₊ is the largest of m(1), …, m(N)
    and Δ/γ(N); κ is the largest number of successors of a pair; and ℓ is 2(1 + ln(1 + TN) + ln(1/δ)) for the
    bound that holds with high probability, 1 + ln(1 + T·Γ(1)/(SA)) for the expected regret. The learner
    values the steps after layer N at Δ/γ(N+1), where Δ = Γ(N+1) if the number of layers is given.

    With `count="all"` the bonus uses ι(n) = ln(2SAN·n(n+1)/δ) after n visits ("paper": unchanged), and the
    number of counted steps is bounded by T·Γ(1)/δ instead of TN; the failure probability rises by δ.

    For more than 10⁶ layers, sums over layers are bounded from above, about 10⁻⁴ too large.

    Args:
        law: The law of episode lengths, known to the learner.
        episodes: Number of episodes T.
        n_states: Number of states S.
        n_actions: Number of actions A.
        bonus: Kind of exploration bonus.
        scale: Factor on the paper's bonus; 1 for the others.
        n_successors: Largest number κ of successors of a state and an action; S by default.
        delta: Failure probability δ of the learner's confidence intervals. For the expected regret, choose
            about 1/(ST): otherwise the addition for failures is linear in T.
        horizon: Number of layers N; by default that of `proven_horizon`.
        count: Which steps the learner counts: the "first" N of each episode, or "all".
        expected: Whether to bound the expected regret instead of the regret with high probability.

    Raises:
        ValueError: If a number is out of range, or the paper's bonus is below the smallest proven one.

    Example:
        >>> from sojourn.laws import Geometric
        >>> sizes = {"n_states": 6, "n_actions": 2, "n_successors": 3}
        >>> bound = proven_bound(Geometric(0.9), 10**12, bonus="hoeffding", delta=0.01, **sizes)
        >>> f"{bound.total:.2g}", round(bound.probability, 2)
        ('2.4e+10', 0.97)
        >>> f"{10**12 * Geometric(0.9).mean:.2g}"  # the trivial bound
        '1e+13'
    """
    law, n_episodes = check_law(law), float(check_episodes(episodes))
    n_states, n_successors = check_sizes(n_states, n_successors)
    pairs = float(n_states * check_whole("n_actions", n_actions, least=1))
    delta = check_delta(delta)
    check_choice("bonus", bonus, PROVEN_BONUSES)
    check_choice("count", count, ["first", "all"])
    scale = _check_scale(bonus, scale)
    n_layers, given_up = _layers(law, n_episodes, bonus, horizon)

    most_counted = n_episodes * (n_layers if count == "first" else law.mean / delta)
    iota = _log_of_union(pairs, n_layers, most_counted, delta, count)
    if expected:
        ell = 1.0 + math.log1p(n_episodes * law.mean / pairs)
    else:
        ell = 2.0 * (1.0 + math.log1p(most_counted) - math.log(delta))
    spread, variance, remaining = _sums(law, n_layers)
    if given_up > 0.0:
        remaining = max(remaining, math.exp(math.log(given_up) - float(law.log_survival(n_layers))))
    lower_order = n_successors * pairs * remaining * max(iota, 1.0) * ell
    failures = n_successors / n_layers + (1.0 if count == "all" else 0.0)
    if bonus == "monotone_bernstein":
        leading = 17.0 * math.sqrt(pairs * n_episodes * iota * ell * min(variance, spread / 4.0))
        terms = (leading, 5.0 * n_episodes * given_up, 900.0 * lower_order)
        failures += 2.0
    else:
        width = _width(bonus, scale, iota, math.log(pairs * n_episodes * n_layers / delta))
        leading = 4.0 * width * math.sqrt(2.0 * pairs * ell * n_episodes * spread)
        terms = (leading, 3.0 * n_episodes * given_up, 20.0 * lower_order)
        failures += 1.0
    if expected:
        return ProvenBound(*terms, failures * delta * n_episodes * law.mean, 1.0, n_layers)
    return ProvenBound(*terms, 0.0, max(0.0, 1.0 - (failures + 2.0) * delta), n_layers)


def proven_exponent(law: LengthLaw, *, bonus: BonusKind = "paper") -> float | None:
    """Return the power of T in the proven bound with `proven_horizon` layers, or None where none is proven.

    Geometric and quasi-hyperbolic laws, and laws with a longest length: ½. Polynomial laws: max(½, 2/(p+1))
    for the paper's and Hoeffding's bonus, max(½, 1/p) for the monotone Bernstein bonus. Logarithms are left
    out.

    Example:
        >>> from sojourn.laws import Polynomial
        >>> [proven_exponent(Polynomial(p)) for p in (1.5, 2.0, 4.0)]
        [0.8, 0.6666666666666666, 0.5]
        >>> [proven_exponent(Polynomial(p), bonus="monotone_bernstein") for p in (1.25, 2.0)]
        [0.8, 0.5]
    """
    check_choice("bonus", bonus, PROVEN_BONUSES)
    match check_law(law):
        case Geometric() | QuasiHyperbolic():
            return 0.5
        case Polynomial(p=p):
            return max(0.5, 1.0 / p if bonus == "monotone_bernstein" else 2.0 / (p + 1.0))
        case _:
            return None if law.longest is None else 0.5


def _check_scale(bonus: BonusKind, scale: float) -> float:
    scale = check_positive("scale", scale)
    if bonus != "paper" and scale != 1.0:
        raise ValueError(f"scale must be 1 for the bonus {bonus!r}; got {scale!r}.")
    return scale


def _width(bonus: BonusKind, scale: float, iota: float, log_size: float) -> float:
    """Return c, the factor of the bonus, if it is at least √(ι/2)."""
    least = math.sqrt(iota / 2.0)
    if bonus == "hoeffding":
        return least
    if not scale * 3.0 * log_size >= least:
        raise ValueError(
            f"scale must be at least {least / (3.0 * log_size):.3g} for a proven bound here; got {scale!r}."
            if log_size > 0.0
            else "episodes must be larger: the paper's bonus is 0 here and proves nothing."
        )
    return scale * 3.0 * log_size


def _layers(law: LengthLaw, episodes: float, bonus: BonusKind, horizon: int | None) -> tuple[int, float]:
    """Return the number of layers N and the truncation Δ."""
    if horizon is None:
        return proven_truncation(law, int(episodes), bonus=bonus)
    n_layers = check_whole("horizon", horizon, least=1)
    if law.longest is not None:
        n_layers = min(n_layers, law.longest)
    return n_layers, float(law.tail(n_layers + 1))


def _log_of_union(pairs: float, n_layers: int, most_counted: float, delta: float, count: str) -> float:
    """Return ι, the logarithm over all pairs, layers and numbers of visits of the confidence intervals."""
    at_most = most_counted if count == "first" else most_counted * (most_counted + 1.0)
    return math.log(2.0 * pairs * n_layers / delta) + math.log(at_most)


def _sums(law: LengthLaw, n_layers: int) -> tuple[float, float, float]:
    """Return Σ_{h≤N} Γ(h+1)²/γ(h), Σ_{2≤h≤N} (2h−3)γ(h) and max_{h≤N} Γ(h)/γ(h), or upper bounds on them."""
    steps = np.arange(1, min(n_layers, _EXACT) + 1)
    survival, remaining = law.survival(steps), law.remaining(steps)
    # Γ(h+1)²/γ(h) = γ(h)·(m(h) − 1)², which stays finite where γ(h) underflows.
    spread = float(np.sum(survival * (remaining - 1.0) ** 2))
    variance = float(np.sum((2.0 * steps[1:] - 3.0) * survival[1:]))
    longest = float(remaining.max())
    if n_layers <= _EXACT:
        return spread, variance, longest
    # In a block of steps from a to b − 1, Γ is largest at a and γ smallest at b − 1.
    n_blocks = math.ceil(_BLOCKS_PER_FACTOR_E * math.log(n_layers / _EXACT))
    edges = np.unique(np.geomspace(_EXACT + 1, n_layers + 1, n_blocks + 1).round())
    first, last = edges[:-1], edges[1:] - 1.0
    lengths, log_least = last - first + 1.0, law.log_survival(last)
    log_tail, log_next = (law.log_survival(h) + np.log(law.remaining(h)) for h in (first, first + 1.0))
    spread += float(np.sum(lengths * np.exp(2.0 * log_next - log_least)))
    variance += float(np.sum(lengths * (first + last - 3.0) * law.survival(first)))
    return spread, variance, max(longest, float(np.exp(log_tail - log_least).max()))
