"""Algorithm 2: blocks, estimates, censoring, and what is kept from block to block."""

from __future__ import annotations

import numpy as np
import pytest
from reference import learning as reference
from reference.both_ways import play_both_ways

import sojourn as sj
from sojourn.agents._bonuses import ProblemSize
from sojourn.testing import check_learner
from sojourn.theory import block_length, estimated_horizon, proven_horizon

LAW = sj.Geometric(0.85)
RIVER = sj.mdps.river_swim(4)
FROZEN = sj.TabularMDP.from_env("FrozenLake-v1")
BONUS = sj.PaperBonus(0.01)
SETTINGS = [
    sj.UnknownLaw(12, BONUS),
    sj.UnknownLaw(12, BONUS, estimator="empirical", ties="first", after="hold", count="first"),
    sj.UnknownLaw(12, BONUS, estimator="geometric"),
    sj.UnknownLaw(12, BONUS, form="literal", delta=0.5, guess=sj.Geometric(0.5)),
    sj.UnknownLaw(12, sj.GeneralBernstein(0.01)),
    sj.UnknownLaw("auto", BONUS),
    sj.UnknownLaw("auto", sj.MonotoneBernstein(0.01), guess=sj.Geometric(0.7), anytime=True),
]


@pytest.mark.parametrize("agent", SETTINGS, ids=repr)
def test_its_learners_pass_the_conformance_suite(agent):
    check_learner(agent)


@pytest.mark.parametrize("agent", SETTINGS, ids=repr)
@pytest.mark.parametrize(
    "mdp",
    [RIVER, FROZEN, sj.mdps.garnet(8, 3, 3, seed=1), sj.TabularMDP.from_env("Taxi-v4")],
    ids=lambda mdp: mdp.name,
)
def test_both_ways_of_playing_give_the_same_bits(agent, mdp):
    compiled, spoken = play_both_ways(agent, mdp, LAW)
    assert compiled.learner.estimates[-1].law == spoken.learner.estimates[-1].law
    states = np.setdiff1d(np.arange(mdp.n_states), mdp.terminal)
    np.testing.assert_array_equal(compiled.learner.q_values(states), spoken.learner.q_values(states))


def test_blocks_double_and_use_all_lengths():
    run = sj.learn(SETTINGS[0], RIVER, LAW, episodes=300, seed=1)
    estimates = run.learner.estimates
    assert [estimate.episode for estimate in estimates] == [16, 48, 112, 240]
    for estimate in estimates:
        np.testing.assert_array_equal(estimate.lengths, run.lengths[: estimate.episode])
        assert estimate.law == sj.KaplanMeier(run.lengths[: estimate.episode], [True] * estimate.episode)


def test_the_literal_form_is_the_papers():
    agent, episodes = SETTINGS[3], 10_000
    first = block_length(episodes, delta=0.5)
    run = sj.learn(agent, RIVER, LAW, episodes=episodes, seed=1)
    estimates = run.learner.estimates
    assert [estimate.episode for estimate in estimates] == [first, 3 * first]
    assert estimates[0].law == sj.Empirical(run.lengths[:first])
    assert estimates[1].law == sj.Empirical(run.lengths[first : 3 * first])  # the last block's alone
    # All but the lengths is forgotten: the counts are those of the last block.
    assert run.learner.visits.sum() == run.lengths[3 * first :].sum()


def test_the_literal_form_never_estimates_in_a_hundred_episodes():
    run = sj.learn(sj.UnknownLaw(12, BONUS, form="literal"), RIVER, LAW, episodes=100)
    assert run.learner.estimates == []


@pytest.mark.parametrize("episodes", [16, 48])
def test_counts_are_kept_and_q_begins_at_the_new_caps(episodes):
    run = sj.learn(SETTINGS[0], RIVER, LAW, episodes=episodes, seed=2)
    inner = run.learner._inner
    assert inner.settings.law == run.learner.estimates[-1].law
    assert run.learner.visits.sum() == run.lengths.sum()
    # A full sweep with all counts, from the caps of the new law, in plain floats.
    q, value = reference.full_sweep(inner, np.empty((0, inner.n_layers)))
    np.testing.assert_array_equal(inner._tables.q[: len(q)], q)
    np.testing.assert_array_equal(inner._tables.value[: len(value)], value)
    assert (q < inner._assumed.caps[:-1]).any()


@pytest.mark.parametrize("horizon", [5, 50])
def test_there_are_no_layers_beyond_the_longest_length(horizon):
    run = sj.learn(sj.UnknownLaw(horizon, BONUS), RIVER, sj.Uniform(1, 9), episodes=200)
    assert run.learner.q_values().shape[0] == min(horizon, 9)


