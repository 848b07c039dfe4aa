"""Valuation by sweeps and by rounds: against `evaluate`, and against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import sojourn as sj
from sojourn.agents import EpisodeBatch
from sojourn.learning import _learn


def learner_on(mdp, agent, reference, *, episodes):
    """A learner that has played some episodes."""
    learner = _learn.start_on(agent, mdp, 100, np.random.default_rng(0))
    rng, problem = np.random.default_rng(1), _learn.problem_arrays(mdp)
    starts = rng.choice(mdp.n_states, size=episodes, p=mdp.start)
    lengths = reference.law.sample(rng, episodes).clip(max=50)
    learner.play(EpisodeBatch(problem, reference.arrays, rng, starts, lengths))
    return learner, problem


def plain_value(mdp, law, policy, after, start, n_steps):
    """Σ γ(h) E[r_h] over the first steps by dense matrix products; absorbing states are ordinary ones."""
    table = np.asarray(mdp.transitions.todense()).reshape(mdp.n_states, mdp.n_actions, mdp.n_states)
    chance, total = np.eye(mdp.n_states)[start], 0.0
    for h in range(n_steps):
        layer = h % len(policy) if after == "restart" else min(h, len(policy) - 1)
        here = np.arange(mdp.n_states), policy[layer]
        total += float(law.survival(h + 1)) * float(chance @ mdp.rewards[here])
        chance = chance @ table[here]
    return total


def with_exit(n_states):
    """A problem that mixes well and leaves to an absorbing state from time to time."""
    base = sj.mdps.garnet(n_states, 2, 4, seed=3)
    table = np.zeros((n_states + 1, 2, n_states + 1))
    table[:-1, :, :-1] = np.asarray(base.transitions.todense()).reshape(n_states, 2, n_states)
    table[0, :, :] = 0.0
    table[0, :, -1], table[0, :, 1] = 0.3, 0.7
    table[-1, :, -1] = 1.0
    rewards = np.vstack([base.rewards, [[0.25, 0.25]]])
    return sj.TabularMDP(table, rewards, start=1, terminal=[n_states])


@pytest.mark.parametrize("after", ["restart", "hold"])
@pytest.mark.parametrize("ties", ["random", "first"])
@pytest.mark.parametrize(
    "mdp", [sj.mdps.garnet(90, 3, 3, seed=1), with_exit(70)], ids=["mixing", "with an absorbing state"]
)
def test_sweeps_give_the_value_of_the_policy(mdp, ties, after):
    law = sj.NegativeBinomial(r=2.0, gamma=0.9)
    reference = _learn.Reference(mdp, law)
    agent = sj.UCBVI(sj.Geometric(0.9), sj.PaperBonus(0.001), horizon=23, after=after, ties=ties)
    learner, problem = learner_on(mdp, agent, reference, episodes=20)
    assert learner._valuation.scratch.rows.size > 0
    for start in (1, 5):
        value, width = learner.policy_value(problem, reference.arrays, start)
        n_steps = 2 * reference.arrays.survival.size  # what comes after them is below rounding
        expected = plain_value(mdp, law, learner.policy(), after, start, n_steps)
        assert width <= reference.tolerance
        assert 2.0 * abs(value - expected) <= width  # the value is the middle of its bracket
        assert learner.policy_value(problem, reference.arrays, start) == (value, width)


def test_rounds_are_repeated_only_if_the_bracket_allows_it():
    # A ring in which every action moves on: the distribution never settles, so that all steps must be taken.
    n, law = 64, sj.Geometric(0.9)
    table = np.zeros((n, 1, n))
    for s in range(n):
        table[s, 0, (s + 1) % n], table[s, 0, (s + 3) % n] = 0.5, 0.5
    mdp = sj.TabularMDP(table, np.random.default_rng(0).random((n, 1)))
    reference = _learn.Reference(mdp, law)
    learner, problem = learner_on(mdp, sj.UCBVI(law, horizon=5), reference, episodes=3)
    value, width = learner.policy_value(problem, reference.arrays, 0)
    expected = plain_value(mdp, law, learner.policy(), "restart", 0, 2 * reference.arrays.survival.size)
    assert 2.0 * abs(value - expected) <= width <= reference.tolerance  # the value is the middle


def test_a_path_that_meets_its_last_round_has_the_same_value():
    # Deterministic transitions and random ties: rounds of seven layers run into each other within some steps.
    mdp, law = sj.TabularMDP.from_env("CliffWalking-v1"), sj.Geometric(0.95)
    reference = _learn.Reference(mdp, law)
    learner, problem = learner_on(mdp, sj.UCBVI(law, horizon=7), reference, episodes=2)
    for start in range(0, 36, 7):
        value, width = learner.policy_value(problem, reference.arrays, start)
        n_steps = 2 * reference.arrays.survival.size  # what comes after them is below rounding
        expected = plain_value(mdp, law, learner.policy(), "restart", start, n_steps)
        assert 2.0 * abs(value - expected) <= width  # the value is the middle of its bracket
