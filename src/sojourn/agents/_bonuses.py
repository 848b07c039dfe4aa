"""Bonuses for optimism: what is added to a backup because a pair was seen only n times.

A bonus states what a single visit is worth layer by layer; after n visits it is that over √n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sojourn._typing import FloatArray
from sojourn._validation import check_nonnegative
from sojourn.laws import LengthLaw

__all__ = ["Bonus", "Hoeffding", "PaperBonus", "Size"]


@dataclass(frozen=True)
class Size:
    """What the logarithm of a bonus takes: the numbers of states, actions, episodes and layers, and δ."""

    n_states: int
    n_actions: int
    episodes: int
    horizon: int
    delta: float

    def log(self, factor: float = 1.0) -> float:
        """Return ln(factor·S·A·T·N/δ)."""
        pairs = self.n_states * self.n_actions
        return math.log(factor * pairs * self.episodes * self.horizon / self.delta)


class Bonus(Protocol):
    """A bonus that falls with 1/√n."""

    @property
    def scale(self) -> float:
        """What the published bonus is multiplied by; 1 is the published one."""

    def of_one_visit(self, law: LengthLaw, size: Size) -> FloatArray:
        """Return the bonus of layers 1 … N after one visit, `(N,)`."""


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
        if law.longest is None:
            raise ValueError(f"Hoeffding needs a law with a longest length, such as Fixed(20); got {law!r}.")
        longest = float(law.longest)
        log = math.log(5.0 * size.n_states * size.n_actions * size.episodes * longest / size.delta)
        return np.full(size.horizon, self.scale * 7.0 * longest * log)
