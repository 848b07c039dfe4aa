"""Laws against mpmath where its sums take long: relative errors are at most 1e-12."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.test_accuracy import agree, many_digits, random_cases  # noqa: F401, because pytest uses the fixture many_digits
from reference import laws as reference

import sojourn as sj


@pytest.mark.parametrize(
    ("r", "gamma", "h"),
    [
        (1.0, 0.9, 50),
        (2.0, 0.5, 10**9),  # far out: γ underflows, ρ and Γ/γ must not
        (0.01, 0.9999, 10**5),
        (3.5, 0.99999, 2_000_000),
        (5000.0, 0.99, 495_001),  # at the mean
        (1000.0, 0.3, 300),
        (30.0, 0.001, 40),
    ],
)
def test_negative_binomial_is_exact_at_the_edges(r, gamma, h):
    agree(sj.NegativeBinomial(r, gamma), h, reference.negative_binomial(r, gamma, h))


@random_cases(40)
@given(st.floats(-1, 12), st.floats(0.3, 3.0), st.floats(-3, 6))
def test_log_normal_is_exact(mu, sigma, score):
    law = sj.LogNormal(mu, sigma)
    h = int(min(1.0 + np.exp(mu + sigma * score), 1e9))
    agree(law, h, reference.log_normal(mu, sigma, h))
