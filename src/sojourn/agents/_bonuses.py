"""Bonuses for optimism: what is added to a backup because a pair was seen only n times.

A bonus of Hoeffding's kind states what a single visit is worth layer by layer; after n visits it is that over
√n, or over n. A bonus of Bernstein's kind also looks at the variance of the next value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from sojourn._kernels import BernsteinUpdate
from sojourn._typing import FloatArray
from sojourn._validation import check_nonnegative, check_whole
from sojourn.laws import LengthLaw

__all__ = [
    "EQO",
    "Bernstein",
    "Bonus",
    "GeneralBernstein",
    "Hoeffding",
    "PaperBonus",
    "SimpleBernstein",
    "Size",
    "VarianceBonus",
    "check_bonus",
]


@dataclass(frozen=True)
class Size:
    """What the logarithm of a bonus takes: the numbers of states, actions, episodes and layers, and δ."""

    n_states: int
    n_actions: int
    episodes: int
    horizon: int
    delta: float

    def __post_init__(self) -> None:
        check_whole("n_states", self.n_states, least=1)
        check_whole("n_actions", self.n_actions, least=1)

    def log(self, factor: float = 1.0) -> float:
        """Return ln(factor·S·A·T·N/δ)."""
        pairs = self.n_states * self.n_actions
        return math.log(factor * pairs * self.episodes * self.horizon / self.delta)


class Bonus(Protocol):
    """A bonus that falls with 1/√n, or with 1/n if it has an attribute `power` that is 1."""

    @property
    def scale(self) -> float:
        """What the published bonus is multiplied by; 1 is the published one."""

    def of_one_visit(self, law: LengthLaw, size: Size) -> FloatArray:
        """Return the bonus of layers 1 … N after one visit, `(N,)`."""


def check_bonus(bonus: object) -> None:
    """Refuse what is no bonus."""
    kinds = ("of_one_visit", "spread")
    if isinstance(bonus, type) or not any(callable(getattr(bonus, kind, None)) for kind in kinds):
        raise TypeError(f"bonus must be a bonus, such as PaperBonus(0.1); got {bonus!r}.")


class VarianceBonus(Protocol):
    """A bonus that looks at the variance of the next value."""

    @property
    def scale(self) -> float:
        """What the published bonus is multiplied by; 1 is the published one."""

    def spread(self, law: LengthLaw, size: Size) -> BernsteinUpdate:
        """Return the terms of the bonus for layers 1 … N."""


@dataclass(frozen=True)
class PaperBonus:
    """The paper's bonus: scale · 3 · Γ(h+1)/γ(h) · L / √n with L = ln(S·A·T·N/δ)."""

    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_nonnegative("scale", self.scale))

    def of_one_visit(self, law: LengthLaw, size: Size) -> FloatArray:
        """Return the bonus of layers 1 … N after one visit, `(N,)`."""
        h = np.arange(1, size.horizon + 1)
        rest = law.continuation(h) * law.remaining(h + 1)  # Γ(h+1)/γ(h), also where γ underflows
        return np.asarray(self.scale * 3.0 * size.log() * rest)


