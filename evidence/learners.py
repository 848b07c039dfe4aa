"""What the paper's learner gains, and what a wrong belief costs.

    python evidence/learners.py taxi     the general learner beside fixed horizons, each at its best scale
    python evidence/learners.py shape    a belief of the wrong shape: regret that never stops growing
    python evidence/learners.py slope    RiverSwim at the paper's own constants, ten million episodes

Each writes its part of docs/evidence.md. Minutes on two cores.
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
    """Total regret of every learner of the paper, and its paired difference to the general one."""
    (comparison,) = compare_tuned("taxi")
    rows = zip(comparison.names, comparison.total_regret.texts(), comparison.difference.texts(), strict=True)
    write_part(PAGE, "taxi", table(["learner, at its best scale", "total regret", "minus the general"], rows))


def shape() -> None:
    """Regret an episode, early and late, and how the sum grows over the last decade."""
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
        "an episode, early",
        "an episode, last half",
        "slope, last decade",
    ]
    write_part(PAGE, "shape", table(header, zip(comparison.names, *columns, strict=True)))


def slope() -> None:
    """The log-log slope of regret at scale 1, half a decade at a time."""
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
    write_part(PAGE, "slope", table(["episodes", "total regret at their end", "log-log slope"], rows))


if __name__ == "__main__":
    for part in sys.argv[1:] or ["taxi", "shape", "slope"]:
        {"taxi": taxi, "shape": shape, "slope": slope}[part]()
