"""The report on the results of a store."""

from __future__ import annotations

from sojourn.experiments import Results
from sojourn.laws import label
from sojourn.learning import Comparison
from sojourn.plots import comparison_figure
from sojourn.reports._chapter import Chapter, Picture, Table, chapters_shown
from sojourn.reports._page import render

__all__ = ["results_report"]


def results_report(results: Results, *, command: str) -> str:
    """Return a report on the results of a store as one HTML page that loads nothing.

    For each experiment, problem and law it shows the learners' regret in a figure and a table.

    Args:
        results: What `load_results` returned.
        command: What repeats it.

    Raises:
        ValueError: If there is nothing to compare yet.
    """
    if not len(results):
        raise ValueError(f"{results.folder} has no results yet; run its experiment first.")
    names = list(dict.fromkeys(trial.experiment for trial in results))
    chapters = [
        _chapter(name, comparison)
        for name in names
        for comparison in results.select(experiment=name).comparisons()
    ]
    n_trials = f"{len(results):,} trial{'s' * (len(results) > 1)}"
    return render(
        "results.html",
        kind="Results",
        title=results.folder.name,
        summary=f"{n_trials} of {len(names):,} experiment{'s' * (len(names) > 1)}.",
        **chapters_shown(chapters, command=command),
    )


def _chapter(name: str, comparison: Comparison) -> Chapter:
    seeds = f"{len(comparison.seeds):,} seed{'s' * (len(comparison.seeds) > 1)}"
    law = label(comparison.law)
    text = f"Lengths from {law}, {comparison.episodes:,} episodes, {seeds}."
    picture = Picture(name, f"Cumulative regret on {comparison.problem}.", comparison_figure(comparison))
    columns = (
        comparison.names,
        comparison.total_regret.texts(),
        comparison.difference.texts(),
        comparison.mean_reward.texts(),
    )
    header = ("learner", "total regret", "minus the first's", "reward an episode")
    table = Table("With 95% intervals", header, list(zip(*columns, strict=True)))
    return Chapter(name, f"{name}: {comparison.problem}, {law}", text, (picture,), (table,))
