"""Bands that hold the whole survival function with a given confidence."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sojourn._typing import ArrayLike, FloatArray, IntArray
from sojourn._validation import check_open_unit
from sojourn.laws._base import LengthLaw, steps
from sojourn.laws.estimates._sample import Sample, take_sample

__all__ = ["Band", "band_of_sample", "survival_band"]

_CHUNK = 1 << 16
"""Stairs that are looked at together."""

_SPLIT = 16
"""Into so many parts a block of stairs is split."""


@dataclass(frozen=True)
class Band:
    """An estimate of γ(h) = P(H ≥ h), and a band that holds all of γ at once with a given confidence.

    Everything is constant between neighbouring steps: row i holds for steps[i−1] < h ≤ steps[i].

    Attributes:
        steps: Last step of each stair, rising, `(m,)`; the last is the largest length of the data.
        estimate: The empirical or Kaplan–Meier survival, `(m,)`.
        lower: The band's lower end, `(m,)`.
        upper: The band's upper end, `(m,)`.
        kind: "dkw" or "hall-wellner".
        confidence: The chance with which the band holds the law that the data came from, at every step.
        first: The step at which the first row came under observation. Nothing before it is in the data: where
            it is over 1, all of this is of P(H ≥ h | H ≥ first), and 1 up to there.
    """

    steps: IntArray
    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray
    kind: str
    confidence: float
    first: int = 1

    def of(self, h: ArrayLike) -> FloatArray:
        """Return the estimate at steps; past the data, as it was at the last of them."""
        given = steps(h)
        stair = np.searchsorted(self.steps, given, side="left")
        return np.asarray(self.estimate[np.minimum(stair, self.steps.size - 1)])

    def at(self, h: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the band's lower and upper end at steps; past the data they are 0 and the last upper end."""
        given = steps(h)
        stair = np.searchsorted(self.steps, given, side="left")
        inside = np.minimum(stair, self.steps.size - 1)
        lower = np.where(stair < self.steps.size, self.lower[inside], 0.0)
        return lower, np.asarray(self.upper[inside])

    def of_law(self, law: LengthLaw, h: ArrayLike) -> FloatArray:
        """Return a law's survival at steps as the band has it: given that `first` is reached, 1 before it."""
        given = np.maximum(steps(h), self.first)
        if self.first == 1:
            return law.survival(given)
        reached = float(law.survival(self.first))
        return law.survival(given) / reached if reached > 0.0 else np.where(given > self.first, 0.0, 1.0)

    def excess(self, law: LengthLaw) -> tuple[float, int]:
        """Return by how much a law leaves the band where it does so most, and the step; ≤ 0 if it stays in.

        A law falls between two steps of the band, so it is looked at where each stair begins and ends; where
        the data begin late, given that it gets as far as that.
        """
        size = self.steps.size

        def begins(stairs: IntArray) -> IntArray:
            return np.asarray(np.where(stairs > 0, self.steps[stairs - 1] + 1, 1))

        def survival(h: IntArray) -> FloatArray:
            parts = [self.of_law(law, h[i : i + _CHUNK]) for i in range(0, h.size, _CHUNK)]
            return np.concatenate(parts)

        above, top = _widest(lambda i: survival(begins(i)), lambda i: self.upper[i], size)
        below, bottom = _widest(lambda i: self.lower[i], lambda i: survival(self.steps[i]), size)
        at = begins(np.array([top])) if above >= below else self.steps[[bottom]]
        return max(above, below), int(at[0])

    def holds(self, law: LengthLaw) -> bool:
        """Whether a law stays in the band at every step."""
        return self.excess(law)[0] <= 1e-12


def _widest(
    high: Callable[[IntArray], FloatArray], low: Callable[[IntArray], FloatArray], size: int
) -> tuple[float, int]:
    """Return the largest high(i) − low(i) of i = 0 … size − 1, and its place, for functions that never rise.

    Within a block the difference is at most that of its first high and its last low, so that most blocks are
    never looked into: of a million stairs some thousands are.
    """
    block = 1
    while block * _SPLIT < size:
        block *= _SPLIT
    first, worst, place = np.arange(0, size, block), -math.inf, 0
    while True:
        tops = high(first)
        off = tops - low(first)
        most = int(np.argmax(off))
        if off[most] > worst:
            worst, place = float(off[most]), int(first[most])
        if block == 1:
            return worst, place
        first = first[tops - low(np.minimum(first + block, size) - 1) > worst]
        if not first.size:
            return worst, place
        block //= _SPLIT
        first = (first[:, None] + block * np.arange(_SPLIT)).ravel()
        first = first[first < size]


