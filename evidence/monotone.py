"""Measure learners whose optimism is proven, at the constants of their proofs: RiverSwim(6), Geometric(0.9).

    python evidence/monotone.py measure    100,000 episodes; 20 seeds of two learners, 11 of the others
    python evidence/monotone.py table      write the table in docs/evidence.md

Cumulative regrets are kept in monotone.json beside this file, and trials in it are not repeated. `measure`
takes about ten minutes on one core. `python docs/figures.py` draws the figure.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from tuned import paragraph, table, write_part

import sojourn as sj
from sojourn.learning import estimate_mean
from sojourn.theory import proven_bound

HERE = Path(__file__).parent
PAGE, STORED = HERE.parent / "docs" / "evidence.md", HERE / "monotone.json"
EPISODES, DELTA = 100_000, 0.1
MDP, LAW = sj.mdps.river_swim(6), sj.Geometric(0.9)
CHECKPOINTS = np.unique([*np.geomspace(10, EPISODES, 41).round().astype(int), 20_000])
SHOWN = (1_000, 10_000, 20_000, 100_000)


def smallest_scale() -> float:
    """Return √(ι/2)/(3L), the smallest scale of the paper's bonus that Theorem B covers."""
    n_layers, _ = sj.UCBVI(LAW).layers(EPISODES)
    size = MDP.n_states * MDP.n_actions * EPISODES * n_layers / DELTA
    return math.sqrt(math.log(2 * size * n_layers) / 2) / (3 * math.log(size))


AGENTS = {
    "the paper's bonus": sj.UCBVI(LAW, sj.PaperBonus(), delta=DELTA),
    "the paper's bonus, smallest proven scale": sj.UCBVI(
        LAW, sj.PaperBonus(smallest_scale()), delta=DELTA, count="first"
    ),
    "MonotoneBernstein": sj.UCBVI(LAW, sj.MonotoneBernstein(), delta=DELTA),
    'MonotoneBernstein, count="first"': sj.UCBVI(LAW, sj.MonotoneBernstein(), delta=DELTA, count="first"),
}
"""Learners whose optimism is proven."""

SEEDS = {name: 20 if name in ("the paper's bonus", "MonotoneBernstein") else 11 for name in AGENTS}


def load() -> dict[str, Any]:
    """Return the stored trials: for each agent, a list of cumulative regrets at `CHECKPOINTS` by seed."""
    stored = {"episodes": CHECKPOINTS.tolist(), "regret": {}}
    return json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else stored


def measure() -> None:
    """Run the trials that are not stored yet."""
    stored = load()
    for seed in range(max(SEEDS.values())):
        for name, agent in AGENTS.items():
            trials = stored["regret"].setdefault(name, [])
            if not len(trials) == seed < SEEDS[name]:
                continue
            run = sj.learn(agent, MDP, LAW, episodes=EPISODES, seed=seed)
            trials.append(np.cumsum(run.regret)[CHECKPOINTS - 1].round(2).tolist())
            print(f"{name}, seed {seed}: {trials[-1][-1]:,.0f}", file=sys.stderr, flush=True)
        lines = [f"{json.dumps(name)}: {json.dumps(trials)}" for name, trials in stored["regret"].items()]
        text = f'{{"episodes": {json.dumps(stored["episodes"])},\n"regret": {{\n'
        STORED.write_text(text + ",\n".join(lines) + "}}\n", encoding="utf-8")


def tables() -> dict[str, str]:
    """Return the table of mean regrets, with the bounds, by the name of its place in docs/evidence.md."""
    stored = load()
    at = [stored["episodes"].index(n) for n in SHOWN]
    rows = []
    for name, trials in stored["regret"].items():
        regrets = np.array(trials)[:, at]
        slopes = np.log(regrets[:, 2] / regrets[:, 1]) / math.log(SHOWN[2] / SHOWN[1])
        texts = [*estimate_mean(regrets.T).texts(), *estimate_mean(slopes[np.newaxis]).texts()]
        rows.append([name, str(len(trials)), *texts])
    header = ["bonus", "seeds", *(f"{n:,} episodes" for n in SHOWN), "log-log slope, 10,000 … 20,000"]
    return {"monotone": f"{table(header, rows)}\n\n{paragraph(bounds())}"}


def bounds() -> str:
    """Return a sentence with the proven bounds, to two digits, and the trivial one."""
    sizes = {"n_states": MDP.n_states, "n_actions": MDP.n_actions, "n_successors": 3, "delta": DELTA}
    monotone, paper = (
        f"{float(f'{bound.total:.2g}'):,.0f}"
        for bound in (
            proven_bound(LAW, EPISODES, bonus="monotone_bernstein", count="all", **sizes),
            proven_bound(LAW, EPISODES, bonus="paper", **sizes),
        )
    )
    return f"""The proven bounds on the regret of {EPISODES:,} episodes are {monotone} for MonotoneBernstein
    (Theorem C, `count="all"`) and {paper} for the paper's bonus (Theorem B). The trivial bound T·Γ(1) is
    {EPISODES * LAW.mean:,.0f}."""


if __name__ == "__main__":
    if sys.argv[1:] != ["table"]:
        measure()
    for place, text in tables().items():
        write_part(PAGE, place, text)
