"""Compare what the law is predicted to be worth with what a learner gains by assuming it, on 50 problems.

    python evidence/value_of_the_law.py          run all trials that are not stored, and write the table
    python evidence/value_of_the_law.py table    write the table in docs/evidence.md

Trials are kept in value_of_the_law.json beside this file and are not repeated; all of them take about ten
minutes on one core. `python docs/figures.py` draws the figure.

The prediction is the exact loss of the best policy for the geometric law with the same mean
(`sj.value_of_the_law`). The measured advantage is the regret of PSRL with that law minus the regret of PSRL
with the right one, over 20 seeds. PSRL has no scale to tune; both have as many layers as their law needs to
leave out 0.1% of the expected steps. All are per episode, as shares of the value of the best policy.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata
from tuned import paragraph, table, write_part

import sojourn as sj
from sojourn._typing import FloatArray
from sojourn.laws import geometric_with_mean
from sojourn.learning import bootstrap_interval, percentile_interval

HERE = Path(__file__).parent
PAGE, STORED = HERE.parent / "docs" / "evidence.md", HERE / "value_of_the_law.json"
EPISODES, SEEDS, RESAMPLES, LEFT_OUT = 500, range(20), 2_000, 0.001
ACCURACY = 1e-5
"""Shares of a value below this are counted as 0: values are certified to 1e-6."""
EDGES = (0.0, ACCURACY, 0.01, 0.05, np.inf)
GROUPS = ("none", "below 1%", "1% to 5%", "above 5%")
LAWS = (
    "uniform(1, 20)",
    "quasi_hyperbolic(0.5, gamma=0.95)",
    "polynomial(2.5, offset=5)",
    "mixture([0.5, 0.5], [fixed(2), fixed(20)])",
    "mixture([0.5, 0.5], [geometric(0.5), geometric(0.95)])",
)
PROBLEMS = (
    *(f"cash_or_invest({delay})" for delay in range(2, 9)),
    *(f"cash_or_invest({delay}, payoff=2)" for delay in range(4, 10)),
    *(f"chain({n})" for n in range(3, 8)),
    *(f"chain({n}, slip=0.2)" for n in range(3, 7)),
    *(f"river_swim({n})" for n in range(3, 8)),
    *(f"deep_sea({n})" for n in range(3, 7)),
    *(f"waiting_bandit({n}, leave=0.3)" for n in range(1, 4)),
    *(f"garnet(10, 3, 3, seed={seed})" for seed in range(3)),
    "two_paths()",
    *(f"cash_or_invest({delay}, payoff=3)" for delay in range(6, 10)),
    "cash_or_invest(10, payoff=2)",
    *(f"chain({n}, slip=0.1)" for n in range(4, 7)),
    "FrozenLake-v1",
    "cash_or_invest(9)",
    "CliffWalking-v1",
    "chain(7, slip=0.1)",
)
"""Fifty problems; problem i is played under law i modulo 5, in this order.

The list was changed after first results had been seen. No garnet has the polynomial law, under which the
exact regrets of changing policies take long.
"""


TAXI = "Taxi-v4"
"""A problem with predictions under all laws, played under the first; not one of the 50."""


def law_of(problem: str) -> str:
    """Return the law under which a problem is played."""
    return LAWS[PROBLEMS.index(problem) % len(LAWS)]


def predict(mdp: sj.TabularMDP, law: sj.LengthLaw) -> tuple[float, float]:
    """Return the value of the best policy, and the share of it lost by that for the geometric law."""
    found = sj.value_of_the_law(mdp, law, max_plans=1)  # no search for the best stationary policy
    return found.value, found.geometric.loss / found.value


def measure() -> None:
    """Play all trials that are not stored."""
    rows = load() if STORED.exists() else {}
    for problem in PROBLEMS:
        if problem in rows:
            continue
        mdp, law = sj.parse_problem(problem), sj.parse_law(law_of(problem))
        if mdp.rewards.min() < 0:  # a share of the value of the best policy needs rewards ≥ 0
            mdp = mdp.normalized()
        value, predicted = predict(mdp, law)
        row = {"problem": problem, "law": law_of(problem), "value": value, "predicted": digits(predicted)}
        rows[problem] = row | totals(mdp, law)
        save(rows)
        print(problem, file=sys.stderr, flush=True)
    if TAXI not in rows:
        mdp = sj.parse_problem(TAXI).normalized()
        found = [predict(mdp, sj.parse_law(law)) for law in LAWS]
        row = {"problem": TAXI, "value": found[0][0], "predicted": [digits(share) for _, share in found]}
        rows[TAXI] = row | totals(mdp, sj.parse_law(LAWS[0]))
        save(rows)


def totals(mdp: sj.TabularMDP, law: sj.LengthLaw) -> dict[str, list[float]]:
    """Return the total regrets by seed of learners that assume the right and the geometric law."""
    found = {}
    for name, assumed in (("right", law), ("geometric", geometric_with_mean(law.mean))):
        agent = sj.PSRL(assumed, truncation=LEFT_OUT * law.mean)
        runs = (sj.learn(agent, mdp, law, episodes=EPISODES, seed=seed) for seed in SEEDS)
        found[name] = [digits(np.sum(run.regret)) for run in runs]
    return found


def save(rows: dict[str, dict[str, Any]]) -> None:
    """Write the rows; an interruption does not destroy the file."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows.values())
    new = STORED.with_suffix(".new")
    new.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    new.replace(STORED)