def survival_band(
    lengths: ArrayLike,
    observed: ArrayLike | None = None,
    *,
    entry: ArrayLike | None = None,
    counts: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Band:
    """Return a band that holds the whole survival function with a given confidence.

    Where every row was seen from its first step to its end, the band is estimate ± √(ln(2/α)/2n), which holds
    for every n and every law (Dvoretzky, Kiefer, Wolfowitz 1956; Massart 1990). Otherwise it is the band of
    Hall and Wellner (1980) around Kaplan–Meier with Greenwood's variance, whose confidence holds for many
    rows. Its constant is Kolmogorov's, for the largest height of a whole Brownian bridge; whole steps and
    censored data see a part of it, so the band errs on the wide side. Late entries change the numbers at
    risk and nothing else. Ends are drawn in as far as the fall of γ allows.

    Args:
        lengths: Whole numbers ≥ 1, `(n,)`.
        observed: Whether each was seen to its end, `(n,)`; all of them by default.
        entry: Step from which each row was under observation, `(n,)`; 1 by default.
        counts: How often each row was seen, `(n,)`; once each by default.
        confidence: In (0, 1).

    Example:
        >>> band = survival_band([1, 1, 2, 4, 4, 4, 7, 7, 9, 9])
        >>> band.steps, band.kind
        (array([1, 2, 4, 7, 9]), 'dkw')
        >>> band.estimate - band.lower  # √(ln 40 / 20), and no more than down to 0
        array([0.42946941, 0.42946941, 0.42946941, 0.4       , 0.2       ])
    """
    sample = take_sample(lengths, observed, entry=entry, counts=counts)
    return band_of_sample(sample, confidence=confidence)


def band_of_sample(sample: Sample, *, confidence: float = 0.95) -> Band:
    """Return the band of tallied lengths; see `survival_band`."""
    alpha = 1.0 - check_open_unit("confidence", confidence)
    ends, n = sample.ends, sample.n
    at_risk = sample.at_risk(ends)
    left = at_risk - sample.ended
    level = np.append(1.0, np.cumprod(left / at_risk))  # from just after each end on
    half: FloatArray = np.full(1, math.sqrt(math.log(2.0 / alpha) / (2.0 * n)))
    kind = "dkw" if sample.is_complete else "hall-wellner"
    if not sample.is_complete:
        half = _hall_wellner(level, at_risk, left, n, alpha)
    del at_risk, left  # of millions of stairs, no more than need be is kept
    last = sample.longest
    tops = ends if ends.size and int(ends[-1]) == last else np.append(ends, last)
    estimate, half = level[: tops.size], half[: tops.size]
    # γ never rises: an upper end also holds for all later steps, a lower end for all earlier ones.
    upper = np.minimum(estimate + half, 1.0)
    np.minimum.accumulate(upper, out=upper)
    lower = np.maximum(estimate - half, 0.0)[::-1]
    lower = np.maximum.accumulate(lower, out=lower)[::-1]
    return Band(tops, estimate, lower, upper, kind, float(confidence), int(sample.entries[0]))


def _hall_wellner(level: FloatArray, at_risk: IntArray, left: IntArray, n: int, alpha: float) -> FloatArray:
    """Return the half widths c γ̂ (1 + n σ̂²)/√n, c the quantile of the largest height of a whole bridge."""
    from scipy.special import kolmogi  # noqa: PLC0415

    half = np.zeros(level.size)
    spread = half[1:]  # n σ̂², and then, in the same place, what becomes of it
    spread += at_risk
    spread -= left
    spread *= n
    with np.errstate(divide="ignore"):
        spread /= at_risk
        spread /= left
    np.cumsum(spread, out=spread)
    known = np.isfinite(half)  # not where all at risk have ended
    half += 1.0
    half[known] *= level[known] * (float(kolmogi(alpha)) / math.sqrt(n))
    half[~known] = 1.0
    return half
