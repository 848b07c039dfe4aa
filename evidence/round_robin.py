"""Play all learners on many problems and laws, at one setting for all of them and at the best for each.

    python evidence/round_robin.py         run all trials that are not stored
    python evidence/round_robin_page.py    write docs/round-robin.md
    python docs/figures.py                 draw the figures

Results are kept in round_robin.json beside this file and are not repeated; all of them take about ten minutes
on one core.

Every setting of every learner is played on `TUNING`. The best setting of a cell (a problem and a law) has the
smallest mean regret there; the setting for all cells has the smallest interquartile mean over the cells of
that mean, divided by the regret of random play. Both are then played on `SEEDS`, which have no part in it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import sojourn as sj
from sojourn._typing import FloatArray
from sojourn.learning import interquartile_mean

STORED = Path(__file__).parent / "round_robin.json"
EPISODES, SEEDS, TUNING = 300, range(20), range(1_000, 1_003)
PROBLEMS = (
    "river_swim(6)",
    "chain(6, slip=0.1)",
    "chain(8)",
    "deep_sea(6)",
    "cash_or_invest(5)",
    "cash_or_invest(8, payoff=3)",
    "rare_choice(0.25)",
    "waiting_bandit(4)",
    "garnet(10, 3, 3, seed=3)",
)
LAWS = ("geometric(0.9)", "polynomial(1.6, offset=10)", "uniform(1, 20)")
"""Laws whose chance of one more step stays the same, rises and falls with the step."""
MEANS = (0.5, 1, 1.5, 3, 5)
"""Horizons of learners that need one, in units of the mean length."""
SCALES = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0)
LARGER = (1, 0.1, 0.01, 0.003, 0.001, 0)


def steps(law: sj.LengthLaw, means: float) -> int:
    """Return a horizon in steps: at least 1, and a multiple of the mean length up to rounding."""
    return max(1, round(means * law.mean))


def epsilon_greedy(law: sj.LengthLaw, tables: str | int, explore: float | str, **settings: Any) -> Any:
    """Return ε-greedy with one table or one per step up to a horizon, and a constant ε or ε = 1/k."""
    settings |= {"decay": 1.0} if explore == "1/k" else {}
    epsilon = 1.0 if explore == "1/k" else explore
    if isinstance(tables, str):
        return sj.EpsilonGreedy(law, epsilon, form="stationary", **settings)
    return sj.EpsilonGreedy(law, epsilon, horizon=steps(law, tables), **settings)


@dataclass(frozen=True)
class Entrant:
    """A learner and the settings among which it may choose."""

    make: Callable[..., Any]
    grid: dict[str, tuple[Any, ...]]

    @property
    def settings(self) -> list[dict[str, Any]]:
        """All points of the grid."""
        return [dict(zip(self.grid, point, strict=True)) for point in product(*self.grid.values())]


ENTRANTS = {
    "paper": Entrant(lambda law, scale: sj.UCBVI(law, sj.PaperBonus(scale)), {"scale": SCALES}),
    "paper, scale 1": Entrant(sj.UCBVI, {}),
    "MonotoneBernstein, scale 1": Entrant(lambda law: sj.UCBVI(law, sj.MonotoneBernstein()), {}),
    "simple Bernstein": Entrant(
        lambda law, scale: sj.UCBVI(law, sj.SimpleBernstein(scale)), {"scale": LARGER}
    ),
    "EQO": Entrant(lambda law, scale: sj.UCBVI(law, sj.EQO(scale)), {"scale": LARGER}),
    "UCB-VI": Entrant(
        lambda law, scale, means: sj.UCBVI(sj.Fixed(steps(law, means)), sj.Hoeffding(scale)),
        {"scale": (0.1, 0.01, 0.001, 0), "means": MEANS},
    ),
    "PSRL": Entrant(sj.PSRL, {"prior": (0.003, 0.01, 0.1, 0.3, 1, 3, 10)}),
    "PSRL, exact Dirichlet": Entrant(
        lambda law, prior: sj.PSRL(law, prior, unseen="each"), {"prior": (0.1, 0.3, 1, 3, 10)}
    ),
    "Q-learning": Entrant(
        lambda law, scale, means: sj.QLearning(law, scale, horizon=steps(law, means)),
        {"scale": (0.1, 0.01, 0), "means": MEANS},
    ),
    "Q-learning, literal": Entrant(
        lambda law, scale, means: sj.QLearning(law, scale, horizon=steps(law, means), form="literal"),
        {"scale": (0.1, 0.01, 0), "means": MEANS},
    ),
    "UCBVI-γ": Entrant(
        lambda law, scale, backups: sj.UCBVIGamma(law, scale, backups=backups),
        {"scale": (0.01, 0.001, 1e-4, 1e-5, 1e-6, 0), "backups": ("episode", "step")},
    ),
    "ε-greedy": Entrant(
        epsilon_greedy,
        {
            "rate": (0.1, 0.3, 1),
            "initial": (0.1, 1),
            "explore": (0, "1/k"),
            "tables": ("one", 3),
        },
    ),
}
"""All learners by name, the paper's first."""


def cells() -> Iterator[tuple[str, str]]:
    """Return all problems and laws."""
    return product(PROBLEMS, LAWS)


