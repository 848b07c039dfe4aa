import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sojourn as sj
from sojourn.laws import closest_geometric, distance

LAWS = [
    sj.QuasiHyperbolic(0.7, 0.95),
    sj.Polynomial(1.4, offset=20),
    sj.BetaGeometric(1.2, 5.0),
    sj.NegativeBinomial(3.0, 0.9),
    sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Geometric(0.99)]),
    sj.Fixed(10),
    sj.Uniform(1, 40),
    sj.KaplanMeier([1, 2, 2, 9, 30], [1, 1, 0, 1, 0]),
]


def by_hand(law, other, n=300_000):
    h = np.arange(1, n + 1)
    return np.abs(law.survival(h) - other.survival(h)).sum() + abs(law.tail(n + 1) - other.tail(n + 1))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: repr(law)[:30])
def test_distance_is_the_sum_of_absolute_differences(law):
    for other in (sj.Geometric(0.9), sj.Geometric(1 - 1 / law.mean), sj.Uniform(3, 50)):
        expected = by_hand(law, other)
        assert distance(law, other) == pytest.approx(expected, rel=1e-11)
        assert distance(other, law) == pytest.approx(expected, rel=1e-11)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.5, 0.99), st.floats(0.5, 0.99))
def test_distance_of_geometric_laws_is_the_difference_of_means(one, other):
    laws = sj.Geometric(one), sj.Geometric(other)
    assert distance(*laws) == pytest.approx(abs(laws[0].mean - laws[1].mean), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: repr(law)[:30])
def test_no_single_gamma_is_closer(law):
    found = closest_geometric(law)
    grid = [sj.Geometric(gamma) for gamma in 1.0 - np.geomspace(1e-3, 0.6, 20)]
    assert distance(law, found) <= min(distance(law, other) for other in grid) + 1e-9


def test_a_geometric_law_is_its_own_closest_geometric_law():
    assert closest_geometric(sj.Geometric(0.93)) == sj.Geometric(0.93)
    assert closest_geometric(sj.NegativeBinomial(1.0, 0.93)).gamma == pytest.approx(0.93, abs=1e-6)
    assert closest_geometric(sj.Fixed(1)) == sj.Geometric(0.0)


def test_the_best_of_several_minima_is_found():
    # Two thirds end at step 2 and the others at step 30: the distance has several minima in γ.
    for law in (
        sj.Tabulated((1.0, *[1.0] * 1, *[1 / 3] * 28)),
        sj.Mixture([0.7, 0.3], [sj.Fixed(3), sj.Fixed(25)]),
        sj.Mixture([0.5, 0.5], [sj.Uniform(1, 3), sj.Uniform(20, 24)]),
    ):
        found = distance(law, closest_geometric(law))
        every = [distance(law, sj.Geometric(gamma)) for gamma in np.linspace(0.01, 0.999, 2_000)]
        assert found <= min(every) + 1e-9
