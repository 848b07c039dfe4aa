"""Posterior draws of PSRL: moments and distributions from thousands of draws."""

import math

import numpy as np
import pytest
from agents.test_psrl import trap
from reference.playing import start
from scipy import stats

import sojourn as sj


@pytest.mark.parametrize("ends", [False, True], ids=["endless", "ending"])
def test_each_successor_is_drawn_from_the_full_dirichlet_posterior(ends):
    # Whatever was seen: one gamma variable for each of S states, and one for the end once it was seen.
    rng, n_states, horizon = np.random.default_rng(1), 4, 5
    mdp = sj.TabularMDP(
        rng.dirichlet(np.ones(n_states), size=(n_states, 2)), rng.random((n_states, 2)), start=0
    )
    learner = start(sj.PSRL(sj.Fixed(horizon), 1.5, unseen="each"), mdp, 500)
    counts = np.zeros((n_states, 2, n_states + ends))
    for s, a, y in [(0, 1, 2), (0, 1, 2), (2, 0, 3), (3, 1, 0), *([(3, 0, n_states)] * ends)]:
        learner._pending = (s, a, 1)  # whatever it would have played
        learner.observe(s, a, float(mdp.rewards[s, a]), y, y == n_states)
        counts[s, a, y] += 1
    learner.end_episode(1, True)
    assert sorted(learner.transition_counts) == sorted(
        (int(s), int(a), -1 if y == n_states else int(y), int(counts[s, a, y]))
        for s, a, y in np.argwhere(counts)
    )
    twin = np.random.default_rng()
    for _ in range(20):
        twin.bit_generator.state = learner._rng.bit_generator.state
        learner._learn()
        model = np.empty_like(counts)
        for s, a in np.ndindex(n_states, 2):
            for y in range(n_states):
                model[s, a, y] = twin.standard_gamma(1.5 / (n_states + ends) + counts[s, a, y])
            if not ends:
                continue
            model[s, a, -1] = twin.standard_gamma(1.5 / (n_states + ends) + counts[s, a, -1])
            if counts[s, a, -1] == 0:  # it has no arc: a share, and draws until it is the target
                twin.random()
                while int(twin.random() * (n_states + 1)) > 0:
                    pass
        model /= model.sum(axis=2, keepdims=True)
        q, value = np.empty((horizon, n_states, 2)), np.zeros(n_states + ends)
        for h in reversed(range(horizon)):
            q[h] = mdp.rewards + model @ value
            value[:n_states] = q[h].max(axis=1)
        np.testing.assert_allclose(learner.q_values(np.arange(n_states)), q, atol=1e-10, rtol=0)


@pytest.mark.parametrize("counts", [{}, {1: 3, 2: 1}], ids=str)
def test_with_each_successor_drawn_the_whole_distribution_is_dirichlet_s(counts):
    weights, alpha = (0, 0.1, 0.9, 0.4, 0.2, 0.7), np.full(6, 3.0 / 6)
    for following, n in counts.items():
        alpha[following] += n
    exact = np.random.default_rng(1).dirichlet(alpha, size=3_000) @ np.array(weights)
    assert stats.ks_2samp(draws_of(weights, 3.0, counts, "each"), exact).pvalue > 0.001
    if not counts:  # all successors are lumped: the same moments, another distribution
        assert stats.ks_2samp(draws_of(weights, 3.0, counts, "apart"), exact).pvalue < 0.001


def draws_of(weights, prior, counts, unseen, n_draws=3_000):
    """Draw Σ_y P(y)·weights[y] for the first state, whose successors were seen `counts` times."""
    # One action, two steps: Q_1 is what the first state pays, 0, and the mean of what the next one pays.
    n_states = len(weights)
    rewards = np.array(weights)[:, np.newaxis]
    agent = sj.PSRL(sj.Fixed(2), prior, unseen=unseen)
    settings = {"n_states": n_states, "n_actions": 1, "episodes": 9, "rewards": rewards}
    learner = agent.start(**settings, rng=np.random.default_rng(0))
    for following, n in counts.items():
        for _ in range(n):
            learner.observe(0, learner.act(0, 1), 0.0, following, False)
            learner.end_episode(1, True)
    if not counts:  # to number the first state without playing it
        learner.observe(1, learner.act(1, 1), weights[1], 0, False)
        learner.end_episode(1, True)
    drawn = np.empty(n_draws)
    for i in range(n_draws):
        learner._learn()
        drawn[i] = learner.q_values(np.array([0]))[0, 0, 0]
    return drawn


