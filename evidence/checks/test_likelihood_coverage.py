"""Coverage of intervals and spread of estimates, by simulation."""

import math

import numpy as np
import pytest
from laws.test_likelihood import TRUTHS, censored

import sojourn as sj
from sojourn.laws import FAMILIES, fit_sample, log_likelihood, take_sample


def test_standard_errors_are_the_spread_of_estimates():
    law, scores = sj.DiscreteWeibull(0.8, 0.7), []
    for seed in range(150):
        lengths, observed = censored(law, 400, 0.3, seed=1000 + seed)
        found = sj.fit(lengths, observed, family="discrete_weibull")
        scores.append(
            [
                (found.parameters[name] - truth) / found.standard_errors[name]
                for name, truth in (("q", 0.8), ("shape", 0.7))
            ]
        )
    # The standard deviation of 150 standard normals is within 0.82 … 1.18 in 99.8% of all cases.
    assert np.std(scores, axis=0) == pytest.approx([1.0, 1.0], abs=0.18)
    assert np.mean(scores, axis=0) == pytest.approx([0.0, 0.0], abs=0.3)


@pytest.mark.parametrize("family", ["negative_binomial", "beta_geometric", "mixture"])
def test_intervals_of_the_mean_have_their_nominal_coverage(family):
    law, held = TRUTHS[family][0], 0
    for seed in range(80):
        lengths, observed = censored(law, 1_000, 0.3, seed=500 + seed)
        found = sj.fit(lengths, observed, family=family)
        times = math.exp(1.96 * found.error_of(lambda one: one.mean) / found.law.mean)
        held += found.law.mean / times <= law.mean <= found.law.mean * times
    assert held >= 69  # of 80 at 95%: 69 or fewer once in a thousand cases


@pytest.mark.parametrize("family", ["geometric", "discrete_weibull", "beta_geometric", "mixture"])
def test_merging_very_many_distinct_lengths_hardly_changes_the_fit(family):
    rng = np.random.default_rng(2)
    lengths, seen = (3e5 * rng.weibull(0.8, 60_000)).astype(np.int64) + 1, rng.random(60_000) < 0.7
    sample = take_sample(lengths, seen)
    assert sample.ends.size > 2**15 > sample.thinned().ends.size
    found, whole = fit_sample(sample, family), FAMILIES[family].solve(sample)
    assert found.n == 60_000
    for value, other, error in zip(found.parameters.values(), whole.values, whole.errors, strict=True):
        assert abs(value - other) < 0.01 * error
    assert found.log_likelihood == pytest.approx(log_likelihood(whole.law, sample), abs=0.1)
