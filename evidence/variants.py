"""Measure learners that we adapted against the forms in their papers: PSRL and optimistic Q-learning.

    python evidence/variants.py            run all trials that are not stored, and write the table
    python evidence/variants.py table      write the table in docs/evidence.md

Trials are kept in variants.json beside this file and are not repeated; all of them take about two minutes on
one core. 600 episodes, 40 seeds, the learner knows the law. Q-learning has its bonus scaled by 0.01.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from stored_trials import StoredTrials
from tuned import table, write_part

import sojourn as sj
from sojourn.reproduction import bootstrap_ratio

HERE = Path(__file__).parent
PAGE, STORED = HERE.parent / "docs" / "evidence.md", HERE / "variants.json"
EPISODES, SEEDS = 600, range(40)
PROBLEMS = {
    "DeepSea(6), Fixed(6)": (sj.mdps.deep_sea(6), sj.Fixed(6)),
    "DeepSea(6), Geometric(0.9)": (sj.mdps.deep_sea(6), sj.Geometric(0.9)),
    "RiverSwim(6), Fixed(20)": (sj.mdps.river_swim(6), sj.Fixed(20)),
}
AGENTS: dict[str, tuple[Callable[[sj.LengthLaw], Any], Callable[[sj.LengthLaw], Any]]] = {
    "PSRL": (sj.PSRL, lambda law: sj.PSRL(law, unseen="each")),
    "QLearning": (lambda law: sj.QLearning(law, 0.01), lambda law: sj.QLearning(law, 0.01, form="literal")),
}
"""Agents by name: ours, and as in the paper."""


def measure() -> None:
    """Play all trials that are not stored."""
    stored = StoredTrials(STORED)
    for problem, (mdp, law) in PROBLEMS.items():
        for name, forms in AGENTS.items():
            for form, make in zip(("ours", "paper"), forms, strict=True):
                for seed in SEEDS:
                    stored.play(
                        {"problem": problem, "learner": name, "form": form, "seed": seed},
                        lambda make=make, mdp=mdp, law=law, seed=seed: float(  # type: ignore[misc]
                            np.sum(sj.learn(make(law), mdp, law, episodes=EPISODES, seed=seed).regret)
                        ),
                    )
        print(problem, file=sys.stderr, flush=True)


def tables() -> dict[str, str]:
    """Return the table by the name of its place in docs/evidence.md."""
    stored, rows = StoredTrials(STORED), []
    for name in AGENTS:
        for problem in PROBLEMS:
            ours, paper = (
                stored.select(problem=problem, learner=name, form=form) for form in ("ours", "paper")
            )
            ratio = str(bootstrap_ratio(paper, ours))
            rows.append([name, problem, f"{ours.mean():,.1f}", f"{paper.mean():,.1f}", ratio])
    header = ["learner", "problem and law", "ours", "as in the paper", "paper's form over ours"]
    return {"variants": table(header, rows)}


if __name__ == "__main__":
    if sys.argv[1:] != ["table"]:
        measure()
    for place, text in tables().items():
        write_part(PAGE, place, text)
