"""Weights, discounts and the geometric tail."""

from __future__ import annotations

import numpy as np
import pytest

import sojourn as sj
from sojourn.laws import distance
from sojourn.sb3 import GeometricTail, StepClock
from sojourn.sb3._clock import default_last
from sojourn.testing import check_law

LAWS = {
    "polynomial": sj.Polynomial(1.4),
    "uniform": sj.Uniform(3, 9),
    "quasi-hyperbolic": sj.QuasiHyperbolic(0.6, 0.9),
    "mixture": sj.Mixture([0.5, 0.5], [sj.Fixed(2), sj.Geometric(0.9)]),
}


@pytest.mark.parametrize("last", [0, 1, 5, 8, 30])
@pytest.mark.parametrize("law", LAWS.values(), ids=list(LAWS))
def test_the_tail_is_a_law_of_the_same_mean(law, last):
    if law.longest is not None:
        last = min(last, law.longest - 1)
    tailed = GeometricTail(law, last)
    check_law(tailed)
    h = np.arange(1, last + 2)
    np.testing.assert_allclose(tailed.survival(h), law.survival(h), rtol=1e-14)
    np.testing.assert_allclose(tailed.tail(h), law.tail(h), rtol=1e-12)
    if law.longest is None:
        survival = tailed.survival(np.arange(last + 1, last + 9))
        rates = survival[1:] / survival[:-1]
        np.testing.assert_allclose(rates, 1.0 - law.survival(last + 1) / law.tail(last + 1), rtol=1e-12)


def test_the_cost_of_the_tail_is_the_sum_of_differences():
    law = sj.BetaGeometric(3, 6)
    clock = StepClock(law, 4)
    h = np.arange(1, 200_000)
    expected = np.abs(law.survival(h) - clock.effective_law.survival(h)).sum()
    assert clock.tail_cost == pytest.approx(expected, rel=1e-4)
    assert StepClock(sj.Geometric(0.9), 0).tail_cost == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("law", "last"),
    [(sj.Geometric(0.9), 0), (sj.Fixed(7), 6), (sj.QuasiHyperbolic(0.6, 0.9), 1), (sj.Polynomial(1.4), 256)],
)
def test_the_default_distinguishes_no_more_steps_than_needed(law, last):
    assert default_last(law) == last


def test_the_default_costs_one_percent_of_the_mean_if_it_can():
    law = sj.BetaGeometric(4, 20)
    last = default_last(law)
    assert 0 < last < 256
    assert distance(law, GeometricTail(law, last)) <= 0.01 * law.mean
    assert distance(law, GeometricTail(law, last - 1)) > 0.01 * law.mean


def iterate(mdp, clock):
    """Return the fixed point of the targets on a table, `(N + 1, S, A)`, by repeated Bellman backups."""
    table = mdp.transitions.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)
    values = np.zeros((clock.last + 1, mdp.n_states, mdp.n_actions))
    following = np.minimum(np.arange(clock.last + 1) + 1, clock.last)
    for _ in range(5_000):
        targets = np.einsum("xay,iy->ixa", table, values.max(axis=2)[following])
        new = clock.weights[:, None, None] * mdp.rewards + clock.discounts[:, None, None] * targets
        if np.abs(new - values).max() < 1e-15:
            break
        values = new
    return values


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("law", LAWS.values(), ids=list(LAWS))
def test_iterated_targets_on_one_hot_features_are_the_plan(law, normalize):
    mdp = sj.mdps.garnet(5, 3, 2, seed=1)
    last = 20 if law.longest is None else law.longest - 1
    clock = StepClock(law, last, normalize=normalize)
    values = iterate(mdp, clock)
    scale = law.remaining(np.arange(1, last + 2)) if normalize else np.ones(last + 1)
    best = sj.plan(mdp, clock.effective_law, tolerance=1e-11)
    np.testing.assert_allclose(values[0].max(axis=1) * scale[0], best.value, rtol=0, atol=1e-10)
    for h in (1, 2, 5):
        np.testing.assert_array_equal(values[h - 1].argmax(axis=1), [best.action(s, h) for s in range(5)])


def test_bad_settings_raise_a_one_line_error():
    with pytest.raises(TypeError, match=r"^law must be a LengthLaw, such as Geometric\(0\.95\); got 0\.9\.$"):
        GeometricTail(0.9, 3)
    with pytest.raises(ValueError, match=r"^last must be a whole number ≥ 0; got -1\.$"):
        StepClock(sj.Geometric(0.9), -1)
    with pytest.raises(ValueError, match=r"^last must be below the law's longest length, 4; got 4\.$"):
        StepClock(sj.Uniform(1, 4), 4)