@pytest.mark.parametrize("law", [LAW, sj.Polynomial(1.4)], ids=repr)
def test_layers_follow_from_each_estimate(law):
    for episodes in (16, 48, 112, 240):
        run = sj.learn(sj.UnknownLaw("auto", BONUS), RIVER, law, episodes=episodes, seed=4)
        last = run.learner.estimates[-1]
        n_layers = estimated_horizon(last.law, run.lengths, episodes)
        assert run.learner.q_values().shape[0] == n_layers <= run.lengths.max()


def test_the_first_block_has_the_layers_of_the_guess():
    for agent, n_layers in (
        (sj.UnknownLaw("auto"), 16),
        (sj.UnknownLaw("auto", guess=sj.Geometric(0.5)), proven_horizon(sj.Geometric(0.5), 10)),
        (sj.UnknownLaw("auto", guess=sj.Geometric(0.5), anytime=True), proven_horizon(sj.Geometric(0.5), 16)),
    ):
        assert sj.learn(agent, RIVER, LAW, episodes=10).learner.q_values().shape[0] == n_layers


@pytest.mark.parametrize("horizon", [12, "auto"])
def test_an_anytime_learner_plays_the_same_whatever_the_number_of_episodes(horizon):
    agent = sj.UnknownLaw(horizon, BONUS, anytime=True)
    short, long = (sj.learn(agent, RIVER, LAW, episodes=n, seed=5) for n in (130, 400))
    np.testing.assert_array_equal(short.regret, long.regret[:130])
    # In its fourth block, of episodes 113 … 240, it plans for 240.
    settings = short.learner.playing.settings
    size = ProblemSize(RIVER.n_states, RIVER.n_actions, 240, short.learner.playing.n_layers, settings.delta)
    bonus = BONUS.of_one_visit(settings.law, size)
    np.testing.assert_array_equal(short.learner.playing._assumed.bonus, bonus)


def test_the_guess_is_kept_if_no_length_was_observed():
    # Every episode ends in a terminal state after its first step.
    transitions = np.zeros((2, 1, 2))
    transitions[:, 0, 1] = 1.0
    mdp = sj.TabularMDP(transitions, np.array([[1.0], [0.0]]), terminal=[1])
    run = sj.learn(sj.UnknownLaw(4), mdp, sj.Fixed(6), episodes=60)
    assert run.learner.estimates == []
    assert run.learner.law == sj.Fixed(4)


def test_with_complete_observation_both_estimators_agree():
    run = sj.learn(sj.RandomPlayer(), RIVER, sj.Polynomial(1.6, offset=3), episodes=2_000)
    assert run.observed.all()
    h = np.arange(1, run.lengths.max() + 2)
    ours, theirs = sj.KaplanMeier(run.lengths, run.observed), sj.Empirical(run.lengths, run.observed)
    np.testing.assert_allclose(ours.survival(h), theirs.survival(h), atol=1e-14, rtol=0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"horizon": 0}, "horizon must be a whole number ≥ 1; got 0."),
        ({"horizon": "all"}, "horizon must be a whole number ≥ 1 or 'auto'; got 'all'."),
        ({"horizon": 5, "anytime": 3}, "anytime must be True or False; got 3."),
        ({"horizon": 5, "anytime": True, "form": "literal"}, "anytime must be False in the literal form"),
        ({"horizon": 5, "form": "loose"}, "form must be one of 'improved', 'literal'; got 'loose'."),
        ({"horizon": 5, "estimator": "geometrc"}, "Did you mean 'geometric'"),
        ({"horizon": 5, "estimator": 3}, "estimator must be a name or be callable; got 3."),
        ({"horizon": 5, "guess": 3}, "guess must be a LengthLaw, such as Geometric(0.95); got 3."),
        ({"horizon": 5, "bonus": 0.1}, "bonus must be a bonus, such as PaperBonus(0.1); got 0.1."),
        ({"horizon": 5, "bonus": sj.Hoeffding()}, "bonus must take laws without a longest length"),
        ({"horizon": 5, "estimator": "kaplan_mier"}, "Did you mean 'kaplan_meier'?"),
        ({"horizon": 5, "ties": "last"}, "ties must be one of 'random', 'first'; got 'last'."),
    ],
)
def test_bad_settings_are_refused_in_one_line(settings, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        sj.UnknownLaw(**settings)
    assert message in str(caught.value)
