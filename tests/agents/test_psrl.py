"""Posterior sampling: its draws, its plans and its exploration."""

from __future__ import annotations

import numpy as np
import pytest
from reference import rivals as reference
from reference.playing import play, start
from reference.problems import SMALL, live

import sojourn as sj
from sojourn.errors import MemoryLimitError

GEOMETRIC, SHAPED = sj.Geometric(0.9), sj.Polynomial(p=1.6, offset=3)


@pytest.mark.parametrize("knows_rewards", [True, False], ids=["known", "learned"])
@pytest.mark.parametrize("unseen", ["apart", "together"])
@pytest.mark.parametrize("belief", [sj.Fixed(6), SHAPED], ids=repr)
@pytest.mark.parametrize("mdp", SMALL, ids=lambda mdp: mdp.name)
def test_psrl_plans_in_a_model_drawn_from_the_posterior(mdp, belief, unseen, knows_rewards):
    # The same draws from a copy of the learner's generator.
    mdp, episodes = mdp.normalized(), 30
    rewards = mdp.rewards if knows_rewards else None
    copy, h = np.random.default_rng(5), np.arange(1, 8)
    copy.integers(2**63)  # the key of ties
    dense = reference.DensePosterior(
        (mdp.n_states, mdp.n_actions),
        belief.continuation(h[:-1]),
        belief.remaining(h),
        prior=2.0,
        rewards=rewards,
        noise=0.3,
        is_apart=unseen == "apart",
        terminal_reward=mdp.terminal_reward,
    )

    def watch(h, state, action, following):
        ended = following in mdp.terminal
        dense.see(state, action, mdp.rewards[state, action], reference.END if ended else following)

    learner = start(sj.PSRL(belief, 2.0, noise=0.3, unseen=unseen, horizon=6), mdp, episodes, rewards=rewards)
    q = dense.plan(copy)
    for _ in play(learner, mdp, sj.Uniform(1, 9), episodes, 1, watch):
        q = dense.plan(copy)
        found = learner.q_values(live(mdp))
        expected = [[q(s, a) for a in range(mdp.n_actions)] for s in live(mdp)]
        np.testing.assert_allclose(found, np.moveaxis(expected, 2, 0), atol=1e-10, rtol=0)


def test_psrl_is_textbook_psrl_once_all_successors_were_seen():
    # Dirichlet draws as normalised gamma variables, and backward induction over H steps: nothing else.
    rng, horizon = np.random.default_rng(1), 5
    mdp = sj.TabularMDP(rng.dirichlet(np.ones(3), size=(3, 2)), rng.random((3, 2)), start=0)
    learner = start(sj.PSRL(sj.Fixed(horizon), 1.5), mdp, 500)
    counts, order = rng.integers(1, 9, size=(3, 2, 3)), rng.permuted(np.tile(np.arange(3), (3, 2, 1)), axis=2)
    for s, a in np.ndindex(3, 2):
        for y in np.repeat(order[s, a], counts[s, a, order[s, a]]).tolist():
            learner._pending = (s, a, 1)  # whatever it would have played
            learner.observe(s, a, float(mdp.rewards[s, a]), y, False)
    learner.end_episode(1, True)
    twin = np.random.default_rng()
    for _ in range(20):
        twin.bit_generator.state = learner._rng.bit_generator.state
        learner._learn()
        model = np.empty((3, 2, 3))
        for s, a in np.ndindex(3, 2):
            for y in order[s, a]:
                model[s, a, y] = twin.standard_gamma(1.5 / 3 + counts[s, a, y])
        model /= model.sum(axis=2, keepdims=True)
        q, value = np.empty((horizon, 3, 2)), np.zeros(3)
        for h in reversed(range(horizon)):
            q[h] = mdp.rewards + model @ value
            value = q[h].max(axis=1)
        np.testing.assert_allclose(learner.q_values(np.arange(3)), q, atol=1e-10, rtol=0)


def trap():
    """A state that pays ½ per step, with an untried action that leads to a state that pays 1 per step."""
    transitions, rewards = np.zeros((10, 2, 10)), np.zeros((10, 2))
    transitions[:, :, 0] = 1.0
    rewards[0, 0] = 0.5
    transitions[0, 1] = transitions[1, :] = np.eye(10)[1]
    rewards[1] = 1.0
    return sj.TabularMDP(transitions, rewards, start=0, name="Trap")


@pytest.mark.parametrize("unseen", ["apart", "together"])
def test_psrl_leaves_a_known_but_poor_state(unseen):
    # A learner that never leaves state 0 loses 4 per episode: it earns ½·10 instead of 0.9·10.
    agent, last = sj.PSRL(GEOMETRIC, unseen=unseen), []
    for seed in range(20):
        regret = sj.learn(agent, trap(), GEOMETRIC, episodes=300, seed=seed).regret
        last.append(np.flatnonzero(regret > 3.9).max(initial=0))
    assert np.median(last) < 40
    assert np.max(last) < 299


def test_psrl_handles_more_states_than_its_settings_announced():
    law = sj.Geometric(0.9)
    run = sj.learn(sj.PSRL(law, n_states=5), "Blackjack-v1", law, episodes=300, reward_range=(-1, 1))
    values = run.learner.q_values()
    assert np.isfinite(values).all()
    assert np.abs(values).max() < 20.0


def test_the_memory_error_for_many_states_suggests_drawing_them_together():
    problem = {"n_states": 10**12, "n_actions": 2, "episodes": 9}
    with pytest.raises(MemoryLimitError, match=r'GiB are free; draw .* \(unseen="together"\), or give a '):
        sj.PSRL(GEOMETRIC, unseen="apart").start(**problem, rng=np.random.default_rng(0))
    assert sj.PSRL(GEOMETRIC).start(**problem, rng=np.random.default_rng(0)).act(5, 1) in (0, 1)
