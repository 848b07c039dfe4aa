"""Plays learners step by step on a dense table."""

from __future__ import annotations

import numpy as np


def play(learner, mdp, law, episodes, seed, watch=lambda *step: None):
    """Play by the protocol on a dense table; call `watch` with every step and yield after every episode."""
    rng = np.random.default_rng(seed)
    transitions = mdp.transitions.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)
    for _ in range(episodes):
        state, length = int(rng.choice(mdp.n_states, p=mdp.start)), law.sample(rng)
        for h in range(1, length + 1):
            action = learner.act(state, h)
            following = int(rng.choice(mdp.n_states, p=transitions[state, action]))
            ended = following in mdp.terminal
            learner.observe(state, action, float(mdp.rewards[state, action]), following, ended)
            watch(h, state, action, following)
            state = following
            if ended:
                break
        learner.end_episode(h, not ended)
        yield


def start(agent, mdp, episodes, seed=5, **settings):
    """Start a learner on a problem; its rewards are known unless `rewards` says otherwise."""
    return agent.start(
        n_states=mdp.n_states,
        n_actions=mdp.n_actions,
        episodes=episodes,
        terminal_reward=mdp.terminal_reward,
        rng=np.random.default_rng(seed),
        **{"rewards": mdp.rewards, **settings},
    )


def count_violations(learners, q_star):
    """How many learners have a Q value of the first layer below the best, and the share below its cap."""
    found, below, n = 0, 0.0, 0
    for learner in learners:
        q = learner.q_values(np.arange(len(q_star)))[0]
        found += bool((q < q_star - 1e-9).any())
        below += (q < learner._assumed.caps[0] - 1e-9).mean()
        n += 1
    return found, below / n
