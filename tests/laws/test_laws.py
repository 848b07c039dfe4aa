import math
import pickle

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from laws.cases import EVERY_LAW

import sojourn as sj
from sojourn.laws import closest_geometric, label, quantile, same_mean, steps
from sojourn.testing import check_law


@pytest.mark.parametrize("law", EVERY_LAW, ids=lambda law: repr(law)[:60])
def test_every_law_passes_its_conformance_suite(law):
    check_law(law, draws=4_000)


@pytest.mark.parametrize("law", EVERY_LAW, ids=lambda law: repr(law)[:60])
def test_laws_can_be_pickled_and_shown(law):
    assert pickle.loads(pickle.dumps(law)) == law
    assert type(law).__name__ in law._repr_html_()


def test_survival_of_the_papers_polynomial_law():
    # PAPER_NOTES 5: γ(h) = 1 for h ≤ 21 and (h − 20)^(−p) after.
    law = sj.Polynomial(1.4, offset=20)
    assert law.survival([1, 20, 21]).tolist() == [1.0, 1.0, 1.0]
    assert law.survival(25) == pytest.approx(5**-1.4, rel=1e-15)


def test_means_match_hand_calculations():
    assert sj.Fixed(7).mean == 7.0
    assert sj.Geometric(0.95).mean == pytest.approx(20.0, rel=1e-14)
    assert sj.Uniform(3, 8).mean == 5.5
    assert sj.Polynomial(2.0).mean == pytest.approx(np.pi**2 / 6, rel=1e-14)
    assert sj.QuasiHyperbolic(0.7, 0.95).mean == pytest.approx(1 + 0.7 * 0.95 / 0.05, rel=1e-14)
    assert sj.NegativeBinomial(3.0, 0.75).mean == pytest.approx(1 + 3 * 3.0, rel=1e-14)
    assert sj.BetaGeometric(3.0, 4.0).mean == pytest.approx(6 / 2, rel=1e-14)
    assert sj.Mixture([0.25, 0.75], [sj.Fixed(4), sj.Fixed(8)]).mean == 7.0
    assert sj.Tabulated([1.0, 0.5, 0.25]).mean == 1.75
    assert sj.Empirical([1, 2, 6]).mean == 3.0
    assert isinstance(sj.Geometric(0.5).mean, float)


def test_special_cases_coincide():
    h = np.array([1, 2, 5, 100, 10_000])
    geometric = sj.Geometric(0.9)
    twins = [
        sj.QuasiHyperbolic(1.0, 0.9),
        sj.NegativeBinomial(1.0, 0.9),
        sj.DiscreteWeibull(0.9, 1.0),
        sj.Mixture([1.0], [geometric]),
    ]
    for twin in twins:
        for name in ("survival", "tail", "continuation", "remaining", "hazard", "pmf"):
            expected = getattr(geometric, name)(h)
            np.testing.assert_allclose(getattr(twin, name)(h), expected, rtol=1e-12, atol=1e-300)


def test_tails_equal_plain_numpy_sums():
    h = np.arange(1, 40_001)
    for law in [sj.Geometric(0.99), sj.DiscreteWeibull(0.9, 0.7), sj.NegativeBinomial(2.5, 0.98)]:
        survival = law.survival(h)  # below 1e-80 at the end
        np.testing.assert_allclose(law.tail(h[:200]), np.cumsum(survival[::-1])[::-1][:200], rtol=1e-12)


def test_effective_horizon_of_a_heavy_tail_is_found_at_once():
    # Γ(N) ≈ N^(−0.4)/0.4 ≤ 0.01 from N ≈ 250^2.5 = 988,212 on.
    law = sj.Polynomial(1.4)
    n = law.effective_horizon(1e-2)
    assert abs(n - 250**2.5) < 2
    assert law.tail(n) <= 1e-2 < law.tail(n - 1)