class Results:
    """Results in the JSON file: one line per cell and learner.

    `tuning` has the mean regrets on the seeds for tuning by setting; `played` has the regrets of chosen
    settings by seed, by the number of the setting.
    """

    def __init__(self, path: Path = STORED) -> None:
        self.path = path
        self.grids = {name: entrant.grid for name, entrant in ENTRANTS.items()} | {"episodes": EPISODES}
        grids = json.loads(json.dumps(self.grids))
        stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"grids": grids}
        if stored["grids"] != grids:
            raise SystemExit(f"{path.name} has other settings; delete it to run all trials again.")
        self.rows: dict[tuple[str, ...], dict[str, Any]] = {
            tuple(row["of"]): row for row in stored.get("rows", [])
        }

    def row(self, *of: str) -> dict[str, Any]:
        """Return the row of a cell and a learner, or of a cell; a new one if there is none."""
        return self.rows.setdefault(of, {"of": list(of)})

    def save(self) -> None:
        """Write the file; an interruption does not destroy it."""
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in self.rows.values())
        new = self.path.with_suffix(".new")
        grids = json.dumps(self.grids, ensure_ascii=False)
        new.write_text(f'{{"grids": {grids},\n"rows": [\n{lines}\n]}}\n', encoding="utf-8")
        new.replace(self.path)


def measure() -> None:
    """Play all trials that are not stored."""
    results = Results()
    for problem, law_text in cells():
        mdp, law = sj.parse_problem(problem), sj.parse_law(law_text)
        if "chance" not in (row := results.row(problem, law_text)):
            row |= never_learning(mdp, law)
        for name, entrant in ENTRANTS.items():
            if "tuning" not in (row := results.row(problem, law_text, name)):
                agents = [entrant.make(law, **settings) for settings in entrant.settings]
                many = TUNING if len(agents) > 1 else []  # without a choice there is nothing to tune
                row["tuning"] = [
                    significant(np.mean([total(agent, mdp, law, seed) for seed in many])) if many else 0.0
                    for agent in agents
                ]
                results.save()
        print(f"tuning: {problem}, {law_text}", file=sys.stderr, flush=True)
    chosen = Standings(results)
    for i, (problem, law_text) in enumerate(cells()):
        mdp, law = sj.parse_problem(problem), sj.parse_law(law_text)
        for name, entrant in ENTRANTS.items():
            played = results.row(problem, law_text, name).setdefault("played", {})
            for number in (chosen.one_setting[name], chosen.best_settings[name][i]):
                if str(number) not in played:
                    agent = entrant.make(law, **entrant.settings[number])
                    played[str(number)] = [significant(total(agent, mdp, law, seed)) for seed in SEEDS]
                    results.save()
        print(f"played: {problem}, {law_text}", file=sys.stderr, flush=True)


def total(agent: Any, mdp: sj.TabularMDP, law: sj.LengthLaw, seed: int) -> float:
    """Return the total regret of one trial."""
    return float(np.sum(sj.learn(agent, mdp, law, episodes=EPISODES, seed=seed).regret))


def never_learning(mdp: sj.TabularMDP, law: sj.LengthLaw) -> dict[str, float]:
    """Return the exact expected regrets of random play and of the actions with the largest reward."""
    best = mdp.rewards == mdp.rewards.max(axis=1, keepdims=True)
    policies = {"chance": np.ones_like(best, dtype=float), "myopic": best.astype(float)}
    value = sj.plan(mdp, law).value
    found = {}
    for name, weights in policies.items():
        policy = (weights / weights.sum(axis=1, keepdims=True))[np.newaxis]
        earned = sj.evaluate(mdp, law, policy, after="hold").value
        found[name] = significant(EPISODES * float(mdp.start @ (value - earned)))
    return found


def significant(value: float) -> float:
    """Return a number rounded to six significant digits."""
    return float(f"{value:.6g}")


class Standings:
    """Regrets relative to those of random play, and the settings that were chosen on the seeds for tuning."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.names = tuple(ENTRANTS)
        self.chance = np.array([results.row(*cell)["chance"] for cell in cells()])
        self.myopic = np.array([results.row(*cell)["myopic"] for cell in cells()]) / self.chance

    @cached_property
    def tuning(self) -> dict[str, FloatArray]:
        """Mean relative regrets on the seeds for tuning, `(settings, cells)`, by learner."""
        return {
            name: np.array([self.results.row(*cell, name)["tuning"] for cell in cells()]).T / self.chance
            for name in self.names
        }

    @cached_property
    def best_settings(self) -> dict[str, list[int]]:
        """Number of the best setting in each cell, by learner."""
        return {name: found.argmin(axis=0).tolist() for name, found in self.tuning.items()}

    @cached_property
    def one_setting(self) -> dict[str, int]:
        """Number of the best single setting for all cells, by learner."""
        return {name: int(interquartile_mean(found).argmin()) for name, found in self.tuning.items()}

    def relative(self, is_tuned_per_cell: bool) -> FloatArray:
        """Return the relative regrets of the reported trials, `(learners, cells, seeds)`."""
        rows = []
        for name in self.names:
            one = [self.one_setting[name]] * self.chance.size
            numbers = self.best_settings[name] if is_tuned_per_cell else one
            played = [
                self.results.row(*cell, name)["played"][str(number)]
                for cell, number in zip(cells(), numbers, strict=True)
            ]
            rows.append(np.array(played) / self.chance[:, np.newaxis])
        return np.array(rows)


if __name__ == "__main__":
    measure()
