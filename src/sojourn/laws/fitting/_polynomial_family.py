"""Polynomial laws fitted: a concave climb in the power for every offset."""

from __future__ import annotations

import math

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.laws._base import LengthLaw
from sojourn.laws.estimates._sample import Sample
from sojourn.laws.families._polynomial import Polynomial
from sojourn.laws.fitting._families import Family, Solution

__all__ = ["PolynomialFamily"]

_LOWEST, _HIGHEST = 1.001, 1000.0
"""The powers that are tried: from almost an infinite mean to an end at the first step at risk."""

_SIDE = 17
"""How many offsets are tried at a time, narrowing down."""


class PolynomialFamily(Family):
    """For a given offset the log-likelihood is concave in p; the offset is found by trying."""

    name = "polynomial"
    parameters = ("p", "offset")

    @property
    def n_parameters(self) -> int:
        """1: the offset, a whole number, is found exactly with enough data, and is not counted."""
        return 1

    def make(self, *values: float) -> LengthLaw:
        """Return the law."""
        p, offset = values
        return Polynomial(p, int(offset))

    def solve(self, sample: Sample) -> Solution:
        """Return the most likely member; the offset, a whole number, has no standard error."""
        low, high = 0, int(sample.ends[0]) - 1
        while high - low >= _SIDE:
            offsets = np.unique(np.linspace(low, high, _SIDE).round().astype(np.int64))
            best = int(np.argmax(_climb(sample, offsets)[1]))
            low, high = int(offsets[max(best - 1, 0)]), int(offsets[min(best + 1, offsets.size - 1)])
        offsets = np.arange(low, high + 1)
        powers, values, bends = _climb(sample, offsets)
        best = int(np.argmax(values))
        p, offset, bend = float(powers[best]), int(offsets[best]), float(bends[best])
        inside = _LOWEST < p < _HIGHEST
        variance = 1.0 / bend if inside and bend > 0.0 else math.nan
        edge = () if inside else ("p",)
        return Solution(Polynomial(p, offset), (p, float(offset)), np.diag([variance, math.nan]), edge)


def _climb(sample: Sample, offsets: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the best power for each offset, its log-likelihood and minus its second derivative there."""
    marks, weights = sample.marks()
    ended = sample.ended.astype(np.float64)
    z = sample.ends[None, :] - offsets[:, None].astype(np.float64)  # ≥ 1: no observed length is below
    linear = np.log(z) @ ended + np.log(np.maximum(marks - offsets[:, None], 1.0)) @ weights
    rate = np.log1p(1.0 / z)  # ln P(Z = z) = −p ln z + ln(1 − e^(−p·rate))
    logs = np.full(offsets.size, math.log(1.5))
    for _ in range(60):  # Newton in ln p, which is safe: steps are cut, and the function is concave in p
        p = np.exp(logs)
        odds = 1.0 / np.expm1(np.minimum(p[:, None] * rate, 700.0))
        slope = (rate * odds) @ ended - linear
        bend = (rate**2 * odds * (1.0 + odds)) @ ended
        curve = bend * p**2 - slope * p
        step = np.where(curve > 0.0, slope * p / np.where(curve > 0.0, curve, 1.0), np.sign(slope))
        new = np.clip(logs + np.clip(step, -1.0, 1.0), math.log(_LOWEST), math.log(_HIGHEST))
        moved, logs = float(np.abs(new - logs).max()), new
        if moved < 1e-13:
            break
    p = np.exp(logs)
    values = np.log(-np.expm1(-p[:, None] * rate)) @ ended - p * linear
    return np.clip(p, _LOWEST, _HIGHEST), values, bend
