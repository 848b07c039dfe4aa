"""Exploration bonuses, which optimistic backups add for (state, action) pairs with few visits.

A Hoeffding-type bonus is given by its value after one visit, for each layer; after n visits that value is
divided by √n, or by n. A Bernstein-type bonus also depends on the variance of the next value.

A bonus may have an attribute `bound`, one of `sojourn.theory.PROVEN_BONUSES`: the proven bound whose number
of layers is the default of an agent with this bonus. Without the attribute it is "paper".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from sojourn._kernels import BernsteinUpdate, MonotoneBernsteinTerms
from sojourn._typing import FloatArray
from sojourn._validation import check_choice, check_nonnegative, check_whole
from sojourn.laws import LengthLaw
from sojourn.theory import PROVEN_BONUSES, BonusKind

__all__ = [
    "EQO",
    "Bernstein",
    "Bonus",
    "GeneralBernstein",
    "Hoeffding",
    "MonotoneBernstein",
    "PaperBonus",
    "ProblemSize",
    "SimpleBernstein",
    "VarianceBonus",
    "bound_of",
    "check_bonus",
]


@dataclass(frozen=True)
class ProblemSize:
    """The numbers in the logarithm of a bonus.

    Attributes:
        n_states: Number of states S.
        n_actions: Number of actions A.
        episodes: Number of episodes T.
        horizon: Number of layers N.
        delta: Failure probability δ.
        counts_all: Whether all steps are counted, or only the first N of each episode.
    """

    n_states: int
    n_actions: int
    episodes: int
    horizon: int
    delta: float
    counts_all: bool = True

    def __post_init__(self) -> None:
        check_whole("n_states", self.n_states, least=1)
        check_whole("n_actions", self.n_actions, least=1)

    def log(self, factor: float = 1.0) -> float:
        """Return ln(factor·S·A·T·N/δ)."""
        pairs = self.n_states * self.n_actions
        return math.log(factor * pairs * self.episodes * self.horizon / self.delta)


class Bonus(Protocol):
    """A bonus that decreases as 1/√n, or as 1/n if it has an attribute `power` equal to 1."""

    @property
    def scale(self) -> float:
        """Factor on the published bonus."""

    def of_one_visit(self, law: LengthLaw, size: ProblemSize) -> FloatArray:
        """Return the bonus of a pair with one visit, `(N,)` for layers 1 … N."""


def check_bonus(bonus: object) -> None:
    """Raise `TypeError` unless `bonus` is a bonus."""
    methods = ("of_one_visit", "bernstein_terms")
    if isinstance(bonus, type) or not any(callable(getattr(bonus, name, None)) for name in methods):
        raise TypeError(f"bonus must be a bonus, such as PaperBonus(0.1); got {bonus!r}.")
    power = getattr(bonus, "power", 0.5)
    if power not in {0.5, 1.0}:
        raise ValueError(f"power of a bonus must be 0.5 (1/√n) or 1 (1/n); got {power!r}.")
    check_choice("bound of a bonus", getattr(bonus, "bound", "paper"), PROVEN_BONUSES)


def bound_of(bonus: Bonus | VarianceBonus) -> BonusKind:
    """Return the proven bound whose number of layers is the default: the bonus's `bound`, or "paper"."""
    bound: BonusKind = getattr(bonus, "bound", "paper")
    return bound


class VarianceBonus(Protocol):
    """A bonus that depends on the variance of the next value."""

    @property
    def scale(self) -> float:
        """Factor on the published bonus."""

    def bernstein_terms(self, law: LengthLaw, size: ProblemSize) -> BernsteinUpdate | MonotoneBernsteinTerms:
        """Return the terms of the bonus for layers 1 … N."""


@dataclass(frozen=True)
class PaperBonus:
    """The paper's bonus: scale · 3 · Γ(h+1)/γ(h) · L / √n with L = ln(S·A·T·N/δ)."""

    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_nonnegative("scale", self.scale))

    def of_one_visit(self, law: LengthLaw, size: ProblemSize) -> FloatArray:
        """Return the bonus of a pair with one visit, `(N,)` for layers 1 … N."""
        h = np.arange(1, size.horizon + 1)
        rest = law.continuation(h) * law.remaining(h + 1)  # Γ(h+1)/γ(h), even where γ underflows
        return np.asarray(self.scale * 3.0 * size.log() * rest)


