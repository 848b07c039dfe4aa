"""The paper's formulas in high precision with mpmath, written as they are printed.

Nothing is rearranged, and no logarithm is taken of a product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import mpmath as mp
import pytest
from reference import laws as reference

import sojourn as sj

DIGITS = 60


@dataclass(frozen=True)
class Written:
    """γ(h) and Γ(h) in high precision."""

    gamma: Callable[[int], mp.mpf]
    tail: Callable[[int], mp.mpf]


def by_reference(law: Callable[..., reference.Numbers], *parameters: float) -> Written:
    numbers = cache(lambda h: law(*parameters, h))
    return Written(lambda h: numbers(h).survival, lambda h: numbers(h).tail)


def by_table(survival: list[float]) -> Written:
    def gamma(h: int) -> mp.mpf:
        return mp.mpf(survival[h - 1]) if h <= len(survival) else mp.mpf(0)

    return Written(gamma, lambda h: mp.fsum(gamma(j) for j in range(h, len(survival) + 1)))


LAWS = [
    pytest.param(law, written, id=repr(law))
    for law, written in (
        (sj.Geometric(0.9), by_reference(reference.geometric, 0.9)),
        (sj.QuasiHyperbolic(0.7, 0.95), by_reference(reference.quasi_hyperbolic, 0.7, 0.95)),
        (sj.Polynomial(1.4), by_reference(reference.polynomial, 1.4, 0)),
        (sj.Polynomial(3.0, offset=20), by_reference(reference.polynomial, 3.0, 20)),
        (sj.Tabulated([1.0, 0.5, 0.5, 0.2]), by_table([1.0, 0.5, 0.5, 0.2])),
    )
]


@dataclass(frozen=True)
class Theorems:
    """Both theorems for T episodes, S states, A actions and N layers."""

    law: Written
    episodes: int
    n_states: int
    n_actions: int
    n_layers: int
    delta: float
    beta: float

    def t(self, h):
        """The function t(h)."""
        product = self.law.gamma(h)
        for j in range(2, h + 1):
            if self.law.gamma(j) > 0:
                product *= 1 + self.law.gamma(j) / (mp.mpf(j) ** mp.mpf(self.beta) * self.law.tail(j))
        return product

    def g(self, h):
        """The function g(h) of Theorem 4."""
        fourth_root, beta = mp.mpf(self.episodes) ** mp.mpf("-0.25"), mp.mpf(self.beta)
        gamma, tail = self.law.gamma, self.law.tail
        return mp.exp(
            mp.fsum(fourth_root / (gamma(k) + mp.mpf(k) ** beta * tail(k)) for k in range(2, h + 1))
        )

    def largest(self, term):
        """The maximum over the layers with γ(h+1) > 0."""
        layers = [h for h in range(1, self.n_layers + 1) if self.law.gamma(h + 1) > 0]
        return max((term(h) for h in layers), default=mp.mpf(0))

    def numbers(self):
        given = (self.episodes, self.n_states, self.n_actions, self.n_layers, self.delta, self.beta)
        return [mp.mpf(number) for number in given]

    def first(self):
        """The four terms of Theorem 1 with Δ = Γ(N+1), in the order of the paper."""
        gamma, tail, t = self.law.gamma, self.law.tail, self.t
        T, S, A, N, delta, beta = self.numbers()
        L = mp.log(S * A * T * N / delta)
        last = self.n_layers + 1
        return (
            tail(last) * T / gamma(last) * t(last) if gamma(last) > 0 else mp.mpf(0),
            self.largest(lambda h: t(h) * gamma(h + 1) / gamma(h)) * mp.sqrt(T * N * mp.log(T * N / delta)),
            self.largest(lambda h: t(h) * tail(h + 1) / gamma(h)) * L * mp.sqrt(S * A * T * N),
            self.largest(lambda h: t(h) * tail(h + 1) ** 2 / (gamma(h) * gamma(h + 1)))
            * (L * S**2 * A * N**beta * mp.log(T * N)),
        )

    def second(self):
        """The seven terms of Theorem 4 in the order of the paper; Õ(√T) as √T ln T ln(ln T/δ)."""
        gamma, tail, t, g = self.law.gamma, self.law.tail, self.t, self.g
        T, S, A, H, delta, beta = self.numbers()
        log_t, error = mp.log(T), T ** mp.mpf("-0.25")
        last = self.n_layers + 1
        # L up to 300: for larger L and the tested values, 2L ln(T) √T alone exceeds the terms at L = 1.
        splits = range(1, min(self.episodes, 300) + 1)
        return (
            min(T * tail(L + 1) + 2 * L * log_t * mp.sqrt(T) for L in splits),
            tail(last) * T,
            mp.sqrt(T) * log_t * mp.log(log_t / delta),
            log_t * t(last) / gamma(last) * g(last) if gamma(last) > 0 else mp.mpf(0),
            self.largest(lambda h: t(h) / gamma(h) * g(h) * tail(h + 1) * (1 + error / tail(h + 1)))
            * (log_t ** mp.mpf("2.5") * mp.sqrt(S * A * T * H)),
            self.largest(
                lambda h: (
                    t(h)
                    * tail(h + 1) ** 2
                    / (gamma(h) * gamma(h + 1))
                    * g(h)
                    * (1 + error / tail(h + 1)) ** 2
                )
            )
            * (log_t**2 * mp.log(T * H) * S**2 * A * H**beta),
            self.largest(lambda h: t(h) / gamma(h) * gamma(h + 1) * g(h) * (1 + error / gamma(h + 1)))
            * (log_t ** mp.mpf("2.5") * mp.sqrt(T * H * mp.log(T * H / delta))),
        )
