"""Random problems are reproducible, and drawn as their docstring says."""

import re
import tracemalloc

import numpy as np
import pytest

from sojourn.mdps import garnet


@pytest.mark.parametrize("sizes", [(1, 1, 1), (7, 2, 1), (7, 3, 7), (50, 4, 3), (60, 2, 40), (400, 2, 30)])
def test_every_pair_has_that_many_different_successors(sizes):
    n_states, n_actions, n_successors = sizes
    mdp = garnet(*sizes, seed=5)
    assert (mdp.n_states, mdp.n_actions) == (n_states, n_actions)
    assert np.all(np.diff(mdp.transitions.indptr) == n_successors)
    columns = mdp.transitions.indices.reshape(-1, n_successors)
    assert np.all(np.diff(columns, axis=1) > 0)
    assert mdp.transitions.data.reshape(-1, n_successors).sum(axis=1) == pytest.approx(1.0, abs=1e-15 * 60)


def test_the_seed_decides():
    assert garnet(20, 3, 4, seed=1) == garnet(20, 3, 4, seed=1)
    assert garnet(20, 3, 4, seed=1) != garnet(20, 3, 4, seed=2)
    assert garnet(20, 3, 4) == garnet(20, 3, 4, seed=0)


def test_a_seed_means_the_same_problem_in_every_version():
    # Recorded values: stored experiments depend on them.
    mdp = garnet(5, 2, 2, seed=0)
    assert mdp.transitions.indices[:6].tolist() == [3, 4, 2, 4, 2, 4]
    assert mdp.rewards[0] == pytest.approx([0.028319671145462966, 0.12428327649956394], rel=1e-15)


@pytest.mark.parametrize(("n_states", "n_successors"), [(100, 3), (6, 3), (9, 9), (12, 7), (100, 50)])
def test_successors_are_uniform(n_states, n_successors):
    # Both ways of drawing. Each state is a successor of a pair with probability b/S: a binomial count.
    n_actions = 20_000 // n_states
    counts = np.bincount(garnet(n_states, n_actions, n_successors).transitions.indices, minlength=n_states)
    n_pairs, share = n_states * n_actions, n_successors / n_states
    deviation = np.sqrt(n_pairs * share * (1.0 - share))
    assert np.all(np.abs(counts - n_pairs * share) <= 5.0 * deviation)


def test_probabilities_are_uniform_over_the_simplex():
    shares = garnet(1000, 20, 3).transitions.data.reshape(-1, 3)
    # Dirichlet(1, 1, 1): mean 1/3, variance 1/18, for every successor.
    assert shares.mean(axis=0) == pytest.approx(1 / 3, abs=5 * np.sqrt(1 / 18 / 20_000))
    assert shares.var(axis=0) == pytest.approx(1 / 18, rel=0.05)


def test_rewards_are_uniform():
    rewards = garnet(1000, 20, 1).rewards
    assert rewards.min() >= 0.0
    assert rewards.max() < 1.0
    assert rewards.mean() == pytest.approx(0.5, abs=5 * np.sqrt(1 / 12 / 20_000))


def test_a_chance_of_zero_is_not_stored(monkeypatch):
    class Same:
        """Draws that put all cuts in one place."""

        def __init__(self, seed):
            self.rng = np.random.Generator(np.random.PCG64(seed))
            self.integers = self.rng.integers

        def random(self, shape):
            return np.full(shape, 0.5)

    monkeypatch.setattr(np.random, "default_rng", Same)
    mdp = garnet(30, 1, 3)
    assert np.all(mdp.transitions.data == 0.5)
    assert mdp.transitions.nnz == 60


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, 2, 4), "n_successors must be at most n_states = 3; got 4."),
        ((0, 2, 1), "n_states must be a whole number ≥ 1; got 0."),
        ((3, 0, 1), "n_actions must be a whole number ≥ 1; got 0."),
        ((3, 2, 0), "n_successors must be a whole number ≥ 1; got 0."),
        ((3, 2, 1, -1), "seed must be a whole number ≥ 0; got -1."),
    ],
)
def test_wrong_settings_are_refused(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        garnet(*arguments)


def test_a_million_states_fit_in_little_memory():
    tracemalloc.start()
    mdp = garnet(10**6, 4, 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The tables themselves take 12 bytes for each of 12 million entries, and 16 for each of 4 million pairs.
    assert mdp.transitions.nnz == 12_000_000
    assert peak < 500 * 2**20
