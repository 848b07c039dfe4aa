"""Functions that stay accurate where their textbook forms lose digits by cancellation."""

from __future__ import annotations

import functools
import math

import numpy as np

from sojourn._typing import FloatArray

__all__ = [
    "BERNOULLI",
    "deviance",
    "gamma_tail_ratio",
    "log1p_minus",
    "log_gamma_ratio",
    "running_products",
    "running_sums",
    "stirling_error",
    "two_product",
    "two_sum",
]

BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
)
"""B₂, B₄, …, B₂₀."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(14)


def two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rounded sum and its exact rounding error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: float, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rounded product and its exact rounding error (Dekker), for numbers of moderate size."""
    product = np.asarray(a * b)
    a_high, a_low = _split(np.float64(a))
    b_high, b_low = _split(b)
    error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return product, np.asarray(error)


def _split(x: FloatArray | np.float64) -> tuple[FloatArray, FloatArray]:
    scaled = 134217729.0 * x  # 2²⁷ + 1
    high = np.asarray(scaled - (scaled - x))
    return high, np.asarray(x - high)


def log1p_minus(u: FloatArray) -> FloatArray:
    """Return ln(1 + u) − u for |u| ≤ 1/2 to full relative precision."""
    v = u / (2.0 + u)
    square = v * v
    series = np.zeros_like(u)
    for k in range(19, 0, -1):
        series = square * (series + 2.0 / (2 * k + 1))
    return v * (series - u)


def deviance(u: FloatArray, ratio: FloatArray) -> FloatArray:
    """Return u − ln(1 + u) ≥ 0 to full relative precision, where ratio = 1 + u is exact for u far from 0."""
    near = np.abs(u) <= 0.5
    return np.where(near, -log1p_minus(np.where(near, u, 0.0)), u - np.log(ratio))


def stirling_error(x: FloatArray) -> FloatArray:
    """Return ln Γ(x) − (x − ½) ln x + x − ½ ln 2π for x > 0."""
    shift = np.zeros_like(x)
    at = x
    for _ in range(10):
        small = at < 10.0
        if not small.any():
            break
        here = np.where(small, at, 10.0)
        shift = shift + np.where(small, (here + 0.5) * np.log1p(1.0 / here) - 1.0, 0.0)
        at = np.where(small, at + 1.0, at)
    inverse_square = 1.0 / (at * at)
    series = np.zeros_like(at)
    for j in range(len(BERNOULLI), 0, -1):
        series = series * inverse_square + BERNOULLI[j - 1] / (2 * j * (2 * j - 1))
    return shift + series / at


def log_gamma_ratio(a: float, b: float, m: FloatArray) -> FloatArray:
    """Return ln Γ(b+m)Γ(a+b) / (Γ(b)Γ(a+b+m)) for a, b > 0 and m ≥ 0.

    The leading part of Stirling's formula is −∫₀^a ln(1 + m/(b+s)) ds, symmetric in a and m: integrated over
    the shorter of the two, by Gauss-Legendre where it is shorter than b and in closed form where it is not.
    """
    short, long = np.minimum(a, m), np.maximum(a, m)
    nodes = b + short[:, None] * (0.5 * (_NODES + 1.0))
    # Summed row by row: a matrix product would round a single step and the same step in an array differently.
    smooth = short * (np.log1p(long[:, None] / nodes) * (0.5 * _WEIGHTS)).sum(axis=1)
    top = b + short
    closed = long * np.log1p(short / (b + long)) + top * np.log1p(long / top) - b * np.log1p(long / b)
    leading = np.where(short <= b, smooth, closed)
    half = 0.5 * np.log1p((a / b) * (m / (a + b + m)))
    errors = stirling_error(np.concatenate((b + m, a + b + m)))
    error = (errors[: m.size] - errors[m.size :]) + _stirling_error_difference(a, b)
    return np.where(m > 0.0, error - leading - half, 0.0)


@functools.lru_cache(maxsize=256)
def _stirling_error_difference(a: float, b: float) -> float:
    """Return the difference of `stirling_error` between a + b and b."""
    upper, lower = stirling_error(np.array([a + b, b])).tolist()
    return float(upper - lower)


def gamma_tail_ratio(a: float, z: FloatArray) -> FloatArray:
    """Return e^z z^(−a) Γ(a, z), the scaled upper incomplete gamma function, for a, z > 0."""
    result = np.empty_like(z)
    far = z >= max(a + 1.0, 1.0)
    if far.any():
        result[far] = _gamma_fraction(a, z[far])
    if not far.all():
        near = z[~far]
        whole = _complete_gamma(a, near)
        term = np.full_like(near, 1.0 / a)
        lower = term.copy()
        k = 0
        while np.any(term > 1e-18 * lower):
            k += 1
            term = term * near / (a + k)
            lower += term
        result[~far] = whole - lower
    return result


def _gamma_fraction(a: float, z: FloatArray) -> FloatArray:
    # Legendre's continued fraction, by the modified Lentz method.
    bottom = z + 1.0 - a
    c = np.full_like(z, 1e300)
    d = 1.0 / bottom
    value = d.copy()
    for n in range(1, 2000):
        top = -n * (n - a)
        bottom = bottom + 2.0
        d = 1.0 / (top * d + bottom)
        c = bottom + top / c
        change = c * d
        value = value * change
        if np.all(np.abs(change - 1.0) < 2e-16):
            break
    return value


def _complete_gamma(a: float, z: FloatArray) -> FloatArray:
    """Return e^z z^(−a) Γ(a), by Stirling's formula and the deviance a ln(a/z) + z − a."""
    error = float(stirling_error(np.array([a]))[0])
    return math.sqrt(2.0 * math.pi / a) * np.exp(a * deviance((z - a) / a, z / a) + error)


def running_sums(values: FloatArray) -> FloatArray:
    """Return cumulative sums with a rounding error that grows only with the root of their number."""
    return _running(np.add, values, 0.0)


def running_products(values: FloatArray) -> FloatArray:
    """Return cumulative products with a rounding error that grows only with the root of their number."""
    return _running(np.multiply, values, 1.0)


def _running(operation: np.ufunc, values: FloatArray, neutral: float) -> FloatArray:
    side = math.isqrt(max(values.size - 1, 0)) + 1
    blocks = np.full(side * side, neutral)
    blocks[: values.size] = values
    rows = operation.accumulate(blocks.reshape(side, side), axis=1)
    before = np.concatenate(([neutral], operation.accumulate(rows[:-1, -1])))
    result: FloatArray = operation(before[:, None], rows).ravel()[: values.size]
    return result
