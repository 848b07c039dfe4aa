import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sojourn as sj

rows = st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=1, max_size=40)


def coverage(law, cut, *, n, runs, late=0):
    """Return the share of bands that contain the law, for data censored by another law and entered late."""
    rng, held = np.random.default_rng(4), 0
    for _ in range(runs):
        lengths, cuts = law.sample(rng, n), cut.sample(rng, n)
        entry = rng.integers(1, late + 2, n)
        seen = np.minimum(lengths, cuts) >= entry
        lengths, cuts, entry = lengths[seen], cuts[seen], entry[seen]
        band = sj.survival_band(np.minimum(lengths, cuts), lengths < cuts, entry=entry)
        held += band.holds(law)
    return held / runs


@pytest.mark.parametrize(
    ("law", "cut", "n", "late"),
    [
        (sj.Geometric(0.9), sj.Fixed(10**6), 50, 0),
        (sj.Geometric(0.9), sj.Geometric(0.93), 200, 0),
        (sj.DiscreteWeibull(0.7, 0.6), sj.Geometric(0.85), 200, 0),
        (sj.Uniform(1, 6), sj.Uniform(1, 8), 200, 0),
        (sj.Polynomial(1.4), sj.Geometric(0.9), 500, 0),
        (sj.Geometric(0.95), sj.Geometric(0.96), 400, 3),
    ],
    ids=["complete", "geometric", "weibull", "few steps", "heavy", "late entries"],
)
def test_bands_contain_the_law_as_often_as_stated(law, cut, n, late):
    # With 600 runs, a coverage of 95% is estimated below 0.923 once in a thousand cases.
    assert coverage(law, cut, n=n, runs=600, late=late) >= 0.923


def test_bands_are_not_wider_than_needed():
    # At 70% confidence a band must miss sometimes.
    rng = np.random.default_rng(1)
    law, held = sj.Geometric(0.9), 0
    for _ in range(300):
        lengths, cuts = law.sample(rng, 300), sj.Geometric(0.95).sample(rng, 300)
        band = sj.survival_band(np.minimum(lengths, cuts), lengths < cuts, confidence=0.7)
        held += band.holds(law)
    assert 0.62 < held / 300 < 0.95


@settings(max_examples=80, deadline=None)
@given(rows)
def test_the_estimate_is_kaplan_meier_and_the_band_is_around_it(data):
    lengths, observed = [n for n, _ in data], [seen for _, seen in data]
    band = sj.survival_band(lengths, observed)
    law = sj.KaplanMeier(lengths, observed, tail="end")
    np.testing.assert_allclose(band.estimate, law.survival(band.steps), rtol=1e-12)
    assert np.all((band.lower <= band.estimate) & (band.estimate <= band.upper))
    assert np.all(np.diff(band.lower) <= 0)
    assert np.all(np.diff(band.upper) <= 0)
    assert band.steps[-1] == max(lengths)
    assert band.holds(law)


def test_complete_data_get_the_band_of_dvoretzky_kiefer_and_wolfowitz():
    lengths = np.repeat([1, 3, 4, 9], 250)
    band = sj.survival_band(lengths, confidence=0.9)
    half = math.sqrt(math.log(2 / 0.1) / 2000)
    assert band.kind == "dkw"
    np.testing.assert_allclose(band.estimate, [1.0, 0.75, 0.5, 0.25])
    np.testing.assert_allclose(band.upper, [1.0, 0.75 + half, 0.5 + half, 0.25 + half])
    np.testing.assert_allclose(band.lower, [1 - half, 0.75 - half, 0.5 - half, 0.25 - half])


def test_hall_wellner_is_greenwood_times_kolmogorov():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from lifelines import KaplanMeierFitter
    rng = np.random.default_rng(2)
    lengths, cuts = sj.Geometric(0.8).sample(rng, 500), sj.Geometric(0.9).sample(rng, 500)
    observed, n = lengths < cuts, 500
    seen = np.minimum(lengths, cuts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitter = KaplanMeierFitter().fit(np.where(observed, seen, seen - 1), observed)
    band = sj.survival_band(seen, observed)
    assert band.kind == "hall-wellner"
    # lifelines keeps the running sum of Greenwood's terms, its σ²(t), under this name.
    spread = fitter._cumulative_sq_.reindex(band.steps - 1, method="ffill").to_numpy().ravel()
    half = 1.3580986 / math.sqrt(n) * band.estimate * (1.0 + n * spread)  # sup|bridge| at 95%
    plain = np.minimum.accumulate(np.minimum(band.estimate + half, 1.0))
    np.testing.assert_allclose(band.upper, plain, rtol=1e-6)


def test_excess_is_the_place_where_a_law_leaves_the_band():
    lengths = np.random.default_rng(0).geometric(0.1, 5000)
    band = sj.survival_band(lengths)
    excess, step = band.excess(sj.Geometric(0.8))
    lower, upper = band.at(step)
    assert excess == pytest.approx(float(lower - sj.Geometric(0.8).survival(step)))
    assert excess > 0.1
    assert not band.holds(sj.Geometric(0.8))
    assert band.holds(sj.Geometric(0.9))
    assert band.at(10**6)[0] == 0.0
    assert lower < upper


def test_a_law_is_also_compared_at_the_start_of_each_stair():
    # Between two observed lengths the estimate is flat: a law that falls late is above it at a stair's start.
    band = sj.survival_band(np.repeat([1, 100], 5000))
    assert not band.holds(sj.Tabulated([1.0, 0.9] + [0.5] * 98))
    assert band.holds(sj.Tabulated([1.0] + [0.5] * 99))


def test_fully_censored_data_give_an_almost_empty_band():
    band = sj.survival_band([4, 7], [False, False])
    assert band.upper.tolist() == [1.0]
    assert band.lower.tolist() == [pytest.approx(max(0.0, 1 - 1.3580986 / math.sqrt(2)), abs=1e-6)]


def test_confidence_must_be_between_0_and_1():
    with pytest.raises(ValueError, match=r"^confidence must be in \(0, 1\); got 95.$"):
        sj.survival_band([1, 2], confidence=95)


def test_the_block_search_finds_the_same_step_as_a_full_scan():
    rng = np.random.default_rng(0)
    lengths = sj.BetaGeometric(1.5, 200.0).sample(rng, 20_000)
    cuts = rng.integers(1, 3_000, 20_000)
    band = sj.survival_band(np.minimum(lengths, cuts), lengths < cuts)
    assert band.steps.size > 500
    begins = np.append(1, band.steps[:-1] + 1)
    for law in (sj.BetaGeometric(1.5, 200.0), sj.Geometric(0.99), sj.Polynomial(1.2), sj.Fixed(40)):
        above, below = law.survival(begins) - band.upper, band.lower - law.survival(band.steps)
        excess, step = band.excess(law)
        assert excess == pytest.approx(max(above.max(), below.max()), abs=1e-15)
        assert step in (int(begins[above.argmax()]), int(band.steps[below.argmax()]))


def test_a_few_open_rows_after_the_last_end_contradict_no_law():
    band = sj.survival_band([1, 8, 40], [True, False, False], counts=[500, 495, 5])
    late, early = (sj.Tabulated([1.0] + [0.5] * n + [0.1] * 30) for n in (7, 6))  # fall after steps 8 and 7
    assert band.reach == 8
    assert band.holds(late)
    assert band.excess(early)[1] == 8
