"""The report on the results of a store."""

from __future__ import annotations

from sojourn.experiments import Results, TrialResult
from sojourn.laws import label
from sojourn.learning import Comparison
from sojourn.plots import comparison_figure
from sojourn.reports._chapter import Chapter, Picture, Table, chapters_shown
from sojourn.reports._page import render

__all__ = ["reported_trials", "results_report", "tell_left_out"]


def results_report(results: Results, *, command: str) -> str:
    """Return a report on the results of a store as one HTML page that loads nothing.

    For each experiment, problem and law it shows the learners' regret in a figure and a table.
    Experiments that settings were chosen by are left out, and counted, unless there are no others.

    Args:
        results: What `load_results` returned.
        command: What repeats it.

    Raises:
        ValueError: If there is nothing to compare yet.
    """
    if not len(results):
        raise ValueError(f"{results.folder} has no results yet; run its experiment first.")
    shown = reported_trials(results)
    names = list(dict.fromkeys(trial.experiment for trial in shown))
    chapters = [
        _chapter(name, comparison)
        for name in names
        for comparison in results.select(experiment=name).comparisons()
    ]
    n_trials = f"{len(shown):,} trial{'s' * (len(shown) > 1)}"
    summary = f"{n_trials} of {len(names):,} experiment{'s' * (len(names) > 1)}. {tell_left_out(results)}"
    return render(
        "results.html",
        kind="Results",
        title=results.folder.name,
        summary=summary.rstrip(),
        **chapters_shown(chapters, command=command),
    )


def reported_trials(results: Results) -> list[TrialResult]:
    """Return the trials that a report shows: those of tuning only if there are no others."""
    return [trial for trial in results if trial.purpose != "tuning"] or list(results)


def tell_left_out(results: Results) -> str:
    """Return how many experiments a report leaves out and how to see one, or nothing if it shows all."""
    n = len(
        {trial.experiment for trial in results} - {trial.experiment for trial in reported_trials(results)}
    )
    if not n:
        return ""
    left = (
        "1 experiment that settings were chosen by is"
        if n == 1
        else f"{n:,} experiments that settings were chosen by are"
    )
    return f"{left} left out; --experiment NAME shows one."


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
