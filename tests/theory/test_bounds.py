"""The printed Theorems 1 and 4 against mpmath and against the rates of their corollaries."""

import dataclasses
import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.cases import EVERY_LAW
from theory import transcription as paper

import sojourn as sj
from sojourn.theory import (
    error_growth,
    log_estimation_growth,
    printed_known_law_bound,
    printed_truncation,
    printed_unknown_law_bound,
)

SMALL = {"n_states": 6, "n_actions": 2}
SETTINGS = [
    {"episodes": 100, "n_layers": 1, "delta": 0.1, "beta": 1.5},
    {"episodes": 5000, "n_layers": 30, "delta": 0.01, "beta": 0.4},
]


def transcribe(law, written, settings):
    n_layers = min(settings["n_layers"], law.longest or settings["n_layers"])
    return paper.Theorems(written, **SMALL, **(settings | {"n_layers": n_layers}))


def asked(settings):
    rest = {name: value for name, value in settings.items() if name != "n_layers"}
    return {**SMALL, **rest, "horizon": settings["n_layers"]}


def slope(bound, low, high):
    """Return d ln(bound)/d ln(T) between two numbers of episodes."""
    return math.log(bound(high) / bound(low)) / math.log(high / low)


@pytest.mark.parametrize(("law", "written"), paper.LAWS)
@pytest.mark.parametrize("settings", SETTINGS)
def test_theorem_1_is_the_printed_one(law, written, settings):
    theorems = transcribe(law, written, settings)
    with mp.workdps(paper.DIGITS):
        expected = [float(term) for term in theorems.first()]
    bound = printed_known_law_bound(law, **asked(settings))
    np.testing.assert_allclose(dataclasses.astuple(bound)[:4], expected, rtol=1e-11)
    assert bound.total == pytest.approx(math.fsum(expected), rel=1e-11)


@pytest.mark.parametrize(("law", "written"), paper.LAWS)
@pytest.mark.parametrize("settings", SETTINGS)
def test_theorem_4_is_the_printed_one(law, written, settings):
    theorems = transcribe(law, written, settings)
    with mp.workdps(paper.DIGITS):
        expected = [float(term) for term in theorems.second()]
    bound = printed_unknown_law_bound(law, **asked(settings))
    np.testing.assert_allclose(dataclasses.astuple(bound)[:7], expected, rtol=1e-11)
    assert bound.total == pytest.approx(math.fsum(expected), rel=1e-11)


def test_theorem_1_by_hand():
    # H = 1 or 2 with probability ½ each, N = 1: γ(2) = Γ(2) = ½, Γ(3) = 0. With β = 1 the growth at step 2 is
    # 1 + 1/2 (γ(2)/Γ(2) = 1), so ΔT·1.5 = ½ · 10 · 1.5 for Δ = Γ(2).
    bound = printed_known_law_bound(
        sj.Tabulated([1.0, 0.5]), 10, n_states=3, n_actions=2, delta=0.5, horizon=1, beta=1.0
    )
    assert bound.truncation == pytest.approx(7.5, rel=1e-14)
    assert bound.noise == pytest.approx(0.5 * math.sqrt(10 * math.log(20)), rel=1e-14)
    assert bound.bonus == pytest.approx(0.5 * math.log(120) * math.sqrt(60), rel=1e-14)
    assert bound.second_order == pytest.approx(0.5 * math.log(120) * 18 * math.log(10), rel=1e-14)


def test_impossible_steps_add_nothing_to_the_bounds():
    # All lengths are 1: there are no steps after the first.
    assert printed_known_law_bound(sj.Fixed(1), 100, **SMALL).total == 0.0
    bound = printed_unknown_law_bound(sj.Fixed(1), 100, horizon=5, **SMALL)
    assert (bound.truncation, bound.growth, bound.bonus, bound.second_order, bound.noise) == (0, 0, 0, 0, 0)
    # All layers of a finite law: nothing is truncated, and further layers change nothing.
    full = printed_known_law_bound(sj.Uniform(1, 40), 100, **SMALL, horizon=40)
    assert full.truncation == 0.0
    assert full == printed_known_law_bound(sj.Uniform(1, 40), 100, **SMALL, horizon=10**12)


def test_a_horizon_implies_the_truncation_of_its_tail():
    law = sj.Geometric(0.75)
    by_horizon = printed_known_law_bound(law, 1000, **SMALL, horizon=12, beta=1.5)
    # Twelve layers truncate Γ(13). A truncation of Γ(13) needs thirteen: N is the least with Γ(N) ≤ Δ.
    by_truncation = printed_known_law_bound(law, 1000, **SMALL, truncation=float(law.tail(13)), beta=1.5)
    assert law.effective_horizon(float(law.tail(13))) == 13
    growth = 1.0 + 0.25 / 14**1.5
    assert by_truncation.truncation == pytest.approx(by_horizon.truncation * growth, rel=1e-13)


