"""t(h) against mpmath, closed forms and the paper's own bounds on it."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.cases import EVERY_LAW
from theory import transcription as paper

import sojourn as sj
from sojourn.theory import error_growth, error_weight, log_error_growth, log_estimation_growth

ZETA = float(mp.zeta(1.5)) - 1.0  # Σ_{j≥2} j^(−3/2) = 1.6124


@pytest.mark.parametrize(("law", "written"), paper.LAWS)
@pytest.mark.parametrize("beta", [0.4, 1.5, 2.0])
def test_weight_is_the_printed_product(law, written, beta):
    h = np.array([1, 2, 3, 4, 21, 22, 60])
    theorems = paper.Theorems(written, 1000, 1, 1, 1, delta=0.1, beta=beta)
    with mp.workdps(paper.DIGITS):
        expected = np.array([float(theorems.t(int(step))) for step in h])
    np.testing.assert_allclose(error_weight(law, h, beta=beta), expected, rtol=1e-12)
    survival = law.survival(h)
    alive = survival > 0
    growth = error_growth(law, h, beta=beta)
    np.testing.assert_allclose(growth[alive], expected[alive] / survival[alive], rtol=1e-12)


@pytest.mark.parametrize(("law", "written"), paper.LAWS[:-1])
def test_estimation_growth_is_the_printed_sum(law, written):
    h = np.array([1, 2, 3, 25, 60])
    theorems = paper.Theorems(written, 1000, 1, 1, 1, delta=0.1, beta=1.5)
    with mp.workdps(paper.DIGITS):
        expected = [float(mp.log(theorems.g(int(step)))) for step in h]
    np.testing.assert_allclose(log_estimation_growth(law, h, episodes=1000, beta=1.5), expected, rtol=1e-12)


@given(st.floats(0.0, 0.999), st.integers(1, 300), st.floats(0.1, 5.0))
def test_geometric_growth_has_its_closed_form(gamma, h, beta):
    # γ(j)/Γ(j) = 1 − γ at every j
    expected = math.prod(1.0 + (1.0 - gamma) / j**beta for j in range(2, h + 1))
    law = sj.Geometric(gamma)
    if law.longest is None:
        assert error_growth(law, h, beta=beta) == pytest.approx(expected, rel=1e-12)
    else:
        assert error_growth(law, h, beta=beta) == 1.0


@given(st.floats(0.01, 1.0), st.floats(0.01, 0.99), st.floats(0.1, 5.0))
def test_quasi_hyperbolic_growth_is_the_geometric_one(first, gamma, beta):
    h = np.arange(1, 50)
    np.testing.assert_allclose(
        error_growth(sj.QuasiHyperbolic(first, gamma), h, beta=beta),
        error_growth(sj.Geometric(gamma), h, beta=beta),
        rtol=1e-12,
    )


def test_growth_is_accurate_where_the_discount_underflows():
    law = sj.Geometric(0.5)
    assert law.survival(5000) == 0.0
    assert error_weight(law, 5000, beta=1.5) == 0.0
    expected = math.fsum(math.log1p(0.5 / j**1.5) for j in range(2, 5001))
    assert log_error_growth(law, 5000, beta=1.5) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("law", EVERY_LAW, ids=repr)
@pytest.mark.parametrize("beta", [0.01, 1.5, 4999.0])
def test_growth_starts_at_one_and_increases_for_every_law(law, beta):
    growth = log_error_growth(law, np.arange(1, 300), beta=beta)
    assert growth[0] == 0.0
    assert np.all(np.isfinite(growth))
    assert np.all(np.diff(growth) >= 0.0)
    if law.longest is not None and law.longest < 299:
        assert growth[law.longest - 1] == growth[-1]


@settings(deadline=None)
@given(st.floats(1.05, 20.0), st.floats(0.05, 5.0), st.floats(0.05, 5.0))
def test_growth_falls_with_beta(p, one, other):
    law, h = sj.Polynomial(p), np.arange(1, 40)
    low, high = sorted((one, other))
    assert np.all(log_error_growth(law, h, beta=low) >= log_error_growth(law, h, beta=high))


def test_shapes_are_kept():
    law = sj.Geometric(0.75)
    assert error_growth(law, [[1, 2], [3, 4]], beta=2.0).shape == (2, 2)
    assert error_growth(law, [], beta=2.0).shape == (0,)
    for scalar in (error_growth(law, 2, beta=2.0), error_weight(law, 2, beta=2.0)):
        assert np.ndim(scalar) == 0
    # 1 + 0.25/4 = 17/16, and 3/4 of it
    assert error_growth(law, 2, beta=2.0) == pytest.approx(17 / 16, rel=1e-15)
    assert error_weight(law, 2, beta=2.0) == pytest.approx(51 / 64, rel=1e-15)


@pytest.mark.parametrize("gamma", [0.01, 0.5, 0.9, 0.95, 0.975, 0.999])
def test_constant_of_corollary_3_is_too_small(gamma):
    # The paper: Π_{j=2}^{h} (1 + (1−γ)/j^(3/2)) ≤ e^(1−γ). With x − x²/2 ≤ ln(1+x) ≤ x the exponent tends to
    # (1−γ)(ζ(3/2) − 1), less at most (1−γ)²(ζ(3) − 1)/2, which is at most 0.102 (1−γ); past h the sum still
    # lacks less than 2/√h.
    growth = log_error_growth(sj.Geometric(gamma), np.arange(1, 10**6 + 1), beta=1.5)
    broken = int(np.argmax(growth > 1.0 - gamma)) + 1
    assert growth[broken - 1] > 1.0 - gamma
    assert 11 <= broken <= 14
    per_stop = growth[-1] / (1.0 - gamma)
    assert per_stop <= ZETA
    assert per_stop >= ZETA - (1.0 - gamma) * (float(mp.zeta(3)) - 1.0) / 2.0 - 2e-3
    assert per_stop > 1.5


def test_the_wrong_constant_matters_in_the_paper_s_own_experiment():
    # γ = 0.95 and 100 episodes: N = 91 layers, far past the eleventh.
    law = sj.Geometric(0.95)
    n_layers = sj.theory.printed_truncation(law, 100).horizon
    assert n_layers == 91
    assert error_growth(law, n_layers + 1, beta=1.5) > math.exp(0.05)


@pytest.mark.parametrize("p", [1.05, 1.4, 1.6, 2.0, 3.0, 10.0])
def test_constant_of_corollary_2_holds(p):
    # Π ≤ exp((p−1)(ζ(p) − 1)) ≤ e, as ζ(p) − 1 ≤ ∫_1 x^(−p) dx = 1/(p−1).
    bound = (p - 1.0) * (float(mp.zeta(p)) - 1.0)
    assert bound <= 1.0
    assert log_error_growth(sj.Polynomial(p), 10**5, beta=p - 1.0) <= bound


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: error_growth("geometric", 1, beta=1.5), "law must be a LengthLaw, .*; got 'geometric'."),
        (lambda: error_growth(sj.Fixed(2), 1, beta=0.0), "beta must be a finite number > 0; got 0.0."),
        (lambda: error_growth(sj.Fixed(2), 1, beta=math.nan), "beta must be a finite number > 0; got nan."),
        (
            lambda: error_growth(sj.Fixed(2), 0, beta=1.0),
            "h must be whole numbers from 1 to 2\\*\\*53; got 0.",
        ),
        (
            lambda: error_weight(sj.Geometric(0.9), 10**7 + 1, beta=1.0),
            "h must be at most 10,000,000 .*; got",
        ),
        (
            lambda: log_estimation_growth(sj.Geometric(0.9), 2, episodes=0, beta=1.0),
            "episodes must be a whole number ≥ 1; got 0.",
        ),
    ],
)
def test_bad_input_raises_a_one_line_error(call, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
