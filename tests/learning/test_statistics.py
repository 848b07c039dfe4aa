"""Statistics over seeds, against SciPy and by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from sojourn.learning import (
    Interval,
    bootstrap_interval,
    estimate_mean,
    interquartile_mean,
    paired_difference,
    probability_of_improvement,
    simultaneous_intervals,
    standard_error,
)

SAMPLES = arrays(float, st.integers(2, 40), elements=st.floats(-1e6, 1e6, width=32))


@given(SAMPLES)
def test_the_interquartile_mean_is_scipys_trimmed_mean(values):
    np.testing.assert_allclose(
        interquartile_mean(values), stats.trim_mean(values, 0.25), rtol=1e-12, atol=1e-9
    )


@given(SAMPLES)
def test_the_standard_error_agrees_with_scipy(values):
    np.testing.assert_allclose(standard_error(values), stats.sem(values), rtol=1e-9, atol=1e-9)


@given(SAMPLES, SAMPLES)
def test_the_probability_of_improvement_is_the_mann_whitney_statistic(ours, theirs):
    # U counts pairs in which the first is larger; fewer is better, so the second's U is ours.
    found = stats.mannwhitneyu(theirs, ours, method="asymptotic").statistic / (ours.size * theirs.size)
    assert probability_of_improvement(ours, theirs) == pytest.approx(found, abs=1e-12)
    more = probability_of_improvement(ours, theirs, less_is_better=False)
    assert more + probability_of_improvement(ours, theirs) == pytest.approx(1.0)


def test_the_probability_of_improvement_needs_little_memory_and_passes_unknown_values_on():
    rng = np.random.default_rng(0)
    total = rng.normal(size=(3, 20_000))  # all pairs would be 400 million
    found = probability_of_improvement(total, total[:1])
    assert found[0] == 0.5
    assert np.abs(found - 0.5).max() < 0.02
    total[1, 7] = np.nan
    assert np.isnan(probability_of_improvement(total, total[:1])).tolist() == [False, True, False]


@given(SAMPLES)
def test_a_paired_difference_agrees_with_scipys_paired_test(values):
    other = np.sin(np.arange(values.size)) + values * 0.5
    if np.ptp(values - other) < 1e-3:
        return
    found = paired_difference(values, other)
    low, high = stats.ttest_rel(values, other).confidence_interval(0.95)
    np.testing.assert_allclose([found.low, found.high], [low, high], rtol=1e-7, atol=1e-7)


def test_small_cases_by_hand():
    assert interquartile_mean([1.0, 2.0, 3.0]) == 2.0  # nothing is left out of fewer than four
    assert interquartile_mean([0.0, 1.0, 2.0, 100.0]) == 1.5
    assert interquartile_mean([[0.0, 1.0], [4.0, 3.0]], axis=0).tolist() == [2.0, 2.0]
    assert probability_of_improvement([1.0], [2.0]) == 1.0
    assert probability_of_improvement([[1.0, 5.0], [2.0, 2.0]], [[2.0, 2.0]]).tolist() == [0.5, 0.5]
    assert np.isnan(standard_error([3.0]))
    assert standard_error([[1.0], [2.0]]).shape == (2,)


def test_nan_stays_nan():
    assert np.isnan(interquartile_mean([1.0, np.nan, 2.0, 3.0, 4.0]))
    assert np.isnan(probability_of_improvement([1.0, np.nan], [2.0]))
    assert np.isnan(paired_difference([1.0, np.nan], [0.0, 0.0]).mean)


def test_a_bootstrap_interval_is_that_of_all_draws():
    # All 3³ draws of three values, each as likely: the exact law of the bootstrap mean.
    values = np.array([0.0, 1.0, 5.0])
    means = [np.mean(draw) for draw in itertools.product(values, repeat=3)]
    alpha = stats.norm.cdf(np.sqrt(3 / 2) * stats.t.ppf(0.2, 2))
    exact = np.quantile(means, [alpha, 1 - alpha], method="inverted_cdf")
    found = bootstrap_interval(values, np.mean, level=0.6, resamples=20_000)
    assert found.value == pytest.approx(2.0)
    np.testing.assert_allclose([found.low, found.high], exact, atol=1e-12)


def test_a_bootstrap_interval_agrees_with_scipy():
    values = np.random.default_rng(1).exponential(size=30)
    # Hesterberg's expansion is a percentile interval of a higher level.
    ours = bootstrap_interval(values, np.mean, resamples=50_000)
    level = 2 * stats.norm.cdf(np.sqrt(30 / 29) * stats.t.ppf(0.975, 29)) - 1
    theirs = stats.bootstrap(
        (values,), np.mean, method="percentile", confidence_level=level, n_resamples=50_000, rng=2
    )
    np.testing.assert_allclose([ours.low, ours.high], theirs.confidence_interval, rtol=5e-3)


def test_the_expanded_interval_of_a_mean_of_normal_values_is_students():
    # The bootstrap's standard deviation of a mean is s·√((n−1)/n)/√n: the expansion makes up for it.
    values = stats.norm.ppf((np.arange(200) + 0.5) / 200)
    ours = bootstrap_interval(values, np.mean, resamples=50_000)
    low, high = stats.t.interval(0.95, 199, values.mean(), stats.sem(values))
    np.testing.assert_allclose([ours.low, ours.high], [low, high], rtol=0.03)


def test_more_intervals_that_hold_together_are_wider_and_need_more_seeds():
    values = np.random.default_rng(3).lognormal(size=20)
    found = [simultaneous_intervals(values, n) for n in (1, 4, 16)]
    assert all(b.low < a.low < a.high < b.high for a, b in itertools.pairwise(found))
    for n_intervals, n_seeds in [(1, 5), (2, 6), (3, 7), (4, 7), (5, 8), (16, 9)]:
        assert np.isnan(simultaneous_intervals(values[: n_seeds - 1], n_intervals).low)
        assert np.isfinite(simultaneous_intervals(values[:n_seeds], n_intervals).low)


def test_intervals_are_printed_with_two_digits_of_their_half_width():
    found = Interval(
        np.array([10.0, 3.0, np.nan, 5.0]),
        np.array([8.1, 3.0, np.nan, np.nan]),
        np.array([13, 3, np.nan, np.nan]),
    )
    assert found.texts() == ["10.0 [8.1, 13.0]", "3.0000", "—", "5.0000"]


def test_rows_are_resampled_together_and_reproducibly():
    values = np.random.default_rng(0).normal(size=(3, 12))
    values[1] = values[0] + 1.0
    found = bootstrap_interval(values, resamples=500)
    np.testing.assert_allclose(found.low[1] - found.low[0], 1.0)
    again = bootstrap_interval(values, resamples=500)
    assert (found.low == again.low).all()
    alone = bootstrap_interval(values[0], resamples=500)
    assert (alone.low, alone.high) == (found.low[0], found.high[0])


@pytest.mark.parametrize(("name", "value"), [("level", 1.0), ("level", np.nan), ("resamples", 0)])
def test_bad_settings_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        bootstrap_interval([1.0, 2.0], **{name: value})


MASKED = np.ma.masked_array([1.0, 2.0, 3.0, 1e6], mask=[0, 0, 0, 1])


@pytest.mark.parametrize(
    "summarize",
    [
        estimate_mean,
        standard_error,
        interquartile_mean,
        bootstrap_interval,
        simultaneous_intervals,
        lambda values: paired_difference(values, np.ones(4)),
        lambda values: probability_of_improvement(values, np.ones(4)),
    ],
)
def test_masked_values_are_refused(summarize):
    with pytest.raises(ValueError, match=r"^values must have no masked entries; fill it first"):
        summarize(MASKED)
