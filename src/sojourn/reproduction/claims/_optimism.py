"""Lemma 3: whether the learner's values are optimistic in every episode."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._typing import FloatArray
from sojourn.agents import UCBVI, PaperBonus, Step, play_episode
from sojourn.laws import LengthLaw, parse_law
from sojourn.mdps import TabularMDP, parse_problem

__all__ = ["OPTIMISM_CASES", "Optimism", "check_optimism"]

_BEYOND = 100
"""Steps after the last layer for which the optimal values are computed; the laws leave 1e-28 beyond them."""

_ROUNDING = 1e-9


OPTIMISM_CASES = (
    ("chain(2, slip=0.2)", "geometric(0.5)"),
    ("garnet(3, 2, 2, seed=0)", "quasi_hyperbolic(0.7, gamma=0.5)"),
)
"""Problems and laws whose Q values leave their initial values soon enough to test something."""


class Optimism(NamedTuple):
    """Result of `check_optimism`.

    Attributes:
        n_episodes: Number of episodes before each of which all Q values were compared.
        n_failed: Number of them in which some Q value was below the optimal one.
        learned: Share of the Q values that had left their initial value at the end.
    """

    n_episodes: int
    n_failed: int
    learned: float


def check_optimism(case: int, *, scale: float, episodes: int, seed: int) -> Optimism:
    """Play Algorithm 1 as printed, and compare all Q values with the optimal ones before every episode.

    Args:
        case: Index into `OPTIMISM_CASES`.
        scale: Scale of the bonus.
        episodes: Number of episodes.
        seed: Seed of the run.
    """
    problem, text = OPTIMISM_CASES[case]
    mdp, law = parse_problem(problem), parse_law(text)
    agent = UCBVI(law, PaperBonus(scale), truncation="paper", count="first", after="hold")
    rng = np.random.default_rng(seed)
    learner = agent.start(
        n_states=mdp.n_states, n_actions=mdp.n_actions, episodes=episodes, rewards=mdp.rewards, rng=rng
    )
    n_layers, _ = agent.layers(episodes)
    best = _optimal_q(mdp, law, n_layers)
    table = mdp.transitions.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)
    chances = table.cumsum(axis=2)

    def step(state: int, action: int) -> Step:
        reached = int(
            np.searchsorted(chances[state, action], rng.random() * chances[state, action, -1], "right")
        )
        reward = float(mdp.rewards[state, action])
        return Step(reached, reward, reward, False, False)

    states = np.arange(mdp.n_states)
    first, n_failed = learner.q_values(states), 0
    lengths = law.sample(rng, episodes)
    for k in range(episodes):
        n_failed += bool((learner.q_values(states) < best - _ROUNDING).any())
        state = int(rng.choice(mdp.n_states, p=mdp.start))
        play_episode(learner, step, state, int(lengths[k]), n_actions=mdp.n_actions)
    return Optimism(episodes, n_failed, float((learner.q_values(states) < first - _ROUNDING).mean()))


def _optimal_q(mdp: TabularMDP, law: LengthLaw, n_layers: int) -> FloatArray:
    """Return Q*_h(s, a) for h = 1 … N, `(N, S, A)`, by plain backward induction from far beyond layer N."""
    table = mdp.transitions.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)
    value, found = np.zeros(mdp.n_states), np.zeros((n_layers, mdp.n_states, mdp.n_actions))
    for h in range(n_layers + _BEYOND, 0, -1):
        q = mdp.rewards + float(law.continuation(h)) * (table @ value)
        value = q.max(axis=1)
        if h <= n_layers:
            found[h - 1] = q
    return found
