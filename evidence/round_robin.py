"""Compare all learners: regret, ranks and time on six problems under three laws.

    python evidence/round_robin.py

This writes docs/round-robin.md. It takes about twenty minutes of processor time, on all cores. Finished
trials are kept, so an interrupted run continues where it stopped, and a second run takes a minute or two.
"""

from __future__ import annotations

from dataclasses import replace

from round_robin_parts.results import RoundRobin
from round_robin_parts.sections import furthest_behind, paired_tests, ranks, regrets, times, unknown_rewards
from round_robin_parts.tuning import choices_at_grid_ends, chosen_settings, tuning_budgets
from tuned import HERE, STORE, paragraph, play, shortlist

from sojourn.experiments import Experiment, read_experiment, tune

PAGE = HERE.parent / "docs" / "round-robin.md"
SCREENING, TUNING, KEPT = range(900, 902), range(1_000, 1_010), 4

INTRODUCTION = """`python evidence/round_robin.py` writes this page, including the text about the outcome.
It compares all learners on {problems} problems under {laws} laws of lengths, over {episodes} episodes and
{seeds} seeds, with known rewards. Each learner has its own best settings for each problem and law: all
points of its grid (`evidence/round_robin.toml`) are run on {screening} seeds, the best {kept} of them on
{tuning} others, and the one with the smallest mean regret on those is evaluated on {seeds} new seeds. All
learners assume the true law as far as they can: `classic` (UCB-VI with Hoeffding's bonus) assumes a fixed
length, the mean; `UCBVI-γ` and the stationary ε-greedy assume a constant discount with the same mean.
`paper` is the paper's Algorithm 1. The page [Agents](learners.md) describes the others."""

READING = """Numbers are exact total regrets, with Student's 95% interval over seeds, or without an interval
if all seeds agree. Means that differ by at most the certified width of a regret are tied. **Bold** marks
the smallest mean of a column."""


def main() -> None:
    """Run the round robin and write the page."""
    whole = without_duplicates(read_experiment(HERE / "round_robin.toml"))
    short = shortlist(whole, seeds=SCREENING, keep=KEPT)
    paths = {path for cell in whole.cells for path in cell.varied}
    best = tune(short, STORE, over=paths, seeds=TUNING)
    results = RoundRobin.of(play(best), whole)
    introduction = INTRODUCTION.format(
        problems=len(results.problems),
        laws=len(results.comparisons) // len(results.problems),
        episodes=results.episodes,
        seeds=len(results.comparisons[0].seeds),
        screening=len(SCREENING),
        kept=KEPT,
        tuning=len(TUNING),
    )
    parts = [
        "# Round robin",
        paragraph(introduction),
        paragraph(READING),
        f"## Ranks\n\n{ranks(results)}",
        f"## Where the paper's learner loses\n\n{paired_tests(results)}\n\n{furthest_behind(results)}",
        f"## Total regret\n\n{regrets(results)}",
        f"## Unknown rewards\n\n{unknown_rewards(results)}",
        f"## Time\n\n{times(results)}",
        f"## How settings were chosen\n\n{tuning_budgets(whole, len(SCREENING), len(TUNING), KEPT)}",
        choices_at_grid_ends(whole, best),
        f"## Chosen settings\n\n{chosen_settings(results)}",
    ]
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def without_duplicates(experiment: Experiment) -> Experiment:
    """Return the experiment without cells that behave like others: if ε is 0, its decay is irrelevant."""
    last = max(cell.varied["decay"] for cell in experiment.cells if "decay" in cell.varied)
    cells = [c for c in experiment.cells if c.varied.get("epsilon") != 0 or c.varied["decay"] == last]
    return replace(experiment, cells=tuple(cells))


if __name__ == "__main__":
    main()
