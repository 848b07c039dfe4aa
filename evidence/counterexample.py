"""Measure learners on the two problems that refute Theorem 1 of the paper for laws with rare long episodes.

    python evidence/counterexample.py measure            β = 10⁻² and 10⁻³, 20 seeds
    python evidence/counterexample.py measure 1e-4 2     another β, with two seeds
    python evidence/counterexample.py table              write the table in docs/theory.md

Lengths have γ(h) = β·0.9^(h−1) for h > 1. There are T = 400/(0.9 β) episodes, of which 400 on average last
more than one step. Trials are kept in counterexample.json beside this file, and those that are there are not
played again, so that an interrupted run can be continued.

Computing the value of a policy takes ten times as long as playing it for an episode. So for β < 10⁻² only
every 256th policy is valued (10⁻⁴: every 2,560th), from a random one on, and the mean of these regrets times
T is an unbiased estimate of the total regret, with a standard error of about 1 at most. A trial takes about a
second for β = 10⁻², three for 10⁻³ and 25 for 10⁻⁴.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tuned import table, write_part

import sojourn as sj
from sojourn.agents import EpisodeBatch, Played
from sojourn.learning import estimate_mean
from sojourn.theory import rare_choice_lower_bound

HERE = Path(__file__).parent
PAGE, STORED = HERE.parent / "docs" / "theory.md", HERE / "counterexample.json"
GAMMA, LONG_EPISODES, DELTA, GAP = 0.9, 400, 0.1, 0.025
FULL = {"1e-2": 20, "1e-3": 20}
"""Numbers of seeds by β."""
EVERY = {"1e-2": 1, "1e-3": 256, "1e-4": 2560}
"""By β, the number of episodes of which one has its policy valued."""

AGENTS = {
    "UCBVI, PaperBonus": lambda law: sj.UCBVI(law, delta=DELTA),
    "UCBVI, PaperBonus(0.03)": lambda law: sj.UCBVI(law, sj.PaperBonus(0.03), delta=DELTA),
    "UCBVI, SimpleBernstein": lambda law: sj.UCBVI(law, sj.SimpleBernstein(), delta=DELTA),
    "UCBVI, EQO": lambda law: sj.UCBVI(law, sj.EQO(), delta=DELTA),
    "UCBVI, MonotoneBernstein": lambda law: sj.UCBVI(law, sj.MonotoneBernstein(), delta=DELTA),
    "PSRL": sj.PSRL,
    "QLearning": sj.QLearning,
    "EpsilonGreedy": sj.EpsilonGreedy,
}
"""Functions that make each agent from the true law."""

Trial = dict[str, Any]
"""A row of the stored file: agent, beta, better (index of the better arm), seed, and the total regret."""


def setting(beta: str) -> tuple[sj.LengthLaw, int]:
    """Return the law and the number of episodes."""
    return sj.QuasiHyperbolic(float(beta), GAMMA), round(LONG_EPISODES / (GAMMA * float(beta)))


@dataclass(frozen=True)
class SparselyValued:
    """An agent whose policy is valued in one of `every` episodes; the regret of the others is NaN."""

    agent: Any
    every: int
    first: int

    def start(self, **problem: Any) -> Any:
        """Return a new learner; see `Agent.start`."""
        learner = self.agent.start(**problem)
        play_all = learner.play

        def play_some(batch: EpisodeBatch, **settings: Any) -> Played:
            unvalued = batch._replace(reference=batch.reference._replace(survival=np.empty(0)))
            begin, size = learner.episode, batch.starts.size
            valued = np.arange((self.first - begin) % self.every, size, self.every)
            parts, done = [], 0
            for k in valued.tolist():
                if k > done:
                    parts.append(play_all(unvalued.part(slice(done, k)), **settings))
                parts.append(play_all(batch.part(slice(k, k + 1)), **settings))
                done = k + 1
            if done < size:
                parts.append(play_all(unvalued.part(slice(done, size)), **settings))
            return Played.joined(parts)

        learner.play = play_some
        return learner


def play(trial: Trial) -> Trial:
    """Play a trial, and return it with its regret."""
    law, episodes = setting(trial["beta"])
    agent, every = AGENTS[trial["agent"]](law), EVERY[trial["beta"]]
    if every > 1:
        agent = SparselyValued(agent, every, int(np.random.default_rng(trial["seed"]).integers(every)))
    mdp = sj.mdps.rare_choice(GAP, better=trial["better"])
    run = sj.learn(agent, mdp, law, episodes=episodes, seed=trial["seed"])
    return trial | {"regret": round(float(np.nanmean(run.regret)) * episodes, 4)}


def measure(seeds: dict[str, int]) -> None:
    """Play all trials that are not stored yet, and store each at once."""
    trials = load()
    stored = {identity(trial) for trial in trials}
    wanted = [
        {"agent": name, "beta": beta, "better": better, "seed": seed}
        for beta, n_seeds in seeds.items()
        for seed in range(n_seeds)
        for name in AGENTS
        for better in (0, 1)
    ]
    missing = [trial for trial in wanted if identity(trial) not in stored]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for i, trial in enumerate(pool.imap(play, missing), start=1):
            trials.append(trial)
            store(trials)
            if i % 10 == 0:
                print(f"{i} of {len(missing)} trials", file=sys.stderr, flush=True)


def identity(trial: Trial) -> tuple[str, str, int, int]:
    """Return what tells a trial from the others."""
    return trial["agent"], trial["beta"], trial["better"], trial["seed"]


def load() -> list[Trial]:
    """Return the stored trials."""
    return json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else []


def store(trials: list[Trial]) -> None:
    """Write the trials, one line each, in place of the stored ones."""
    part = STORED.with_suffix(".part")
    lines = ",\n".join(json.dumps(trial, ensure_ascii=False) for trial in trials)
    part.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    part.replace(STORED)


def regrets(name: str, beta: str) -> NDArray[np.float64]:
    """Return the total regrets `(2, seeds)` on the two problems, for the seeds played on both."""
    found = {(t["better"], t["seed"]): t["regret"] for t in load() if (t["agent"], t["beta"]) == (name, beta)}
    seeds = sorted({seed for _, seed in found if {(0, seed), (1, seed)} <= found.keys()})
    return np.array([[found[better, seed] for seed in seeds] for better in (0, 1)])


def worse(name: str, beta: str) -> NDArray[np.float64]:
    """Return the regrets on the one of the two problems on which the agent's mean regret is larger."""
    both = regrets(name, beta)
    return both[int(both[1].mean() > both[0].mean())]


