"""Proven bounds against a separate transcription of Theorems B and C, closed forms and stated numbers."""

# ruff: noqa: N803 - the letters of the theorems

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import zeta

import sojourn as sj
from sojourn.theory import (
    printed_known_law_bound,
    printed_truncation,
    proven_bound,
    proven_exponent,
    proven_horizon,
    proven_truncation,
)

RIVER = {"n_states": 6, "n_actions": 2, "n_successors": 3}
MONOTONE = "monotone_bernstein"


def geometric(gamma):
    return lambda h: gamma ** (h - 1.0), lambda h: gamma ** (h - 1.0) / (1 - gamma)


def polynomial(p):
    return lambda h: h**-p, lambda h: zeta(p, h)


def rare(q):
    """H = 1 or 10, 10 with probability q."""
    return lambda h: np.where(h == 1, 1.0, np.where(h <= 10, q, 0.0)), lambda h: np.where(
        h == 1, 1 + 9 * q, np.maximum(11 - h, 0) * q
    )


CASES = [
    (sj.Geometric(0.9), geometric(0.9), 30),
    (sj.Polynomial(1.4), polynomial(1.4), 200),
    (sj.Polynomial(3.5), polynomial(3.5), 5),
    (sj.Tabulated([1.0] + [0.01] * 9), rare(0.01), 10),
]


def logarithms(T, S, A, N, delta, mean, *, count, expected):
    """Return ι and ℓ as the theorems state them."""
    T, N = float(T), float(N)
    if count == "first":
        iota, most = np.log(2 * S * A * T * N**2 / delta), T * N
    else:
        most = T * mean / delta
        iota = np.log(2 * S * A * N * most * (most + 1) / delta)
    ell = 1 + np.log(1 + T * mean / (S * A)) if expected else 2 * (1 + np.log(1 + most) + np.log(1 / delta))
    return iota, ell


@pytest.mark.parametrize(("law", "formulas", "N"), CASES, ids=lambda case: repr(case)[:30])
@pytest.mark.parametrize("count", ["first", "all"])
@pytest.mark.parametrize("expected", [False, True])
def test_both_theorems_are_transcribed(law, formulas, N, count, expected):
    survival, tail = formulas
    T, S, A, kappa, delta = 10**6, 6, 2, 3, 0.01
    h = np.arange(1.0, N + 1)
    iota, ell = logarithms(T, S, A, N, delta, float(tail(1.0)), count=count, expected=expected)
    spread = np.sum(tail(h + 1) ** 2 / survival(h))
    # Σ_{h=2}^{N} (2h−3)γ(h) = E[(min(H, N) − 1)²]: here from the probabilities of the lengths.
    lengths = np.append(survival(h)[:-1] - survival(h)[1:], survival(np.array([float(N)])))
    variance = np.sum(lengths * (h - 1) ** 2)
    longest = np.max(tail(h) / survival(h))
    lost, lower = T * float(tail(N + 1.0)), kappa * S * A * longest * iota * ell
    settings = {"n_successors": kappa, "delta": delta, "horizon": N, "count": count, "expected": expected}
    more = 1 if count == "all" else 0
    for bonus, c in (("paper", 3 * np.log(S * A * T * N / delta)), ("hoeffding", np.sqrt(iota / 2))):
        found = proven_bound(law, T, n_states=S, n_actions=A, bonus=bonus, **settings)
        assert found.leading == pytest.approx(4 * c * np.sqrt(2 * S * A * ell * T * spread), rel=1e-10)
        assert (found.truncation, found.lower_order) == pytest.approx((3 * lost, 20 * lower), rel=1e-10)
        failures = 1 + kappa / N + more
        check_failure(found, failures, delta * T * float(tail(1.0)), delta, expected)
    found = proven_bound(law, T, n_states=S, n_actions=A, bonus=MONOTONE, **settings)
    leading = 17 * np.sqrt(S * A * T * iota * ell * min(variance, spread / 4))
    assert found.leading == pytest.approx(leading, rel=1e-9)
    assert (found.truncation, found.lower_order) == pytest.approx((5 * lost, 900 * lower), rel=1e-10)
    check_failure(found, 2 + kappa / N + more, delta * T * float(tail(1.0)), delta, expected)


