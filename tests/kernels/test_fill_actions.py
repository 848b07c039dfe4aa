"""All actions of a state at once are those that are computed one at a time."""

from __future__ import annotations

import numpy as np
import pytest

import sojourn as sj
from sojourn._kernels import ActionScratch
from sojourn._kernels.learning._greedy import choose_action, episode_policy, fill_actions
from sojourn._kernels.learning._tie_breaking import hash_in


@pytest.mark.parametrize("ties", ["random", "first"])
@pytest.mark.parametrize("n_actions", [1, 2, 8])
@pytest.mark.parametrize("keeps", [True, False])
def test_all_layers_at_once_are_the_same_as_one_by_one(n_actions, ties, keeps):
    mdp, law = sj.mdps.garnet(5, n_actions, 2, seed=3), sj.Geometric(0.8)
    run = sj.learn(sj.UCBVI(law, sj.PaperBonus(0.02), ties=ties, horizon=9), mdp, law, episodes=40)
    learner = run.learner
    tables, assumed, options = learner._tables, learner._assumed, learner.options
    if not keeps:  # the sets of greedy actions have to be found again
        tables.greedy_masks[:] = 0
    masks, pair_of, q, caps, prior, is_random, epsilon, episode_hash = episode_policy.py_func(
        tables, assumed, options, learner.episode
    )
    n = learner.n_layers
    hashes = np.array([hash_in(episode_hash, h) for h in range(n)], dtype=np.uint64)
    scratch = ActionScratch(hashes, np.zeros(n, np.uint64), np.zeros(n, np.uint64), np.zeros(n))
    numbers = {int(name): i for i, name in enumerate(tables.names[: tables.sizes[0]]) if i > 0}
    for state in range(mdp.n_states):
        actions, number = np.zeros(n, dtype=np.int64), numbers.get(state, 0)
        fill_actions(masks, pair_of, q, caps, prior, is_random, epsilon, number, state, actions, scratch)
        expected = [choose_action(tables, assumed, options, learner.episode, state, h) for h in range(n)]
        assert actions.tolist() == expected
