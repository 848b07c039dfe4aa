"""All learners against each other: regret, time and ranks on six problems under three laws.

    python evidence/round_robin.py

writes docs/round-robin.md. Minutes on two cores; trials are kept, so that a second run takes seconds.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from tuned import compare_tuned, table

import sojourn as sj
from sojourn.laws import label

PAGE = Path(__file__).parent.parent / "docs" / "round-robin.md"
OVER = ("bonus.scale", "scale", "prior", "epsilon", "initial")
PROBLEMS = {
    "RiverSwim(6)": "river_swim(6)",
    "DeepSea(8)": "deep_sea(8)",
    "Taxi-v4": "Taxi-v4",
    "FrozenLake-v1": "FrozenLake-v1",
    "CashOrInvest(5)": "cash_or_invest(5)",
    "Garnet(20, 3, 3, seed=0)": "garnet(20, 3, 3, seed=0)",
}

INTRODUCTION = """# Round robin

`python evidence/round_robin.py` wrote this page: every learner on six problems under three laws of lengths,
{episodes} episodes, {seeds} seeds, rewards known. Each learner is at its own best settings for each problem
and law: of one small grid (`evidence/round_robin.toml`) the point with the smallest mean regret on three
other seeds. Everybody believes in the true law, as far as they can: `classic` (UCB-VI with Hoeffding's
bonus) in a fixed length, its mean; `UCBVI-γ` and the stationary ε-greedy in a discount of the same mean.
`paper` is the paper's Algorithm 1. [Learners](learners.md) says what the others are.

Numbers are total regret, exact, with Student's 95% interval over seeds. **Bold** is the smallest mean of a
column.
"""

REMARK = """On Taxi this is what optimism costs: a pair that was never played is at its cap whatever the
scale of the bonus, so that every action of every state is tried first, and in 500 episodes there is not much
time for anything else. PSRL takes what it has not tried for average, and ε-greedy for bad."""


def main() -> None:
    """Play, and write the page."""
    comparisons = compare_tuned("round_robin", over=OVER)
    names = [name.partition(" (")[0] for name in comparisons[0].names]
    text = [INTRODUCTION.format(episodes=comparisons[0].episodes, seeds=len(comparisons[0].seeds))]
    text += ["## Ranks\n", _ranks(names, comparisons), "\n## Where the paper's learner loses\n"]
    text += [_losses(names, comparisons), "\n## Total regret\n"]
    for problem in dict.fromkeys(comparison.problem for comparison in comparisons):
        some = [comparison for comparison in comparisons if comparison.problem == problem]
        text += [f"### {problem}\n", _regrets(names, some), ""]
    text += ["## Time\n", _times(names, comparisons), "\n## Settings that were chosen\n"]
    text += [_settings(names, comparisons), ""]
    PAGE.write_text("\n".join(text), encoding="utf-8")


def _totals(comparison: sj.Comparison) -> np.ndarray:
    return comparison.cumulative_regret[:, :, -1]


def _ranked(comparisons: Sequence[sj.Comparison]) -> tuple[np.ndarray, np.ndarray]:
    """Return mean totals and ranks, each `(comparisons, learners)`."""
    means = np.array([_totals(comparison).mean(axis=1) for comparison in comparisons])
    return means, np.apply_along_axis(rankdata, 1, means)


def _ahead(names: Sequence[str], comparisons: Sequence[sj.Comparison]) -> list[str]:
    """Return who has a better mean rank than the paper's learner, the first."""
    ranks = _ranked(comparisons)[1].mean(axis=0)
    return [names[i] for i in np.argsort(ranks) if ranks[i] < ranks[0]]