@dataclass(frozen=True)
class Hoeffding:
    """UCB-VI's first bonus (Azar, Osband, Munos 2017): scale · 7 · H · L₅ / √n with L₅ = ln(5·S·A·K·H/δ).

    It needs an assumed law with a longest length H, such as `Fixed(20)`.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_nonnegative("scale", self.scale))

    def of_one_visit(self, law: LengthLaw, size: ProblemSize) -> FloatArray:
        """Return the bonus of a pair with one visit, `(N,)` for layers 1 … N."""
        longest, log = _classic(type(self).__name__, law, size)
        return np.full(size.horizon, self.scale * 7.0 * longest * log)


@dataclass(frozen=True)
class Bernstein:
    """UCB-VI's second bonus (Azar, Osband, Munos 2017), which depends on the variance of the next value.

    scale · [√(8 L₅ Var_{P̂}(V_{h+1})/n) + 14·H·L₅/(3n)
    + √(8 Σ_y P̂(y) min(100² H³ S² A L₅²/n'_{h+1}(y), H²)/n)],
    where n'_h(y) counts visits of y at step h (if it is 0, the minimum is H²), and L₅ = ln(5·S·A·K·H/δ). The
    absorbing state's value is known, so the last sum leaves it out. The assumed law must have a longest
    length H.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_nonnegative("scale", self.scale))

    def bernstein_terms(self, law: LengthLaw, size: ProblemSize) -> BernsteinUpdate:
        """Return the terms of the bonus for layers 1 … N."""
        longest, log = _classic(type(self).__name__, law, size)
        return _bernstein_update(self.scale, np.ones(size.horizon), np.full(size.horizon, longest), log, size)


@dataclass(frozen=True)
class GeneralBernstein:
    """Our generalization of Bernstein's bonus to any law, without a proof of optimism.

    scale · ρ(h) · [√(8 L Var_{P̂}(V_{h+1})/n) + 14·c·L/(3n)
    + √(8 Σ_y P̂(y) min(100² c³ S² A L²/n'_{h+1}(y), c²)/n)]
    with c = Γ(h+1)/γ(h+1) and L = ln(S·A·T·N/δ). For `Fixed(H)` it is not `Bernstein`: c is H − h, not H.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_nonnegative("scale", self.scale))

    def bernstein_terms(self, law: LengthLaw, size: ProblemSize) -> BernsteinUpdate:
        """Return the terms of the bonus for layers 1 … N."""
        h = np.arange(1, size.horizon + 1)
        return _bernstein_update(self.scale, law.continuation(h), law.remaining(h + 1), size.log(), size)


@dataclass(frozen=True)
class SimpleBernstein:
    """Bernstein's bonus without its constants: scale · ρ(h) · [√(L Var_{P̂}(V_{h+1})/n) + c·L/n].

    c = Γ(h+1)/γ(h+1) and L = ln(S·A·T·N/δ), for any law. It is `GeneralBernstein` without the constants and
    the term for rare successors, as in public implementations of UCB-VI; there is no proof of optimism. On
    two small problems Q ≥ Q* held after 3,000 episodes in all of 80 trials with scale 1, in all but one with
    scale 1/3, and in none with scale 1/100.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_nonnegative("scale", self.scale))

    def bernstein_terms(self, law: LengthLaw, size: ProblemSize) -> BernsteinUpdate:
        """Return the terms of the bonus for layers 1 … N."""
        h, log, none = np.arange(1, size.horizon + 1), size.log(), np.zeros(size.horizon)
        return BernsteinUpdate(
            factor=self.scale * law.continuation(h),
            variance=log,
            linear=law.remaining(h + 1) * log,
            next_term=none,
            next_cap=none,
        )


@dataclass(frozen=True)
class MonotoneBernstein:
    """A bonus with a proof of optimism for any law: ρ(h) · max(√(c·ι·Var/n), c·ι·m(h+1)/n).

    Var is the variance of V_{h+1} under P̂(·|s, a), m(h) = Γ(h)/γ(h), and c = 6.25 if ι ≥ 2.08, else c = 8.
    The maximum instead of a sum makes the optimistic backup monotone in V_{h+1}. It follows that Q ≥ Q* in
    all episodes with probability at least 1 − δ, and that regret grows at the minimax rate: see Lemmas C1 and
    C2 and Theorem C on the theory pages. `sojourn.theory.proven_bound(..., bonus="monotone_bernstein")`
    computes the bound. The form is that of MVP (Zhang, Ji, Du 2021) and EB-SSP (Tarbouriech et al. 2021).

    The logarithm is that of the proof: ι = ln(2·S·A·T·N²/δ) with `UCBVI(..., count="first")`, and
    ι(n) = ln(2·S·A·N·n(n+1)/δ) with `count="all"`, which does not depend on T.

    The proof holds for scale 1, known rewards, the true law, and replanning after every episode. No other
    scale has a regret bound. Scales above 1 keep the proof of optimism; scales below 1 lose it.

    Args:
        scale: Factor on the bonus; only 1 is proven.
    """

    scale: float = 1.0
    bound: ClassVar[BonusKind] = "monotone_bernstein"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_nonnegative("scale", self.scale))

    def bernstein_terms(self, law: LengthLaw, size: ProblemSize) -> MonotoneBernsteinTerms:
        """Return the terms of the bonus for layers 1 … N."""
        h = np.arange(1, size.horizon + 1)
        # A union over pairs, layers and numbers of visits; Σ_n 1/(n(n+1)) = 1 if those have no limit.
        log = math.log(2.0 * size.n_states * size.n_actions * size.horizon / size.delta)
        if not size.counts_all:
            log += math.log(float(size.episodes) * size.horizon)
        smallest = log + math.log(2.0) if size.counts_all else log  # ι after one visit
        return MonotoneBernsteinTerms(
            factor=self.scale * law.continuation(h),
            caps=law.remaining(h + 1),
            weight=6.25 if smallest >= 2.08 else 8.0,
            log=log,
            log_visits=1.0 if size.counts_all else 0.0,
        )


