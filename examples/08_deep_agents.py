"""Deep agents under a law that is not geometric: DQN and PPO with the usual γ, and with sojourn.sb3.

The problem is small, so that exact values are known: take 0.1 at every step, or invest, wait eight steps and
get 3. Lengths have a heavy tail, γ(h) = h^−1.4. Episodes that have lasted long tend to last longer, so the
best policy takes the cash at first and invests later. An agent with a constant discount γ cannot find it: its
best policy is the same at every step.

Run: python examples/08_deep_agents.py --seeds 5
It needs stable-baselines3 (`pip install 'sojourn[sb3]'`), and takes two minutes on one core.
"""

from __future__ import annotations

import argparse

import torch
from gymnasium.wrappers import TimeLimit
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_util import make_vec_env

import sojourn as sj
from sojourn import sb3
from sojourn.envs import TabularEnv
from sojourn.learning import estimate_mean

PROBLEM = sj.mdps.cash_or_invest(delay=8, payoff=3.0)
LAW = sj.Polynomial(p=1.4)
SAME_MEAN = 1.0 - 1.0 / LAW.mean
STEPS = 32
"""Steps per training episode; `prepare` makes it twice the number of steps that agents distinguish."""

NETWORK = {"net_arch": [64]}
DQN_SETTINGS = {
    "learning_rate": lambda left: 2e-3 * left,
    "learning_starts": 500,
    "batch_size": 128,
    "target_update_interval": 200,
    "exploration_fraction": 0.5,
    "buffer_size": 30_000,
}
PPO_SETTINGS = {
    "learning_rate": lambda left: 2e-3 * left,
    "n_steps": 2 * STEPS,
    "batch_size": 256,
    "n_epochs": 6,
    "gae_lambda": 1.0,  # a payoff comes eight steps after its cause
}


def make_env() -> TabularEnv:
    """Return the problem as a Gymnasium environment."""
    return TabularEnv(PROBLEM)


def usual_dqn(seed: int) -> float:
    """Train DQN with the γ of the same mean length, and return its exact value under the law."""
    env = TimeLimit(make_env(), STEPS)
    settings = {**DQN_SETTINGS, "gamma": SAME_MEAN, "n_steps": 3}
    agent = DQN("MlpPolicy", env, seed=seed, policy_kwargs=dict(NETWORK), **settings)
    return exact_value(agent.learn(12_000), make_env())


def usual_ppo(seed: int) -> float:
    """Train PPO with the γ of the same mean length, and return its exact value under the law."""
    env = make_vec_env(lambda: TimeLimit(make_env(), STEPS), n_envs=16, seed=seed)
    agent = PPO("MlpPolicy", env, gamma=SAME_MEAN, seed=seed, policy_kwargs=dict(NETWORK), **PPO_SETTINGS)
    return exact_value(agent.learn(30_000), make_env())


def lawful_dqn(seed: int) -> float:
    """Train DQN under the law, and return its exact value."""
    env, kwargs = sb3.prepare(make_env(), LAW, algorithm="DQN", last=STEPS // 2, n_steps=3)
    agent = DQN("MlpPolicy", env, **kwargs, seed=seed, policy_kwargs=dict(NETWORK), **DQN_SETTINGS)
    return exact_value(agent.learn(12_000), env)


def lawful_ppo(seed: int) -> float:
    """Train PPO under the law, and return its exact value."""
    env, kwargs = sb3.prepare(make_env, LAW, algorithm="PPO", last=STEPS // 2, n_envs=16, seed=seed)
    agent = PPO("MlpPolicy", env, **kwargs, seed=seed, policy_kwargs=dict(NETWORK), **PPO_SETTINGS)
    return exact_value(agent.learn(30_000), env)


def exact_value(agent: DQN | PPO, env: TabularEnv) -> float:
    """Return the exact value of an agent's policy under the law."""
    return float(sj.evaluate(PROBLEM, LAW, sb3.tabulate(agent, env)).value[0])


def main(seeds: int = 5) -> None:
    """Train all agents and print their values."""
    torch.set_num_threads(1)
    best = sj.plan(PROBLEM, LAW)
    print(f"{PROBLEM.name} under {LAW}, mean length {LAW.mean:.2f}")
    print(f"{'best policy':34}{best.value[0]:.4f}")
    for action, name in enumerate(("always cash", "always invest")):
        stationary = sj.evaluate(PROBLEM, LAW, [[action] * PROBLEM.n_states]).value[0]
        print(f"{name:34}{stationary:.4f}")
    for name, train in {
        f"DQN, usual γ = {SAME_MEAN:.3f}": usual_dqn,
        "DQN, sojourn.sb3": lawful_dqn,
        f"PPO, usual γ = {SAME_MEAN:.3f}": usual_ppo,
        "PPO, sojourn.sb3": lawful_ppo,
    }.items():
        values = [train(seed) for seed in range(seeds)]
        print(f"{name:34}{estimate_mean(values).texts()[0]}", flush=True)
    print(f"Means of exact values over {seeds} seeds, with 95% intervals from five seeds on.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="DQN and PPO with a constant discount and with the law.")
    parser.add_argument("--seeds", type=int, default=5, help="number of times that each agent is trained")
    main(parser.parse_args().seeds)
