"""Claims that need no trials: each verdict by an independent computation, and checks that can fail."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import sojourn as sj
from sojourn.reports import ClaimVerdict
from sojourn.reproduction import _figure1
from sojourn.reproduction.claims import (
    PLACES,
    _known_law,
    _model,
    _unknown_law,
    check_optimism,
    least_episodes,
)


@pytest.fixture(scope="module")
def claims():
    model, bounds, estimation = _model, _known_law, _unknown_law
    made = (
        model.same_minimizers(),
        model.equivalence(),
        bounds.theorem_1(),
        bounds.error_growth_claim(),
        bounds.minimax_remark(),
        estimation.announced_exponent(),
        estimation.theorem_4(),
        estimation.dkw(),
        estimation.lemma_5(),
        estimation.lemma_6(),
        estimation.lemma_7(),
        estimation.corollary_5(),
        estimation.corollary_6(),
        estimation.factor_between_rates(),
    )
    return {claim.source: claim for claim in made}


def test_every_claim_has_a_place_in_the_paper(claims):
    assert set(claims) <= set(PLACES)


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        ("Abstract", ClaimVerdict.HOLDS),
        ("Section 2.1", ClaimVerdict.HOLDS),
        ("Theorem 1", ClaimVerdict.FAILS),
        ("Proof of Corollary 3", ClaimVerdict.FAILS),
        ("Section 4", ClaimVerdict.DEPENDS),
        ("Introduction", ClaimVerdict.FAILS),
        ("Theorem 4", ClaimVerdict.UNPROVEN),
        ("Proof of Theorem 4", ClaimVerdict.HOLDS),
        ("Lemma 5", ClaimVerdict.FAILS),
        ("Lemma 6", ClaimVerdict.HOLDS),
        ("Lemma 7", ClaimVerdict.FAILS),
        ("Corollary 5", ClaimVerdict.UNPROVEN),
        ("Corollary 6", ClaimVerdict.UNPROVEN),
        ("Section 5", ClaimVerdict.FAILS),
    ],
)
def test_verdicts(claims, source, verdict):
    assert claims[source].verdict is verdict


def test_the_constant_between_the_two_regrets_is_the_price_of_not_knowing(claims):
    law, prices = sj.Uniform(1, 4), []
    for seed in range(5):
        prices += list(sj.price_of_not_knowing(sj.mdps.garnet(2, 2, 2, seed=seed), law))
    assert f"up to {max(prices):.3f}," in claims["Abstract"].measured


def test_the_two_regrets_do_not_differ_by_a_constant_under_another_discount(monkeypatch):
    def wrongly(mdp, law, policy, after):
        return sj.evaluate(mdp, sj.Tabulated([1.0, 0.75, 0.5, 0.3]), policy, after=after)

    monkeypatch.setattr(_model, "evaluate", wrongly)
    assert _model.same_minimizers().verdict is ClaimVerdict.FAILS


def test_a_pair_that_ends_the_episode_needs_many_visits():
    # Mapped to [0, 1] it pays 1, the absorbing state 1/3 per step: 3 L/√n < 2/3, so n > (4.5 L)².
    for law in (sj.Geometric(0.975), sj.QuasiHyperbolic(0.7, 0.95)):
        layers = sj.theory.printed_truncation(law, 100).horizon
        expected = (4.5 * math.log(501 * 6 * 100 * layers / 0.1)) ** 2
        assert _figure1._visits_needed_to_end(law) == pytest.approx(expected)


def test_the_bound_of_theorem_8_says_nothing_up_to_ten_billion_episodes(claims):
    assert "up to about T = 10^10 (at the H* of Corollary 6)" in claims["Theorem 4"].measured
    for episodes, says_something in ((10**10, False), (3 * 10**10, True)):
        horizon = round(math.log(episodes) / (2 * math.log(1 / 0.9)))
        bound = sj.theory.printed_unknown_law_bound(
            sj.Geometric(0.9), episodes, horizon=horizon, n_states=6, n_actions=2
        )
        assert (bound.total < 10 * episodes) == says_something


def test_theorem_1_is_contradicted_with_a_margin(claims):
    # Le Cam by hand: ½ · gap · γ/(1−γ) · K (1 − ⅔ √(kK/2)), k = −½ ln(1 − 4 gap²), K = 400, gap = 1/40.
    k = -0.5 * math.log(1 - 4 / 1600)
    least = 0.5 / 40 * 9 * 400 * (1 - 2 / 3 * math.sqrt(k * 400 / 2))
    assert f"at least {least:.2f}" in claims["Theorem 1"].measured
    # The two problems differ in a gain of 1/40 per step from step 3 on: 1/40 · T β 0.81/0.1, T = 400/(0.9 β).
    most = 400 / 0.9 * 8.1 / 40
    assert most == pytest.approx(90)
    assert (
        f"at least {least:.2f} − 90δ, which is {least - 0.9:.2f} for δ = 0.01;"
        in claims["Theorem 1"].measured
    )
    assert "2.4 at β = 10^−10 and 0.034 at β = 10^−14" in claims["Theorem 1"].measured


def test_the_product_exceeds_its_bound_from_step_11_on(claims):
    factors = [1 + mpmath.mpf(1) / 20 / mpmath.mpf(j) ** 1.5 for j in range(2, 12)]
    assert mpmath.fprod(factors[:-1]) < mpmath.e**0.05 < mpmath.fprod(factors)
    assert "from h = 11 on" in claims["Proof of Corollary 3"].measured
    assert mpmath.zeta(1.5) - 1 < 1.613


def test_the_factor_between_the_rates():
    for p in (2.0, 2.5, 7.0):
        assert (p + 1) / (2 * p) - p / (2 * p - 1) == pytest.approx((p - 1) / (2 * p * (2 * p - 1)))


def test_the_leading_term_of_theorem_8_is_of_order_root_t_with_the_other_exponent():
    law, ratios = sj.Geometric(0.9), []
    for power in (8, 40, 120):
        log_t = power * math.log(10)
        horizon = round(log_t / (2 * math.log(1 / 0.9)))
        bound = sj.theory.printed_unknown_law_bound(
            law, 10**power, horizon=horizon, beta=log_t / (4 * math.log(horizon)), n_states=6, n_actions=2
        )
        ratios.append(bound.bonus / (10.0 ** (power / 2) * log_t**3))
    assert max(ratios) / min(ratios) < 1.01


def test_the_example_for_lemma_7_is_within_its_conditions(claims):
    block = math.sqrt(10**6) * math.log(10**6) * math.log(math.log(10**6) / 0.1)
    eps = math.sqrt(math.log(2 * math.log2(10**6 / block) / 0.1) / (2 * block))
    assert f"{eps:.5f}" == "0.00565"
    factor = 1 + math.sqrt(math.log(10**6))
    assert eps >= 0.006 - 0.00035
    assert eps * factor >= 0.08665 - 0.06
    error, allowed = 0.08665 / 0.00035 - 0.06 / 0.006, eps * factor / 0.006
    assert f"differ by {error:.0f}; the lemma allows {allowed:.1f}" in claims["Lemma 7"].measured


def test_the_episodes_from_which_on_corollaries_are_stated():
    assert least_episodes(sj.Geometric(0.9), 2, 2) == 160_000
    assert least_episodes(sj.Geometric(0.5), 2, 2) == 256
    assert least_episodes(sj.Polynomial(1.4), 2, 2) == 2**18
    assert least_episodes(sj.Polynomial(1.6), 2, 2) == math.ceil(2 ** (4 * 2.2 / 0.6))
    assert least_episodes(sj.Polynomial(2.0), 2, 2) == 16
    with pytest.raises(ValueError, match="law must be geometric, or polynomial without an offset"):
        least_episodes(sj.Fixed(3), 2, 2)


def test_largest_error_of_the_empirical_survival_by_brute_force():
    rng, law = np.random.default_rng(3), sj.Polynomial(1.4)
    samples, h = np.minimum(law.sample(rng, (20, 50)), 3_000), np.arange(1, 3_002)
    empirical = (samples[:, :, None] >= h).mean(axis=1)
    expected = np.abs(empirical - law.survival(h)).max(axis=1)
    np.testing.assert_allclose(_unknown_law._largest_errors(law, samples), expected, rtol=0, atol=1e-12)


def test_optimism_holds_in_every_episode_at_scale_one_and_the_check_is_not_empty():
    found = check_optimism(0, scale=1.0, episodes=3_000, seed=3)
    assert found.n_failed == 0
    assert found.learned > 0.01


def test_the_check_of_optimism_can_fail():
    found = check_optimism(0, scale=0.001, episodes=200, seed=0)
    assert found.n_failed > 20


def test_the_mean_over_lengths_by_hand():
    # TwoPaths, always B (action 1): 0 in the first step, then 1 per step; H = 1 or 3.
    law = sj.Mixture([0.25, 0.75], [sj.Fixed(1), sj.Fixed(3)])
    policy = np.ones((5, 3), dtype=int)
    assert _model._mean_over_lengths(sj.mdps.two_paths(), law, policy)[0] == pytest.approx(0.75 * 2)