@pytest.mark.parametrize("unseen", ["apart", "together", "each"])
@pytest.mark.parametrize("prior", [0.2, 3.0])
@pytest.mark.parametrize("counts", [{}, {1: 3, 2: 1}], ids=str)
@pytest.mark.parametrize("weights", [(0, 0, 0, 0, 0, 1), (0, 0.1, 0.9, 0.4, 0.2, 0.7)])
def test_drawn_probabilities_have_the_moments_of_the_full_dirichlet_posterior(weights, counts, prior, unseen):
    # A Dirichlet law with weights α: E Σ P w = Σ m w and Var = (Σ m w² − (Σ m w)²)/(1 + Σ α), with m = α/Σ α.
    drawn = draws_of(weights, prior, counts, unseen)
    alpha = np.full(6, prior / 6)
    for following, n in counts.items():
        alpha[following] += n
    m, w = alpha / alpha.sum(), np.array(weights)
    variance = (m @ w**2 - (m @ w) ** 2) / (1 + alpha.sum())
    assert drawn.mean() == pytest.approx(m @ w, abs=5 * math.sqrt(variance / drawn.size))
    fourth = ((drawn - drawn.mean()) ** 4).mean() - drawn.var() ** 2
    assert drawn.var() == pytest.approx(variance, abs=5 * math.sqrt(fourth / drawn.size))


def test_psrl_explores_as_often_as_with_the_full_dirichlet_posterior():
    # Nothing was seen yet but state 0's first action, often. As the prior's weight falls, ours and the full
    # Dirichlet posterior have the same law; here both are drawn a few thousand times and planned with.
    n_draws, prior, mdp = 4_000, 0.02, trap()
    learner = start(sj.PSRL(sj.Fixed(30), prior), mdp, 9)
    while learner.visits.toarray()[0, 0] < 300:
        if learner.act(0, 1) == 0:
            learner.observe(0, 0, 0.5, 0, False)
            learner.end_episode(1, True)
        else:
            learner._pending = None
            learner._learn()
    tries = 0
    for _ in range(n_draws):
        learner._learn()
        first = learner.q_values(np.array([0]))[0, 0]
        tries += first[1] > first[0]
    rng = np.random.default_rng(1)
    model = np.maximum(rng.standard_gamma(prior / 10, size=(n_draws, 20, 10)), 1e-300)
    model[:, 0] = np.eye(10)[0]
    model /= model.sum(axis=2, keepdims=True)
    value = np.zeros((n_draws, 10))
    for _ in range(30):
        q = mdp.rewards + (model @ value[:, :, np.newaxis]).reshape(n_draws, 10, 2)
        value = q.max(axis=2)
    expected = (q[:, 0, 1] > q[:, 0, 0]).mean()
    assert 0.05 < expected < 0.95
    assert tries / n_draws == pytest.approx(expected, abs=5 * math.sqrt(0.5 / n_draws))


def test_learned_rewards_are_drawn_from_their_posterior():
    agent = sj.PSRL(sj.Fixed(1), noise=0.5)
    learner = agent.start(n_states=1, n_actions=2, episodes=9, rng=np.random.default_rng(0))
    action = learner.act(0, 1)
    learner.observe(0, action, 0.2, 0, False)
    learner.end_episode(1, True)
    drawn = []
    for _ in range(10_000):
        learner._learn()
        drawn.append(learner.q_values(np.array([0]))[0, 0, action])
    assert np.mean(drawn) == pytest.approx((1.0 + 0.2) / 2, abs=0.01)
    assert np.std(drawn) == pytest.approx(0.5 / math.sqrt(2), rel=0.03)
