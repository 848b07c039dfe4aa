"""Deep agents under a law that is not geometric: PPO and DQN, with a constant discount and with the law.

The problem is small, so that exact values are known: take 0.1 at every step, or invest, wait eight steps and
get 3. Lengths have a heavy tail, γ(h) = h^−1.4. Episodes that have lasted long tend to last longer, so the
best policy takes the cash at first and invests later. An agent with a constant discount γ cannot find it: its
best policy is the same at every step.

Each agent is trained twice, without random lengths:
(a) as usual, on the plain environment with the constant γ that has the same mean length, 1/(1 − γ);
(b) with `LawDiscount`, which multiplies rewards by γ(h), `StepIndex`, which adds the step to observations,
    and γ = 1.

The learned policy is tabulated and evaluated exactly; it is also run on episodes of random length.

Run: python examples/08_deep_agents.py --seeds 5
It needs stable-baselines3 (`pip install 'sojourn[sb3]'`), and takes some minutes on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import gymnasium
import numpy as np
import torch
from gymnasium.wrappers import TimeLimit
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.env_util import make_vec_env

import sojourn as sj
from sojourn.envs import LawDiscount, RandomLength, StepIndex, TabularEnv
from sojourn.learning import estimate_mean

PROBLEM = sj.mdps.cash_or_invest(delay=8, payoff=3.0)
LAW = sj.Polynomial(p=1.4)
SAME_MEAN = 1.0 - 1.0 / LAW.mean
STEPS = 32
"""Steps per training episode."""

CUT = 200
"""Largest number of steps per evaluation episode; without a limit the variance of returns is infinite."""


@dataclass(frozen=True)
class Training:
    """A way to train: an environment and a constant discount."""

    name: str
    env: Callable[[], gymnasium.Env]
    gamma: float
    sees_step: bool


def plain_env() -> gymnasium.Env:
    """Return the problem without changes."""
    return TimeLimit(TabularEnv(PROBLEM), STEPS)


def lawful_env() -> gymnasium.Env:
    """Return the problem with rewards weighted by the law, and the step in observations."""
    return LawDiscount(StepIndex(TabularEnv(PROBLEM), STEPS), LAW, STEPS)


TRAININGS = (
    Training(f"usual, γ = {SAME_MEAN:.3f}", plain_env, SAME_MEAN, sees_step=False),
    Training("LawDiscount + StepIndex", lawful_env, 1.0, sees_step=True),
)


def train(kind: str, training: Training, seed: int) -> BaseAlgorithm:
    """Return a trained agent; both kinds of training have the same settings and number of steps."""
    network = {"net_arch": [64]}
    if kind == "PPO":
        agent = PPO(
            "MlpPolicy",
            make_vec_env(training.env, n_envs=16, seed=seed),
            gamma=training.gamma,
            seed=seed,
            n_steps=2 * STEPS,
            batch_size=256,
            n_epochs=6,
            learning_rate=lambda left: 2e-3 * left,
            gae_lambda=1.0,  # episodes are short, and a payoff comes eight steps after its cause
            policy_kwargs=network,
        )
        return agent.learn(60_000)
    agent = DQN(
        "MlpPolicy",
        training.env(),
        gamma=training.gamma,
        seed=seed,
        learning_rate=1e-3,
        buffer_size=30_000,
        learning_starts=1_000,
        batch_size=128,
        target_update_interval=500,
        exploration_fraction=0.5,
        exploration_final_eps=0.1,
        policy_kwargs=network,
    )
    return agent.learn(30_000)


def tabulate(agent: BaseAlgorithm, training: Training) -> np.ndarray:
    """Return the agent's policy, `(N, S)`: one row per step if it sees the step, otherwise one row."""
    rows = []
    for index in range(STEPS // 2 if training.sees_step else 1):
        states = range(PROBLEM.n_states)
        seen = np.array([[state, index] for state in states] if training.sees_step else states)
        rows.append(agent.predict(seen, deterministic=True)[0])
    return np.array(rows[: last_decision(rows)])


def last_decision(policy: Sequence[np.ndarray]) -> int:
    """Return the last step at which this policy has a choice, and is not waiting for a payoff.

    Its action there is used at all later steps. It must be neither one of the last steps of training, close
    to whose end investing does not pay, nor a step at which the agent only waits and has learned nothing.
    """
    state, last = 0, 1
    for h, actions in enumerate(policy, start=1):
        last = h if state == 0 else last
        state = int(PROBLEM.successors(state, int(actions[state]))[0][0])
    return last


def exact_value(policy: np.ndarray, law: sj.LengthLaw = LAW) -> float:
    """Return the exact value of a policy."""
    return float(sj.evaluate(PROBLEM, law, policy, after="hold").value[0])


def play(policy: np.ndarray, episodes: int, seed: int) -> np.ndarray:
    """Return the returns of episodes of random length; the same seed gives the same lengths."""
    env = RandomLength(TimeLimit(TabularEnv(PROBLEM), CUT), LAW, seed=seed)
    returns = np.zeros(episodes)
    for k in range(episodes):
        state, h, over = env.reset()[0], 1, False
        while not over:
            state, reward, terminated, truncated, _ = env.step(policy[min(h, len(policy)) - 1, state])
            returns[k] += reward
            h, over = h + 1, terminated or truncated
    return returns


def main(seeds: int = 5, episodes: int = 4_000) -> None:
    """Train, evaluate and run the agents, and print the results."""
    torch.set_num_threads(1)
    best = sj.plan(PROBLEM, LAW)
    cash, invest = (np.full((1, PROBLEM.n_states), action) for action in (0, 1))
    print(f"{PROBLEM.name} under {LAW}, mean length {LAW.mean:.2f}")
    print(f"  best policy    {best.value[0]:.4f}")
    print(f"  always invest  {exact_value(invest):.4f}  the best that any constant γ leads to")
    print(
        f"  always cash    {exact_value(cash):.4f}  best for the γ of the same mean length, {SAME_MEAN:.3f}"
    )
    print(f"\n{'':28}{'exact value':>20}{f'first {CUT} steps, played':>28}{'exact':>9}")
    cut = sj.Tabulated(LAW.survival(np.arange(1, CUT + 1)))
    for kind in ("PPO", "DQN"):
        for training in TRAININGS:
            policies = [tabulate(train(kind, training, seed), training) for seed in range(seeds)]
            values = estimate_mean([exact_value(policy) for policy in policies])
            returns = [play(policy, episodes, seed) for seed, policy in enumerate(policies)]
            played = estimate_mean(np.concatenate(returns))
            exact = np.mean([exact_value(policy, cut) for policy in policies])
            label = f"{kind}, {training.name}"
            print(f"{label:28}{values.texts()[0]:>20}{played.texts()[0]:>28}{exact:>9.4f}", flush=True)
    print(f"\nMeans over {seeds} seeds and {seeds * episodes:,} episodes; ± 95% intervals.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="PPO and DQN, with a constant discount and with the law.")
    parser.add_argument("--seeds", type=int, default=5, help="number of times that each agent is trained")
    main(parser.parse_args().seeds)
