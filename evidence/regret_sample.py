"""How often do intervals of regret estimated at chosen episodes hold the exact regret?

    python evidence/regret_sample.py

Trials of several agents are played once with the regret of every episode. Then n episodes are drawn 4,000
times, as `sj.learn(..., regret_episodes=n)` draws them, and the estimate ± 1.96 standard errors is compared
with the exact total. Prints and writes (`regret_sample.json`) the share of intervals that hold it, the mean
standard error as a share of the total, and the bias of the estimate in standard errors of its mean.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import sojourn as sj
from sojourn.learning import draw_valued_episodes, estimate_regret

DRAWS = 4_000
VALUED = (100, 300, 1_000, 3_000)
LAW = sj.Geometric(0.9)
TRIALS = {
    "UCBVI, scale 1, RiverSwim(6), 20,000": (sj.UCBVI(LAW), sj.mdps.river_swim(6), 20_000),
    "UCBVI, scale 0.01, RiverSwim(6), 20,000": (
        sj.UCBVI(LAW, sj.PaperBonus(0.01)),
        sj.mdps.river_swim(6),
        20_000,
    ),
    "MonotoneBernstein, RiverSwim(6), 20,000": (
        sj.UCBVI(LAW, sj.MonotoneBernstein()),
        sj.mdps.river_swim(6),
        20_000,
    ),
    "UCBVI, scale 0.01, garnet(100, 3, 3), 20,000": (
        sj.UCBVI(LAW, sj.PaperBonus(0.01)),
        sj.mdps.garnet(100, 3, 3, seed=0),
        20_000,
    ),
    "PSRL, garnet(100, 3, 3), 20,000": (sj.PSRL(LAW), sj.mdps.garnet(100, 3, 3, seed=0), 20_000),
    "QLearning, scale 0.01, garnet(100, 3, 3), 20,000": (
        sj.QLearning(LAW, scale=0.01),
        sj.mdps.garnet(100, 3, 3, seed=0),
        20_000,
    ),
    "UCBVI, scale 0.001, Taxi, 20,000": (sj.UCBVI(LAW, sj.PaperBonus(0.001)), "Taxi-v4", 20_000),
}


def measure(regret: np.ndarray, n: int) -> dict[str, float]:
    """Return coverage, mean relative standard error and bias over many draws of n episodes."""
    rng, last = np.random.default_rng(n), np.array([regret.size])
    found = []
    for _ in range(DRAWS):
        drawn = draw_valued_episodes(regret.size, n, rng)
        found.append(np.concatenate(estimate_regret(regret[drawn], drawn, regret.size, last)))
    estimates, errors = np.array(found).T
    total = regret.sum()
    return {
        "coverage": float((np.abs(estimates - total) <= 1.96 * errors).mean()),
        "error": float(errors.mean() / total),
        "bias": float((estimates.mean() - total) / (estimates.std() / np.sqrt(DRAWS))),
    }


def main() -> None:
    """Measure and print all trials, and write the table."""
    table: dict[str, dict[str, dict[str, float]]] = {}
    for name, (agent, mdp, episodes) in TRIALS.items():
        run = sj.learn(agent, mdp, LAW, episodes=episodes, seed=0, regret_episodes=episodes)
        table[name] = {str(n): measure(np.asarray(run.regret), n) for n in VALUED}
        cells = [
            f"{n:>5}: {one['coverage']:.3f} ({one['error']:.1%}, bias {one['bias']:+.1f})"
            for n, one in table[name].items()
        ]
        print(f"{name}\n    " + "  ".join(cells))
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