def check_failure(found, failures, cost, delta, expected):
    if expected:
        assert (found.failure, found.probability) == pytest.approx((failures * cost, 1.0), rel=1e-12)
    else:
        assert (found.failure, found.probability) == pytest.approx((0.0, 1 - (failures + 2) * delta))
    parts = (found.leading, found.truncation, found.lower_order, found.failure)
    assert found.total == pytest.approx(sum(parts), rel=1e-14)


def test_the_default_layers_value_later_steps_by_the_given_truncation():
    # Geometric laws: Δ = 1/(T(1−γ)) and N = N(Δ), so Δ/γ(N) can be above the remaining steps 1/(1−γ).
    law, T = sj.Geometric(0.9), 10**6
    choice = printed_truncation(law, T)
    by_default = proven_bound(law, T, **RIVER)
    by_layers = proven_bound(law, T, **RIVER, horizon=choice.horizon)
    assert by_default.horizon == choice.horizon == proven_horizon(law, T)
    assert by_default.truncation == pytest.approx(3 * T * choice.truncation, rel=1e-12) == 30.0
    assert by_layers.truncation == pytest.approx(3 * T * 0.9**choice.horizon / 0.1, rel=1e-10)
    last = choice.truncation / 0.9 ** (choice.horizon - 1)
    assert 10.0 < last < 10.0 / 0.9
    assert by_default.lower_order / by_layers.lower_order == pytest.approx(last / 10.0, rel=1e-10)
    # No steps follow the longest length, whatever Δ is.
    assert proven_bound(sj.Fixed(20), T, **RIVER).truncation == 0.0


@pytest.mark.parametrize(("T", "hoeffding", "monotone"), [(10**7, 6.0e7, 6.0e8), (10**12, 2.2e10, 4.5e10)])
def test_at_discount_nine_tenths_theorem_b_has_the_smaller_bound(T, hoeffding, monotone):
    sizes = RIVER | {"horizon": math.ceil(math.log(T) / math.log(1 / 0.9))}
    b, c = (
        proven_bound(sj.Geometric(0.9), T, bonus=bonus, **sizes).total for bonus in ("hoeffding", MONOTONE)
    )
    assert (b, c) == pytest.approx((hoeffding, monotone), rel=0.08)


def test_theorem_c_has_the_smaller_leading_term_for_discounts_above_0_972():
    # 17²(1+γ)(1−γ) < 16γ once the minimum with Σ_N/4 is left out; 10⁶ layers make N irrelevant.
    def leading(gamma, bonus):
        return proven_bound(sj.Geometric(gamma), 10**9, bonus=bonus, horizon=10**4, **RIVER).leading

    for gamma in (0.9, 0.97, 0.98, 0.99):
        ratio = leading(gamma, MONOTONE) / leading(gamma, "hoeffding")
        expected = 17 / 4 * math.sqrt((1 - gamma**2) / gamma)
        assert ratio == pytest.approx(min(expected, 17 / 8), rel=1e-9)  # never above 17/8 (Σ_N/4)
        assert (ratio < 1) == (gamma > 0.972)


