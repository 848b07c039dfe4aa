"""Laws as mixtures of geometric laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sojourn as sj
from sojourn.laws import distance

MONOTONE = [
    (sj.Polynomial(2.0), 1e-2, None),
    (sj.Polynomial(1.4), 1e-9, 2_000),
    (sj.BetaGeometric(2.0, 6.0), 1e-3, None),
    (sj.BetaGeometric(2.0, 6.0), 1e-12, 1_000),
    (sj.DiscreteWeibull(0.8, 0.6), 1e-6, None),
    (sj.NegativeBinomial(0.5, 0.9), 1e-6, None),
]


@pytest.mark.parametrize(("law", "tolerance", "last"), MONOTONE, ids=str)
def test_completely_monotone_laws_are_mixtures_within_the_tolerance(law, tolerance, last):
    mixture = law.as_mixture(tolerance, last=last)
    assert all(type(part) is sj.Geometric for part in mixture.laws)
    # The sum of the first steps, term by term, instead of the tails that `distance` uses.
    h = np.arange(1, (last or 20_000) + 1)
    assert np.abs(law.survival(h) - mixture.survival(h)).sum() <= tolerance
    assert distance(law, mixture, last=last) <= tolerance
    assert len(mixture.laws) <= 40


def test_finite_mixtures_are_exact():
    for law, gammas in (
        (sj.Geometric(0.9), [0.9]),
        (sj.Fixed(1), [0.0]),
        (sj.QuasiHyperbolic(0.6, 0.9), [0.0, 0.9]),
        (sj.DiscreteWeibull(0.7, 1.0), [0.7]),
        (sj.Mixture([0.5, 0.5], [sj.QuasiHyperbolic(0.6, 0.9), sj.Geometric(0.9)]), [0.0, 0.9]),
    ):
        mixture = law.as_mixture(0.0)
        assert [part.gamma for part in mixture.laws] == pytest.approx(gammas, rel=1e-15)
        h = np.arange(1, 200)
        assert mixture.survival(h) == pytest.approx(law.survival(h), rel=1e-13)


@pytest.mark.parametrize(
    ("law", "place"),
    [
        (sj.Fixed(5), "got -1 at k = 2, h = 4"),  # 1 − 2·1 + 0
        (sj.Tabulated([1.0, 0.5, 0.5, 0.5]), "got -0.5 at k = 2, h = 3"),  # 0.5 − 2·0.5 + 0
        (sj.Uniform(1, 4), "got -0.25 at k = 3, h = 3"),  # 0.5 − 3·0.25 + 3·0 − 0
        (sj.Tabulated([1.0, 0.1, 0.001]), "got -0.045 at k = 11, h = 1"),  # 1 − 11·0.1 + 55·0.001
        (sj.DiscreteWeibull(0.9, 2.0), "at k = 2, h = 1"),
        (sj.Polynomial(1.4, offset=2), "at k = 2, h = 2"),
    ],
    ids=str,
)
def test_other_laws_are_refused_by_their_first_wrong_difference(law, place):
    with pytest.raises(ValueError, match="is not a mixture of geometric laws") as error:
        law.as_mixture()
    assert place in str(error.value)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.floats(0.01, 1.0), min_size=2, max_size=4),
    st.lists(st.floats(0.0, 0.99), min_size=4, max_size=4),
)
@example([0.75, 0.75], [0.75, 0.046875, 0.0, 0.0])
def test_a_table_of_a_mixture_is_found_again(weights, gammas):
    shares = np.array(weights) / np.sum(weights)
    mixture = sj.Mixture(shares, [sj.Geometric(gamma) for gamma in gammas[: len(weights)]])
    last = 60
    table = sj.Tabulated(mixture.survival(np.arange(1, last + 2)))
    found = table.as_mixture(1e-2, last=last)
    h = np.arange(1, last + 1)
    assert np.abs(found.survival(h) - mixture.survival(h)).sum() <= 1e-2


def test_wrong_arguments_are_refused():
    law = sj.Polynomial(2.0)
    with pytest.raises(ValueError, match="is not a finite mixture of geometric laws; tolerance must be > 0"):
        law.as_mixture(0)
    with pytest.raises(ValueError, match="tolerance must be a finite number ≥ 0; got -1"):
        law.as_mixture(-1)
    with pytest.raises(ValueError, match="last must be a whole number ≥ 1; got 0"):
        law.as_mixture(last=0)
    with pytest.raises(ValueError, match=r"tolerance must be larger for NegativeBinomial.*With last=n"):
        sj.NegativeBinomial(0.5, 0.9).as_mixture(1e-15)


def test_a_finite_law_whose_low_differences_are_right_is_refused_by_a_high_one():
    law = sj.Tabulated([1.0, 2.0**-7])  # 1 − k/128 < 0 from k = 129 on
    with pytest.raises(ValueError, match=r"got -0.00781 at k = 129, h = 1\."):
        law.as_mixture(1e-5)
    assert distance(law, law.as_mixture(0.1)) <= 0.1
