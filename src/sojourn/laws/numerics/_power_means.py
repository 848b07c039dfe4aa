"""Expectations of powers under an exponential distribution, without cancellation."""

from __future__ import annotations

import math

import numpy as np

from sojourn._typing import ArrayLike, FloatArray

__all__ = ["power_means"]

_TERMS = 26
_MAX_WHOLE_POWER = 64.0
_CHUNK = 4096


def power_means(rate: FloatArray, odds: float, power: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return E[A^p] and E[A^(p−1) (1 + (p+1)B)] for A = 1 + B, B = odds (1 − e^(−V)), V ~ Exp(rate).

    They equal ₂F₁(1, −p; rate+1; −odds) and ₂F₁(2, −p; rate+1; −odds).

    Args:
        rate: Rates > 0, `(n,)`.
        odds: A number > 0.
        power: p > −1, one number or `(n,)`; p · odds ≤ rate, so that A^p grows more slowly than e^V.
    """
    powers = np.broadcast_to(np.asarray(power, dtype=np.float64), rate.shape)
    finite = (powers <= _MAX_WHOLE_POWER) & (powers == np.floor(powers)) & (powers >= 0.0)
    quick = finite | (odds * (np.abs(powers) + _TERMS) <= 0.2 * (rate + 1.0))
    mean, weighted = np.empty_like(rate), np.empty_like(rate)
    if quick.any():
        mean[quick], weighted[quick] = _series(rate[quick], odds, powers[quick])
    slow = np.flatnonzero(~quick)
    for begin in range(0, slow.size, _CHUNK):
        part = slow[begin : begin + _CHUNK]
        mean[part], weighted[part] = _integrals(rate[part], odds, powers[part])
    return mean, weighted


def _series(rate: FloatArray, odds: float, power: FloatArray) -> tuple[FloatArray, FloatArray]:
    # The hypergeometric series: its terms are positive up to j = p; then it ends (whole p) or falls fast.
    term, mean, weighted = np.ones_like(rate), np.ones_like(rate), np.ones_like(rate)
    for j in range(1, int(_MAX_WHOLE_POWER) + 2):
        term = term * ((power - (j - 1.0)) * odds / (rate + j))
        mean += term
        weighted += (j + 1.0) * term
        if not np.any(np.abs(term) > 1e-18 * np.abs(mean)):
            break
    return mean, weighted


def _integrals(rate: FloatArray, odds: float, power: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Integrate by the trapezoidal rule on a double-exponential (p ≥ 0) or logarithmic (p < 0) scale."""
    if power[0] < 0.0:
        lowest = -42.0 + min(0.0, math.log(rate.min() / odds))
        logs = np.arange(lowest, 3.9, 0.125)
        x = np.broadcast_to(np.exp(logs), (rate.size, logs.size))
        weights = x * 0.125
    else:
        t = np.arange(-3.75, 3.9, 0.0625)
        x = _scale(rate, odds, power)[:, None] * np.exp(t - np.exp(-t))
        weights = x * ((1.0 + np.exp(-t)) * 0.0625)
    grown = -odds * np.expm1(-x / rate[:, None])
    density = weights * np.exp(power[:, None] * np.log1p(grown) - x)
    weighted = density / (1.0 + grown) * (1.0 + (power[:, None] + 1.0) * grown)
    return density.sum(axis=1), weighted.sum(axis=1)


def _scale(rate: FloatArray, odds: float, power: FloatArray) -> FloatArray:
    """Return the x where e^(−x) A^p has fallen to e^(−1), by Newton's method on a concave function."""
    x = 1.0 + power * math.log1p(odds)
    for _ in range(60):
        decay = np.exp(-x / rate)
        grown = -odds * np.expm1(-x / rate)
        value = 1.0 - x + power * np.log1p(grown)
        slope = -1.0 + power * odds * decay / (rate * (1.0 + grown))
        step = value / slope
        x = x - step
        if np.all(np.abs(step) <= 1e-2 * x):
            break
    return x