def _ranks(names: Sequence[str], comparisons: Sequence[sj.Comparison]) -> str:
    """Mean rank over all columns, how often a learner was first, and its regret relative to the best."""
    means, ranks = _ranked(comparisons)
    # Relative to the best: the geometric mean of ratios, with a little on top where nobody has any regret.
    ratios = np.exp(np.log((means + 0.01) / (means.min(axis=1, keepdims=True) + 0.01)).mean(axis=0))
    rows = [
        (
            names[i],
            f"{ranks[:, i].mean():.2f}",
            str(int((ranks[:, i] == ranks.min(axis=1)).sum())),
            f"{ratios[i]:.2f}",
        )
        for i in np.argsort(ranks.mean(axis=0))
    ]
    header = ["learner", "mean rank", f"first, of {len(comparisons)}", "regret relative to the best"]
    note = "Ranks by mean total regret, 1 is best; the last column is a geometric mean of ratios."
    return f"{table(header, rows)}\n\n{note}"


def _losses(names: Sequence[str], comparisons: Sequence[sj.Comparison]) -> str:
    """Who beats the paper's learner where, beyond chance, and whom it beats."""
    lines, lost, won = [], 0, 0
    for comparison in comparisons:
        difference = comparison.difference
        better = [i for i in range(1, len(names)) if difference.high[i] < 0.0]
        won += int(sum(difference.low[1:] > 0.0))
        lost += len(better)
        if better:
            base = comparison.total_regret.mean[0]
            told = ", ".join(f"{names[i]} ({difference.mean[i] / base:+.0%})" for i in better)
            lines.append(f"- **{comparison.problem}, {label(comparison.law)}**: {told}")
    n = len(comparisons) * (len(names) - 1)
    ahead = _ahead(names, comparisons)
    first = (
        f"Paired by seed, the difference to the paper's learner lies on one side of 0 with its whole 95%\n"
        f"interval in {lost + won} of {n} duels: the paper's learner wins {won} and loses {lost}. It loses to"
    )
    place = f"By mean rank the paper's learner is number {len(ahead) + 1} of {len(names)}"
    place += f", behind {' and '.join(ahead)}.\n" if ahead else ".\n"
    return "\n".join([place, f"{first}:\n", *lines, f"\n{REMARK}"] if lines else [place, f"{first} nobody."])


def _regrets(names: Sequence[str], some: Sequence[sj.Comparison]) -> str:
    columns = []
    for comparison in some:
        texts = comparison.total_regret.texts()
        best = int(comparison.total_regret.mean.argmin())
        texts[best] = f"**{texts[best]}**"
        columns.append(texts)
    return table(
        ["learner", *(label(comparison.law) for comparison in some)], zip(names, *columns, strict=True)
    )


def _times(names: Sequence[str], comparisons: Sequence[sj.Comparison]) -> str:
    """Processor time of an episode: playing, learning and valuing its policy exactly."""
    problems = list(dict.fromkeys(comparison.problem for comparison in comparisons))
    found = np.zeros((len(names), len(problems)))
    for comparison in comparisons:
        mdp = sj.parse_problem(PROBLEMS[comparison.problem])
        for i, agent in enumerate(comparison.agents):
            clocks = []
            for episodes in (1, 1, comparison.episodes):  # the first one loads what was compiled
                begun = time.process_time()
                sj.learn(agent, mdp, comparison.law, episodes=episodes, seed=0)
                clocks.append(time.process_time() - begun)
            spent = (clocks[2] - clocks[1]) / comparison.episodes
            found[i, problems.index(comparison.problem)] += spent * len(problems) / len(comparisons)
    rows = [(name, *(f"{1e6 * t:,.0f}" for t in row)) for name, row in zip(names, found, strict=True)]
    note = (
        "Microseconds of processor time an episode, mean over the laws: playing, learning, and the exact\n"
        "value of the policy. Machines differ; read the ratios."
    )
    return f"{note}\n\n{table(['learner', *problems], rows)}"


def _settings(names: Sequence[str], comparisons: Sequence[sj.Comparison]) -> str:
    rows = []
    for comparison in comparisons:
        chosen = [name.partition(" (")[2].removesuffix(")") for name in comparison.names]
        short = [text.replace("bonus.", "").replace("scale=", "").replace("prior=", "") for text in chosen]
        rows.append((f"{comparison.problem}, {label(comparison.law)}", *short))
    return table(["problem and law", *names], rows)


if __name__ == "__main__":
    main()
