"""Bounds from a few layers of a long tail contain what all of its layers give."""

from __future__ import annotations

import numpy as np
import pytest
from reference import planning as reference

import sojourn as sj
from sojourn.planning import _tail
from sojourn.planning._interpolated_tail import interpolate_tail
from sojourn.planning._sparse_problem import SparseProblem

WIDTH = 1e-4
LAWS = [sj.Polynomial(1.4), sj.Polynomial(1.6, offset=10), sj.BetaGeometric(1.5, 4.0)]


@pytest.mark.parametrize("seed", range(9))
def test_interpolated_bounds_contain_the_value_of_every_layer(seed):
    rng, law = np.random.default_rng(seed), LAWS[seed % 3]
    transitions, rewards = reference.random_problem(
        rng, int(rng.integers(3, 9)), 3, low=-1.0, high=1.0, n_successors=int(rng.integers(2, 4))
    )
    problem = SparseProblem.of(sj.TabularMDP(transitions, rewards))
    certificate, n_layers = _tail.find_certificate(problem, law, WIDTH, 10**6)
    found = interpolate_tail(problem, law, certificate, WIDTH, n_layers)
    assert found is not None
    assert found.n_layers < n_layers / 2
    assert found.width(law) <= WIDTH
    # Every layer, from bounds of the certificate on the other side: ours must lie beyond them.
    last = 4_000
    low, high = certificate.bounds(float(law.remaining(last + 1)))
    states, ratios = np.arange(len(rewards)), law.continuation(np.arange(found.n_layers + 1, last + 1))
    best, earned = low, high
    for ratio in ratios[::-1]:
        best = (rewards + ratio * transitions @ best).max(axis=1)
        earned = (rewards + ratio * transitions @ earned)[states, found.actions]
    assert (best <= found.upper + 1e-9).all()
    assert (found.lower <= earned + 1e-9).all()


def test_plans_of_large_tables_use_them_and_agree(monkeypatch):
    mdp, law = sj.mdps.garnet(60, 3, 3, seed=1), sj.Polynomial(1.4)
    whole = sj.plan(mdp, law, tolerance=1e-5)
    monkeypatch.setattr(_tail, "_MANY_TRANSITIONS", 0)
    short = sj.plan(mdp, law, tolerance=1e-5)
    assert short.width <= 1e-5
    assert (np.maximum(short.lower, whole.lower) <= np.minimum(short.upper, whole.upper)).all()
    assert len(short.policy) <= len(whole.policy)
    np.testing.assert_allclose(short.value, whole.value, atol=1e-5)
    again = sj.evaluate(mdp, law, short.policy, tolerance=1e-8)
    assert (again.lower <= short.value + 1e-7).all()
    assert (short.value - 1e-7 <= again.upper).all()


def test_two_gains_fall_back_to_all_layers(monkeypatch):
    # One state pays 1 per step and another 0, always: no number K(h) suits both, so nothing is gained.
    monkeypatch.setattr(_tail, "_MANY_TRANSITIONS", 0)
    best = sj.plan(sj.mdps.two_paths(), sj.Polynomial(1.4))
    assert best.width <= 1e-6
