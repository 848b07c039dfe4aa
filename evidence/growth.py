"""Measure how regret grows with the number of episodes T, in a separate run for each T.

    python evidence/growth.py            run all trials that are not stored, and write the table
    python evidence/growth.py table      write the table in docs/evidence.md

The learner is told T in each run: its bonus, its truncation and its blocks depend on it. Every T has ten
seeds of its own. Trials are kept in growth.json beside this file and are not repeated; all of them take about
a quarter of an hour on one core.

The learners are the paper's, as printed: `count="first"`, `after="hold"` (the paper plays "an arbitrary
action" after its last layer), and the truncation of its corollaries. "Scale 1" is the printed bonus. Scale
0.075 is the smallest, rounded up, for which Theorem B of docs/theory.md holds in these runs; with it, regret
bends within the runs.

The slope is that of log mean regret over log T, for the numbers of episodes of the last decade, with a
bootstrap interval. It is compared with the slope of the printed bound over the same T, by thresholds that
were set before the trials were played (`sojourn.reproduction.describe_growth`). "Consistent": the upper end
of the slope's interval is at most that slope. "Linear": the lower end is at least 0.95. Otherwise "not
decided": a bound for large T is not refuted by a finite T.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from stored_trials import StoredTrials
from tuned import table, write_part

import sojourn as sj
from sojourn import theory
from sojourn.reproduction import bootstrap_slope, describe_growth, printed_slope

HERE = Path(__file__).parent
PAGE, STORED = HERE.parent / "docs" / "evidence.md", HERE / "growth.json"
SEEDS = 10
PROVEN_SCALE = 0.075
LITERAL: dict[str, Any] = {"count": "first", "after": "hold"}
"""Settings of the learners as printed."""


@dataclass(frozen=True)
class Series:
    """A learner on one problem under one law, for several numbers of episodes.

    Attributes:
        claim: The paper's statement about its growth.
        learner: Name of the learner.
        problem: The problem, as a function of T.
        law: The law.
        scale: Scale of the bonus.
        episodes: The values of T.
        horizon: H* of Algorithm 2 as a function of T, or None for Algorithm 1.
    """

    claim: str
    learner: str
    problem: Callable[[int], sj.TabularMDP]
    law: sj.LengthLaw
    scale: float
    episodes: tuple[int, ...]
    horizon: Callable[[int], int] | None = None

    def agent(self, episodes: int) -> sj.UCBVI | sj.UnknownLaw:
        """Return the agent for T episodes."""
        bonus = sj.PaperBonus(self.scale)
        if self.horizon is not None:
            return sj.UnknownLaw(self.horizon(episodes), bonus, form="literal", **LITERAL)
        truncation = theory.printed_truncation(self.law, episodes).truncation
        return sj.UCBVI(self.law, bonus, truncation=truncation, **LITERAL)

    def settings(self, episodes: int) -> dict[str, Any]:
        """Return the settings under which trials are stored, without the seed."""
        return {
            "learner": self.learner,
            "problem": self.problem(episodes).name,
            "law": str(self.law),
            "scale": self.scale,
            "episodes": episodes,
        }


def chain(episodes: int) -> sj.TabularMDP:
    """Return the same small problem for every T."""
    return sj.mdps.chain(2)


def harder(episodes: int) -> sj.TabularMDP:
    """Return a bandit that gets harder as T grows: its gap is 8/√T."""
    return sj.mdps.waiting_bandit(n_waiting=1, leave=1.0, gap=8.0 / math.sqrt(episodes))


GEOMETRIC, HALF = sj.Geometric(0.9), sj.Geometric(0.5)
SERIES = (
    Series("Corollary 3", "Algorithm 1", chain, HALF, 1.0, (10_000, 31_623, 100_000, 316_228)),
    Series("Corollary 3", "Algorithm 1", chain, GEOMETRIC, PROVEN_SCALE, (1_000, 10_000, 31_623, 100_000)),
    Series("Corollary 3", "Algorithm 1", harder, GEOMETRIC, PROVEN_SCALE, (1_000, 10_000, 31_623, 100_000)),
    Series("Corollary 2", "Algorithm 1", chain, sj.Polynomial(2.0), 1.0, (10_000, 31_623, 100_000)),
    Series("Corollary 2", "Algorithm 1", chain, sj.Polynomial(2.0), PROVEN_SCALE, (10_000, 31_623, 100_000)),
    Series("Corollary 2", "Algorithm 1", chain, sj.Polynomial(1.6), PROVEN_SCALE, (3_162, 10_000, 31_623)),
    Series("Corollary 2", "Algorithm 1", chain, sj.Polynomial(1.4), PROVEN_SCALE, (1_000, 3_162, 10_000)),
    Series(
        "Corollary 5",
        "Algorithm 2",
        chain,
        sj.Polynomial(2.0),
        PROVEN_SCALE,
        (10_000, 31_623, 100_000),
        lambda episodes: round(episodes**0.25),
    ),
    Series(
        "Corollary 6",
        "Algorithm 2",
        chain,
        GEOMETRIC,
        PROVEN_SCALE,
        (10_000, 31_623, 100_000),
        lambda episodes: round(math.log(episodes) / (2.0 * math.log(1.0 / 0.9))),
    ),
)


def measure() -> None:
    """Play all trials that are not stored, the shortest first."""
    stored = StoredTrials(STORED)
    todo = [(episodes, series) for series in SERIES for episodes in series.episodes]
    for episodes, series in sorted(todo, key=lambda one: one[0]):
        for seed in range(SEEDS):
            # Seeds differ by T, so that the runs of different T are independent.
            own = SEEDS * series.episodes.index(episodes) + seed

            def regret(series: Series = series, episodes: int = episodes, own: int = own) -> float:
                run = sj.learn(
                    series.agent(episodes), series.problem(episodes), series.law, episodes=episodes, seed=own
                )
                return float(np.asarray(run.regret).sum())

            stored.play(series.settings(episodes) | {"seed": own}, regret)
        print(f"{series.claim}, {series.law}, T = {episodes:,}", file=sys.stderr, flush=True)


def slope_of_bound(series: Series, first: int, last: int) -> float:
    """Return the log-log slope of the printed bound between two numbers of episodes.

    For Algorithm 1 it is that of the leading terms of Theorem 1. For Algorithm 2 it is the power of T in the
    corollary, without logarithms.
    """
    if series.horizon is not None:
        power = theory.printed_unknown_law_exponent(series.law)
        assert power is not None
        return power
    mdp = series.problem(last)
    return printed_slope(series.law, mdp.n_states, mdp.n_actions, first, last)


def findings() -> list[dict[str, Any]]:
    """Return for every series the mean regrets, the slope over the last decade and the finding."""
    stored, found = StoredTrials(STORED), []
    for series in SERIES:
        regrets = [stored.select(**series.settings(episodes)) for episodes in series.episodes]
        last = [i for i, n in enumerate(series.episodes) if 10.001 * n >= series.episodes[-1]]
        slope = bootstrap_slope([series.episodes[i] for i in last], [regrets[i] for i in last])
        printed = slope_of_bound(series, series.episodes[last[0]], series.episodes[-1])
        found.append(
            {
                "series": series,
                "regrets": regrets,
                "slope": slope,
                "printed": printed,
                "finding": describe_growth(slope, printed),
            }
        )
    return found


def tables() -> dict[str, str]:
    """Return the table of slopes by the name of its place in docs/evidence.md."""
    rows = []
    for one in findings():
        series = one["series"]
        name = series.problem(series.episodes[-1]).name if series.problem is chain else "bandit, gap 8/√T"
        rows.append(
            [
                series.claim,
                f"{name}, {series.law}, scale {series.scale:g}",
                ", ".join(f"{n:,}" for n in series.episodes),
                ", ".join(f"{values.mean():,.0f}" for values in one["regrets"]),
                str(one["slope"]),
                f"{one['printed']:.2f}",
                one["finding"],
            ]
        )
    header = ["claim", "learner", "T", "mean regret", "slope, last decade", "printed bound", "finding"]
    return {"growth": table(header, rows)}


if __name__ == "__main__":
    if sys.argv[1:] != ["table"]:
        measure()
    for part, text in tables().items():
        write_part(PAGE, part, text)
