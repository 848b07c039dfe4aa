"""Certificates are valid for every number of steps, whether or not value iteration has converged."""

from __future__ import annotations

import numpy as np
import pytest
from reference import planning as reference

import sojourn as sj
from sojourn.planning._certificate import certificates, first_bounds
from sojourn.planning._sparse_problem import SparseProblem


def check_holds(transitions, rewards, found, n_steps=300):
    """Compare the bounds with plain n-step optima and with the policy's own n-step values."""
    states = np.arange(len(rewards))
    chain, paid = transitions[states, found.actions], rewards[states, found.actions]
    best, earned = np.zeros(len(rewards)), np.zeros(len(rewards))
    slack = 1e-12 * n_steps * max(1.0, np.abs(rewards).max())
    for n in range(n_steps + 1):
        lower, upper = found.bounds(float(n))
        assert (lower <= earned + slack).all(), n
        assert (best <= upper + slack).all(), n
        best = (rewards + transitions @ best).max(axis=1)
        earned = paid + chain @ earned


@pytest.mark.parametrize(
    "build",
    [sj.mdps.two_paths, sj.mdps.river_swim, sj.mdps.chain, sj.mdps.cash_or_invest, sj.mdps.deep_sea],
)
def test_the_gain_gap_shrinks_quickly(build):
    mdp = build()
    for n_sweeps, found in certificates(SparseProblem.of(mdp)):
        if found.gain_gap < 1e-7:
            break
        assert n_sweeps < 20_000
    check_holds(*reference.dense(mdp), found)


def test_a_gain_that_depends_on_the_state_is_found():
    # two_paths: state 0 can reach the state that pays 1 per step, state 1 pays nothing, state 2 pays 1.
    _, found = next(certificates(SparseProblem.of(sj.mdps.two_paths())))
    gains = sorted(np.round(found.upper_gain, 9))
    assert gains == pytest.approx([0.0, 1.0, 1.0], abs=1e-9)
    np.testing.assert_allclose(found.lower_gain, found.upper_gain, atol=1e-9)


def test_layers_needed_is_the_least_number_that_suffices():
    found = first_bounds(SparseProblem.of(sj.mdps.river_swim(6)))
    law = sj.Polynomial(p=2.0)
    n_layers = found.layers_needed(law, 1e-3, 10**9)
    assert found.width_after(law, n_layers) <= 1e-3 < found.width_after(law, n_layers - 1)
    assert found.layers_needed(law, 1e-3, 50) == 50
    assert found.layers_needed(sj.Fixed(7), 1e-3, 50) == 7
    assert found.layers_needed(law, 1e9, 50) == 0