def test_effective_horizon_never_passes_the_longest_length():
    assert sj.Fixed(20).effective_horizon(0.0) == 20
    assert sj.Fixed(20).effective_horizon(5.0) == 16
    assert sj.Fixed(20).effective_horizon(100.0) == 1


def test_effective_horizon_above_the_largest_float_integer_is_refused():
    with pytest.raises(ValueError, match=r"^truncation must be larger for Polynomial\(p=1.01, offset=0\)"):
        sj.Polynomial(1.01).effective_horizon(1e-2)


@pytest.mark.parametrize("truncation", [0.0, -1.0, float("nan")])
def test_effective_horizon_refuses_bad_truncations(truncation):
    with pytest.raises(ValueError, match=r"^truncation must be > 0 for a law with no longest length; got"):
        sj.Geometric(0.5).effective_horizon(truncation)


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (sj.Geometric(0.9), 1),
        (sj.Geometric(0.0), None),
        (sj.QuasiHyperbolic(0.7, 0.9), 2),
        (sj.QuasiHyperbolic(1.0, 0.9), 1),
        (sj.QuasiHyperbolic(0.0, 0.9), None),
        (sj.NegativeBinomial(1.0, 0.9), 1),
        (sj.NegativeBinomial(2.0, 0.9), None),
        (sj.DiscreteWeibull(0.9, 1.0), 1),
        (sj.Polynomial(2.0), None),
        (sj.Fixed(3), None),
        (sj.KaplanMeier([2, 5], [True, False]), 5),
        (sj.KaplanMeier([2, 5], [True, False], tail="end"), None),
        (sj.Mixture([0.5, 0.5], [sj.Fixed(6), sj.Geometric(0.9)]), 7),
        (sj.Mixture([0.5, 0.5], [sj.Geometric(0.5), sj.Geometric(0.9)]), None),
        (sj.Mixture([0.5, 0.5], [sj.QuasiHyperbolic(0.5, 0.9), sj.Geometric(0.9)]), 2),
    ],
)
def test_memoryless_from(law, expected):
    assert law.memoryless_from == expected


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sj.Geometric(1.2), "gamma must be in [0, 1); got 1.2."),
        (lambda: sj.Geometric(float("nan")), "gamma must be in [0, 1); got nan."),
        (lambda: sj.Geometric(True), "gamma must be a number in [0, 1); got True."),
        (lambda: sj.Geometric("0.9"), "gamma must be a number in [0, 1); got '0.9'."),
        (lambda: sj.QuasiHyperbolic("1", 0.9), "beta must be a number in [0, 1]; got '1'."),
        (lambda: sj.Polynomial(math.nan), "p must be a finite number > 1; got nan."),
        (lambda: sj.Polynomial(-2), "p must be a finite number > 1; got -2."),
        (lambda: sj.Polynomial("2"), "p must be a finite number > 1; got '2'."),
        (lambda: sj.BetaGeometric(math.inf, 2.0), "a must be a finite number > 1; got inf."),
        (lambda: sj.BetaGeometric(2.0, 0), "b must be a finite number > 0; got 0."),
        (lambda: sj.DiscreteWeibull(math.nan, 1.0), "q must be in (0, 1); got nan."),
        (lambda: sj.Fixed(0), "length must be a whole number ≥ 1; got 0."),
        (lambda: sj.Fixed(2**53 + 1), "length must be at most 2**53; got 9007199254740993."),
        (lambda: sj.Uniform(5, 2), "high must be a whole number ≥ 5; got 2."),
        (lambda: sj.Polynomial(1.0), "Polynomial(p=1.0) has an infinite mean length; p must be > 1."),
        (
            lambda: sj.BetaGeometric(1.0, 2.0),
            "BetaGeometric(a=1.0, b=2.0) has an infinite mean length; a must be > 1.",
        ),
        (
            lambda: sj.DiscreteWeibull(0.5, 0.01),
            "DiscreteWeibull(q=0.5, shape=0.01) has a mean length above 2**53; "
            "shape must be larger or q smaller.",
        ),
        (lambda: sj.DiscreteWeibull(0.0, 1.0), "q must be in (0, 1); got 0.0."),
        (lambda: sj.NegativeBinomial(0.0, 0.5), "r must be a finite number > 0; got 0.0."),
        (lambda: sj.Mixture([0.5, 0.6], [sj.Fixed(1), sj.Fixed(2)]), "weights must sum to 1; got 1.1."),
        (
            lambda: sj.Mixture([0.5, -0.5], [sj.Fixed(1), sj.Fixed(2)]),
            "weights[1] must be in [0, 1]; got -0.5.",
        ),
        (lambda: sj.Mixture([1.0], [3]), "laws[0] must be a length law; got 3."),
        (lambda: sj.Mixture([1.0], []), "laws must not be empty."),
        (
            lambda: sj.Mixture([1.0], [sj.Fixed(1), sj.Fixed(2)]),
            "weights must be as many as laws; got 1 weights for 2 laws.",
        ),
        (lambda: sj.Geometric(0.5).survival(0), "h must be whole numbers from 1 to 2**53; got 0."),
        (lambda: sj.Geometric(0.5).survival([1, 2.5]), "h must be whole numbers from 1 to 2**53; got 2.5."),
        (lambda: sj.Geometric(0.5).survival(None), "h must be whole numbers from 1 to 2**53; got None."),
        (lambda: sj.Geometric(0.5).sample(3), "rng must be a numpy.random.Generator; got 3."),
    ],
)
def test_bad_input_raises_a_one_line_error(make, message):
    with pytest.raises((ValueError, TypeError)) as caught:
        make()
    assert str(caught.value) == message


