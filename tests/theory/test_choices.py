"""Truncations, exponents and block lengths against hand calculations."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.cases import EVERY_LAW

import sojourn as sj
from sojourn.theory import (
    block_length,
    printed_known_law_exponent,
    printed_truncation,
    printed_unknown_law_exponent,
)

TOO_HEAVY = [
    sj.Polynomial(1.01),
    sj.BetaGeometric(1.01, 0.1),
    sj.DiscreteWeibull(0.9999, 0.3),
    sj.LogLogistic(3.0, 1.05),
]


def test_geometric_laws_follow_corollary_3():
    choice = printed_truncation(sj.Geometric(0.95), 100)
    assert (choice.beta, choice.source) == (1.5, "corollary 3")
    assert choice.truncation == pytest.approx(0.2, rel=1e-14)  # 1/(100 · 0.05)
    # 0.95^(N−1) ≤ 1/100: N − 1 ≥ 89.78
    assert choice.horizon == 91


def test_quasi_hyperbolic_laws_follow_corollary_3():
    law = sj.QuasiHyperbolic(0.7, 0.95)
    choice = printed_truncation(law, 100)
    assert (choice.beta, choice.source) == (1.5, "corollary 3")
    assert choice.truncation == printed_truncation(sj.Geometric(0.95), 100).truncation
    # 0.7 · 0.95^(N−1) ≤ 1/100: N − 1 ≥ 82.83
    assert choice.horizon == 84


@pytest.mark.parametrize(
    ("p", "episodes", "truncation"),
    [
        (1.5, 10**4, 0.1),  # 10^(−4 · 0.5/2)
        (2.0, 10**3, 0.1),  # 10^(−3 · 1/3); the factor is 1 at p = 2
        (3.0, 10**5, 0.01 * 2.0**-0.2),  # 10^(−5 · 2/5) · 2^(−1/5)
    ],
)
@pytest.mark.parametrize("offset", [0, 20])
def test_polynomial_laws_follow_corollary_2(p, episodes, truncation, offset):
    law = sj.Polynomial(p, offset=offset)
    choice = printed_truncation(law, episodes)
    assert (choice.beta, choice.source) == (p - 1.0, "corollary 2")
    assert choice.truncation == pytest.approx(truncation, rel=1e-14)
    assert law.tail(choice.horizon) <= choice.truncation < law.tail(choice.horizon - 1)


def test_an_offset_adds_its_layers():
    plain, shifted = (printed_truncation(sj.Polynomial(1.4, offset=k), 5000) for k in (0, 20))
    assert shifted.truncation == plain.truncation
    assert shifted.horizon == plain.horizon + 20


@pytest.mark.parametrize(
    "law",
    [
        law
        for law in EVERY_LAW
        if not isinstance(law, (sj.Geometric, sj.QuasiHyperbolic, sj.Polynomial)) and law not in TOO_HEAVY
    ],
    ids=repr,
)
def test_laws_without_a_corollary_get_the_default_choice(law):
    choice = printed_truncation(law, 1000)
    assert (choice.source, choice.beta) == ("default", 1.5)
    assert choice.truncation == pytest.approx(law.mean / 1000, rel=1e-14)
    assert choice.horizon == law.effective_horizon(choice.truncation)
    assert printed_known_law_exponent(law) is None
    assert printed_unknown_law_exponent(law) is None


def test_finite_laws_have_no_layers_past_their_longest():
    assert printed_truncation(sj.Fixed(20), 10**6).horizon == 20
    assert printed_truncation(sj.Geometric(0.0), 10**6).horizon == 1
    assert printed_truncation(sj.QuasiHyperbolic(0.0, 0.9), 10**6).horizon == 1


@settings(deadline=None)
@given(
    st.sampled_from([sj.Geometric(0.9), sj.Polynomial(1.6), sj.Polynomial(4.0, offset=5), sj.Uniform(1, 40)]),
    st.integers(1, 10**6),
    st.integers(1, 10**6),
)
def test_the_horizon_grows_with_the_number_of_episodes(law, one, other):
    few, many = (printed_truncation(law, episodes) for episodes in sorted((one, other)))
    assert many.truncation <= few.truncation
    assert many.horizon >= few.horizon


def test_geometric_horizon_is_the_paper_s():
    # N = ln T/ln(1/γ), to within the two steps that rounding up and 1-based steps make
    for episodes in (10, 10**3, 10**6, 10**12):
        expected = math.log(episodes) / math.log(1 / 0.9)
        assert 0 <= printed_truncation(sj.Geometric(0.9), episodes).horizon - expected <= 2


@pytest.mark.parametrize("law", TOO_HEAVY, ids=repr)
def test_tails_too_heavy_for_a_horizon_are_refused(law):
    message = (
        r"\) has too heavy a tail for 1000 episodes: Γ\(N\) ≤ .* needs N above 2\*\*53; give a horizon\.$"
    )
    with pytest.raises(ValueError, match=message):
        printed_truncation(law, 1000)


def test_exponents_by_hand():
    assert printed_known_law_exponent(sj.Geometric(0.9)) == 0.5
    assert printed_known_law_exponent(sj.QuasiHyperbolic(0.7, 0.95)) == 0.5
    assert printed_known_law_exponent(sj.Polynomial(1.4, offset=20)) == pytest.approx(7 / 9, rel=1e-15)
    assert printed_known_law_exponent(sj.Polynomial(2.0)) == pytest.approx(2 / 3, rel=1e-15)
    assert printed_unknown_law_exponent(sj.Geometric(0.9)) == 0.5
    assert printed_unknown_law_exponent(sj.Polynomial(2.0)) == 0.75
    assert printed_unknown_law_exponent(sj.Polynomial(1.999)) is None


@given(st.floats(2.0, 100.0))
def test_exponents_are_in_order(p):
    known, unknown = (
        printed_known_law_exponent(sj.Polynomial(p)),
        printed_unknown_law_exponent(sj.Polynomial(p)),
    )
    assert 0.5 < known < unknown < 1.0
    # what the introduction claims instead is below what is possible even for a single state
    assert p / (1 + 2 * p) < 0.5


def test_block_length_of_the_paper_s_experiment():
    # √T ln T ln(ln(T)/δ) with δ = 0.1: 176.37 at T = 100 and 2,676.83 at T = 5,000
    assert block_length(100) == 176
    assert block_length(5000) == 2677
    assert block_length(5000, delta=0.05) == 3094


def test_short_experiments_never_estimate_the_law():
    assert all(block_length(episodes) >= episodes for episodes in range(1, 785))
    assert all(block_length(episodes) < episodes for episodes in range(785, 3000))


@given(st.integers(1, 10**9), st.floats(1e-9, 0.999))
def test_a_block_has_at_least_one_episode(episodes, delta):
    assert block_length(episodes, delta=delta) >= 1
    assert block_length(4 * episodes, delta=delta) >= block_length(episodes, delta=delta)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: block_length(0), "episodes must be a whole number ≥ 1; got 0."),
        (lambda: block_length(100, delta=0), r"delta must be in \(0, 1\); got 0."),
        (
            lambda: printed_truncation(0.9, 100),
            "law must be a LengthLaw, such as Geometric\\(0.95\\); got 0.9.",
        ),
        (lambda: printed_truncation(sj.Fixed(2), 1.5), "episodes must be a whole number ≥ 1; got 1.5."),
        (lambda: printed_known_law_exponent("polynomial"), "law must be a LengthLaw, .*; got 'polynomial'."),
        (lambda: printed_unknown_law_exponent(None), "law must be a LengthLaw, .*; got None."),
    ],
)
def test_bad_input_raises_a_one_line_error(call, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
