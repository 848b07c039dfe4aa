"""What a design can tell, against the expected information and against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sojourn import behavior

SHARES, DELAYS = np.linspace(0.2, 0.98, 12), (7, 14, 30, 60, 120, 240)
PAIRS = {
    "amount_sooner": [40.0 * share for share in SHARES for _ in DELAYS],
    "amount_later": [40.0] * (len(SHARES) * len(DELAYS)),
    "delay_later": [float(delay) for _ in SHARES for delay in DELAYS],
}


def test_simulated_errors_agree_with_the_expected_information():
    # Information about (ln k, ln μ) of one subject, Σ p (1 − p) g gᵀ, with g written by hand for Mazur.
    k, mu = 0.02, 0.3
    found = behavior.analyze_design(PAIRS, ["mazur"], parameters={"k": k, "sensitivity": mu}, simulations=100)
    sooner, later, delay = (np.array(PAIRS[name]) for name in PAIRS)
    worth = later / (1 + k * delay)
    slopes = np.stack([-mu * worth * k * delay / (1 + k * delay), mu * (worth - sooner)])
    chance = 1 / (1 + np.exp(-mu * (worth - sooner)))
    error = math.sqrt(np.linalg.inv((chance * (1 - chance) * slopes) @ slopes.T)[0, 0])
    assert found.people == ("given",)
    assert found.errors["mazur"][0].errors["k"] == pytest.approx(error, rel=0.25)


def test_a_typical_person_prefers_later_in_half_of_the_pairs():
    found = behavior.analyze_design(PAIRS, ["exponential", "mazur"], simulations=6)
    sooner, later, delay = (np.array(PAIRS[name]) for name in PAIRS)
    for family, worth in (
        ("exponential", lambda k: later * np.exp(-k * delay)),
        ("mazur", lambda k: later / (1 + k * delay)),
    ):
        shares = [(worth(one.parameters["k"]) > sooner).mean() for one in found.errors[family]]
        assert shares == pytest.approx([0.25, 0.5, 0.75], abs=0.02)


def test_what_a_design_cannot_tell_is_refused_before_there_are_data():
    found = behavior.analyze_design(PAIRS, ["mazur", "beta_delta"], simulations=6)
    assert list(found.refused) == ["beta_delta"]
    texts = dict(found.findings())
    assert "front-end delay" in texts["Not beta_delta"]
    assert "β̂ (naivete) cannot be told" in texts["Not naivete"]
    one_delay = PAIRS | {"delay_later": [30.0] * len(PAIRS["delay_later"])}
    assert not behavior.analyze_design(one_delay, ["rachlin"]).errors
    better = PAIRS | {"amount_later": [1.0] * len(PAIRS["delay_later"])}
    with pytest.raises(ValueError, match="design must have a pair that some people value the same"):
        behavior.analyze_design(better, ["mazur"])
    with pytest.raises(ValueError, match="parameters must be one of 'k', 's', 'beta', 'sensitivity'"):
        behavior.analyze_design(PAIRS, parameters={"kk": 1.0})
    with pytest.raises(ValueError, match="β̂"):
        behavior.analyze_design(PAIRS, ["beta_hat"])