def test_parameters_are_plain_numbers():
    law = sj.Geometric(np.float64(0.5))
    assert law == sj.Geometric(0.5)
    assert hash(law) == hash(sj.Geometric(0.5))
    assert repr(law) == "Geometric(gamma=0.5)"
    assert repr(sj.Polynomial(2, offset=np.int64(3))) == "Polynomial(p=2.0, offset=3)"


def test_draws_of_different_laws_are_coupled():
    # H ~ Geometric(0.9) never exceeds H ~ Geometric(0.95) under the same uniforms.
    short = sj.Geometric(0.9).sample(np.random.default_rng(3), 1000)
    long = sj.Geometric(0.95).sample(np.random.default_rng(3), 1000)
    assert np.all(short <= long)
    assert np.any(short < long)


# Laws that may draw a length above 2**53, which is an error, are left out.
DRAWABLE = [law for law in EVERY_LAW if law.survival(2**53) < 1e-10]


@pytest.mark.parametrize("law", DRAWABLE, ids=lambda law: repr(law)[:60])
def test_a_draw_takes_exactly_one_uniform(law):
    rng, twin = np.random.default_rng(5), np.random.default_rng(5)
    assert law.sample(rng, (3, 4)).shape == (3, 4)
    twin.random(12)
    assert rng.random() == twin.random()


def test_a_draw_above_the_largest_float_integer_is_refused():
    # P(H > 2**53) = exp(−1e-4 · 2^(53·0.3)) ≈ 0.002: among 100,000 draws there are some.
    with pytest.raises(ValueError, match=r"drew a length above 2\*\*53"):
        sj.DiscreteWeibull(0.9999, 0.3).sample(np.random.default_rng(0), 100_000)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(EVERY_LAW), st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=20))
