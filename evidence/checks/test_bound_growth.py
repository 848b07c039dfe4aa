"""Growth of the bounds with the number of episodes: the exponents of the corollaries."""

import functools
import math

import mpmath
import pytest
from theory.test_bounds import slope

import sojourn as sj
from sojourn.theory import (
    printed_known_law_bound,
    printed_known_law_exponent,
    printed_truncation,
    printed_unknown_law_bound,
    printed_unknown_law_exponent,
)


@pytest.mark.parametrize(
    ("law", "low"),
    [
        (sj.Geometric(0.9), 10**40),
        (sj.QuasiHyperbolic(0.7, 0.95), 10**40),
        (sj.Polynomial(1.6), 10**12),
        (sj.Polynomial(2.0), 10**14),
        (sj.Polynomial(2.0, offset=3), 10**14),
        (sj.Polynomial(3.0), 10**26),
        (sj.Polynomial(6.0), 10**54),
    ],
    ids=repr,
)
def test_known_law_bound_grows_with_the_corollary_s_exponent(law, low):
    @functools.cache
    def bound(episodes):
        beta = printed_truncation(law, episodes).beta
        return printed_known_law_bound(law, episodes, n_states=1, n_actions=1, beta=beta)

    high, exponent = 100 * low, printed_known_law_exponent(law)
    # One state and one action: the second-order term, which goes with S²A, is out of the way early. Its power
    # is smaller by at most ½, so it lowers the slope by at most half its share. The others are the power of T
    # (for geometric laws ΔT is constant, and nothing here) times at most L and √N ~ √ln T: 1.5/ln T more.
    found = slope(lambda n: bound(n).total, low, high)
    share = bound(low).second_order / bound(low).total
    assert share < 0.15
    assert exponent - 0.5 * share - 1e-3 <= found <= exponent + 1.5 / math.log(low)

    def without_logarithms(episodes):
        n_layers = printed_truncation(law, episodes).horizon
        cleared = bound(episodes).bonus / math.log(episodes * n_layers / 0.1)
        return cleared / math.sqrt(n_layers) if printed_known_law_exponent(law) == 0.5 else cleared

    # N is a whole number near its formula, and Γ(N) its power only to leading order: 1/N over two decades.
    assert slope(without_logarithms, low, high) == pytest.approx(exponent, abs=1e-3)


@pytest.mark.parametrize(("p", "low"), [(2.0, 10**20), (3.0, 10**30), (5.0, 10**44)])
def test_unknown_law_bound_grows_with_the_corollary_s_exponent(p, low):
    law, exponent = sj.Polynomial(p), printed_unknown_law_exponent(sj.Polynomial(p))

    def bound(episodes):
        # the proof's H* = T^(1/(2p))
        horizon = round(episodes ** (1 / (2 * p)))
        return printed_unknown_law_bound(
            law, episodes, horizon=horizon, n_states=1, n_actions=1, beta=p - 1.0
        )

    # TΓ(H*+1) is a pure power; the minimum over L has the same power times ln(T)^(1−1/p); bonus and noise
    # have the smaller power (2p+1)/(4p) and ln(T)^(5/2) or ln(T)^3, which outweighs the rest for a long time.
    high = 10**4 * low
    assert slope(lambda n: bound(n).truncation, low, high) == pytest.approx(exponent, abs=1e-3)
    log_slope = (1 - 1 / p) / math.log(low)
    assert exponent - 1e-3 <= slope(lambda n: bound(n).estimation, low, high) <= exponent + log_slope + 1e-3
    assert slope(lambda n: bound(n).bonus, low, high) <= (2 * p + 1) / (4 * p) + 2.5 / math.log(low)
    assert slope(lambda n: bound(n).noise, low, high) <= (2 * p + 1) / (4 * p) + 3.0 / math.log(low)
    assert slope(lambda n: bound(n).total, low, high) <= exponent + 3.0 / math.log(low)


def test_the_growth_factor_of_corollary_6_is_bounded_with_the_other_exponent():
    for gamma in (0.5, 0.9, 0.99):
        for power in (8, 40, 120, 300):
            log_t = power * mpmath.log(10)
            horizon = log_t / (2 * mpmath.log(1 / mpmath.mpf(gamma)))
            beta, last = log_t / (4 * mpmath.log(horizon)), int(horizon)
            terms = [mpmath.mpf(gamma) ** (1 - k) * mpmath.mpf(k) ** -beta for k in range(1, last + 1)]
            chord = (log_t / 4 + mpmath.log(gamma)) / (horizon - 1)
            assert all(
                term <= mpmath.exp(chord * (k - 1)) * (1 + mpmath.mpf(10) ** -9)
                for k, term in enumerate(terms, start=1)
            )
            # The exponent of g(h): a sum of T^−¼/(γ(k) + k^β Γ(k)) over k from 2 to h.
            exponent = mpmath.exp(-log_t / 4) * sum(
                1 / (mpmath.mpf(gamma) ** (k - 1) * (1 + mpmath.mpf(k) ** beta / (1 - gamma)))
                for k in range(2, last + 1)
            )
            assert exponent <= 2
