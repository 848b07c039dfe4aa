"""Report on the results of a store."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

from sojourn._text import UniqueNames, one_line
from sojourn.experiments import Results, TrialResult
from sojourn.laws import label
from sojourn.learning import TABLE_HEADER, Comparison
from sojourn.plots import comparison_figure
from sojourn.reports._chapter import Chapter, Picture, ReportTable, chapter_context
from sojourn.reports._findings import describe_best, describe_winners
from sojourn.reports._page import is_page_of_kind, render

__all__ = ["describe_left_out", "is_results_report", "reported_trials", "results_report"]

_MOST_LETTERS = 200  # of the name of an experiment
_MOST_CHAPTERS = 200
_MOST_AGENTS = 200  # of one comparison
_KIND = "Results"


def results_report(results: Results, *, command: str) -> str:
    """Return a report on the results of a store as one self-contained HTML page.

    For each experiment, problem and law it shows the learners' regret in a figure and a table. Tuning
    experiments are left out, and the page says how many, unless there are no others.

    Args:
        results: Result of `load_results`.
        command: Command that repeats the report.

    Raises:
        ValueError: If the store has no results yet.
    """
    if not len(results):
        raise ValueError(f"{results.folder} has no results yet; run its experiment first.")
    comparable = results.comparable()
    shown = reported_trials(comparable)
    names = list(dict.fromkeys(trial.experiment for trial in shown))
    laws = UniqueNames()  # different laws with the same label are numbered, as in `Results.table`
    found = ((name, case) for name in names for case in comparable.select(experiment=name).comparisons())
    cases = list(itertools.islice(found, _MOST_CHAPTERS))
    is_cut = next(found, None) is not None
    chapters = [
        _chapter(
            one_line(name, _MOST_LETTERS),
            case,
            laws.name(label(case.law), repr(case.law)),
            is_alone=len(cases) == 1,
        )
        for name, case in cases
    ]
    n_played = len({trial.key for trial in shown})
    n_trials = f"{n_played:,} trial{'s' * (n_played > 1)}"
    counts = f"{n_trials} of {len(names):,} experiment{'s' * (len(names) > 1)}. {_describe_repeats(shown)}"
    counts = f"{counts}{describe_left_out(results)}"
    if is_cut:
        counts = (
            f"{counts.rstrip()} Only the first {_MOST_CHAPTERS} comparisons are shown; --experiment NAME "
            "shows those of one experiment."
        )
    return render(
        "results.html",
        kind=_KIND,
        title=one_line(results.folder.name),
        summary=describe_winners([case for _, case in cases]),
        counts=" ".join([counts.rstrip(), *comparable.gaps]),
        **chapter_context(chapters, command=command),
    )


def is_results_report(path: Path) -> bool:
    """Whether a file is a page of `results_report`: then nothing is lost if it is replaced."""
    return is_page_of_kind(path, _KIND)


def _describe_repeats(shown: list[TrialResult]) -> str:
    n_repeats = len(shown) - len({trial.key for trial in shown})
    if not n_repeats:
        return ""
    return f"{n_repeats:,} more {'is' if n_repeats == 1 else 'are'} the same as others and played once. "


def reported_trials(results: Results) -> list[TrialResult]:
    """Return the trials that a report shows: those of tuning experiments only if there are no others."""
    return [trial for trial in results if trial.purpose != "tuning"] or list(results)


def describe_left_out(results: Results) -> str:
    """Return a sentence on the experiments that a report leaves out, or "" if it shows all."""
    n = len(
        {trial.experiment for trial in results} - {trial.experiment for trial in reported_trials(results)}
    )
    if not n:
        return ""
    left_out = "1 tuning experiment is" if n == 1 else f"{n:,} tuning experiments are"
    return f"{left_out} left out; --experiment NAME shows one."


def _of_first_agents(comparison: Comparison, n: int) -> Comparison:
    """Return the comparison of the first n agents."""
    error = comparison.regret_error
    return replace(
        comparison,
        names=comparison.names[:n],
        agents=comparison.agents[:n],
        cumulative_regret=comparison.cumulative_regret[:n],
        regret_width=comparison.regret_width[:n],
        rewards=comparison.rewards[:n],
        regret_error=None if error is None else error[:n],
    )


def _chapter(name: str, comparison: Comparison, law: str, *, is_alone: bool) -> Chapter:
    """Return the chapter of a comparison; one that is alone does not repeat what the page begins with."""
    seeds = f"{len(comparison.seeds):,} seed{'s' * (len(comparison.seeds) > 1)}"
    played = f"Lengths from {law}, {comparison.episodes:,} episodes, {seeds}."
    if len(comparison.names) > _MOST_AGENTS:
        played += f" Only the first {_MOST_AGENTS} of {len(comparison.names):,} agents are shown."
        comparison = _of_first_agents(comparison, _MOST_AGENTS)
    text = played if is_alone else f"{describe_best(comparison)} {played}"
    picture = Picture(name, f"Cumulative regret on {comparison.problem}.", comparison_figure(comparison))
    table = ReportTable(" ".join(comparison.notes()), TABLE_HEADER, comparison.rows())
    return Chapter(name, f"{name}: {comparison.problem}, {law}", text, (picture,), (table,))