def rows() -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the table: mean regret by agent, β and problem."""
    betas = sorted({trial["beta"] for trial in load()}, key=float, reverse=True)
    head, body = ["learner"], [[name] for name in AGENTS]
    for beta in betas:
        n_seeds = min(regrets(name, beta).shape[1] for name in AGENTS)
        head += [
            f"β = {beta}, {setting(beta)[1]:,} episodes, {n_seeds} seeds: worse problem",
            "both problems",
        ]
        for row in body:
            row += [text(worse(row[0], beta)), text(regrets(row[0], beta).mean(axis=0))]
    bounds = [rare_choice_lower_bound(*setting(beta), gap=GAP) for beta in betas]
    last = ["every learner, at least (Theorem A)", *(f"{bound:.2f}" for bound in bounds for _ in range(2))]
    return head, [*body, last]


def text(values: NDArray[np.float64]) -> str:
    """Return a mean with its 95% interval, or the values themselves if they are few."""
    if len(values) < 5:
        return ", ".join(f"{value:.1f}" for value in values)
    found = estimate_mean(values)
    interval = "" if found.half_width < 0.05 else f" ± {found.half_width:.1f}"
    return f"{found.mean:.1f}{interval}"


if __name__ == "__main__":
    part, *rest = sys.argv[1:] or ["measure"]
    if part == "measure":
        measure({rest[0]: int(rest[1])} if rest else FULL)
    write_part(PAGE, "counterexample", table(*rows()))
