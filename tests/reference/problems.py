"""Small problems of several kinds, for updates that are written out."""

from __future__ import annotations

import numpy as np

import sojourn as sj


def costly_end(seed=3, n_states=6):
    """A problem with costs, whose terminal state is reached before all states are seen."""
    rng = np.random.default_rng(seed)
    transitions = rng.dirichlet(np.full(n_states, 0.5), size=(n_states, 2))
    transitions[-1] = np.eye(n_states)[-1]
    rewards = -rng.random((n_states, 2))
    rewards[-1] = 0.0
    start = np.full(n_states, 1 / (n_states - 1))
    start[-1] = 0.0
    terminal = [n_states - 1]
    return sj.TabularMDP(transitions, rewards, start=start, terminal=terminal, name=f"CostlyEnd({seed})")


SMALL = [
    costly_end(),
    costly_end(8, n_states=9),
    sj.mdps.river_swim(4),
    sj.mdps.garnet(6, 3, 2, seed=1),
    sj.mdps.garnet(10, 2, 5, seed=4),
    sj.TabularMDP.from_env("FrozenLake-v1", is_slippery=False),
    sj.TabularMDP.from_env("CliffWalking-v1"),  # shifted rewards: the absorbing state is paid
]


def live(mdp):
    return np.setdiff1d(np.arange(mdp.n_states), mdp.terminal)
