"""Laws whose survival function is a step function (a staircase): tables and estimates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.laws._base import LengthLaw
from sojourn.laws.numerics._special import running_sums

__all__ = ["Staircase", "StaircaseLaw"]


@dataclass(frozen=True)
class Staircase:
    """A falling step function: γ(h) = levels[i] for ends[i−1] < h ≤ ends[i].

    After the last end it is 0 or falls geometrically. A "stair" is an interval on which γ is constant.

    Attributes:
        ends: Last h of each stair, increasing, `(n,)`.
        levels: γ on each stair, decreasing and > 0, `(n,)`.
        hazards: Hazard at each end, `(n,)`.
        continuations: ρ at each end, `(n,)`.
        log_rate: ln ρ after the last end, or −inf if γ is 0 there.
    """

    ends: IntArray
    levels: FloatArray
    hazards: FloatArray
    continuations: FloatArray
    log_rate: float = -math.inf

    @property
    def after(self) -> FloatArray:
        """Γ(ends[i] + 1)/γ(ends[i]), `(n,)`."""
        beyond = math.exp(self.log_rate) / -math.expm1(self.log_rate)
        stairs = np.diff(self.ends.astype(np.float64), prepend=0.0) * self.levels
        sums = running_sums(np.append(stairs, self.levels[-1] * beyond)[::-1])[::-1]
        return np.asarray(sums[1:] / self.levels)


class StaircaseLaw(LengthLaw):
    """Base class of laws with a step function; they define `_stairs`, and short `_details` for notebooks."""

    @cached_property
    def _stairs(self) -> Staircase:
        raise TypeError(f"{type(self).__name__} must define _stairs.")

    @cached_property
    def _after(self) -> FloatArray:
        return self._stairs.after

    @property
    def longest(self) -> int | None:
        """The last end, or None if there is a geometric tail."""
        return int(self._stairs.ends[-1]) if self._stairs.log_rate == -math.inf else None

    @property
    def memoryless_from(self) -> int | None:
        """The step at which the geometric tail starts, or None."""
        return None if self._stairs.log_rate == -math.inf else int(self._stairs.ends[-1])

    def _stair(self, h: FloatArray) -> IntArray:
        return np.minimum(np.searchsorted(self._stairs.ends, h, side="left"), self._stairs.ends.size - 1)

    def _beyond(self, h: FloatArray) -> FloatArray:
        """Return ln γ(h)/γ(last end) in the geometric tail, 0 before it."""
        if self._stairs.log_rate == -math.inf:
            return np.zeros_like(h)
        return np.asarray(np.maximum(h - self._stairs.ends[-1], 0.0) * self._stairs.log_rate)

    def _survival(self, h: FloatArray) -> FloatArray:
        return np.asarray(self._stairs.levels[self._stair(h)] * np.exp(self._beyond(h)))

    def _log_survival(self, h: FloatArray) -> FloatArray:
        return np.log(self._stairs.levels[self._stair(h)]) + self._beyond(h)

    def _continuation(self, h: FloatArray) -> FloatArray:
        stair = self._stair(h)
        return np.where(h < self._stairs.ends[stair], 1.0, self._stairs.continuations[stair])

    def _hazard(self, h: FloatArray) -> FloatArray:
        stair = self._stair(h)
        return np.where(h < self._stairs.ends[stair], 0.0, self._stairs.hazards[stair])

    def _remaining(self, h: FloatArray) -> FloatArray:
        stair = self._stair(h)
        return np.maximum(self._stairs.ends[stair] - h, 0.0) + 1.0 + self._after[stair]

    def _invert(self, uniforms: FloatArray) -> FloatArray:
        reached = np.searchsorted(-self._stairs.levels, -uniforms, side="right")
        lengths: FloatArray = self._stairs.ends[np.maximum(reached, 1) - 1].astype(np.float64)
        lengths[reached == 0] = 1.0
        if self._stairs.log_rate > -math.inf:
            last = reached == self._stairs.ends.size
            more = np.log(uniforms[last] / self._stairs.levels[-1]) / self._stairs.log_rate
            lengths[last] = self._correct_guesses(lengths[last] + np.floor(more), uniforms[last])
        return lengths