@dataclass(frozen=True)
class EQO:
    """The bonus c/n of EQO (Lee, Oh 2025), with c = scale · Γ(h+1)/γ(h) · L and L = ln(S·A·T·N/δ).

    It decreases as 1/n instead of 1/√n and does not depend on variances, because values need only be
    approximately optimistic ("quasi-optimism"). The paper uses the same c in all layers and tunes it in its
    experiments. In its theorem c also grows with the number of episodes; here it does not. The paper's
    constants could not be confirmed, so c is given for a general law up to the factor `scale`; for `Fixed(H)`
    it contains H − h instead of H. As always in `UCBVI`, Q never increases, which the paper does not require.
    On two small problems Q ≥ Q* held after 3,000 episodes in all of 80 trials with scale 1, in 68 with scale
    1/3, and in none with scale 1/100.
    """

    scale: float = 1.0
    power: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_nonnegative("scale", self.scale))

    def of_one_visit(self, law: LengthLaw, size: ProblemSize) -> FloatArray:
        """Return the bonus of a pair with one visit, `(N,)` for layers 1 … N."""
        h = np.arange(1, size.horizon + 1)
        return np.asarray(self.scale * size.log() * law.continuation(h) * law.remaining(h + 1))


def _classic(name: str, law: LengthLaw, size: ProblemSize) -> tuple[float, float]:
    """Return H and L₅ = ln(5·S·A·K·H/δ) of classic UCB-VI; raise `ValueError` if the law has no H."""
    if law.longest is None:
        raise ValueError(f"{name} needs a law with a longest length, such as Fixed(20); got {law!r}.")
    longest = float(law.longest)
    pairs = size.n_states * size.n_actions
    return longest, math.log(5.0 * pairs * size.episodes * longest / size.delta)


def _bernstein_update(
    scale: float, outer: FloatArray, caps: FloatArray, log: float, size: ProblemSize
) -> BernsteinUpdate:
    pairs = float(size.n_states) ** 2 * size.n_actions
    return BernsteinUpdate(
        factor=scale * outer,
        variance=8.0 * log,
        linear=14.0 * caps * log / 3.0,
        next_term=100.0**2 * caps**3 * pairs * log**2,
        next_cap=caps**2,
    )