def test_default_truncation_is_the_corollary_s():
    law = sj.Polynomial(1.4, offset=20)
    choice = printed_truncation(law, 5000)
    assert printed_known_law_bound(law, 5000, **SMALL) == printed_known_law_bound(
        law, 5000, **SMALL, truncation=choice.truncation
    )


@pytest.mark.parametrize("law", [sj.Geometric(0.9), sj.Polynomial(1.4), sj.Polynomial(3.0)], ids=repr)
@pytest.mark.parametrize("episodes", [10**3, 10**9])
def test_the_default_exponent_has_the_smallest_bound_on_a_grid(law, episodes):
    grid = np.geomspace(1e-3, 30, 60)
    sizes = SMALL | {"episodes": episodes, "horizon": 40}
    for bound in (printed_known_law_bound, printed_unknown_law_bound):
        best, least = bound(law, **sizes), min(bound(law, **sizes, beta=beta).total for beta in grid)
        assert best.total <= least * (1 + 1e-9)
        assert best.total == bound(law, **sizes, beta=best.beta).total
        for factor in (0.99, 1.01):  # a local minimum is the only one, because the logarithm is convex
            near = max(best.beta * factor, 1e-4)  # the smallest exponent that is tried
            assert best.total <= bound(law, **sizes, beta=near).total * (1 + 1e-9)


@pytest.mark.parametrize("law", EVERY_LAW, ids=repr)
def test_every_law_has_bounds(law):
    for horizon in (1, 7, 200):
        known = printed_known_law_bound(law, 1000, **SMALL, horizon=horizon)
        unknown = printed_unknown_law_bound(law, 1000, **SMALL, horizon=horizon)
        for term in (*dataclasses.astuple(known), *dataclasses.astuple(unknown)):
            assert term >= 0.0  # inf where the law's decay outruns T: never NaN


@settings(deadline=None)
@given(
    st.sampled_from([case.values[0] for case in paper.LAWS]),
    st.integers(2, 10**6),
    st.integers(1, 60),
    st.integers(1, 50),
    st.floats(0.01, 0.5),
)
def test_bounds_grow_with_the_problem(law, episodes, horizon, n_states, delta):
    def both(**changes):
        given = {"episodes": episodes, "n_states": n_states, "n_actions": 3, "delta": delta} | changes
        known = printed_known_law_bound(law, horizon=horizon, beta=1.5, **given)
        return np.array(dataclasses.astuple(known))

    base = both()
    slack = 1.0 - 1e-12
    for change in (
        {"episodes": 2 * episodes},
        {"n_states": n_states + 1},
        {"n_actions": 4},
        {"delta": delta / 2},
    ):
        assert np.all(both(**change) >= slack * base)


@settings(deadline=None)
@given(st.floats(0.05, 0.98), st.integers(3, 10**6), st.integers(1, 30))
def test_noise_is_larger_where_the_law_is_unknown(gamma, episodes, horizon):
    # Layer by layer Theorem 4 multiplies by g ≥ 1, adds T^(−1/4) and has ln(T)^(5/2), ≥ 1 from T = 3.
    law = sj.Geometric(gamma)
    known = printed_known_law_bound(law, episodes, **SMALL, horizon=horizon, beta=1.5)
    unknown = printed_unknown_law_bound(law, episodes, **SMALL, horizon=horizon, beta=1.5)
    assert unknown.noise >= known.noise * (1 - 1e-12)


@pytest.mark.parametrize("episodes", [2, 10, 74, 100, 1000])
@pytest.mark.parametrize("law", [sj.Geometric(0.99), sj.Polynomial(1.2), sj.Uniform(3, 40)], ids=repr)
def test_estimation_is_the_least_over_all_splits(law, episodes):
    L = np.arange(1, episodes + 1)
    every = episodes * law.tail(L + 1) + 2 * L * math.log(episodes) * math.sqrt(episodes)
    bound = printed_unknown_law_bound(law, episodes, horizon=3, **SMALL)
    assert bound.estimation == pytest.approx(every.min(), rel=1e-12)