@pytest.mark.parametrize(("bonus", "first"), [("hoeffding", 10**7), (MONOTONE, 10**8)])
def test_the_bounds_fall_below_the_trivial_one_only_late(bonus, first):
    def is_trivial(T):
        return proven_bound(sj.Geometric(0.9), T, bonus=bonus, **RIVER).total > 10 * T

    assert is_trivial(first // 3)
    assert not is_trivial(10 * first)


@settings(deadline=None)
@given(st.floats(0.01, 0.99), st.integers(2, 10**12))
def test_geometric_corollary(gamma, T):
    # Σ_N ≤ γ²/(1−γ)³, 𝒱_N ≤ γ(1+γ)/(1−γ)², m = 1/(1−γ), TΓ(N+1) ≤ 1/(1−γ) for N = ⌈ln T/ln(1/γ)⌉.
    N = math.ceil(math.log(T) / math.log(1 / gamma))
    sizes = RIVER | {"delta": 0.01, "horizon": N}
    iota, ell = logarithms(T, 6, 2, N, 0.01, 1 / (1 - gamma), count="first", expected=False)
    b = proven_bound(sj.Geometric(gamma), T, bonus="hoeffding", **sizes)
    c = proven_bound(sj.Geometric(gamma), T, bonus=MONOTONE, **sizes)
    slack = 1 + 1e-9
    assert b.leading <= slack * 4 * gamma * math.sqrt(12 * T * iota * ell) / (1 - gamma) ** 1.5
    assert c.leading <= slack * 17 * math.sqrt(gamma * (1 + gamma) * 12 * T * iota * ell) / (1 - gamma)
    assert b.truncation <= slack * 3 / (1 - gamma)
    assert b.lower_order == pytest.approx(20 * 36 * iota * ell / (1 - gamma), rel=1e-9)


@pytest.mark.parametrize(("beta", "gamma"), [(0.01, 0.9), (0.7, 0.95), (1e-8, 0.5)])
def test_quasi_hyperbolic_corollary(beta, gamma):
    # Σ_N ≤ β²/(1−γ)² + β/(1−γ)³ and m ≤ 1/(1−γ): the leading term squared is 16·SAιℓT·Σ_N.
    T, N = 10**9, 200
    iota, ell = logarithms(T, 6, 2, N, 0.1, 1 + beta * gamma / (1 - gamma), count="first", expected=False)
    found = proven_bound(sj.QuasiHyperbolic(beta, gamma), T, bonus="hoeffding", horizon=N, **RIVER)
    spread = (found.leading / 4) ** 2 / (12 * iota * ell * T)
    assert spread <= beta**2 / (1 - gamma) ** 2 + beta / (1 - gamma) ** 3
    assert found.lower_order <= 20 * 36 * iota * ell / (1 - gamma) * (1 + 1e-12)


@settings(deadline=None, max_examples=30)
@example(p=1.125, decades=14.0)
@given(st.floats(1.05, 2.95), st.floats(3.0, 14.0))
def test_polynomial_corollary_of_theorem_b(p, decades):
    # Reg ≤ [4·3^((3−p)/2) √(ιℓ/(3−p)) + 3]/(p−1)·(SA)^((p−1)/(p+1)) T^(2/(p+1)) + 20κSAιℓ(x+1+p)/(p−1).
    T = int(10**decades)
    x = (T / 12) ** (1 / (p + 1))
    N = proven_horizon(sj.Polynomial(p), T, n_states=6, n_actions=2)
    assert pytest.approx(x, abs=1.0) == N
    iota, ell = logarithms(T, 6, 2, N, 0.1, zeta(p), count="first", expected=False)
    found = proven_bound(sj.Polynomial(p), T, bonus="hoeffding", horizon=N, **RIVER)
    first = 4 * 3 ** ((3 - p) / 2) * math.sqrt(iota * ell / (3 - p)) + 3
    rate = 12 ** ((p - 1) / (p + 1)) * T ** (2 / (p + 1)) / (p - 1)
    # Beyond a million layers the function returns upper bounds over blocks of relative width 1/20,000.
    slack = (1 + 1e-9) * ((1 + 1 / 20_000) ** p if N > 10**6 else 1)
    assert found.leading + found.truncation <= first * rate * slack
    assert found.lower_order <= 20 * 36 * iota * ell * (x + 1 + p) / (p - 1) * slack


@settings(deadline=None, max_examples=30)
@given(st.floats(1.05, 1.95), st.floats(3.0, 8.0))
def test_polynomial_corollary_of_theorem_c(p, decades):
    # 17√(2^(3−p)ιℓ/(2−p))·(SA)^(1−1/p)κ^(½−1/p)T^(1/p) + [5 + 900ιℓ(1 + (1+p)/x)]/(p−1)·(κSA)^(1−1/p)T^(1/p)
    T = int(10**decades)
    x = (T / 36) ** (1 / p)
    N = proven_horizon(sj.Polynomial(p), T, bonus=MONOTONE, **RIVER)
    iota, ell = logarithms(T, 6, 2, N, 0.1, zeta(p), count="first", expected=False)
    found = proven_bound(sj.Polynomial(p), T, bonus=MONOTONE, horizon=N, **RIVER)
    rate = T ** (1 / p)
    leading = 17 * math.sqrt(2 ** (3 - p) * iota * ell / (2 - p)) * 12 ** (1 - 1 / p) * 3 ** (0.5 - 1 / p)
    rest = (5 + 900 * iota * ell * (1 + (1 + p) / x)) / (p - 1) * 36 ** (1 - 1 / p)
    assert found.leading <= leading * rate * (1 + 1e-9)
    assert found.truncation + found.lower_order <= rest * rate * (1 + 1e-4)


def test_sums_over_very_many_layers_are_bounded_from_above():
    # The last two million of three million layers are bounded in blocks; here all are summed.
    law, N, T = sj.Polynomial(1.4), 3 * 10**6, 10**9
    h = np.arange(1.0, N + 1)
    found = proven_bound(law, T, bonus="hoeffding", horizon=N, **RIVER)
    iota, ell = logarithms(T, 6, 2, N, 0.1, zeta(1.4), count="first", expected=False)
    exact = 4 * math.sqrt(12 * iota * ell * T * np.sum(zeta(1.4, h + 1) ** 2 * h**1.4))
    assert exact < found.leading < 1.0002 * exact
    lower = 20 * 36 * iota * ell * zeta(1.4, N) * N**1.4
    assert lower < found.lower_order < 1.0002 * lower


@pytest.mark.parametrize(
    ("p", "bonus", "exponent"),
    [
        (1.2, "hoeffding", 0.909),
        (1.4, "hoeffding", 0.833),
        (1.6, "hoeffding", 0.769),
        (2.0, "hoeffding", 0.667),
        (2.5, "hoeffding", 0.571),
        (1.2, MONOTONE, 0.833),
        (1.4, MONOTONE, 0.714),
        (1.6, MONOTONE, 0.625),
    ],
)
def test_bounds_grow_with_the_proven_exponent(p, bonus, exponent):
    law = sj.Polynomial(p)
    assert proven_exponent(law, bonus=bonus) == pytest.approx(exponent, abs=5e-4)

    def without_logarithms(T):
        found = proven_bound(law, T, n_states=1, n_actions=1, bonus=bonus)
        iota, ell = logarithms(T, 1, 1, found.horizon, 0.1, zeta(p), count="first", expected=False)
        return found.leading / math.sqrt(iota * ell) + found.truncation + found.lower_order / (iota * ell)

    slope = math.log(without_logarithms(10**16) / without_logarithms(10**12)) / math.log(10**4)
    # For p ≥ 2.5 the last term, T^(1/(p+1)) with a large constant, still lowers the slope a little.
    assert slope == pytest.approx(exponent, abs=0.005 if p < 2.4 else 0.02)


def test_layers_of_polynomial_laws_by_hand():
    # (10⁵/36)^(1/1.4) = 288.3 and (10⁷/36)^(1/1.4) = 7,733.1; without sizes 10^(6/2.4) = 316.2.
    law = sj.Polynomial(1.4)
    assert [proven_horizon(law, T, bonus=MONOTONE, **RIVER) for T in (10**5, 10**7)] == [289, 7734]
    assert [proven_horizon(law, 10**6, bonus=bonus) for bonus in ("paper", "hoeffding")] == [317, 317]
    assert proven_horizon(law, 10**6, bonus=MONOTONE) == 19_307
    assert proven_horizon(sj.Polynomial(1.4, offset=20), 10**6) == 337
    # Exact powers are not rounded up: (10⁵)^(1/2.5) = 100 and 10⁴^(1/2) = 100.
    assert proven_horizon(sj.Polynomial(1.5), 10**5) == 100
    assert proven_horizon(sj.Polynomial(2.0), 10**4, bonus=MONOTONE) == 100
    assert proven_horizon(sj.Polynomial(3.0), 1) == 1


LIGHT_TAILS = [
    sj.Geometric(0.95),
    sj.Uniform(3, 40),
    sj.Polynomial(2.6, offset=5),
    sj.Mixture([0.999, 0.001], [sj.Fixed(1), sj.Fixed(500)]),
    sj.QuasiHyperbolic(1e-3, 0.99),
]


@pytest.mark.parametrize("law", LIGHT_TAILS, ids=repr)
@pytest.mark.parametrize("T", [10, 10**4, 10**7])
def test_the_corollary_for_a_finite_second_moment(law, T):
    # N + 1 is the first h ≥ 2 with m(h) > M, h > ⌈M⌉ or γ(h) = 0, where M = √(T·E[H²]/(κSA)), and κSA = 36.
    h = np.arange(1, 1_000_001)
    square = float(np.sum((2.0 * h - 1.0) * law.survival(h)))  # E[H²], up to 10⁶ steps
    most = math.sqrt(T * square / 36)
    later = np.arange(2, math.ceil(most) + 2)
    stops = (law.remaining(later) > most) | (later > math.ceil(most)) | (law.survival(later) == 0.0)
    N = int(later[np.argmax(stops)]) - 1
    assert law.survival(N) > 0.0
    assert T * law.tail(N + 1) <= math.sqrt(36 * T * square)
    assert law.remaining(np.arange(1, N + 1)).max() <= max(most, law.mean) * (1 + 1e-12)


@pytest.mark.parametrize("law", [*LIGHT_TAILS, sj.Polynomial(1.3), sj.Polynomial(1.8, offset=20)], ids=repr)
@pytest.mark.parametrize("N", [1, 7, 30])
def test_leading_terms_are_related_as_stated(law, N):
    T, sizes = 10**6, RIVER | {"horizon": N}
    hoeffding, monotone = (proven_bound(law, T, bonus=bonus, **sizes) for bonus in ("hoeffding", MONOTONE))
    assert monotone.leading <= 2.2 * hoeffding.leading
    # Without logarithms, the monotone one is at most 17/√Γ(2) times the printed one.
    printed = printed_known_law_bound(law, T, n_states=6, n_actions=2, horizon=N)
    n_layers = monotone.horizon
    iota, ell = logarithms(T, 6, 2, n_layers, 0.1, law.mean, count="first", expected=False)
    log_size = math.log(12 * T * n_layers / 0.1)
    ratio = monotone.leading / math.sqrt(iota * ell) / (printed.bonus / log_size)
    assert ratio <= 17 / math.sqrt(law.tail(2))


@pytest.mark.parametrize("p", [1.5, 1.8, 2.0, 2.5])
def test_the_printed_number_of_layers_has_the_stated_powers(p):
    # (p+2)/(2(2p−1)) from the leading term, without its logarithms, and p/(2p−1) from the truncation
    def terms(T):
        N = math.ceil(T ** (1 / (2 * p - 1)))
        bound = proven_bound(sj.Polynomial(p), T, bonus="hoeffding", horizon=N, **RIVER)
        iota, ell = logarithms(T, 6, 2, N, 0.1, zeta(p), count="first", expected=False)
        return np.array([bound.leading / math.sqrt(iota * ell), bound.truncation])

    powers = np.log(terms(10**18) / terms(10**15)) / math.log(1e3)
    np.testing.assert_allclose(powers, [(p + 2) / (2 * (2 * p - 1)), p / (2 * p - 1)], atol=0.02)


def test_truncations_by_hand():
    # Γ(h) of h^−2 is ζ(2, h); Γ(N+1) with N = ⌈1,000^(1/3)⌉ = 10, or ⌈1,000^(1/2)⌉ = 32.
    law = sj.Polynomial(2.0)
    assert proven_truncation(law, 1000) == (10, pytest.approx(float(zeta(2.0, 11.0)), rel=1e-12))
    assert proven_truncation(law, 1000, bonus=MONOTONE) == (
        32,
        pytest.approx(float(zeta(2.0, 33.0)), rel=1e-12),
    )
    # Γ(h) = 2^(2−h): Γ(28) = 1.5·10^−8 ≤ 1/(T(1−γ)) = 2·10^−8 < Γ(27) = 3·10^−8
    assert proven_truncation(sj.Geometric(0.5), 10**8) == (28, pytest.approx(2e-8))
    assert proven_truncation(sj.Uniform(1, 7), 50) == (7, 0.0)
    assert proven_truncation(sj.Uniform(1, 7), 2) == (4, 2.0)  # Γ(4) = (4+3+2+1)/7 = 10/7 ≤ 2 < Γ(3) = 15/7
    with pytest.raises(ValueError, match=r"^bonus must be one of 'paper', 'hoeffding', 'monotone_bernstein'"):
        proven_truncation(sj.Fixed(3), 100, bonus="eqo")


@pytest.mark.parametrize("law", [sj.Geometric(0.9), sj.QuasiHyperbolic(0.7, 0.95), sj.Fixed(7)], ids=repr)
def test_layers_of_other_laws_are_those_of_the_printed_truncation(law):
    assert proven_horizon(law, 1000) == printed_truncation(law, 1000).horizon
    assert proven_horizon(law, 1000, bonus=MONOTONE, **RIVER) == printed_truncation(law, 1000).horizon
    assert proven_exponent(law) == proven_exponent(law, bonus=MONOTONE) == 0.5


def test_exponents_of_other_laws():
    assert proven_exponent(sj.BetaGeometric(2.0, 9.0)) is None
    assert proven_exponent(sj.Polynomial(5.0)) == proven_exponent(sj.Polynomial(2.0), bonus=MONOTONE) == 0.5
    assert proven_exponent(sj.Uniform(1, 40)) == 0.5


def test_the_paper_s_bonus_is_proven_down_to_a_scale():
    # √(ι/2)/(3L) with ι = ln(2·12·10⁶·100²/0.1) and L = ln(12·10⁶·100/0.1)
    T, N = 10**6, 100
    least = math.sqrt(math.log(2 * 12 * T * N**2 / 0.1) / 2) / (3 * math.log(12 * T * N / 0.1))
    assert 0.05 < least < 0.07
    sizes = RIVER | {"horizon": N}
    hoeffding = proven_bound(sj.Geometric(0.9), T, bonus="hoeffding", **sizes)
    assert proven_bound(sj.Geometric(0.9), T, scale=least * (1 + 1e-12), **sizes).total == pytest.approx(
        hoeffding.total, rel=1e-9
    )
    message = r"^scale must be at least 0\.0\d+ for a proven bound here; got 0\.05\.$"
    with pytest.raises(ValueError, match=message):
        proven_bound(sj.Geometric(0.9), T, scale=0.05, **sizes)


def test_the_paper_s_bonus_is_refused_where_it_is_too_small():
    # SATN/δ = 1.11: 3L = 0.32 and √(ι/2) = 0.63.
    tiny = {"n_states": 1, "n_actions": 1, "delta": 0.9, "horizon": 1}
    with pytest.raises(ValueError, match=r"^scale must be at least 2 for a proven bound here; got 1\.0\.$"):
        proven_bound(sj.Geometric(0.5), 1, **tiny)
    assert proven_bound(sj.Geometric(0.5), 1, bonus="hoeffding", **tiny).total > 0.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bonus": "bernstein"}, "bonus must be one of 'paper', 'hoeffding', 'monotone_bernstein'; got"),
        ({"count": "some"}, "count must be one of 'first', 'all'; got 'some'."),
        ({"n_successors": 0}, "n_successors must be a whole number ≥ 1; got 0."),
        ({"n_successors": 7}, "n_successors must be at most n_states = 6; got 7."),
        ({"n_states": 0}, "n_states must be a whole number ≥ 1; got 0."),
        ({"delta": 1.0}, r"delta must be in \(0, 1\); got 1.0."),
        ({"horizon": 0}, "horizon must be a whole number ≥ 1; got 0."),
        ({"bonus": "hoeffding", "scale": 2.0}, "scale must be 1 for the bonus 'hoeffding'; got 2.0."),
        ({"scale": math.nan}, "scale must be a finite number > 0; got nan."),
    ],
)
def test_bad_input_raises_a_one_line_error(changes, message):
    with pytest.raises((ValueError, TypeError), match=f"^{message}") as caught:
        proven_bound(sj.Geometric(0.9), 100, **({"n_states": 6, "n_actions": 2} | changes))
    assert "\n" not in str(caught.value)


def test_bad_sizes_of_the_number_of_layers_raise_a_one_line_error():
    law = sj.Polynomial(1.4)
    with pytest.raises(
        ValueError, match=r"^n_states and n_actions must be given together; got 3 and None\.$"
    ):
        proven_horizon(law, 100, n_states=3)
    with pytest.raises(ValueError, match=r"^n_successors must come with n_states and n_actions; got 3\.$"):
        proven_horizon(law, 100, n_successors=3)
    with pytest.raises(
        ValueError, match=r"has too heavy a tail for .* episodes: N is above 2\*\*53; give a horizon"
    ):
        proven_horizon(law, 10**24, bonus=MONOTONE)
