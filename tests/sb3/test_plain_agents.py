"""With a geometric law and everything else off, agents are those of plain Stable-Baselines3, bit for bit."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib import QRDQN, TQC, TRPO, CrossQ
from stable_baselines3 import A2C, DDPG, DQN, PPO, SAC, TD3

import sojourn as sj
from sojourn import sb3

SMALL = {"seed": 3, "device": "cpu"}
REPLAY = {**SMALL, "learning_starts": 20, "batch_size": 16, "buffer_size": 100}
AGENTS = {
    "DQN": (DQN, "CartPole-v1", {**REPLAY, "target_update_interval": 30}, 150),
    "QRDQN": (QRDQN, "CartPole-v1", {**REPLAY, "target_update_interval": 30}, 150),
    "TQC": (TQC, "Pendulum-v1", REPLAY, 40),
    "CrossQ": (CrossQ, "Pendulum-v1", REPLAY, 40),
    "TRPO": (TRPO, "Pendulum-v1", {**SMALL, "n_steps": 250, "batch_size": 50}, 250),
    "SAC": (SAC, "Pendulum-v1", REPLAY, 60),
    "TD3": (TD3, "Pendulum-v1", REPLAY, 60),
    "DDPG": (DDPG, "Pendulum-v1", REPLAY, 40),
    "PPO": (PPO, "Pendulum-v1", {**SMALL, "n_steps": 250, "batch_size": 50, "n_epochs": 2}, 500),
    "A2C": (A2C, "CartPole-v1", SMALL, 100),
}


def weights(agent):
    return torch.cat([part.flatten() for part in agent.policy.state_dict().values()]).numpy()


@pytest.mark.parametrize("name", AGENTS)
def test_the_weights_are_those_of_the_plain_agent(name):
    agent, env_id, settings, steps = AGENTS[name]
    plain = agent("MlpPolicy", gymnasium.make(env_id), gamma=0.9, **settings)
    untrained = weights(plain)
    plain.learn(steps)
    assert not np.array_equal(weights(plain), untrained)
    env, kwargs = sb3.prepare(env_id, sj.Geometric(0.9), agent, normalize=False, relabel=0.0, feature=None)
    assert kwargs["gamma"] == 0.9
    if "replay_buffer_class" in kwargs:
        kwargs["gamma"] = 0.5  # these agents use the discounts of the samples
    lawful = agent("MlpPolicy", env, **kwargs, **settings).learn(steps)
    np.testing.assert_array_equal(weights(lawful), weights(plain))


def test_another_discount_gives_other_weights():
    agent, env_id, settings, steps = AGENTS["DQN"]
    found = []
    for gamma in (0.9, 0.8):
        env, kwargs = sb3.prepare(env_id, sj.Geometric(gamma), agent, normalize=False)
        found.append(weights(agent("MlpPolicy", env, **kwargs, **settings).learn(steps)))
    assert not np.array_equal(*found)
