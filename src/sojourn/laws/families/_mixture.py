"""Mixtures: several kinds of episodes at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sojourn._typing import ArrayLike, FloatArray
from sojourn._validation import check_closed_unit
from sojourn.laws._base import LengthLaw

__all__ = ["Mixture"]


@dataclass(frozen=True, init=False, repr=False)
class Mixture(LengthLaw):
    """Episodes that follow one of several laws, which is drawn once per episode and not revealed.

    Args:
        weights: Probability of each law, ≥ 0 and summing to 1.
        laws: The laws, at least one; they may be mixtures themselves.

    Example:
        >>> from sojourn.laws import Fixed
        >>> law = Mixture([0.5, 0.5], [Fixed(1), Fixed(10)])
        >>> law.survival([1, 2, 10, 11])
        array([1. , 0.5, 0.5, 0. ])
        >>> law.mean
        5.5
    """

    weights: tuple[float, ...]
    laws: tuple[LengthLaw, ...]

    def __init__(self, weights: ArrayLike, laws: Sequence[LengthLaw]) -> None:
        parts = _sequence("laws", laws)
        for i, law in enumerate(parts):
            if not isinstance(law, LengthLaw):
                raise TypeError(f"laws[{i}] must be a length law; got {law!r}.")
        shares = tuple(
            check_closed_unit(f"weights[{i}]", share) for i, share in enumerate(_sequence("weights", weights))
        )
        if len(shares) != len(parts):
            raise ValueError(
                f"weights must be as many as laws; got {len(shares)} weights for {len(parts)} laws."
            )
        if not abs(math.fsum(shares) - 1.0) <= 1e-12:
            raise ValueError(f"weights must sum to 1; got {math.fsum(shares)!r}.")
        self._set(weights=shares, laws=parts)

    @cached_property
    def _positive(self) -> tuple[tuple[float, LengthLaw], ...]:
        """The laws with a positive weight, as (weight, law) pairs."""
        return tuple(pair for pair in zip(self.weights, self.laws, strict=True) if pair[0] > 0.0)

    @property
    def longest(self) -> int | None:
        """The largest length of any law with a positive weight, or None."""
        ends = [law.longest for _, law in self._positive]
        finite = [end for end in ends if end is not None]
        return max(finite) if len(finite) == len(ends) else None

    @property
    def memoryless_from(self) -> int | None:
        """The step from which only memoryless laws with the same ρ remain, or None."""
        endless = [law for _, law in self._positive if law.longest is None]
        starts = [law.memoryless_from for law in endless]
        known = [start for start in starts if start is not None]
        if not endless or len(known) < len(endless):
            return None
        ratios = {float(law.continuation(start)) for law, start in zip(endless, known, strict=True)}
        ends = [law.longest + 1 for _, law in self._positive if law.longest is not None]
        return max(known + ends) if len(ratios) == 1 else None

    def _geometric_parts(self) -> list[tuple[float, float]] | None:
        parts = []
        for share, law in self._positive:
            inner = law._geometric_parts()
            if inner is None:
                return None
            parts += [(share * weight, gamma) for weight, gamma in inner]
        return parts

    def _survival(self, h: FloatArray) -> FloatArray:
        total = sum((share * law.survival(h) for share, law in self._positive), np.zeros_like(h))
        return np.where(h == 1.0, 1.0, np.minimum(total, 1.0))  # weights sum to 1 only up to rounding

    def _log_survival(self, h: FloatArray) -> FloatArray:
        logs = self._weighted_logs(h)
        top = logs.max(axis=0)
        return np.asarray(top + np.log(np.exp(logs - top).sum(axis=0)))

    def _continuation(self, h: FloatArray) -> FloatArray:
        return self._average(h, [law.continuation(h) for _, law in self._positive])

    def _hazard(self, h: FloatArray) -> FloatArray:
        return self._average(h, [law.hazard(h) for _, law in self._positive])

    def _remaining(self, h: FloatArray) -> FloatArray:
        return self._average(h, [law.remaining(h) for _, law in self._positive])

    def _pmf(self, h: FloatArray) -> FloatArray:
        return sum((share * law.pmf(h) for share, law in self._positive), np.zeros_like(h))

    def _average(self, h: FloatArray, values: list[FloatArray]) -> FloatArray:
        """Average the laws' values at h over the posterior distribution of the law, given H ≥ h."""
        logs = self._weighted_logs(h)
        posterior = np.exp(logs - logs.max(axis=0))
        average: FloatArray = (posterior * np.stack(values)).sum(axis=0) / posterior.sum(axis=0)
        return average

    def _weighted_logs(self, h: FloatArray) -> FloatArray:
        return np.stack([math.log(share) + law.log_survival(h) for share, law in self._positive])


def _sequence(name: str, values: object) -> tuple[object, ...]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name} must be a list; got {values!r}.")
    items = tuple(values)
    if not items:
        raise ValueError(f"{name} must not be empty.")
    return items
