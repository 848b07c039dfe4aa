"""UCB-VI that does not know the number of episodes: blocks, their plans, and what is kept."""

from __future__ import annotations

import numpy as np
import pytest
from reference import learning as reference
from reference.both_ways import play_both_ways

import sojourn as sj
from sojourn.agents._bonuses import ProblemSize
from sojourn.testing import check_learner

LAW = sj.Geometric(0.85)
RIVER = sj.mdps.river_swim(4)
BONUS = sj.PaperBonus(0.01)
SETTINGS = [
    sj.UCBVI(LAW, BONUS, anytime=True),
    sj.UCBVI(sj.Polynomial(1.6), sj.MonotoneBernstein(0.1), anytime=True, ties="first", after="hold"),
    sj.UCBVI(sj.Fixed(9), sj.Bernstein(0.01), anytime=True, count="first"),
]


@pytest.mark.parametrize("agent", SETTINGS, ids=repr)
def test_its_learners_pass_the_conformance_suite(agent):
    check_learner(agent)


@pytest.mark.parametrize("agent", SETTINGS, ids=repr)
@pytest.mark.parametrize("mdp", [RIVER, sj.TabularMDP.from_env("FrozenLake-v1")], ids=lambda mdp: mdp.name)
def test_both_ways_of_playing_give_the_same_bits(agent, mdp):
    play_both_ways(agent, mdp, LAW)


def test_it_plays_the_same_whatever_the_number_of_episodes():
    short, long = (sj.learn(SETTINGS[0], RIVER, LAW, episodes=n, seed=5) for n in (130, 400))
    np.testing.assert_array_equal(short.regret, long.regret[:130])


def test_its_first_block_is_a_trial_of_sixteen_episodes():
    blocks = sj.learn(SETTINGS[0], RIVER, LAW, episodes=16, seed=1)
    plain = sj.learn(sj.UCBVI(LAW, BONUS), RIVER, LAW, episodes=16, seed=1)
    np.testing.assert_array_equal(blocks.regret, plain.regret)


@pytest.mark.parametrize(("episodes", "planned"), [(1, 16), (16, 48), (47, 48), (48, 112), (240, 496)])
def test_each_block_plans_for_the_episodes_up_to_its_end(episodes, planned):
    inner = sj.learn(SETTINGS[0], RIVER, LAW, episodes=episodes, seed=2).learner.playing
    n_layers, _ = sj.UCBVI(LAW, BONUS).layers(planned)
    assert inner.n_layers == n_layers
    size = ProblemSize(RIVER.n_states, RIVER.n_actions, planned, n_layers, 0.1)
    np.testing.assert_array_equal(inner._assumed.bonus, BONUS.of_one_visit(LAW, size))


@pytest.mark.parametrize("episodes", [16, 48])
def test_counts_are_kept_and_q_begins_at_the_caps(episodes):
    run = sj.learn(SETTINGS[0], RIVER, LAW, episodes=episodes, seed=2)
    inner = run.learner.playing
    assert run.learner.visits.sum() == run.lengths.sum()
    q, value = reference.full_sweep(inner, np.empty((0, inner.n_layers)))
    np.testing.assert_array_equal(inner._tables.q[: len(q)], q)
    np.testing.assert_array_equal(inner._tables.value[: len(value)], value)


def test_it_plays_environments_without_a_table():
    agent = sj.UCBVI(LAW, BONUS, anytime=True, n_states=300)
    run = sj.learn(agent, "Blackjack-v1", LAW, episodes=40, reward_range=(-1, 1))
    assert run.learner.visits.sum() == run.lengths.sum()


def test_anytime_must_be_true_or_false():
    with pytest.raises(TypeError, match=r"^anytime must be True or False; got 'yes'.$"):
        sj.UCBVI(LAW, anytime="yes")