@dataclass(frozen=True)
class Hoeffding:
    """UCB-VI's first bonus (Azar, Osband, Munos 2017): scale · 7 · H · L₅ / √n with L₅ = ln(5·S·A·K·H/δ).

    It needs a belief with a longest length H, such as `Fixed(20)`.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_nonnegative("scale", self.scale))

    def of_one_visit(self, law: LengthLaw, size: Size) -> FloatArray:
        """Return the bonus of layers 1 … N after one visit, `(N,)`."""
        longest, log = _classic(type(self).__name__, law, size)
        return np.full(size.horizon, self.scale * 7.0 * longest * log)


@dataclass(frozen=True)
class Bernstein:
    """UCB-VI's second bonus (Azar, Osband, Munos 2017), which looks at the variance of the next value.

    scale · [√(8 L₅ Var_{P̂}(V_{h+1})/n) + 14·H·L₅/(3n)
    + √(8 Σ_y P̂(y) min(100² H³ S² A L₅²/n'_{h+1}(y), H²)/n)],
    where n'_h(y) counts visits of y at step h, the least is H² where that is 0, and L₅ = ln(5·S·A·K·H/δ). The
    absorbing state's value is known, and it has no part in the last sum. A belief without a longest length H
    is refused.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_nonnegative("scale", self.scale))

    def spread(self, law: LengthLaw, size: Size) -> BernsteinUpdate:
        """Return the terms of the bonus for layers 1 … N."""
        longest, log = _classic(type(self).__name__, law, size)
        return _spread(self.scale, np.ones(size.horizon), np.full(size.horizon, longest), log, size)


@dataclass(frozen=True)
class GeneralBernstein:
    """A bonus of Bernstein's kind for any law: ours, without a proof of optimism.

    scale · ρ(h) · [√(8 L Var_{P̂}(V_{h+1})/n) + 14·c·L/(3n)
    + √(8 Σ_y P̂(y) min(100² c³ S² A L²/n'_{h+1}(y), c²)/n)]
    with c = Γ(h+1)/γ(h+1) and L = ln(S·A·T·N/δ). For `Fixed(H)` it is not `Bernstein`: c is H − h, not H.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_nonnegative("scale", self.scale))

    def spread(self, law: LengthLaw, size: Size) -> BernsteinUpdate:
        """Return the terms of the bonus for layers 1 … N."""
        h = np.arange(1, size.horizon + 1)
        return _spread(self.scale, law.continuation(h), law.remaining(h + 1), size.log(), size)


@dataclass(frozen=True)
class SimpleBernstein:
    """What is left of Bernstein's bonus in practice: scale · ρ(h) · [√(L Var_{P̂}(V_{h+1})/n) + c·L/n].

    c = Γ(h+1)/γ(h+1) and L = ln(S·A·T·N/δ), for any law. Constants and the term of rare successors are left
    out of `GeneralBernstein`, as public codes do with UCB-VI's; there is no proof of optimism. On two small
    problems Q ≥ Q* held at scale 1 after 3,000 episodes, in all of 80 trials; at a third it failed in one of
    them, and at a hundredth in all.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_nonnegative("scale", self.scale))

    def spread(self, law: LengthLaw, size: Size) -> BernsteinUpdate:
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
class EQO:
    """The bonus c/n of EQO (Lee, Oh 2025), with c = scale · Γ(h+1)/γ(h) · L and L = ln(S·A·T·N/δ).

    It falls with n, not with √n, and looks at no variance: values need not be optimistic by all that is
    unknown ("quasi-optimism"). The paper has one number c for all layers, which it tunes in its experiments;
    in its theorem c also grows with the number of episodes, which this one does not, and its constants could
    not be confirmed: c is stated here for a general law, up to `scale`. At `Fixed(H)` it is H − h for H. As
    everywhere in `UCBVI`, Q also never rises again, which the paper does not ask for. On two small problems
    Q ≥ Q* held at scale 1 after 3,000 episodes, in all of 80 trials; at a third it failed in 12 of them, and
    at a hundredth in all.
    """

    scale: float = 1.0
    power: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_nonnegative("scale", self.scale))

    def of_one_visit(self, law: LengthLaw, size: Size) -> FloatArray:
        """Return the bonus of layers 1 … N after one visit, `(N,)`."""
        h = np.arange(1, size.horizon + 1)
        return np.asarray(self.scale * size.log() * law.continuation(h) * law.remaining(h + 1))


def _classic(name: str, law: LengthLaw, size: Size) -> tuple[float, float]:
    """Return H and L₅ = ln(5·S·A·K·H/δ) of classic UCB-VI, or refuse a law that has no H."""
    if law.longest is None:
        raise ValueError(f"{name} needs a law with a longest length, such as Fixed(20); got {law!r}.")
    longest = float(law.longest)
    pairs = size.n_states * size.n_actions
    return longest, math.log(5.0 * pairs * size.episodes * longest / size.delta)


def _spread(scale: float, outer: FloatArray, caps: FloatArray, log: float, size: Size) -> BernsteinUpdate:
    pairs = float(size.n_states) ** 2 * size.n_actions
    return BernsteinUpdate(
        factor=scale * outer,
        variance=8.0 * log,
        linear=14.0 * caps * log / 3.0,
        next_term=100.0**2 * caps**3 * pairs * log**2,
        next_cap=caps**2,
    )
