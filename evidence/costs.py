"""Measure what it costs not to know the law, the horizon, or the number of episodes.

    python evidence/costs.py             run all trials that are not stored, and write the tables
    python evidence/costs.py horizon     run the trials of one part: law, horizon or anytime
    python evidence/costs.py table       write the tables in docs/evidence.md

Trials are kept in costs.json beside this file and are not repeated; all of them take about half an hour on
one core. RiverSwim(6) and geometric lengths with γ = 0.9 unless stated. A cost is the ratio of the mean
regrets over the same ten seeds, with a bootstrap interval.

*The law.* T = 5,000, 20,000 and 100,000. Every learner plays at the bonus scale of 0.01, 0.001 and
0.0001 that has the least mean regret on three other seeds with T = 5,000. The paper's Algorithm 2 is played
as printed (`form="literal"`, `count="first"`), with two of the "arbitrary" actions that it allows after its
last layer (hold the last layer; start again with the first), and two horizons: 80, for which little is left
to truncate, and ln T/(2 ln(1/γ)), with which its Corollary 6 is proved.

*The horizon.* T = 10,000, bonus scale 0.03, candidates 2, 4, 8, …, 128. A learner chooses the
number of layers from the estimated law (`horizon="auto"`), or a rule selects one of the candidates. Dynamic
balancing needs a bound R_i(n) on the regret of each candidate. A bound that follows Theorem 1 has a term for
what its layers leave out, n·Γ(H_i+1), beside one in √n. Version 0.1.0 of Sojourn left this term out.

*The number of episodes.* Learners that know T, in a run for each T, and learners that do not (`anytime`), in
one run.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from stored_trials import StoredTrials
from tuned import table, write_part

import sojourn as sj
from sojourn.reproduction import BalancingWithTruncation, bootstrap_ratio

HERE = Path(__file__).parent
PAGE, STORED = HERE.parent / "docs" / "evidence.md", HERE / "costs.json"
LAW, MDP = sj.Geometric(0.9), sj.mdps.river_swim(6)
EPISODES = (5_000, 20_000, 100_000)
SEEDS, TUNING = range(10), range(1_000, 1_003)
SCALES = (0.01, 0.001, 0.0001)
LONG = 80


def corollary_horizon(episodes: int) -> int:
    """Return H* = ln T/(2 ln(1/γ)) of Corollary 6, rounded."""
    return round(math.log(episodes) / (2.0 * math.log(1.0 / LAW.gamma)))


def literal(horizon: int, scale: float, after: str) -> sj.UnknownLaw:
    """Return Algorithm 2 as printed."""
    return sj.UnknownLaw(horizon, sj.PaperBonus(scale), form="literal", count="first", after=after)


LEARNERS: dict[str, Callable[[int, float], Any]] = {
    "law known": lambda n, scale: sj.UCBVI(LAW, sj.PaperBonus(scale)),
    "Algorithm 2, H* = 80, restart": lambda n, scale: literal(LONG, scale, "restart"),
    "Algorithm 2, H* = 80, hold": lambda n, scale: literal(LONG, scale, "hold"),
    "Algorithm 2, H* of Corollary 6, restart": lambda n, scale: literal(
        corollary_horizon(n), scale, "restart"
    ),
    "Algorithm 2, H* of Corollary 6, hold": lambda n, scale: literal(corollary_horizon(n), scale, "hold"),
    "ours, keeps all data": lambda n, scale: sj.UnknownLaw(LONG, sj.PaperBonus(scale)),
}
"""Agents by name, each made from the number of episodes and the scale of its bonus."""

HORIZON_EPISODES, HORIZON_SCALE = 10_000, 0.03
CANDIDATES = (2, 4, 8, 16, 32, 64, 128)
BEYOND = tuple(float(LAW.tail(horizon + 1)) for horizon in CANDIDATES)
BASE = sj.UnknownLaw(8, sj.PaperBonus(HORIZON_SCALE))


CHOOSERS: dict[str, Any] = {
    **{f"H* = {horizon}": sj.UnknownLaw(horizon, BASE.bonus) for horizon in CANDIDATES},
    'horizon="auto"': sj.UnknownLaw("auto", BASE.bonus),
    **{
        name: sj.HorizonSelection(BASE, CANDIDATES, rule)
        for name, rule in {
            "dynamic balancing, c = 1": sj.DynamicBalancing(),
            "dynamic balancing with the true Γ, c = 1": BalancingWithTruncation(beyond=BEYOND),
            "dynamic balancing with the true Γ, c = 0.003": BalancingWithTruncation(c=0.003, beyond=BEYOND),
            "dynamic balancing without the truncation term, c = 0.003": BalancingWithTruncation(
                c=0.003, beyond=(0.0,) * len(CANDIDATES)
            ),
            "D3RB, c = d = 1": sj.D3RB(),
            "D3RB, c = d = 0.003": sj.D3RB(c=0.003, first=0.003),
        }.items()
    },
}
"""Agents with a fixed horizon, and agents that choose it."""


ANYTIME_EPISODES = (1_000, 10_000)
ANYTIME: dict[str, Callable[[bool], Any]] = {
    "law known, PaperBonus(0.03)": lambda anytime: sj.UCBVI(LAW, sj.PaperBonus(0.03), anytime=anytime),
    "law known, PaperBonus(0.001)": lambda anytime: sj.UCBVI(LAW, sj.PaperBonus(0.001), anytime=anytime),
    'law unknown, horizon="auto", PaperBonus(0.03)': lambda anytime: sj.UnknownLaw(
        "auto", sj.PaperBonus(0.03), anytime=anytime
    ),
    'law unknown, horizon="auto", PaperBonus(0.001)': lambda anytime: sj.UnknownLaw(
        "auto", sj.PaperBonus(0.001), anytime=anytime
    ),
}
"""Agents by name, each made from whether T is unknown."""


def regrets(agent: Any, episodes: int, seed: int) -> Any:
    """Return the regret of each episode of one trial."""
    return np.asarray(sj.learn(agent, MDP, LAW, episodes=episodes, seed=seed).regret)


def total(agent: Any, episodes: int, seed: int) -> float:
    """Return the total regret of one trial."""
    return float(regrets(agent, episodes, seed).sum())


def best_scale(stored: StoredTrials, name: str) -> float:
    """Return the scale of the bonus with the least mean regret on the seeds for tuning."""
    return min(
        SCALES,
        key=lambda scale: stored.select(part="tuning", learner=name, scale=scale).mean(),
    )


def measure_law(stored: StoredTrials) -> None:
    """Play learners that know and that do not know the law."""
    for name, make in LEARNERS.items():
        for scale in SCALES:
            for seed in TUNING:
                stored.play(
                    {"part": "tuning", "learner": name, "scale": scale, "seed": seed},
                    lambda make=make, scale=scale, seed=seed: total(  # type: ignore[misc]
                        make(EPISODES[0], scale), EPISODES[0], seed
                    ),
                )
    for episodes in EPISODES:
        for name, make in LEARNERS.items():
            agent = make(episodes, best_scale(stored, name))
            for seed in SEEDS:
                stored.play(
                    {"part": "law", "learner": name, "episodes": episodes, "seed": seed},
                    lambda agent=agent, n=episodes, seed=seed: total(agent, n, seed),  # type: ignore[misc]
                )
        print(f"law, T = {episodes:,}", file=sys.stderr, flush=True)


def measure_horizon(stored: StoredTrials) -> None:
    """Play learners with a fixed horizon, and learners that choose it."""
    for name, agent in CHOOSERS.items():
        for seed in SEEDS:
            stored.play(
                {"part": "horizon", "learner": name, "seed": seed},
                lambda agent=agent, seed=seed: total(agent, HORIZON_EPISODES, seed),  # type: ignore[misc]
            )
        print(f"horizon, {name}", file=sys.stderr, flush=True)


def measure_anytime(stored: StoredTrials) -> None:
    """Play learners that know T, and learners that do not."""
    for name, make in ANYTIME.items():
        for seed in SEEDS:
            for episodes in ANYTIME_EPISODES:
                stored.play(
                    {"part": "known T", "learner": name, "episodes": episodes, "seed": seed},
                    lambda make=make, n=episodes, seed=seed: total(make(False), n, seed),  # type: ignore[misc]
                )
            run: list[Any] = []
            for episodes in ANYTIME_EPISODES:

                def one_run(make=make, n=episodes, seed=seed, run=run) -> float:  # type: ignore[no-untyped-def]
                    if not run:
                        run.append(regrets(make(True), ANYTIME_EPISODES[-1], seed))
                    return float(run[0][:n].sum())

                stored.play({"part": "anytime", "learner": name, "episodes": episodes, "seed": seed}, one_run)
        print(f"anytime, {name}", file=sys.stderr, flush=True)


def law_table(stored: StoredTrials) -> str:
    """Return the table of what it costs not to know the law."""
    rows = []
    for name in LEARNERS:
        cells = []
        for episodes in EPISODES:
            known, regret = (
                stored.select(part="law", learner=one, episodes=episodes) for one in ("law known", name)
            )
            ratio = "1" if name == "law known" else str(bootstrap_ratio(regret, known))
            cells.append(f"{regret.mean():,.1f}: {ratio}")
        rows.append([name, f"{best_scale(stored, name):g}", *cells])
    return table(["learner", "scale", *(f"T = {n:,}" for n in EPISODES)], rows)


def horizon_table(stored: StoredTrials) -> str:
    """Return the table of what it costs not to know the horizon."""
    found = {name: stored.select(part="horizon", learner=name) for name in CHOOSERS}
    best = min((found[f"H* = {h}"] for h in CANDIDATES), key=lambda values: float(values.mean()))
    rows = [
        [name, f"{values.mean():,.0f}", "1" if values is best else str(bootstrap_ratio(values, best))]
        for name, values in found.items()
    ]
    return table(["learner", "mean regret", "over the best horizon"], rows)


def anytime_table(stored: StoredTrials) -> str:
    """Return the table of what it costs not to know the number of episodes."""
    rows = []
    for name in ANYTIME:
        cells = []
        for episodes in ANYTIME_EPISODES:
            known, unknown = (
                stored.select(part=part, learner=name, episodes=episodes) for part in ("known T", "anytime")
            )
            cells.append(f"{known.mean():,.0f}, {unknown.mean():,.0f}: {bootstrap_ratio(unknown, known)}")
        rows.append([name, *cells])
    return table(["learner", *(f"T = {n:,}" for n in ANYTIME_EPISODES)], rows)


PARTS: dict[str, Callable[[StoredTrials], None]] = {
    "law": measure_law,
    "horizon": measure_horizon,
    "anytime": measure_anytime,
}


def tables() -> dict[str, str]:
    """Return all tables by the names of their places in docs/evidence.md."""
    stored = StoredTrials(STORED)
    return {
        "cost-of-the-law": law_table(stored),
        "cost-of-the-horizon": horizon_table(stored),
        "cost-of-the-number-of-episodes": anytime_table(stored),
    }


if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        if part != "table":
            PARTS[part](StoredTrials(STORED))
    for place, text in tables().items():
        write_part(PAGE, place, text)
