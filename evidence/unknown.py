"""When nobody told the law: what estimating it costs, with and without censoring, and without the horizon.

    python evidence/unknown.py regret      the law known, estimated, and wrongly assumed, on four problems
    python evidence/unknown.py error       how fast the estimates come closer
    python evidence/unknown.py censoring   what terminal states do to the paper's estimator
    python evidence/unknown.py ratio       the price of estimating on RiverSwim, last half of 20,000 episodes
    python evidence/unknown.py horizon     choosing the horizon

Without a name, all of them. Each writes its part of docs/evidence.md. Half an hour on two cores.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tuned import compare_tuned, table, write_part

import sojourn as sj
from sojourn.learning import estimate_mean
from sojourn.reproduction._censoring import censoring_errors, fitted_slope

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

WRONG = """
[agents."geometric, same mean"]
type = "ucbvi"
law = "geometric mean"
bonus.scale = {{ grid = {scales} }}

[agents."fixed at the mean"]
type = "ucbvi"
law = "fixed mean"
bonus = {{ type = "hoeffding", scale = {{ grid = {scales} }} }}
"""

HORIZON = """
problem = "river_swim(6)"
law = "geometric(0.9)"
episodes = 60_000
seeds = {seeds}
record = {{ checkpoints = 100 }}

[agents.single]
type = "unknown_law"
horizon = {{ grid = [2, 4, 8, 16, 32, 64, 128] }}
bonus.scale = {scale}

[agents.D3RB]
type = "horizon_selection"
base = {{ type = "unknown_law", horizon = 8, bonus = {{ scale = {scale} }} }}
candidates = [2, 4, 8, 16, 32, 64, 128]
rule = {{ type = "d3rb", c = {{ grid = [0.01, 0.003] }}, first = 0.003 }}

[agents.balancing]
type = "horizon_selection"
base = {{ type = "unknown_law", horizon = 8, bonus = {{ scale = {scale} }} }}
candidates = [2, 4, 8, 16, 32, 64, 128]
rule = {{ type = "dynamic_balancing", c = {{ grid = [0.01, 0.003] }}, scale = 0.01 }}
"""


def _spec(law: str, problems: list[str], *, episodes: int, parts: str) -> str:
    horizon = sj.UCBVI(sj.parse_law(law)).layers(episodes)[0]
    quoted = "[" + ", ".join(f'"{problem}"' for problem in problems) + "]"
    settings = {"problems": quoted, "law": law, "episodes": episodes, "seeds": SEEDS}
    return parts.format(**settings, horizon=horizon, scales=SCALES)


def regret() -> None:
    """Total regret of learners that know, estimate or misjudge the law."""
    rows = []
    for law in LAWS:
        text = _spec(law, PROBLEMS, episodes=EPISODES, parts=REGRET + WRONG)
        name = "unknown-" + law.partition("(")[0].replace("_", "-")
        found = compare_tuned(name, seeds=range(1_000, 1_002), text=text)
        rows += [(comparison.problem, law, *comparison.total_regret.texts()) for comparison in found]
    header = ["problem", "truth", "known", "Kaplan–Meier", "empirical", "geometric, same mean", "fixed mean"]
    write_part(PAGE, "unknown-regret", table(header, rows))


def ratio() -> None:
    """Regret of the last half of 20,000 episodes, the law estimated over the law known."""
    text = _spec("geometric(0.9)", PROBLEMS[:1], episodes=20_000, parts=REGRET)
    (comparison,) = compare_tuned("unknown-ratio", text=text)
    half = int(np.argmin(np.abs(comparison.checkpoints - 10_000)))
    late = comparison.cumulative_regret[:, :, -1] - comparison.cumulative_regret[:, :, half]
    rows = zip(
        comparison.names,
        comparison.total_regret.texts(),
        estimate_mean(late).texts(),
        [f"{share:.2f}" for share in late.mean(axis=1) / late.mean(axis=1)[0]],
        strict=True,
    )
    header = ["learner, at its best scale", "total regret", "last half", "over the known law's"]
    write_part(PAGE, "unknown-ratio", table(header, rows))


def error() -> None:
    """Largest error of γ̂ and relative error of Γ̂(1), by the number of complete lengths, and their slopes."""
    counts, rows = np.array([100, 1_000, 10_000, 100_000]), []
    for text in [*LAWS, "polynomial(2.5)"]:
        law = sj.parse_law(text)
        sups, means = np.empty((2, SEEDS, counts.size))
        for seed in range(SEEDS):
            lengths = law.sample(np.random.default_rng(seed), int(counts[-1]))
            for i, n in enumerate(counts):
                found = sj.Empirical(lengths[:n])
                h = np.arange(1, min(int(lengths[:n].max()) + 2, 100_000))
                sups[seed, i] = np.abs(found.survival(h) - law.survival(h)).max()
                means[seed, i] = abs(found.mean / law.mean - 1.0)
        for what, errors in (("largest of γ̂", sups), ("mean length", means)):
            middle = np.median(errors, axis=0)
            rows.append(
                (
                    text,
                    what,
                    *(f"{value:.2g}" for value in middle),
                    f"{fitted_slope(counts, middle[np.newaxis]):.2f}",
                )
            )
    header = ["law", "error, median of 20", *(f"n = {n:,}" for n in counts), "slope"]
    write_part(PAGE, "unknown-error", table(header, rows))


def censoring() -> None:
    """The paper's estimator takes what was played for the length; Kaplan–Meier does not."""
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


def horizon() -> None:
    """Single candidates, and rules that choose between them."""
    text = HORIZON.format(seeds=SEEDS, scale=0.03)
    (comparison,) = compare_tuned("unknown-horizon", over=["rule.c"], seeds=range(1_000, 1_002), text=text)
    means = comparison.total_regret.mean
    singles = np.array([name.startswith("single") for name in comparison.names])
    best, worst = means[singles].min(), means[singles].max()
    rows = [
        (name, total, f"{mean / best:.2f}", f"{mean / worst:.2f}")
        for name, total, mean in zip(comparison.names, comparison.total_regret.texts(), means, strict=True)
    ]
    write_part(
        PAGE, "unknown-horizon", table(["learner", "total regret", "over the best", "over the worst"], rows)
    )


PARTS: dict[str, Callable[[], None]] = {
    "regret": regret,
    "error": error,
    "censoring": censoring,
    "ratio": ratio,
    "horizon": horizon,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
