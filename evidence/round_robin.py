"""All learners against each other: regret, time and ranks on six problems under three laws.

    python evidence/round_robin.py

writes docs/round-robin.md. Some twenty minutes of processor time, on all cores; trials are kept as they
come, so that a run that was stopped goes on from there, and a second one takes a minute or two.
"""

from __future__ import annotations

from dataclasses import replace

from robin.choices import at_an_end, budgets, settings
from robin.field import Field
from robin.sections import furthest_behind, learned, losses, ranks, regrets, times
from tuned import HERE, STORE, paragraph, play, shortlist

from sojourn.experiments import Experiment, read_experiment, tune

PAGE = HERE.parent / "docs" / "round-robin.md"
SCREENING, TUNING, KEPT = range(900, 902), range(1_000, 1_010), 4

INTRODUCTION = """`python evidence/round_robin.py` wrote this page, what it says of the outcome included:
all learners on {problems} problems under {laws} laws of lengths, {episodes} episodes, {seeds} seeds,
rewards known. Each learner is at its own best settings for each problem and law: all points of its grid
(`evidence/round_robin.toml`) are played on {screening} seeds, the best {kept} of them on {tuning} others,
and the one with the smallest mean regret on those is judged by {seeds} seeds that nobody has seen.
Everybody believes in the true law, as far as they can: `classic` (UCB-VI with Hoeffding's bonus) in a
fixed length, its mean; `UCBVI-γ` and the stationary ε-greedy in a discount of the same mean. `paper` is
the paper's Algorithm 1. [Learners](learners.md) says what the others are."""

READING = """Numbers are total regret, exact, with Student's 95% interval over seeds, and without one
where all seeds agree. Means that differ by no more than the certified width of a regret are tied.
**Bold** is the smallest mean of a column."""


def main() -> None:
    """Play, and write the page."""
    whole = without_twins(read_experiment(HERE / "round_robin.toml"))
    short = shortlist(whole, seeds=SCREENING, keep=KEPT)
    paths = {path for cell in whole.cells for path in cell.varied}
    best = tune(short, STORE, over=paths, seeds=TUNING)
    field = Field.of(play(best), whole)
    introduction = INTRODUCTION.format(
        problems=len(field.problems),
        laws=len(field.comparisons) // len(field.problems),
        episodes=field.episodes,
        seeds=len(field.comparisons[0].seeds),
        screening=len(SCREENING),
        kept=KEPT,
        tuning=len(TUNING),
    )
    parts = [
        "# Round robin",
        paragraph(introduction),
        paragraph(READING),
        f"## Ranks\n\n{ranks(field)}",
        f"## Where the paper's learner loses\n\n{losses(field)}\n\n{furthest_behind(field)}",
        f"## Total regret\n\n{regrets(field)}",
        f"## Rewards that are learned\n\n{learned(field)}",
        f"## Time\n\n{times(field)}",
        f"## How settings were chosen\n\n{budgets(whole, len(SCREENING), len(TUNING), KEPT)}",
        at_an_end(whole, best),
        f"## Settings that were chosen\n\n{settings(field)}",
    ]
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def without_twins(experiment: Experiment) -> Experiment:
    """Return the experiment without cells that play as others do: a chance of 0 has no decay."""
    last = max(cell.varied["decay"] for cell in experiment.cells if "decay" in cell.varied)
    cells = [c for c in experiment.cells if c.varied.get("epsilon") != 0 or c.varied["decay"] == last]
    return replace(experiment, cells=tuple(cells))


if __name__ == "__main__":
    main()
