"""Infinite sums of smooth, falling terms: direct summation, then the Euler–Maclaurin formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from sojourn._typing import BoolArray, FloatArray
from sojourn.laws.numerics._special import BERNOULLI

__all__ = [
    "exponential_corrections",
    "exponential_taylor",
    "power_corrections",
    "reciprocal_taylor",
    "scaled_sum",
    "taylor_corrections",
    "unpack",
]

Coefficients: TypeAlias = list[Any]
"""Coefficients of a power series: arrays with one value per point, or numbers for a single point."""

_NEGLIGIBLE = -45.0
"""Logarithm of a term that is negligible: 3e-20."""

_BLOCK, _MOST_TERMS = 1024, 32
"""About as many terms are computed at once, for all sums together and at most for one."""


def scaled_sum(
    start: FloatArray,
    *,
    log_ratio: Callable[[FloatArray, FloatArray], FloatArray],
    settled: Callable[[FloatArray], BoolArray],
    integral: Callable[[FloatArray], FloatArray],
    corrections: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """Return Σ_{k≥0} f(start + k)/f(start) for each start; only ratios are computed, so nothing underflows.

    Args:
        start: First argument of f in each sum, `(n,)`.
        log_ratio: (x, k) ↦ ln f(x + k)/f(x), for arrays that broadcast.
        settled: x ↦ whether the Euler–Maclaurin corrections at x converge. This must become true after a
            few dozen terms, unless the terms are negligible by then.
        integral: x ↦ ∫ₓ^∞ f / f(x).
        corrections: x ↦ Σ_j B₂ⱼ/(2j)! f^(2j−1)(x)/f(x).
    """
    total = np.ones_like(start)
    shift, log_term = np.zeros_like(start), np.zeros_like(start)
    is_settled = settled(start)
    active, rest = np.flatnonzero(~is_settled), [np.flatnonzero(is_settled)]
    total[rest[0]] = 0.0
    last = 0
    while active.size:
        # Blocks of terms, because a call for one term takes as long as one for a hundred.
        terms = last + np.arange(1.0, 1.0 + np.clip(_BLOCK // active.size, 1, _MOST_TERMS))
        x = start[active, np.newaxis]
        logs = log_ratio(x, terms)
        is_done = settled(x + terms)
        stops = is_done | (logs <= _NEGLIGIBLE)
        is_added = np.cumsum(stops, axis=1) == 0
        summands = np.where(is_added, np.exp(logs), 0.0)
        # `cumsum` adds one after the other, so that the sum does not depend on the blocks.
        total[active] = np.cumsum(np.column_stack([total[active], summands]), axis=1)[:, -1]
        has_stop, at = stops.any(axis=1), np.argmax(stops, axis=1)
        rows = np.flatnonzero(has_stop & is_done[np.arange(active.size), at])
        found = active[rows]
        shift[found], log_term[found] = terms[at[rows]], logs[rows, at[rows]]
        rest.append(found)
        active, last = active[~has_stop], int(terms[-1])
    settled_ones = np.concatenate(rest)
    if settled_ones.size:
        x = start[settled_ones] + shift[settled_ones]
        total[settled_ones] += np.exp(log_term[settled_ones]) * (integral(x) + 0.5 - corrections(x))
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
    logs = unpack([np.zeros_like(x), *(log_taylor(x, k) for k in range(1, orders))])
    return taylor_corrections(exponential_taylor(logs))


def exponential_taylor(logs: Coefficients) -> Coefficients:
    """Return the Taylor coefficients of exp(g), divided by exp(g₀), from those of g."""
    taylor: list[Any] = [1.0]
    for k in range(1, len(logs)):  # f = exp(g): k fₖ = Σ i gᵢ fₖ₋ᵢ
        taylor.append(sum(i * logs[i] * taylor[k - i] for i in range(1, k + 1)) / k)
    return taylor


def reciprocal_taylor(coefficients: Coefficients) -> Coefficients:
    """Return the Taylor coefficients of 1/(1 + Σ_{i≥1} cᵢ tⁱ) from the cᵢ; c₀ is not used."""
    taylor: list[Any] = [1.0]
    for k in range(1, len(coefficients)):
        taylor.append(-sum(coefficients[i] * taylor[k - i] for i in range(1, k + 1)))
    return taylor


def taylor_corrections(taylor: Coefficients) -> FloatArray:
    """Return the Euler–Maclaurin corrections from the 20 Taylor coefficients of f, divided by f."""
    odd = [BERNOULLI[j - 1] / (2 * j) * taylor[2 * j - 1] for j in range(len(BERNOULLI), 0, -1)]
    return np.asarray(sum(odd))


def unpack(coefficients: list[FloatArray]) -> Coefficients:
    """Return numbers instead of arrays with one element, because sums of numbers are ten times as fast."""
    return [c.item() for c in coefficients] if coefficients[0].size == 1 else coefficients
