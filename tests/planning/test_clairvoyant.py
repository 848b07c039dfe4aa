"""Knowing the length in advance, against plain averages over lengths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import planning as reference

import sojourn as sj
from sojourn.errors import WideBracketWarning

HALF_AND_HALF = sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)])
HEAVY = sj.Polynomial(p=1.4, offset=20)


def test_two_paths_has_clairvoyant_value_5():
    # ½·1 (A, if the length is 1) + ½·9 (B, if it is 10).
    assert sj.clairvoyant_value(sj.mdps.two_paths(), HALF_AND_HALF)[0] == pytest.approx(5.0, abs=1e-12)
    assert sj.price_of_not_knowing(sj.mdps.two_paths(), HALF_AND_HALF)[0] == pytest.approx(0.5, abs=1e-12)


def test_river_swim_has_the_known_clairvoyant_value():
    found = sj.clairvoyant_value(sj.mdps.river_swim(6), sj.Geometric(0.9))
    assert found[0] == pytest.approx(1.31373, abs=5e-6)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    law=st.sampled_from(
        [sj.Geometric(0.9), sj.Polynomial(p=3.5), sj.Uniform(3, 40), sj.BetaGeometric(4.0, 9.0)]
    ),
    n_successors=st.integers(1, 3),
)
def test_the_value_is_the_average_over_lengths(seed, law, n_successors):
    transitions, rewards = reference.random_problem(
        np.random.default_rng(seed), 5, 3, n_successors=n_successors
    )
    lengths = np.arange(1, 2_001)
    expected = law.pmf(lengths) @ reference.horizon_values(transitions, rewards, 2_000)
    missing = law.tail(2_001) + 2_000 * law.survival(2_001)  # Σ of n·P(n) over longer lengths
    found = sj.clairvoyant_value(sj.TabularMDP(transitions, rewards), law)
    np.testing.assert_allclose(found, expected, atol=1e-6 + missing)


@pytest.mark.parametrize(
    "build", [sj.mdps.two_paths, sj.mdps.river_swim, sj.mdps.cash_or_invest, sj.mdps.chain]
)
def test_heavy_tails_are_solved(build):
    mdp = build()
    lengths = np.arange(1, 30_001)
    values = reference.horizon_values(*reference.dense(mdp), lengths[-1])
    # After 30,000 steps each further one adds the gain, nearly: extrapolate along the last 60 increments (a
    # multiple of every period here).
    gain = (values[-1] - values[-61]) / 60.0
    reach, rest = HEAVY.survival(30_001), HEAVY.tail(30_001)
    expected = HEAVY.pmf(lengths) @ values + reach * values[-1] + rest * gain
    np.testing.assert_allclose(sj.clairvoyant_value(mdp, HEAVY), expected, atol=2e-6)


@pytest.mark.parametrize("law", [sj.Geometric(0.95), HEAVY, sj.QuasiHyperbolic(0.7, 0.95), sj.Uniform(1, 30)])
@pytest.mark.parametrize("build", [sj.mdps.two_paths, sj.mdps.river_swim, sj.mdps.cash_or_invest])
def test_knowing_never_hurts(build, law):
    assert (sj.price_of_not_knowing(build(), law) >= -1e-6).all()


def test_the_price_is_zero_if_the_length_is_fixed():
    mdp = sj.mdps.garnet(20, 3, 3, seed=1)
    np.testing.assert_allclose(sj.price_of_not_knowing(mdp, sj.Fixed(12)), 0.0, atol=1e-11)


def test_too_few_layers_raise_a_warning():
    with pytest.warns(WideBracketWarning, match="clairvoyant_value: the certified bracket is"):
        sj.clairvoyant_value(sj.mdps.river_swim(6), HEAVY, max_layers=5)
