"""What policies lose that ignore the law: brute force, known cases, the search for stationary policies."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import sojourn as sj
from sojourn.planning._stationary import find_stationary_policy
from sojourn.plots import loss_bars

LAWS = [sj.Polynomial(p=1.6, offset=2), sj.QuasiHyperbolic(0.4, 0.9), sj.Uniform(1, 9), sj.Geometric(0.8)]


def start_value(mdp, law, policy, after="hold"):
    return float(mdp.start @ sj.evaluate(mdp, law, policy, after, tolerance=1e-7).value)


def best_by_enumeration(mdp, law):
    """The largest value of all A^S stationary policies."""
    policies = itertools.product(range(mdp.n_actions), repeat=mdp.n_states)
    return max(start_value(mdp, law, np.array([policy])) for policy in policies)


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_the_best_stationary_policy_is_that_of_an_enumeration(law, seed):
    mdp = sj.mdps.garnet(5, 2, 2, seed=seed)
    policy, bound = find_stationary_policy(mdp, law, tolerance=1e-7)
    best = best_by_enumeration(mdp, law)
    assert start_value(mdp, law, policy[np.newaxis]) == pytest.approx(best, abs=1e-6)
    assert best - 1e-7 <= bound <= best + 1e-6


def test_nothing_is_lost_under_a_geometric_law():
    found = sj.value_of_the_law(sj.mdps.river_swim(5), sj.Geometric(0.9))
    for loss in (found.geometric, found.single_gamma, found.stationary):
        assert loss.loss <= 1e-6
        assert loss.policy.shape == (1, 5)
    assert found.is_exact


def test_losses_are_those_of_the_policies_that_are_returned():
    mdp, law = sj.mdps.cash_or_invest(5), sj.Polynomial(p=1.4)
    found = sj.value_of_the_law(mdp, law)
    best = float(mdp.start @ sj.plan(mdp, law, tolerance=1e-7).value)
    assert found.value == pytest.approx(best, abs=1e-6)
    for one in found.losses:
        assert one.loss == pytest.approx(best - start_value(mdp, law, one.policy, one.after), abs=2e-6)
        assert one.least <= one.loss <= one.most
    # A single γ has a stationary policy, the geometric law with the same mean is one of them.
    assert found.stationary.loss <= found.single_gamma.loss + 2e-6
    assert found.single_gamma.loss <= found.geometric.loss + 2e-6
    # All horizons up to 30 by hand: the plan for H steps, then again.
    for horizon in (1, 4, 9, 22):
        policy = sj.plan(mdp, sj.Fixed(horizon)).policy
        policy = np.concatenate([policy, np.repeat(policy[-1:], horizon - len(policy), axis=0)])
        assert found.fixed_horizon.loss <= best - start_value(mdp, law, policy, "restart") + 2e-6


def test_the_table_and_the_figure_show_the_losses():
    found = sj.value_of_the_law(sj.mdps.two_paths(), sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)]))
    lines = found.table().splitlines()
    assert lines[0].startswith("TwoPaths, lengths from ")
    assert lines[2].split("  ")[0] == "policy planned for"
    assert len(lines) == 7
    assert repr(found) == found.table()
    assert "<table>" in found._repr_html_()
    bars = loss_bars(found)
    assert bars.loss.tolist() == [one.loss for one in found.losses]
    (ax,) = found.plot().axes
    assert [round(bar.get_width(), 9) for bar in ax.patches] == [round(x, 9) for x in bars.loss.tolist()]


@pytest.mark.parametrize(("name", "value"), [("tolerance", 0.0), ("max_plans", 0)])
def test_bad_settings_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        sj.value_of_the_law(sj.mdps.two_paths(), sj.Fixed(3), **{name: value})


@pytest.mark.parametrize("unit", [1e-9, 1e-12, 1e6])
def test_the_unit_of_rewards_does_not_matter(unit):
    mdp, law = sj.mdps.cash_or_invest(5), sj.Polynomial(1.4)
    scaled = sj.TabularMDP(mdp.transitions, unit * mdp.rewards, start=mdp.start, terminal=mdp.terminal)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sj.errors.WideBracketWarning)  # large values have few digits left
        one, other = sj.plan(mdp, law), sj.plan(scaled, law)
        found, expected = sj.value_of_the_law(scaled, law), sj.value_of_the_law(mdp, law)
        price, usual = sj.price_of_not_knowing(scaled, law), sj.price_of_not_knowing(mdp, law)
    assert (one.policy[:20] == other.policy[:20]).all()
    assert other.value == pytest.approx(unit * one.value, rel=1e-5)
    assert found.single_gamma.loss == pytest.approx(unit * expected.single_gamma.loss, rel=1e-4)
    assert price == pytest.approx(unit * usual, rel=1e-4, abs=1e-5 * unit)
