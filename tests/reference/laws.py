"""Length laws in many digits, by mpmath: γ, Γ, ρ and the hazard written as their definitions say.

Nothing here shares a formula with the package beyond the definition of each law: tails are Hurwitz zeta
functions, incomplete gamma functions or plain sums, in so many digits that cancellation does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mpmath as mp
import numpy as np

DIGITS = 60


@dataclass(frozen=True)
class Numbers:
    """The functions of a law at one step, in many digits."""

    survival: mp.mpf
    tail: mp.mpf
    next_survival: mp.mpf
    mass: mp.mpf | None = None

    @property
    def pmf(self) -> mp.mpf:
        return self.survival - self.next_survival if self.mass is None else self.mass

    @property
    def hazard(self) -> mp.mpf:
        return self.pmf / self.survival

    @property
    def continuation(self) -> mp.mpf:
        return self.next_survival / self.survival

    @property
    def remaining(self) -> mp.mpf:
        return self.tail / self.survival


def geometric(gamma: float, h: int) -> Numbers:
    g = mp.mpf(gamma)
    return Numbers(g ** (h - 1), g ** (h - 1) / (1 - g), g**h)


def quasi_hyperbolic(beta: float, gamma: float, h: int) -> Numbers:
    b, g = mp.mpf(beta), mp.mpf(gamma)
    if h == 1:
        return Numbers(mp.mpf(1), 1 + b * g / (1 - g), b * g)
    return Numbers(b * g ** (h - 1), b * g ** (h - 1) / (1 - g), b * g**h)


def polynomial(p: float, offset: int, h: int) -> Numbers:
    power = mp.mpf(p)

    def survival(step: int) -> mp.mpf:
        return mp.mpf(max(step - offset, 1)) ** -power

    flat, start = max(offset + 1 - h, 0), max(h - offset, 1)
    # mpmath gives ζ(p, z) to an absolute error: work in as many more digits as it is small.
    with mp.workdps(mp.mp.dps + int(power * mp.log10(start)) + 10):
        return Numbers(survival(h), flat + mp.zeta(power, start), survival(h + 1))


def beta_geometric(a: float, b: float, h: int) -> Numbers:
    x, y = mp.mpf(a), mp.mpf(b)

    def log_survival(step: int) -> mp.mpf:
        m = step - 1
        return mp.loggamma(y + m) + mp.loggamma(x + y) - mp.loggamma(y) - mp.loggamma(x + y + m)

    here = mp.exp(log_survival(h))
    # Σ_{j≥0} Π (y+m+i)/(x+y+m+i) telescopes: B(x, y+m)/B(x, y) (x+y+m−1)/(x−1).
    return Numbers(here, here * (x + y + h - 2) / (x - 1), mp.exp(log_survival(h + 1)))


def negative_binomial(r: float, gamma: float, h: int) -> Numbers:
    """P(K ≥ m) = Σ_{k≥m} pmf(k) and Γ = Σ_{k≥m} (k−m+1) pmf(k), term by term from a pmf in many digits."""
    s, g = mp.mpf(r), mp.mpf(gamma)
    m = h - 1
    log_pmf = mp.loggamma(m + s) - mp.loggamma(m + 1) - mp.loggamma(s) + s * mp.log1p(-g) + m * mp.log(g)
    pmf = mp.exp(log_pmf)
    mean = r * gamma / (1 - gamma)
    n_terms = int(max(mean - m, 0) + 15 * (mean / (1 - gamma)) ** 0.5 + 60 / (1 - gamma)) + 10
    # Extended precision: each of n ratios adds 1e-19, far below what is tested.
    k = m + np.arange(n_terms, dtype=np.longdouble)
    ratios = np.longdouble(gamma) * (k + np.longdouble(r)) / (k + 1)
    terms = np.concatenate((np.ones(1, dtype=np.longdouble), np.cumprod(ratios)))
    count = np.arange(1, terms.size + 1, dtype=np.longdouble)
    first, second = _many(terms.sum()), _many((count * terms).sum())
    return Numbers(pmf * first, pmf * second, pmf * _many(terms[1:].sum()), pmf)


def _many(x: np.longdouble) -> mp.mpf:
    """Return an extended-precision number in many digits, exactly."""
    fraction, exponent = np.frexp(x)
    high = int(np.floor(np.ldexp(fraction, 64)))
    return mp.ldexp(mp.mpf(high), int(exponent) - 64)


def discrete_weibull(q: float, shape: float, h: int) -> Numbers:
    log_q, c = mp.log(mp.mpf(q)), mp.mpf(shape)

    def survival(x: mp.mpf) -> mp.mpf:
        return mp.exp(log_q * mp.mpf(x) ** c) if x > 0 else mp.mpf(1)

    return Numbers(survival(h - 1), _weibull_tail(survival, -log_q, c, h - 1), survival(h))


def _weibull_tail(survival, rate: mp.mpf, c: mp.mpf, start: int) -> mp.mpf:
    """Sum 2,000 terms plainly, and the rest, by then very smooth, by the integral and four corrections."""
    total, scale = mp.mpf(0), survival(start)
    for k in range(2000):
        term = survival(start + k)
        total += term
        if term < scale * mp.mpf(10) ** -40:
            return total
    x = mp.mpf(start + 2000)
    here = survival(x)
    integral = mp.gammainc(1 / c, rate * x**c) / (c * rate ** (1 / c))
    derivatives = [mp.factorial(k) * t for k, t in enumerate(mp.taylor(lambda y: survival(y) / here, x, 5))]
    corrections = derivatives[1] / 12 - derivatives[3] / 720 + derivatives[5] / 30240
    return total + integral + here * (mp.mpf(1) / 2 - corrections)


def log_logistic(scale: float, shape: float, h: int) -> Numbers:
    s, c = mp.mpf(scale), mp.mpf(shape)

    def survival(x: mp.mpf) -> mp.mpf:
        return 1 / (1 + (x / s) ** c)

    def integral(x: mp.mpf) -> mp.mpf:
        # Substituting v = x/t turns the tail into a hypergeometric function.
        w = (s / x) ** c
        return x * w / (c - 1) * mp.hyp2f1(1, 1 - 1 / c, 2 - 1 / c, -w)

    return Numbers(survival(mp.mpf(h - 1)), _tail(survival, integral, h, 400), survival(mp.mpf(h)))


def log_normal(mu: float, sigma: float, h: int) -> Numbers:
    m, s = mp.mpf(mu), mp.mpf(sigma)

    def survival(x: mp.mpf) -> mp.mpf:
        return mp.erfc((mp.log(x) - m) / (s * mp.sqrt(2))) / 2 if x > 0 else mp.mpf(1)

    def integral(x: mp.mpf) -> mp.mpf:
        z = (mp.log(x) - m) / s
        return mp.exp(m + s * s / 2) * mp.erfc((z - s) / mp.sqrt(2)) / 2 - x * survival(x)

    return Numbers(survival(mp.mpf(h - 1)), _tail(survival, integral, h, 400), survival(mp.mpf(h)))


def _tail(
    survival: Callable[[mp.mpf], mp.mpf], integral: Callable[[mp.mpf], mp.mpf], h: int, terms: int
) -> mp.mpf:
    """Return Σ_{j≥h} γ(j): plain terms, then Euler–Maclaurin with numerical derivatives in many digits."""
    total = sum((survival(mp.mpf(j - 1)) for j in range(h, h + terms)), mp.mpf(0))
    x = mp.mpf(h + terms - 1)
    with mp.workdps(mp.mp.dps + 60):
        coefficients = mp.taylor(survival, x, 11)
    total += integral(x) + survival(x) / 2
    for j in range(1, 7):
        total -= mp.bernoulli(2 * j) / (2 * j) * coefficients[2 * j - 1]
    return total
