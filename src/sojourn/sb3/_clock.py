"""What a law gives an agent at each step: a weight of the reward and a discount."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sojourn._typing import FloatArray
from sojourn._validation import check_whole
from sojourn.laws import LengthLaw, distance

__all__ = ["DEFAULT_LAST", "GeometricTail", "StepClock", "default_last"]

DEFAULT_LAST = 256
"""Largest number of steps that are distinguished by default."""

_DEFAULT_COST = 0.01
"""Part of the mean length that the geometric tail may cost by default."""


@dataclass(frozen=True)
class GeometricTail(LengthLaw):
    """A law that is memoryless after its first steps, with the same mean length.

    γ'(h) = γ(h) up to h = N + 1, and γ'(h) = γ(N+1) · ρ^(h−N−1) after that, with ρ = 1 − γ(N+1)/Γ(N+1), so
    that Γ'(N+1) = Γ(N+1). An agent that cannot distinguish the steps after N optimizes this law. No policy's
    values under the two laws differ by more than max|r| · Σ_{h>N} |γ(h) − γ'(h)|; see
    `sojourn.laws.distance`.

    Args:
        law: The law.
        last: N, the last step that is distinguished; ≥ 0.

    Example:
        >>> import sojourn as sj
        >>> law = GeometricTail(sj.Polynomial(2.0), last=3)
        >>> law.survival([1, 2, 3, 4, 5]).round(4)
        array([1.    , 0.25  , 0.1111, 0.0625, 0.0487])
        >>> law.mean == sj.Polynomial(2.0).mean
        True
    """

    law: LengthLaw
    last: int

    def __post_init__(self) -> None:
        if not isinstance(self.law, LengthLaw):
            raise TypeError(f"law must be a LengthLaw, such as Geometric(0.95); got {self.law!r}.")
        self._set(last=check_whole("last", self.last, least=0))

    @property
    def longest(self) -> int | None:
        """The law's largest length if it is at most N + 1, otherwise None."""
        longest = self.law.longest
        return longest if longest is not None and longest <= self.last + 1 else None

    @property
    def memoryless_from(self) -> int | None:
        """N + 1, or an earlier step from which the law is memoryless itself; None for the longest length."""
        if self.longest is not None:
            return None
        return min(self.law.memoryless_from or self.last + 1, self.last + 1)

    @cached_property
    def _rate(self) -> float:
        """The discount ρ of the tail."""
        return 1.0 - 1.0 / float(self.law.remaining(self.last + 1))

    def _log_survival(self, h: FloatArray) -> FloatArray:
        inside = np.minimum(h, self.last + 1.0)
        beyond = h - inside
        log_rate = math.log(self._rate) if self.longest is None else 0.0
        return self.law.log_survival(inside) + beyond * log_rate

    def _survival(self, h: FloatArray) -> FloatArray:
        inside = np.minimum(h, self.last + 1.0)
        rate = self._rate if self.longest is None else 1.0
        return self.law.survival(inside) * rate ** (h - inside)

    def _continuation(self, h: FloatArray) -> FloatArray:
        is_tail = (h > self.last) & (self.longest is None)
        return np.where(is_tail, self._rate, self.law.continuation(h))

    def _hazard(self, h: FloatArray) -> FloatArray:
        is_tail = (h > self.last) & (self.longest is None)
        return np.where(is_tail, 1.0 / self._remaining(h), self.law.hazard(h))

    def _remaining(self, h: FloatArray) -> FloatArray:
        return self.law.remaining(np.minimum(h, self.last + 1.0))


def default_last(law: LengthLaw) -> int:
    """Return the number of steps to distinguish, at most 256.

    All steps up to the longest length or to the memoryless part of the law, so that the tail costs nothing;
    otherwise as few as keep its cost below 1% of the mean length.
    """
    for end in (law.longest, law.memoryless_from):
        if end is not None and end <= DEFAULT_LAST + 1:
            return end - 1
    enough = _DEFAULT_COST * law.mean
    low, high = -1, DEFAULT_LAST
    if not distance(law, GeometricTail(law, high)) <= enough:
        return high
    while high - low > 1:  # the cost is too large at `low` and small enough at `high`
        middle = (low + high) // 2
        if distance(law, GeometricTail(law, middle)) <= enough:
            high = middle
        else:
            low = middle
    return high


@dataclass(frozen=True)
class StepClock:
    """Weights of rewards and discounts by step, which turn a law into targets for value functions.

    Steps 1 … N are distinguished; all later steps share the last entry of each table (`GeometricTail`). With
    m(h) = Γ(h)/γ(h), the mean number of remaining steps, targets are

    - normalized: r/m(h) + (1 − 1/m(h)) · V(next), a weighted mean of rewards from h on, in units of rewards;
    - not normalized: r + ρ(h) · V(next), the sum of rewards from h on, given that step h is reached.

    The normalized value of step h is the other one divided by m(h), so both have the same best policy.

    Args:
        law: The law of lengths.
        last: N, the last step that is distinguished; ≥ 0, and below the law's longest length.
        normalize: Whether targets are normalized.

    Attributes:
        weights: `(N + 1,)` factors on the rewards of steps 1 … N + 1.
        discounts: `(N + 1,)` discounts of the next value at steps 1 … N + 1.

    Example:
        >>> import sojourn as sj
        >>> StepClock(sj.Uniform(1, 4), last=3).weights.round(3)
        array([0.4  , 0.5  , 0.667, 1.   ])
        >>> StepClock(sj.Geometric(0.9), last=0, normalize=False).discounts
        array([0.9])
    """

    law: LengthLaw
    last: int
    normalize: bool = True
    weights: FloatArray = field(init=False, repr=False, compare=False)
    discounts: FloatArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        tailed = GeometricTail(self.law, self.last)
        longest = self.law.longest
        if longest is not None and self.last >= longest:
            raise ValueError(f"last must be below the law's longest length, {longest}; got {self.last}.")
        h = np.arange(1, self.last + 2)
        if self.normalize:
            weights = 1.0 / tailed.remaining(h)
            discounts = 1.0 - weights
        else:
            weights = np.ones(h.size)
            discounts = tailed.continuation(h)
        for name, table in (("weights", weights), ("discounts", discounts)):
            table.flags.writeable = False
            object.__setattr__(self, name, table)

    @cached_property
    def effective_law(self) -> GeometricTail:
        """The law that agents with this clock optimize."""
        return GeometricTail(self.law, self.last)

    @cached_property
    def tail_cost(self) -> float:
        """Σ_{h>N} |γ(h) − γ'(h)|: for rewards in [a, b], at most (b − a) times this is lost by the tail.

        If episodes can end before the law ends them, the steps after that count as rewards of 0: then [a, b]
        must contain 0.
        """
        return distance(self.law, self.effective_law)
