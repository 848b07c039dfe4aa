"""What learners reach and what holds on average, by simulation with many episodes."""

import numpy as np
import pytest
from envs.test_law_discount import returns
from learning.test_gym import BOLD, LAW
from reference import blackjack
from reference.playing import count_violations, play, start

import sojourn as sj
from sojourn.envs import LawDiscount, RandomLength, TabularEnv


def test_kaplan_meier_comes_closer_where_terminal_states_hide_lengths_and_the_empirical_law_does_not():
    # Half of the episodes cannot reach a terminal state, the others reach one after three steps.
    transitions = np.zeros((5, 1, 5))
    for state, following in enumerate((0, 2, 3, 4, 4)):
        transitions[state, 0, following] = 1.0
    mdp = sj.TabularMDP(transitions, np.zeros((5, 1)), start=[0.5, 0.5, 0.0, 0.0, 0.0], terminal=[4])
    law, counts, h = sj.Geometric(0.9), np.array([100, 1_000, 10_000, 100_000]), np.arange(1, 300)
    errors = np.empty((2, 4, counts.size))
    for seed in range(4):
        run = sj.learn(sj.UCBVI(sj.Fixed(1)), mdp, law, episodes=int(counts[-1]), seed=seed)
        for i, n in enumerate(counts):
            for j, estimate in enumerate((sj.KaplanMeier, sj.Empirical)):
                found = estimate(run.lengths[:n], run.observed[:n]).survival(h)
                errors[j, seed, i] = np.abs(found - law.survival(h)).max()
    slopes = np.polyfit(np.log(counts), np.log(errors.mean(axis=1).T), 1)[0]
    assert -0.6 < slopes[0] < -0.4
    # In the limit half of those alive after three steps are taken to have ended there: 0.9³/2.
    assert errors[1, :, -1] == pytest.approx(0.9**3 / 2, abs=0.01)


def test_blackjack_is_learned():
    """The values are those of the game written down as tables, within 4.5 standard errors."""
    game, episodes = exact_blackjack(), 6_000
    chance = game.start @ sj.evaluate(game, LAW, np.full((1, game.n_states, 2), 0.5)).value
    best = game.start @ sj.plan(game, LAW).value
    assert (chance, best) == pytest.approx((-0.3828605, -0.0456635), abs=1e-6)
    settings = {"episodes": episodes, "seed": 0, "reward_range": (-1, 1)}
    player = sj.learn(sj.RandomPlayer(), "Blackjack-v1", LAW, **settings)
    assert abs(player.rewards.mean() - chance) < 4.5 * player.rewards.std() / np.sqrt(episodes)
    learner = sj.learn(BOLD, "Blackjack-v1", LAW, **settings)
    last = learner.rewards[episodes // 2 :]
    error = last.std() / np.sqrt(last.size)
    assert best - 0.1 < last.mean() < best + 4.5 * error
    assert last.mean() - 4.5 * error > chance
    assert set(np.unique(learner.rewards)) == {-1.0, 0.0, 1.0}
    assert all(len(observation) == 3 for observation in learner.observations)
    assert len(learner.observations) > 200


def test_optimism_holds_with_a_bonus_and_fails_without():
    # Q ≥ Q* on every pair while most Q values lie below their caps: at scale 0.05 (the published bonus is far
    # larger still) it holds in every trial, and at scale 0 it fails in most.
    mdp, law = sj.mdps.garnet(3, 2, 2, seed=3), sj.Geometric(0.6)
    best = sj.plan(mdp, law, tolerance=1e-9).value
    q_star = mdp.rewards + 0.6 * mdp.transitions.toarray().reshape(3, 2, 3) @ best

    def played(scale):
        for seed in range(20):
            learner = start(sj.UCBVI(law, sj.PaperBonus(scale)), mdp, 3_000)
            for _ in play(learner, mdp, law, 300, seed):
                pass
            yield learner

    violated, below = count_violations(played(0.05), q_star)
    assert violated == 0
    assert below > 0.5
    assert count_violations(played(0.0), q_star)[0] > 10


def test_both_have_the_mean_that_evaluate_computes():
    """Chance in the problem too: the means of many episodes are within 4.5 standard errors of the value."""
    problem, law = sj.mdps.river_swim(3), sj.NegativeBinomial(3.0, 0.8)
    env, actions = TabularEnv(problem), [1] * 100
    assert law.tail(101) < 1e-6
    value = sj.evaluate(problem, law, np.ones((1, 3), dtype=int)).value[0]
    for wrapped in (RandomLength(env, law), LawDiscount(env, law, max_steps=100)):
        got = np.array([returns(wrapped, actions, seed) for seed in range(1_500)])
        error = got.std(ddof=1) / np.sqrt(got.size)
        assert abs(got.mean() - value) < 4.5 * error
        assert error < 0.05 * value


def exact_blackjack():
    transitions, rewards, start, states = blackjack.tables()
    transitions /= transitions.sum(axis=2, keepdims=True)
    return sj.TabularMDP(transitions, rewards, start=start / start.sum(), terminal=len(states) - 1)
