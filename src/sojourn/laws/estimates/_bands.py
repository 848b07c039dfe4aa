"""Confidence bands for the whole survival function."""

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
"""Number of stairs (intervals on which the band is constant) that are evaluated together."""

_FEW_AT_RISK, _FEW_OF_ALL = 30, 0.1
"""If fewer rows than this number or share are at risk and none ends, they do not bound the survival."""

_SPLIT = 16
"""Number of parts into which a block of stairs is split."""


@dataclass(frozen=True)
class Band:
    """An estimate of γ(h) = P(H ≥ h) and a simultaneous confidence band for it.

    All arrays describe step functions: entry i applies to steps[i−1] < h ≤ steps[i].

    Attributes:
        steps: Last step of each stair, increasing, `(m,)`; the last is the largest length in the data.
        estimate: The empirical or Kaplan–Meier survival, `(m,)`.
        lower: The band's lower end, `(m,)`.
        upper: The band's upper end, `(m,)`.
        kind: "dkw" or "hall-wellner".
        confidence: Probability that the band contains the true survival function at every step at once.
        first: The step at which the first row came under observation. If it is above 1, the data say nothing
            about earlier steps, and estimate and band are for P(H ≥ h | H ≥ first), which is 1 up to `first`.
        reach: Laws are compared with the lower end up to this step: later hardly any rows are at risk, and
            none ends. None for all steps.
    """

    steps: IntArray
    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray
    kind: str
    confidence: float
    first: int = 1
    reach: int | None = None

    def of(self, h: ArrayLike) -> FloatArray:
        """Return the estimate at given steps; past the data, its last value."""
        given = steps(h)
        stair = np.searchsorted(self.steps, given, side="left")
        return np.asarray(self.estimate[np.minimum(stair, self.steps.size - 1)])

    def at(self, h: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper end at given steps; past the data they are 0 and the last upper end."""
        given = steps(h)
        stair = np.searchsorted(self.steps, given, side="left")
        inside = np.minimum(stair, self.steps.size - 1)
        lower = np.where(stair < self.steps.size, self.lower[inside], 0.0)
        return lower, np.asarray(self.upper[inside])

    def of_law(self, law: LengthLaw, h: ArrayLike) -> FloatArray:
        """Return a law's survival as the band describes it: conditional on reaching `first`, and 1 before."""
        given = np.maximum(steps(h), self.first)
        if self.first == 1:
            return law.survival(given)
        reached = float(law.survival(self.first))
        return law.survival(given) / reached if reached > 0.0 else np.where(given > self.first, 0.0, 1.0)

    def excess(self, law: LengthLaw) -> tuple[float, int]:
        """Return the largest distance by which a law leaves the band, and its step; ≤ 0 if it stays inside.

        A law may fall within a stair of the band, so it is evaluated where each stair begins and ends, or at
        `reach`. If the data begin late, it is conditional on reaching their first step.
        """
        size = self.steps.size
        reach = int(self.steps[-1]) if self.reach is None else self.reach

        def begins(stairs: IntArray) -> IntArray:
            return np.asarray(np.where(stairs > 0, self.steps[stairs - 1] + 1, 1))

        def survival(h: IntArray) -> FloatArray:
            parts = [self.of_law(law, h[i : i + _CHUNK]) for i in range(0, h.size, _CHUNK)]
            return np.concatenate(parts)

        above, top = _widest(lambda i: survival(begins(i)), lambda i: self.upper[i], size)
        below, bottom = _widest(
            lambda i: self.lower[i], lambda i: survival(np.minimum(self.steps[i], reach)), size
        )
        at = begins(np.array([top])) if above >= below else np.minimum(self.steps[[bottom]], reach)
        return max(above, below), int(at[0])

    def holds(self, law: LengthLaw) -> bool:
        """Whether a law stays in the band at every step."""
        return self.excess(law)[0] <= 1e-12


def _widest(
    high: Callable[[IntArray], FloatArray], low: Callable[[IntArray], FloatArray], size: int
) -> tuple[float, int]:
    """Return the largest high(i) − low(i) over i = 0 … size − 1 and its index, for non-increasing functions.

    Within a block the difference is at most high(first) − low(last), so that most blocks are skipped: of a
    million stairs, only some thousands are evaluated.
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
    """Return a simultaneous confidence band for the survival function.

    If every row was observed from its first step to its end, the band is estimate ± √(ln(2/α)/2n), which is
    valid for every n and every law (Dvoretzky, Kiefer, Wolfowitz 1956; Massart 1990). Otherwise it is the
    band of Hall and Wellner (1980) around Kaplan–Meier with Greenwood's variance, which is valid
    asymptotically. Its constant is Kolmogorov's, for the maximum of a whole Brownian bridge; discrete and
    censored data see only a part of the bridge, so the band errs on the wide side. Late entries change only
    the numbers at risk. The band is then narrowed as far as the monotonicity of γ allows.

    Args:
        lengths: Whole numbers ≥ 1, `(n,)`.
        observed: Whether each row was observed to its end, `(n,)`; True by default.
        entry: Step from which each row was under observation, `(n,)`; 1 by default.
        counts: Number of times that each row occurs, `(n,)`; 1 by default.
        confidence: Probability that the band contains the whole survival function, in (0, 1).

    Example:
        >>> band = survival_band([1, 1, 2, 4, 4, 4, 7, 7, 9, 9])
        >>> band.steps, band.kind
        (array([1, 2, 4, 7, 9]), 'dkw')
        >>> band.estimate - band.lower  # √(ln 40 / 20), but the lower end is at least 0
        array([0.42946941, 0.42946941, 0.42946941, 0.4       , 0.2       ])
    """
    sample = take_sample(lengths, observed, entry=entry, counts=counts)
    return band_of_sample(sample, confidence=confidence)


def band_of_sample(sample: Sample, *, confidence: float = 0.95) -> Band:
    """Return the band of lengths that are counted already; see `survival_band`."""
    alpha = 1.0 - check_open_unit("confidence", confidence)
    ends, n = sample.ends, sample.n
    at_risk = sample.at_risk(ends)
    survivors = at_risk - sample.end_counts
    level = np.append(1.0, np.cumprod(survivors / at_risk))  # γ just after each end
    half: FloatArray = np.full(1, math.sqrt(math.log(2.0 / alpha) / (2.0 * n)))
    kind = "dkw" if sample.is_complete else "hall-wellner"
    if not sample.is_complete:
        half = _hall_wellner(level, at_risk, survivors, n, alpha)
    del at_risk, survivors  # frees memory: there may be millions of stairs
    last = sample.longest
    tops = ends if ends.size and int(ends[-1]) == last else np.append(ends, last)
    estimate, half = level[: tops.size], half[: tops.size]
    # γ never rises: an upper end also holds for all later steps, a lower end for all earlier ones.
    upper = np.minimum(estimate + half, 1.0)
    np.minimum.accumulate(upper, out=upper)
    lower = np.maximum(estimate - half, 0.0)[::-1]
    lower = np.maximum.accumulate(lower, out=lower)[::-1]
    return Band(tops, estimate, lower, upper, kind, float(confidence), int(sample.entries[0]), _reach(sample))


def _reach(sample: Sample) -> int:
    """Return the last step at which a row ends, or enough rows are at risk to know that few would end."""
    n_open = np.cumsum(sample.censored_counts[::-1])[::-1]
    enough = sample.censored[n_open >= min(_FEW_AT_RISK, _FEW_OF_ALL * sample.n)]
    last_end = int(sample.ends[-1]) if sample.ends.size else 0
    return max(last_end + 1, int(enough[-1]) if enough.size else 1)


def _hall_wellner(
    level: FloatArray, at_risk: IntArray, survivors: IntArray, n: int, alpha: float
) -> FloatArray:
    """Return the half widths c γ̂ (1 + n σ̂²)/√n, where c is a quantile of the maximum of a Brownian bridge."""
    from scipy.special import kolmogi  # noqa: PLC0415

    half = np.zeros(level.size)
    spread = half[1:]  # a view: n σ̂² is computed in place and becomes the half width below
    spread += at_risk
    spread -= survivors
    spread *= n
    with np.errstate(divide="ignore"):
        spread /= at_risk
        spread /= survivors
    np.cumsum(spread, out=spread)
    known = np.isfinite(half)  # σ̂² is infinite once all rows at risk have ended
    half += 1.0
    half[known] *= level[known] * (float(kolmogi(alpha)) / math.sqrt(n))
    half[~known] = 1.0
    return half
