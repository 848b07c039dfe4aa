"""Measure learners that do not know the law, and the laws that they estimate.

    python evidence/unknown.py regret      learners that know, estimate or wrongly assume the law
    python evidence/unknown.py error       convergence of the estimated laws
    python evidence/unknown.py censoring   errors of the paper's estimator if terminal states censor lengths

What it costs to learn them is in costs.py. Without a name, all parts are run, which takes minutes on two
cores. Each writes a table in docs/evidence.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tuned import compare_tuned, table, write_part

import sojourn as sj
from sojourn.reproduction import censoring_errors, fitted_slope

PAGE = Path(__file__).parent.parent / "docs" / "evidence.md"
SEEDS = 20
EPISODES = 2_000
PROBLEMS = ["river_swim(6)", "Taxi-v4", "cash_or_invest(5)", "garnet(20, 3, 3, seed=0)"]
LAWS = ["geometric(0.9)", "polynomial(1.4, offset=20)", "quasi_hyperbolic(0.7, gamma=0.95)"]
SCALES = "[0.1, 0.01, 0.001, 0.0001]"

REGRET = """
problem = {problems}
law = "{law}"
episodes = {episodes}
seeds = {seeds}
record = {{ checkpoints = 100 }}

[agents.known]
type = "ucbvi"
law = "true"
truncation = "paper"
bonus.scale = {{ grid = {scales} }}

[agents."estimated, Kaplan–Meier"]
type = "unknown_law"
horizon = {horizon}
estimator = "kaplan_meier"
bonus.scale = {{ grid = {scales} }}

[agents."estimated, empirical"]
type = "unknown_law"
horizon = {horizon}
estimator = "empirical"
bonus.scale = {{ grid = {scales} }}
"""

WRONG_LAWS = """
[agents."geometric, same mean"]
type = "ucbvi"
law = "geometric mean"
bonus.scale = {{ grid = {scales} }}

[agents."fixed at the mean"]
type = "ucbvi"
law = "fixed mean"
bonus = {{ type = "hoeffding", scale = {{ grid = {scales} }} }}
"""


def _spec(law: str, problems: list[str], *, episodes: int, parts: str) -> str:
    horizon = sj.theory.printed_truncation(sj.parse_law(law), episodes).horizon
    quoted = "[" + ", ".join(f'"{problem}"' for problem in problems) + "]"
    settings = {"problems": quoted, "law": law, "episodes": episodes, "seeds": SEEDS}
    return parts.format(**settings, horizon=horizon, scales=SCALES)


def regret() -> None:
    """Write the total regret of learners that know, estimate or wrongly assume the law."""
    rows = []
    for law in LAWS:
        text = _spec(law, PROBLEMS, episodes=EPISODES, parts=REGRET + WRONG_LAWS)
        name = "unknown-" + law.partition("(")[0].replace("_", "-")
        found = compare_tuned(name, seeds=range(1_000, 1_002), text=text)
        rows += [(comparison.problem, law, *comparison.total_regret.texts()) for comparison in found]
    header = [
        "problem",
        "true law",
        "known",
        "Kaplan–Meier",
        "empirical",
        "geometric, same mean",
        "fixed mean",
    ]
    write_part(PAGE, "unknown-regret", table(header, rows))


def error() -> None:
    """Write the largest error of γ̂ and the relative error of the mean, by number of complete lengths."""
    counts, rows = np.array([100, 1_000, 10_000, 100_000]), []
    for text in [*LAWS, "polynomial(2.5)"]:
        law = sj.parse_law(text)
        sups, means = np.empty((2, SEEDS, counts.size))
        for seed in range(SEEDS):
            lengths = law.sample(np.random.default_rng(seed), int(counts[-1]))
            for i, n in enumerate(counts):
                estimate = sj.Empirical(lengths[:n])
                h = np.arange(1, min(int(lengths[:n].max()) + 2, 100_000))
                sups[seed, i] = np.abs(estimate.survival(h) - law.survival(h)).max()
                means[seed, i] = abs(estimate.mean / law.mean - 1.0)
        for what, errors in (("γ̂, largest error", sups), ("mean length, relative", means)):
            middle = np.median(errors, axis=0)
            rows.append(
                (
                    text,
                    what,
                    *(f"{value:.2g}" for value in middle),
                    f"{fitted_slope(counts, middle[np.newaxis]):.2f}",
                )
            )
    header = ["law", "error (median of 20 seeds)", *(f"n = {n:,}" for n in counts), "slope"]
    write_part(PAGE, "unknown-error", table(header, rows))


def censoring() -> None:
    """Write the errors of the paper's estimator, which ignores censoring, and of Kaplan–Meier."""
    counts, ours, theirs = censoring_errors(range(SEEDS), 100_000)
    rows = [
        (
            name,
            *(f"{value:.2g}" for value in errors.mean(axis=0)[::2]),
            f"{fitted_slope(counts, errors):.2f}",
        )
        for name, errors in (("Kaplan–Meier", ours), ("empirical", theirs))
    ]
    header = ["estimator", *(f"n = {n:,}" for n in counts[::2]), "slope"]
    write_part(PAGE, "unknown-censoring", table(header, rows))


PARTS: dict[str, Callable[[], None]] = {
    "regret": regret,
    "error": error,
    "censoring": censoring,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
