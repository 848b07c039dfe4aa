"""Horizon selection: the candidates and the rules that choose between them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sojourn as sj
from sojourn.agents._selection_rules import CandidateStatistics
from sojourn.learning import _learn
from sojourn.testing import check_learner

LAW = sj.Geometric(0.85)
BASE = sj.UnknownLaw(4, sj.PaperBonus(0.01))
SETTINGS = [
    sj.HorizonSelection(BASE, candidates=(2, 5, 12), rule=sj.D3RB()),
    sj.HorizonSelection(BASE, candidates=(2, 5, 12), rule=sj.DynamicBalancing(c=0.05, scale=0.1)),
    sj.HorizonSelection(BASE),
]


def statistics(played, earned, coefficients=None, beyond=None):
    n = len(played)
    return CandidateStatistics(
        n_pairs=12,
        horizons=np.array([2, 4, 8]),
        played=np.array(played),
        earned=np.array(earned, dtype=float),
        coefficients=np.ones(n) if coefficients is None else np.array(coefficients, dtype=float),
        beyond=np.zeros(n) if beyond is None else np.array(beyond, dtype=float),
        bonus_scale=1.0,
    )


@pytest.mark.parametrize("agent", SETTINGS, ids=repr)
def test_its_learners_pass_the_conformance_suite(agent):
    check_learner(agent)


@pytest.mark.parametrize("agent", SETTINGS, ids=repr)
@pytest.mark.parametrize(
    "mdp",
    [sj.mdps.river_swim(4), sj.TabularMDP.from_env("Taxi-v4"), sj.mdps.garnet(8, 3, 3, seed=1)],
    ids=lambda mdp: mdp.name,
)
def test_both_ways_of_playing_give_the_same_bits(agent, mdp, monkeypatch):
    compiled = sj.learn(agent, mdp, LAW, episodes=90, seed=3)
    monkeypatch.setattr(_learn, "play_compiled", _learn.play_by_protocol)
    spoken = sj.learn(agent, mdp, LAW, episodes=90, seed=3)
    for name in ("lengths", "rewards", "regret", "regret_width"):
        np.testing.assert_array_equal(getattr(compiled, name), getattr(spoken, name))
    assert compiled.learner.choices == spoken.learner.choices
    np.testing.assert_array_equal(compiled.learner.statistics.earned, spoken.learner.statistics.earned)


def test_candidates_learn_from_their_own_episodes_and_share_all_lengths():
    run = sj.learn(SETTINGS[0], sj.mdps.river_swim(4), LAW, episodes=150)
    for i, learner in enumerate(run.learner.learners):
        mine = np.array(run.learner.choices) == i
        assert learner.visits.sum() == run.lengths[mine].sum()
        for estimate in learner.estimates:
            np.testing.assert_array_equal(estimate.lengths, run.lengths[: estimate.episode])


def test_a_candidate_earns_its_first_rewards_less_those_of_the_absorbing_state():
    # Taxi's rewards −10 … 20 become 0 … 1, the absorbing state is paid 1/3: ending early must not look bad.
    run = sj.learn(SETTINGS[0], sj.TabularMDP.from_env("Taxi-v4"), sj.Geometric(0.5), episodes=40)
    short = run.lengths <= 12
    earned = run.rewards[short] / 30.0 / 12.0
    total = sum(run.learner.statistics.earned)
    assert short.all()
    assert total == pytest.approx(earned.sum(), abs=1e-12)


def test_d3rb_plays_the_least_assumed_regret_and_doubles_it_if_contradicted():
    rule = sj.D3RB(c=0.1, delta=0.1)
    assert rule.choose(statistics([0, 0, 0], [0, 0, 0])) == 0
    assert rule.choose(statistics([4, 1, 9], [0, 0, 0])) == 1
    assert rule.choose(statistics([4, 1, 9], [0, 0, 0], [1.0, 8.0, 0.5])) == 2
    # By hand, with n = 10,000: w = 0.1 √(ln(3 · ln(10,000)/0.1)/10,000) = 0.00237, d/√n = 0.01.
    w = 0.1 * math.sqrt(math.log(3 * math.log(10_000) / 0.1) / 10_000)
    assert w == pytest.approx(0.002371, abs=1e-6)
    for gap, doubles in ((0.01 + 2 * w - 1e-6, False), (0.01 + 2 * w + 1e-6, True)):
        state = statistics([10_000] * 3, [5_000.0, 5_000.0 + 10_000 * gap, 0.0])
        rule.update(state, 0)
        assert (state.coefficients[0] == 2.0) == doubles
        assert (state.coefficients[1:] == 1.0).all()  # only the candidate that played is tested


def test_dynamic_balancing_plays_the_active_candidate_with_the_smallest_bound():
    rule = sj.DynamicBalancing(c=0.1)
    assert rule.choose(statistics([1, 1, 0], [0, 0, 0])) == 2
    even = statistics([10_000] * 3, [5_000.0] * 3)
    np.testing.assert_allclose(rule.bounds(even), np.array([2, 4, 8]) / 8 * math.sqrt(12 * 10_000))
    assert rule.choose(even) == 0
    # The first has earned less by more than R/n + 2w = 0.00866 + 0.00474: it is not active.
    assert rule.choose(statistics([10_000] * 3, [5_000.0, 5_135.0, 0.0])) == 1
    assert rule.choose(statistics([10_000] * 3, [5_000.0, 5_133.0, 0.0])) == 0


def test_the_bounds_of_dynamic_balancing_contain_what_the_layers_leave_out():
    beyond, played = np.array([3.0, 0.5, 0.01]), np.array([100, 400, 900])
    state = statistics(played, [0.0] * 3, beyond=beyond)
    for scale in (None, 0.25):
        by_hand = [
            n * rest / 8 + (scale or 1.0) * (horizon / 8) * math.sqrt(12 * n)
            for n, rest, horizon in zip(played, beyond, (2, 4, 8), strict=True)
        ]
        np.testing.assert_allclose(sj.DynamicBalancing(scale=scale).bounds(state), by_hand)
    # Without the last terms, the first candidate would have the smallest bound.
    assert sj.DynamicBalancing(scale=0.25).choose(statistics([900] * 3, [0.0] * 3, beyond=beyond)) == 2
    assert sj.DynamicBalancing(scale=0.25).choose(statistics([900] * 3, [0.0] * 3)) == 0


@pytest.mark.parametrize("episodes", [10, 200])
def test_what_the_layers_leave_out_follows_the_latest_estimate(episodes):
    run = sj.learn(SETTINGS[0], sj.mdps.river_swim(4), LAW, episodes=episodes)
    estimates = [one for learner in run.learner.learners for one in learner.estimates]
    if episodes == 10:  # nothing is estimated yet: every step counts as reached
        assert not estimates
        assert run.learner.statistics.beyond.tolist() == [10.0, 7.0, 0.0]
    else:
        latest = max(estimates, key=lambda estimate: estimate.episode)
        assert latest.episode > 100
        h = np.array([3, 6, 13])
        np.testing.assert_array_equal(run.learner.statistics.beyond, latest.law.tail(h))


@pytest.mark.parametrize(("episodes", "last"), [(1, 2), (4, 2), (5, 4), (100, 16), (5_000, 128)])
def test_doubling_goes_up_to_the_root_of_the_number_of_episodes(episodes, last):
    horizons = sj.HorizonSelection(BASE).horizons(episodes)
    assert horizons == tuple(2**i for i in range(1, int(math.log2(last)) + 1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"candidates": "halving"}, "candidates must be 'doubling' or horizons; got 'halving'."),
        ({"candidates": (4, 2)}, "candidates must be different horizons in increasing order; got (4, 2)."),
        ({"candidates": 5}, "candidates must be 'doubling' or horizons; got 5."),
        ({"candidates": ()}, "candidates must be different horizons in increasing order; got ()."),
        ({"candidates": (0, 2)}, "candidates must be a whole number ≥ 1; got 0."),
        ({"rule": sj.D3RB}, "rule must be D3RB() or DynamicBalancing()"),
        ({"base": sj.UCBVI(LAW)}, "base must be an UnknownLaw"),
    ],
)
def test_bad_settings_are_refused_in_one_line(settings, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        sj.HorizonSelection(**{"base": BASE, **settings})
    assert message in str(caught.value)