def test_inversion_finds_the_largest_step_that_survives(law, uniforms):
    u = np.array(uniforms)
    lengths = law._invert(u)
    inside = np.isfinite(lengths) & (lengths < 2**53)
    h = lengths[inside]
    assert np.all((law.survival(h) >= u[inside]) | (h == 1))
    assert np.all(law.survival(h + 1) < u[inside])


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(EVERY_LAW), st.integers(1, 10**9))
@example(
    sj.BetaGeometric(500.0, 5000.0), 1646
)  # regression: a matrix product rounds differently for different shapes
def test_a_step_alone_and_in_an_array_give_the_same(law, h):
    for name in ("survival", "tail", "continuation", "remaining", "hazard", "pmf", "log_survival"):
        method = getattr(law, name)
        alone, together = method(h), method([[h, 1], [2, h]])
        assert isinstance(alone, np.float64)
        np.testing.assert_allclose(together[1, 1], alone, rtol=1e-14)


def test_a_custom_law_needs_only_one_formula():
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Triangle(sj.LengthLaw):
        n: int

        @property
        def longest(self):
            return self.n

        def _survival(self, h):
            return ((self.n + 1 - h) / self.n) ** 2

    law = Triangle(9)
    check_law(law)
    assert law.mean == pytest.approx(sum(k * k for k in range(1, 10)) / 81)


def test_a_law_without_formulas_raises_an_error_that_names_them():
    class Nothing(sj.LengthLaw):
        pass

    with pytest.raises(TypeError, match=r"^Nothing must define survival.$"):
        Nothing().survival(1)
    with pytest.raises(TypeError, match=r"^Nothing must define tail, remaining or longest.$"):
        Nothing().remaining(1)


@pytest.mark.parametrize("stated", ["tail", "remaining"])
def test_a_law_may_define_public_methods_only(stated):
    # γ(h) = 2/(h (h + 1)): Γ(h) = 2/h and Γ(h)/γ(h) = h + 1, by telescoping.
    class Telescope(sj.LengthLaw):
        def survival(self, h):
            return 2.0 / (steps(h) * (steps(h) + 1.0))

    def tail(self, h):
        return 2.0 / steps(h)

    def remaining(self, h):
        return steps(h) + 1.0

    setattr(Telescope, stated, {"tail": tail, "remaining": remaining}[stated])
    law = Telescope()
    check_law(law, draws=2_000)
    assert law.mean == pytest.approx(2.0)
    assert law.tail(10**6) == pytest.approx(2e-6)
    np.testing.assert_allclose(law.hazard([1, 5]), [2.0 / 3.0, 2.0 / 7.0])
    best = sj.plan(sj.mdps.two_paths(), law, tolerance=1e-4)
    assert best.lower[0] <= 1.0 <= best.upper[0]


def test_html_of_an_estimate_shows_the_size_of_its_data():
    law = sj.KaplanMeier(np.arange(1, 1001), np.arange(1000) % 8 != 0)  # one in eight is censored: 12.5 %
    page = law._repr_html_()
    assert ">1,000<" in page
    assert ">12%<" in page
    assert "(1, 2" not in page
    assert law.censored == 0.125
    assert ">1,000<" in sj.Empirical(np.arange(1, 1001))._repr_html_()


@pytest.mark.parametrize(
    ("law", "text"),
    [
        (sj.Geometric(2 / 3), "Geometric(0.6667)"),
        (sj.Geometric(1 - 1e-12), "Geometric(0.999999999999)"),
        (sj.Polynomial(1.4, offset=20), "Polynomial(1.4, 20)"),
        (sj.Mixture([1.0], [sj.Fixed(3)]), "Mixture((1,), (Fixed(3),))"),
        (
            sj.Mixture([0.5, 0.5], [sj.NegativeBinomial(2, 0.875), sj.NegativeBinomial(3, 0.875)]),
            "Mixture of 2 laws",
        ),
        (sj.KaplanMeier([5, 5, 6, 7], [1, 0, 1, 1]), "KaplanMeier of 4 lengths, 25% censored"),
        (sj.Empirical(np.arange(1, 2001)), "Empirical of 2,000 lengths"),
        (sj.Tabulated(np.linspace(1, 0.1, 50)), "Tabulated, 50 steps"),
    ],
)
def test_labels_are_short_and_never_cut_a_number(law, text):
    assert label(law) == text


