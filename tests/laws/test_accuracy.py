"""All formulas against mpmath: relative errors are at most 1e-12 up to step 10⁹, for random parameters."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference import laws as reference

import sojourn as sj

LIMIT = 1e-12
QUANTITIES = ("survival", "tail", "continuation", "remaining", "hazard", "pmf")


@pytest.fixture(autouse=True, scope="module")
def many_digits():
    with mp.workdps(reference.DIGITS):
        yield


def steps(last=9.0):
    return st.floats(0.0, last).map(lambda log: int(10**log))


def powers(low, high):
    """Numbers between 10^low and 10^high, evenly in the exponent."""
    return st.floats(low, high).map(lambda log: 10.0**log)


def agree(law, h, expected, quantities=QUANTITIES):
    for name in quantities:
        want = getattr(expected, name)
        if abs(want) < 1e-300:  # not a normal float
            continue
        got = getattr(law, name)(h)
        error = float(abs(mp.mpf(float(got)) - want) / abs(want))
        assert error <= LIMIT, f"{name}({h}) of {law}: {got} is off by {error:.1e}"


def random_cases(n):
    return settings(
        max_examples=n, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )


@random_cases(100)
@given(powers(-12, -0.001), steps())
def test_geometric_is_exact(stop, h):
    gamma = 1.0 - stop
    agree(sj.Geometric(gamma), h, reference.geometric(gamma, h))


@random_cases(100)
@given(powers(-12, 0).map(lambda x: 1.0 - x), powers(-12, -0.001), steps())
def test_quasi_hyperbolic_is_exact(beta, stop, h):
    gamma = 1.0 - stop
    law = sj.QuasiHyperbolic(beta, gamma)
    if beta > 0.0:
        agree(law, h, reference.quasi_hyperbolic(beta, gamma, h))


@random_cases(120)
@given(powers(-2, 1.3).map(lambda x: 1.0 + x), st.sampled_from([0, 0, 1, 20, 1000]), steps())
def test_polynomial_is_exact(p, offset, h):
    agree(sj.Polynomial(p, offset=offset), h, reference.polynomial(p, offset, h))


@pytest.mark.parametrize(("p", "z"), [(40.0, 1), (40.0, 650), (234.1, 3596), (1e4, 30_000), (1e6, 7)])
def test_polynomial_is_exact_for_large_powers(p, z):
    # For such p the sum Σ (z/(z+k))^p has few terms, so it is computed directly.
    terms = ((mp.mpf(z) / (z + k)) ** mp.mpf(p) for k in range(6000))
    expected = mp.fsum(terms)
    assert float(sj.Polynomial(p).remaining(z)) == pytest.approx(float(expected), rel=LIMIT)


@random_cases(120)
@given(powers(-3, 4).map(lambda x: 1.0 + x), powers(-3, 7), steps())
def test_beta_geometric_is_exact(a, b, h):
    agree(sj.BetaGeometric(a, b), h, reference.beta_geometric(a, b, h))


@random_cases(60)
@given(powers(-2, 3), powers(-3, -0.01), st.floats(-2, 1.5))
def test_negative_binomial_is_exact(r, stop, where):
    gamma = 1.0 - stop
    h = 1 + int(r * gamma / stop * 10.0**where)
    agree(sj.NegativeBinomial(r, gamma), h, reference.negative_binomial(r, gamma, h))


@random_cases(80)
@given(powers(-1, 1), powers(-6, 1.5), st.one_of(steps(), st.floats(-2, 1)))
def test_discrete_weibull_is_exact(shape, rate, where):
    q = float(np.exp(-rate))
    try:
        law = sj.DiscreteWeibull(q, shape)
    except ValueError as error:
        assert "2**53" in str(error)  # noqa: PT017
        return
    scale = rate ** (-1.0 / shape)
    h = where if isinstance(where, int) else int(min(1.0 + scale * 10.0**where, 1e9))
    agree(law, h, reference.discrete_weibull(q, shape, h))


@random_cases(40)
@given(powers(-1, 6), powers(-1.5, 1.0), st.floats(-1.5, 1.5))
def test_log_logistic_is_exact(scale, more, where):
    law = sj.LogLogistic(scale, 1.0 + more)
    h = int(min(1.0 + scale * 10.0**where, 1e9))
    agree(law, h, reference.log_logistic(scale, 1.0 + more, h))


@random_cases(60)
@given(powers(-6, -0.1), powers(-6, -0.1), powers(-1.9, 0.5), steps(7.0))
def test_mixture_is_exact(stop, other_stop, power, h):
    weights = (0.25, 0.25, 0.5)
    parts = [sj.Geometric(1 - stop), sj.Geometric(1 - other_stop), sj.Polynomial(1 + power)]
    exact = [
        reference.geometric(1 - stop, h),
        reference.geometric(1 - other_stop, h),
        reference.polynomial(1 + power, 0, h),
    ]

    def average(name):
        return mp.fsum(w * getattr(one, name) for w, one in zip(weights, exact, strict=True))

    expected = reference.Numbers(average("survival"), average("tail"), average("next_survival"))
    agree(sj.Mixture(weights, parts), h, expected)


@pytest.mark.parametrize("h", [10**5, 10**7, 10**9])
def test_mixture_ratios_are_right_where_all_parts_underflow(h):
    # Far out only the slowest component matters: ρ and Γ/γ are its own, up to terms below 1e-300.
    law = sj.Mixture([0.5, 0.5], [sj.Geometric(0.5), sj.Geometric(0.25)])
    assert law.survival(h) == 0.0
    assert law.continuation(h) == 0.5
    assert law.remaining(h) == 2.0
    assert law.log_survival(h) == pytest.approx(np.log(0.5) + (h - 1) * np.log(0.5), rel=1e-14)


def test_ratios_are_right_where_survival_underflows():
    h = 10**9
    for law, ratio in [
        (sj.Geometric(0.5), 0.5),
        (sj.NegativeBinomial(2.0, 0.5), 0.5 * (1 + 1 / h)),  # γ(h) = (1 + (h−1)/2) 2^(1−h), to first order
        (sj.DiscreteWeibull(0.5, 1.0), 0.5),
    ]:
        assert law.survival(h) == 0.0
        assert law.continuation(h) == pytest.approx(ratio, rel=1e-12)
        assert np.isfinite(law.log_survival(h))
        assert law.remaining(h) == pytest.approx(2.0, rel=1e-8)


def test_tail_is_accurate_where_survival_is_subnormal():
    # γ^(h−1) ≈ 1e-318 has 4 digits, times 1/(1−γ) ≈ 1e9 is a normal number again.
    gamma = 1.0 - 2.0**-30
    h = 1 + int(np.log(1e-318) / np.log(gamma))
    expected = mp.mpf(gamma) ** (h - 1) / (1 - mp.mpf(gamma))
    assert float(sj.Geometric(gamma).tail(h)) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize(("q", "shape"), [(0.9, 1e300), (0.9, 1e5), (1 - 1e-16, 4.4), (1e-300, 0.001)])
def test_extreme_weibull_laws_neither_hang_nor_overflow(q, shape):
    law = sj.DiscreteWeibull(q, shape)
    expected = reference.discrete_weibull(q, shape, 1) if shape < 100 and q > 0.1 else None
    # For a huge shape, γ is 1, q, 0, 0, …; for q = 1e-300 there is practically no second step.
    assert law.mean == pytest.approx(float(expected.tail) if expected else 1 + q, rel=LIMIT)


@pytest.mark.parametrize("z", [-6, -2, 0, 2, 6])
def test_negative_binomial_is_exact_with_very_many_stages(z):
    r, gamma = 1e6, 0.5
    h = int(1 + 1e6 + z * 2e6**0.5)
    agree(sj.NegativeBinomial(r, gamma), h, reference.negative_binomial(r, gamma, h))
