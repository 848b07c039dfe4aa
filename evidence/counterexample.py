"""Measure learners on the two problems that refute Theorem 1 of the paper for laws with rare long episodes.

    python evidence/counterexample.py measure            β = 10⁻² and 10⁻³, 20 seeds
    python evidence/counterexample.py measure 1e-4 2     another β, with two seeds
    python evidence/counterexample.py table              write the table in docs/theory.md

Lengths have γ(h) = β·0.9^(h−1) for h > 1. There are T = 400/(0.9 β) episodes, of which 400 on average last
more than one step. Trials are kept in counterexample.json beside this file and are not repeated. `measure`
takes about an hour on one core; 10⁻⁴ takes about three minutes per trial, and a seed has ten trials.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from tuned import table, write_part

import sojourn as sj
from sojourn.learning import estimate_mean
from sojourn.theory import rare_choice_lower_bound

HERE = Path(__file__).parent
PAGE, STORED = HERE.parent / "docs" / "theory.md", HERE / "counterexample.json"
GAMMA, LONG_EPISODES, DELTA = 0.9, 400, 0.1
FULL = {"1e-2": 20, "1e-3": 20}
"""Numbers of seeds by β."""

AGENTS = {
    "UCBVI, the paper's bonus": lambda law, _: sj.UCBVI(law, sj.PaperBonus(), delta=DELTA),
    "UCBVI, smallest proven scale of it": lambda law, scale: sj.UCBVI(law, sj.PaperBonus(scale), delta=DELTA),
    "UCBVI, SimpleBernstein": lambda law, _: sj.UCBVI(law, sj.SimpleBernstein(), delta=DELTA),
    "QLearning": lambda law, _: sj.QLearning(law),
    "PSRL": lambda law, _: sj.PSRL(law),
}
"""Agents, each made from the true law and the smallest scale of the paper's bonus that Theorem B covers."""


def setting(beta: str) -> tuple[sj.LengthLaw, int]:
    """Return the law and the number of episodes."""
    return sj.QuasiHyperbolic(float(beta), GAMMA), round(LONG_EPISODES / (GAMMA * float(beta)))


def smallest_scale(law: sj.LengthLaw, episodes: int) -> float:
    """Return √(ι/2)/(3L), with ι = ln(2SATN²/δ) and L = ln(SATN/δ)."""
    n_layers, _ = sj.UCBVI(law).layers(episodes)
    size = 4 * 2 * episodes * n_layers / DELTA
    return math.sqrt(math.log(2 * size * n_layers) / 2) / (3 * math.log(size))


def measure(seeds: dict[str, int]) -> None:
    """Run all trials that are not stored yet."""
    trials = load()
    for beta, n_seeds in seeds.items():
        law, episodes = setting(beta)
        scale = smallest_scale(law, episodes)
        for seed in range(n_seeds):
            for name, make in AGENTS.items():
                for better in (0, 1):
                    key = {"agent": name, "beta": beta, "better": better, "seed": seed}
                    if any(key.items() <= trial.items() for trial in trials):
                        continue
                    mdp = sj.mdps.rare_choice(better=better)
                    run = sj.learn(make(law, scale), mdp, law, episodes=episodes, seed=seed)
                    trials.append(key | {"regret": round(float(run.regret.sum()), 4)})
            STORED.write_text(lines(trials), encoding="utf-8")
            print(f"β = {beta}, seed {seed}", file=sys.stderr, flush=True)


def load() -> list[dict[str, Any]]:
    """Return the stored trials."""
    return json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else []


def lines(trials: list[dict[str, Any]]) -> str:
    """Return the trials as JSON, one line per trial."""
    return "[\n" + ",\n".join(json.dumps(trial, ensure_ascii=False) for trial in trials) + "\n]\n"


def worse_instance(name: str, beta: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the regrets on that one of the two problems on which the agent's mean regret is larger."""
    regrets = [
        np.array(
            [
                trial["regret"]
                for trial in load()
                if (trial["agent"], trial["beta"], trial["better"]) == (name, beta, better)
            ]
        )
        for better in (0, 1)
    ]
    return max(regrets, key=lambda values: values.mean() if values.size else -math.inf)


def write_table() -> None:
    """Write the mean regret on the worse of the two problems, by agent and β, beside the lower bound."""
    betas = sorted({trial["beta"] for trial in load()}, key=float, reverse=True)
    rows = []
    for name in AGENTS:
        regrets = [worse_instance(name, beta) for beta in betas]
        rows.append([name, *(text(values) for values in regrets)])
    bounds = [rare_choice_lower_bound(*setting(beta)) for beta in betas]
    rows.append(["every learner (Theorem A), at least", *(f"{bound:.1f}" for bound in bounds)])
    heads = []
    for beta in betas:
        n_seeds = len(worse_instance(next(iter(AGENTS)), beta))
        heads.append(f"β = {beta}, {setting(beta)[1]:,} episodes, {n_seeds} seeds")
    write_part(PAGE, "counterexample", table(["learner", *heads], rows))


def text(values: np.ndarray[Any, np.dtype[np.float64]]) -> str:
    """Return a mean with its 95% interval, or the values themselves if they are few."""
    if len(values) < 5:
        return ", ".join(f"{value:.1f}" for value in values)
    return estimate_mean(values[None, :]).texts()[0]


if __name__ == "__main__":
    part, *rest = sys.argv[1:] or ["measure"]
    if part == "measure":
        measure({rest[0]: int(rest[1])} if rest else FULL)
    write_table()