@pytest.mark.parametrize(
    ("law", "tail_probability", "expected"),
    [
        (sj.Geometric(0.95), 0.5, 14),  # 0.95^h ≤ ½ from h = 14 on
        (sj.Fixed(20), 0.999, 20),
        (sj.Polynomial(1.4, offset=20), 0.1, 25),  # (h − 19)^−1.4 ≤ 0.1 from h − 19 = 6 on
        (sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)]), 0.5, 1),
    ],
)
def test_quantiles(law, tail_probability, expected):
    assert quantile(law, tail_probability) == expected


@pytest.mark.parametrize(
    "law",
    [
        sj.Geometric(0.9),
        sj.Fixed(1),
        sj.NegativeBinomial(1, 0.5),
        sj.DiscreteWeibull(0.5, 1.0),
        sj.QuasiHyperbolic(1, 0.9),
    ],
)
def test_same_mean_is_none_for_memoryless_laws(law):
    assert same_mean(law) is None


def test_the_geometric_law_of_the_same_mean():
    assert same_mean(sj.Fixed(4)) == sj.Geometric(0.75)
    assert same_mean(sj.QuasiHyperbolic(0.5, 0.75)).mean == pytest.approx(2.5)


def test_html_is_escaped():
    table = sj.Mixture([1.0], [sj.Fixed(2)])._repr_html_()
    assert "Mixture" in table
    assert "<script" not in sj.Tabulated([1.0])._repr_html_()


@pytest.mark.parametrize("gamma", [1e-3, 1e-6, 1e-12, 1e-17])
@pytest.mark.parametrize("r", [1.5, 2.0, 7.0])
def test_many_stages_with_tiny_gamma_are_accurate(r, gamma):
    # P(H ≥ 2) = 1 − (1 − γ)^r, and an episode that gets there has few further steps.
    law = sj.NegativeBinomial(r, gamma)
    assert law.survival(2) == pytest.approx(-np.expm1(r * np.log1p(-gamma)), rel=1e-12)
    more = r * gamma / (1.0 - gamma)  # E[H] − 1 = Γ(2)
    assert law.remaining(2) == pytest.approx(more / -np.expm1(r * np.log1p(-gamma)), rel=1e-12)
    assert law.remaining(2) >= 1.0


def test_the_first_step_of_a_mixture_is_certain():
    assert sj.Mixture([0.1] * 10, [sj.Geometric(0.5)] * 10).survival(1) == 1.0


def test_bisection_takes_over_if_a_guess_is_far_off():
    # γ(h) ≈ 1 − 1e-12 from step 2 to 10⁹: a guess from the tail's slope is too far off to be corrected
    # step by step.
    law = sj.KaplanMeier([1, 10**9], [True, False], counts=[1, 10**12])
    with pytest.raises(ValueError, match=r"drew a length above 2\*\*53"):
        law.sample(np.random.default_rng(0), 1_000)


@pytest.mark.parametrize("size", [-1, (2, -3), "three", 1.5])
def test_an_invalid_size_is_refused(size):
    with pytest.raises(
        (TypeError, ValueError), match=r"^size must be a whole number ≥ 0, several of them, or None; got"
    ):
        sj.Geometric(0.9).sample(np.random.default_rng(0), size)


@pytest.mark.parametrize("h", [2**53 + 1, 10**30, -(10**30)])
def test_steps_out_of_range_raise_value_errors(h):
    with pytest.raises(ValueError, match=r"^h must be whole numbers from 1 to 2\*\*53; got"):
        sj.Geometric(0.9).survival(h)


def test_underflow_is_no_error_whatever_numpy_was_told():
    with np.errstate(all="raise"):
        assert sj.Geometric(0.5).survival(5_000) == 0.0
        assert closest_geometric(sj.DiscreteWeibull(0.5, 2.0)).gamma > 0.0
