"""Infinite sums of smooth, falling terms: direct summation, then the Euler–Maclaurin formula."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sojourn._typing import BoolArray, FloatArray
from sojourn.laws.numerics._special import BERNOULLI

__all__ = [
    "exponential_corrections",
    "exponential_taylor",
    "power_corrections",
    "scaled_sum",
    "taylor_corrections",
]

_NEGLIGIBLE = -45.0
"""Logarithm of a term that is negligible: 3e-20."""


def scaled_sum(
    start: FloatArray,
    *,
    log_ratio: Callable[[FloatArray, float], FloatArray],
    settled: Callable[[FloatArray], BoolArray],
    integral: Callable[[FloatArray], FloatArray],
    corrections: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """Return Σ_{k≥0} f(start + k)/f(start) for each start; only ratios are computed, so nothing underflows.

    Args:
        start: First argument of f in each sum, `(n,)`.
        log_ratio: (x, k) ↦ ln f(x + k)/f(x).
        settled: x ↦ whether the Euler–Maclaurin corrections at x converge. This must become true after a
            few dozen terms, unless the terms are negligible by then.
        integral: x ↦ ∫ₓ^∞ f / f(x).
        corrections: x ↦ Σ_j B₂ⱼ/(2j)! f^(2j−1)(x)/f(x).
    """
    total = np.zeros_like(start)
    log_term = np.zeros_like(start)
    k = 0
    active = np.flatnonzero(~settled(start))
    rest = np.flatnonzero(settled(start))
    shift = np.zeros_like(start)
    while active.size:
        total[active] += np.exp(log_term[active])
        k += 1
        log_term[active] = log_ratio(start[active], float(k))
        shift[active] = k
        done = settled(start[active] + k)
        rest = np.concatenate((rest, active[done]))
        active = active[~done & (log_term[active] > _NEGLIGIBLE)]
    if rest.size:
        x = start[rest] + shift[rest]
        total[rest] += np.exp(log_term[rest]) * (integral(x) + 0.5 - corrections(x))
    return total


def power_corrections(x: FloatArray, p: float) -> FloatArray:
    """Return the Euler–Maclaurin corrections of f(x) = x^(−p).

    The derivatives are f^(k)(x)/f(x) = (−1)^k p (p+1) … (p+k−1) x^(−k).
    """
    rising = p  # p (p+1) … (p+2j−2) / (2j)!, without the factor 1/2 of j = 1
    coefficients = []
    for j, bernoulli in enumerate(BERNOULLI, start=1):
        coefficients.append(-bernoulli * rising / 2.0)
        rising *= (p + 2 * j - 1) * (p + 2 * j) / ((2 * j + 1) * (2 * j + 2))
    inverse_square = x**-2.0
    total = np.zeros_like(x)
    for coefficient in reversed(coefficients):
        total = total * inverse_square + coefficient
    return total / x


def exponential_corrections(x: FloatArray, log_taylor: Callable[[FloatArray, int], FloatArray]) -> FloatArray:
    """Return the Euler–Maclaurin corrections of f = exp(g).

    Args:
        x: Where to evaluate them, `(n,)`.
        log_taylor: (x, k) ↦ the k-th Taylor coefficient of g at x.
    """
    orders = 2 * len(BERNOULLI)
    logs = [np.zeros_like(x), *(log_taylor(x, k) for k in range(1, orders))]
    return taylor_corrections(exponential_taylor(logs))


def exponential_taylor(logs: Sequence[FloatArray]) -> list[FloatArray]:
    """Return the Taylor coefficients of exp(g), divided by exp(g₀), from those of g."""
    taylor = [np.ones_like(logs[0])]
    for k in range(1, len(logs)):  # f = exp(g): k fₖ = Σ i gᵢ fₖ₋ᵢ
        terms = (i * logs[i] * taylor[k - i] for i in range(1, k + 1))
        taylor.append(sum(terms, np.zeros_like(logs[0])) / k)
    return taylor


def taylor_corrections(taylor: Sequence[FloatArray]) -> FloatArray:
    """Return the Euler–Maclaurin corrections from the 20 Taylor coefficients of f, divided by f."""
    total = np.zeros_like(taylor[0])
    for j in range(len(BERNOULLI), 0, -1):
        total += BERNOULLI[j - 1] / (2 * j) * taylor[2 * j - 1]
    return total