def digits(value: float) -> float:
    """Return a number rounded to six significant digits."""
    return float(f"{value:.6g}")


def load() -> dict[str, dict[str, Any]]:
    """Return the stored rows by problem."""
    return {row["problem"]: row for row in json.loads(STORED.read_text(encoding="utf-8"))}


def predictions() -> FloatArray:
    """Return the predicted gains of all problems, as shares; those below the certified accuracy are 0."""
    rows = load()
    found = np.array([rows[problem]["predicted"] for problem in PROBLEMS])
    return np.where(found < ACCURACY, 0.0, found)


def advantages(problems: Sequence[str] = PROBLEMS) -> FloatArray:
    """Return the measured advantages per episode, as shares, `(problems, seeds)`."""
    stored = load()
    rows = [stored[problem] for problem in problems]
    found = [np.subtract(row["geometric"], row["right"]) / (EPISODES * row["value"]) for row in rows]
    return np.array(found)


def rank_correlation(x: FloatArray, y: FloatArray) -> float:
    """Return Spearman's rank correlation; ties share their mean rank."""
    return float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])


def bootstrap(
    predicted: FloatArray, measured: FloatArray, statistic: Callable[[FloatArray, FloatArray], float]
) -> str:
    """Return a statistic with its 95% interval over bootstrap samples of problems and of their seeds."""
    (n, n_seeds), rng, again = measured.shape, np.random.default_rng(0), []
    for _ in range(RESAMPLES):
        problems, seeds = rng.integers(n, size=(n, 1)), rng.integers(n_seeds, size=(n, n_seeds))
        again.append(statistic(predicted[problems[:, 0]], measured[problems, seeds].mean(axis=1)))
    value = statistic(predicted, measured.mean(axis=1))
    found = percentile_interval(value, again, n if n > 1 else n_seeds)
    style = ".2f" if statistic is rank_correlation else ".2%"
    return f"{value:{style}} ({float(found.low):{style}} … {float(found.high):{style}})"


def mean_advantage(_: FloatArray, measured: FloatArray) -> float:
    """Return the mean of the measured advantages."""
    return float(measured.mean())


def tables() -> dict[str, str]:
    """Return the text and the table by the name of their place in docs/evidence.md."""
    predicted, measured = predictions(), advantages()
    rows = []
    for (low, high), name in zip(pairwise(EDGES), GROUPS, strict=True):
        inside = (predicted >= low) & (predicted < high)
        rows.append(
            [
                name,
                str(inside.sum()),
                f"{predicted[inside].mean():.2%}",
                bootstrap(predicted[inside], measured[inside], mean_advantage),
                str(sum(is_positive(row) for row in measured[inside])),
                str(sum(is_positive(-row) for row in measured[inside])),
            ]
        )
    header = ["predicted gain", "problems", "mean prediction", "mean advantage", "clear gain", "clear loss"]
    largest = max(load()[TAXI]["predicted"])
    share = "less than 0.001%" if largest < ACCURACY else f"at most {largest:.3%}"
    others = np.array([not problem.startswith("cash_or_invest") for problem in PROBLEMS])
    sentences = f"""The rank correlation of prediction and advantage is
    {bootstrap(predicted, measured, rank_correlation)}, and
    {bootstrap(predicted[others], measured[others], rank_correlation)} on the {others.sum()} problems other
    than cash_or_invest. Prediction and advantage differ most on
    {farthest(predicted, measured, 0)} and {farthest(predicted, measured, 1)}. On Taxi the best policy for the
    geometric law loses {share} of the best value under each of the five laws: no learner that has found its
    best policy can gain by the right law. Measured under `{LAWS[0]}`, the advantage on Taxi is
    {bootstrap(predicted[:1], advantages([TAXI]), mean_advantage)}."""
    return {"value-of-the-law": f"{paragraph(sentences)}\n\n{table(header, rows)}"}


def farthest(predicted: FloatArray, measured: FloatArray, place: int) -> str:
    """Return the problem whose prediction and advantage differ most (or second most, …), with both."""
    order = np.argsort(-np.abs(measured.mean(axis=1) - predicted), kind="stable")
    at = [int(order[place])]
    problem = PROBLEMS[at[0]]
    advantage = bootstrap(predicted[at], measured[at], mean_advantage)
    return f"`{problem}` under `{law_of(problem)}` (predicted {predicted[at[0]]:.2%}, measured {advantage})"


def is_positive(values: FloatArray) -> bool:
    """Return whether the 95% bootstrap interval of a mean advantage is above the certified accuracy."""
    return bool(bootstrap_interval(values, np.mean, resamples=RESAMPLES).low > ACCURACY)


if __name__ == "__main__":
    if sys.argv[1:] != ["table"]:
        measure()
    for place, text in tables().items():
        write_part(PAGE, place, text)
