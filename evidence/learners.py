"""Measure what the paper's learner gains, and what assuming a wrong law costs.

    python evidence/learners.py taxi     the general learner and fixed horizons, each at its best bonus scale
    python evidence/learners.py shape    laws of the wrong shape, whose regret grows in every episode
    python evidence/learners.py slope    RiverSwim with the published constants, ten million episodes

Each part writes a table in docs/evidence.md. All take some minutes on two cores.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
from tuned import compare_tuned, table, write_part

import sojourn as sj
from sojourn.learning import estimate_mean

PAGE = Path(__file__).parent.parent / "docs" / "evidence.md"


def taxi() -> None:
    """Write the total regret of every learner of the paper, and its difference from the general one."""
    (comparison,) = compare_tuned("taxi")
    rows = zip(comparison.names, comparison.total_regret.texts(), comparison.difference.texts(), strict=True)
    header = ["learner, at its best scale", "total regret", "difference from the general learner"]
    write_part(PAGE, "taxi", table(header, rows))


def shape() -> None:
    """Write the regret per episode, early and late, and the log-log slope over the last decade."""
    (comparison,) = compare_tuned("shape")
    points, regret = comparison.checkpoints, comparison.cumulative_regret
    last = comparison.episodes
    at = {n: int(np.argmin(np.abs(points - n))) for n in (last // 20, last // 10, last // 2)}
    early = regret[:, :, at[last // 10]] - regret[:, :, at[last // 20]]
    early /= points[at[last // 10]] - points[at[last // 20]]
    late = (regret[:, :, -1] - regret[:, :, at[last // 2]]) / (last - points[at[last // 2]])
    slope = np.log(regret[:, :, -1] / regret[:, :, at[last // 10]]) / np.log(last / points[at[last // 10]])
    columns = [estimate_mean(part).texts() for part in (early, late, slope)]
    header = [
        "learner, at its best scale",
        "regret per episode, early",
        "regret per episode, last half",
        "log-log slope, last decade",
    ]
    write_part(PAGE, "shape", table(header, zip(comparison.names, *columns, strict=True)))


def slope() -> None:
    """Write the log-log slope of the regret at bonus scale 1, by half decade."""
    law = sj.Geometric(0.9)
    run = sj.learn(sj.UCBVI(law), sj.mdps.river_swim(6), law, episodes=10**7, seed=0)
    total = np.cumsum(run.regret)
    ends = np.round(10.0 ** np.arange(4.0, 7.01, 0.5)).astype(int)
    rows = [
        (
            f"{a:,} … {b:,}",
            f"{total[b - 1]:,.0f}",
            f"{np.log(total[b - 1] / total[a - 1]) / np.log(b / a):.3f}",
        )
        for a, b in itertools.pairwise(ends)
    ]
    write_part(PAGE, "slope", table(["episodes", "total regret at the end", "log-log slope"], rows))


if __name__ == "__main__":
    for part in sys.argv[1:] or ["taxi", "shape", "slope"]:
        {"taxi": taxi, "shape": shape, "slope": slope}[part]()
