"""The family of polynomial laws: Newton's method in the power, and a search over offsets."""

from __future__ import annotations

import math

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.laws._base import LengthLaw
from sojourn.laws.estimates._sample import Sample
from sojourn.laws.families._polynomial import Polynomial
from sojourn.laws.fitting._family import Family, Solution

__all__ = ["PolynomialFamily"]

_LOWEST, _HIGHEST = 1.001, 1000.0
"""Range of the power: from an almost infinite mean to an end at the first step at risk."""

_LOWEST_WITHOUT_MEAN = 0.01
"""Least power of members without a mean, which are named and are not laws."""

_GRID_SIZE = 17
"""Number of offsets tried at a time while the search narrows down."""


class PolynomialFamily(Family):
    """Polynomial laws: the log-likelihood is concave in p for each offset; the offset is found by search."""

    name = "polynomial"
    parameters = ("p", "offset")

    @property
    def n_parameters(self) -> int:
        """1: the offset is not counted, because enough data determine a whole number exactly."""
        return 1

    def make(self, *values: float) -> LengthLaw:
        """Return the law."""
        p, offset = values
        return Polynomial(p, int(offset))

    def solve(self, sample: Sample) -> Solution:
        """Return the most likely member; the offset is a whole number and has no standard error."""
        low, high = 0, int(sample.ends[0]) - 1
        while high - low >= _GRID_SIZE:
            offsets = np.unique(np.linspace(low, high, _GRID_SIZE).round().astype(np.int64))
            best = int(np.argmax(_maximize_power(sample, offsets)[1]))
            low, high = int(offsets[max(best - 1, 0)]), int(offsets[min(best + 1, offsets.size - 1)])
        offsets = np.arange(low, high + 1)
        powers, values, bends = _maximize_power(sample, offsets)
        best = int(np.argmax(values))
        p, offset, bend = float(powers[best]), int(offsets[best]), float(bends[best])
        inside = _LOWEST < p < _HIGHEST
        variance = 1.0 / bend if inside and bend > 0.0 else math.nan
        edge = () if inside else ("p",)
        endless = self._without_mean(sample, offsets) if p == _LOWEST else ""
        law, covariance = Polynomial(p, offset), np.diag([variance, math.nan])
        return Solution(law, (p, float(offset)), covariance, edge, endless)

    def _without_mean(self, sample: Sample, offsets: IntArray) -> str:
        """Return the most likely member with p ≤ 1, which has no mean, if the data favor one."""
        powers, values, _ = _maximize_power(sample, offsets, lowest=_LOWEST_WITHOUT_MEAN)
        best = int(np.argmax(values))
        p = float(powers[best])
        return f"Polynomial(p={p:.3g}, offset={int(offsets[best])})" if p <= 1.0 else ""


def _maximize_power(
    sample: Sample, offsets: IntArray, *, lowest: float = _LOWEST
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return, for each offset, the best power, its log-likelihood and minus the second derivative there."""
    marks, weights = sample.survival_terms()
    ended = sample.end_counts.astype(np.float64)
    z = sample.ends[None, :] - offsets[:, None].astype(np.float64)  # ≥ 1: no observed length is below
    linear = np.log(z) @ ended + np.log(np.maximum(marks - offsets[:, None], 1.0)) @ weights
    rate = np.log1p(1.0 / z)  # ln P(Z = z) = −p ln z + ln(1 − e^(−p·rate))
    logs = np.full(offsets.size, math.log(1.5))
    for _ in range(60):  # Newton in ln p; steps are limited, and the function is concave in p
        p = np.exp(logs)
        odds = 1.0 / np.expm1(np.minimum(p[:, None] * rate, 700.0))
        slope = (rate * odds) @ ended - linear
        bend = (rate**2 * odds * (1.0 + odds)) @ ended
        curve = bend * p**2 - slope * p
        step = np.where(curve > 0.0, slope * p / np.where(curve > 0.0, curve, 1.0), np.sign(slope))
        new = np.clip(logs + np.clip(step, -1.0, 1.0), math.log(lowest), math.log(_HIGHEST))
        moved, logs = float(np.abs(new - logs).max()), new
        if moved < 1e-13:
            break
    p = np.exp(logs)
    values = np.log(-np.expm1(-p[:, None] * rate)) @ ended - p * linear
    return np.clip(p, lowest, _HIGHEST), values, bend