@pytest.mark.parametrize("p", [2.0, 3.0, 5.0])
def test_the_condition_of_corollary_2_holds_for_p_at_least_2(p):
    # With β = ½, Π(1 + (p−1)/j^(3/2)) ≤ e^(1.6124 (p−1)), and Γ(h+1)²/γ(h+1) is at most a constant: the last
    # term S²A √N L ln(TN) is at most a constant times √(SA) T^(p/(2p−1)) from T = S³A on, up to logarithms.
    law = sj.Polynomial(p)
    assert error_growth(law, 10**5, beta=0.5) <= math.exp(1.6124 * (p - 1.0))
    for n_states in (10, 100, 1000):
        episodes = n_states**3 * 2
        sizes = {"n_states": n_states, "n_actions": 2, "beta": 0.5}
        bound = printed_known_law_bound(law, episodes, **sizes)
        size = math.log(episodes * bound.horizon / 0.1) * math.log(episodes * bound.horizon) * 3
        main = math.sqrt(2 * n_states) * episodes ** (p / (2 * p - 1))
        assert bound.second_order / size <= 2.0 * math.exp(1.6124 * (p - 1.0)) * main
        # The default exponent is at least as good.
        assert printed_known_law_bound(law, episodes, **(sizes | {"beta": None})).total <= bound.total * (
            1 + 1e-9
        )


def test_corollary_6_needs_another_exponent_than_its_proof_uses():
    # The proof states ln g(H*) ≤ (1−γ) √(ln(1/γ)/ln T) → 0 at H* = ln T/(2 ln(1/γ)) and β = 3/2. It replaces
    # γ^(1−H*), which is γ √T, by T^(1/4): ln g(H*) really grows like T^(1/4)/ln(T)^(3/2).
    law = sj.Geometric(0.9)

    def log_g(episodes):
        horizon = round(math.log(episodes) / (2 * math.log(1 / 0.9)))
        return float(log_estimation_growth(law, horizon, episodes=episodes, beta=1.5))

    assert log_g(10**16) > 4.0
    assert log_g(10**20) > 31.0
    cleared = slope(lambda n: log_g(n) * math.log(n) ** 1.5, 10**40, 10**80)
    assert cleared == pytest.approx(0.25, abs=0.01)


def test_corollary_6_follows_with_the_best_exponent():
    # With β = ln T/(4 ln H*), k^β reaches T^(1/4) at k = H*, and the bound is √T times powers of ln T.
    law = sj.Geometric(0.9)
    totals = []
    for episodes in (10**40, 10**80, 10**120):
        horizon = round(math.log(episodes) / (2 * math.log(1 / 0.9)))
        sizes = {"horizon": horizon, "n_states": 1, "n_actions": 1}
        best = printed_unknown_law_bound(law, episodes, **sizes)
        by_hand = math.log(episodes) / (4 * math.log(horizon))
        simple = printed_unknown_law_bound(law, episodes, **sizes, beta=by_hand)
        assert best.total <= simple.total * (1 + 1e-9)
        assert best.total < 1e-6 * printed_unknown_law_bound(law, episodes, **sizes, beta=1.5).total
        totals.append(best.total / math.sqrt(episodes) / math.log(episodes) ** 3.5)
    assert max(totals) / min(totals) < 3.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"episodes": 0}, "episodes must be a whole number ≥ 1; got 0."),
        ({"episodes": 10**301}, "episodes must be at most 10\\*\\*300; got a number of 302 digits."),
        ({"n_states": 0}, "n_states must be a whole number ≥ 1; got 0."),
        ({"n_actions": 2.5}, "n_actions must be a whole number ≥ 1; got 2.5."),
        ({"delta": 0.0}, "delta must be in \\(0, 1\\); got 0.0."),
        ({"delta": 1.0}, "delta must be in \\(0, 1\\); got 1.0."),
        ({"delta": math.nan}, "delta must be in \\(0, 1\\); got nan."),
        ({"delta": "0.1"}, "delta must be in \\(0, 1\\); got '0.1'."),
        ({"delta": True}, "delta must be in \\(0, 1\\); got True."),
        ({"horizon": 0}, "horizon must be a whole number ≥ 1; got 0."),
        ({"horizon": 10**8}, "horizon must be at most 10,000,000 to look at each layer; got 100,000,000."),
        ({"beta": -1.0}, "beta must be a finite number > 0; got -1.0."),
        ({"truncation": 0.0}, "truncation must be > 0 for a law with no longest length; got 0.0."),
        (
            {"horizon": 3, "truncation": 0.1},
            "horizon must be None if truncation is given; got 3 and 0.1.",
        ),
    ],
)
def test_bad_input_raises_a_one_line_error(changes, message):
    law, given_numbers = sj.Geometric(0.9), {"episodes": 100, **SMALL} | changes
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        printed_known_law_bound(law, **given_numbers)
    assert "\n" not in str(caught.value)


def test_theorem_4_needs_at_least_two_episodes():
    with pytest.raises(ValueError, match=r"episodes must be a whole number ≥ 2; got 1\."):
        printed_unknown_law_bound(sj.Geometric(0.9), 1, horizon=3, **SMALL)
