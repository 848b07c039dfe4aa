"""Run experiments with every learner at its own best settings, and write results as Markdown."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import sojourn as sj
from sojourn.experiments import Experiment, Results, load_results, read_experiment, run_experiment, tune

HERE = Path(__file__).parent

STORE = HERE.parent / "build" / "evidence"
"""Folder of the store for all trials."""

TUNING = range(1_000, 1_003)
"""Seeds on which settings are chosen by default."""


def compare_tuned(
    spec: str,
    *,
    over: Iterable[str] = ("bonus.scale",),
    seeds: Iterable[int] = TUNING,
    text: str | None = None,
) -> list[sj.Comparison]:
    """Tune settings on some seeds, run the experiment on its own, and compare the learners on each problem.

    Trials are kept in `build/evidence`; a second run does not repeat them.

    Args:
        spec: Name of the experiment; its spec is a file in this folder unless `text` is given.
        over: Paths of the settings to tune.
        seeds: Seeds for tuning.
        text: Content of the spec.
    """
    file = HERE / f"{spec}.toml"
    if text is not None:
        file = STORE.parent / f"{spec}.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    best = tune(read_experiment(file), STORE, over=over, seeds=seeds, watch=show_progress(f"{spec}, tuning"))
    return play(best)


def play(experiment: Experiment) -> list[sj.Comparison]:
    """Run an experiment and compare the learners on each problem and law."""
    return _run(experiment).comparisons()


def _run(experiment: Experiment) -> Results:
    report = run_experiment(experiment, STORE, watch=show_progress(experiment.name))
    if report.failures:
        raise SystemExit(f"{len(report.failures)} trials failed, first {report.failures[0].name}.")
    return load_results(STORE, experiment=experiment.name)


def shortlist(experiment: Experiment, *, seeds: Iterable[int], keep: int) -> Experiment:
    """Return the experiment with the `keep` best points of each learner's grid, by problem and law.

    The best have the smallest mean total regret on `seeds`, which are used for nothing else.
    """
    screening_seeds = tuple(seeds)
    cells = [
        replace(cell, trials=tuple(replace(cell.trials[0], seed=seed) for seed in screening_seeds))
        for cell in experiment.cells
    ]
    name = f"{experiment.name}-shortlist"
    results = _run(replace(experiment, name=name, cells=tuple(cells), seeds=screening_seeds))
    totals = {trial.key: trial.uncached().cumulative_regret[-1] for trial in results}
    groups: dict[Any, list[tuple[float, int]]] = {}
    for i, cell in enumerate(cells):
        mean = float(np.mean([totals[trial.key] for trial in cell.trials]))
        groups.setdefault((cell.settings["problem"], cell.settings["law"], cell.name), []).append((mean, i))
    kept = {i for group in groups.values() for _, i in sorted(group)[:keep]}
    return replace(experiment, cells=tuple(c for i, c in enumerate(experiment.cells) if i in kept))


def paragraph(text: str) -> str:
    """Return text wrapped to lines of at most 110 characters."""
    return textwrap.fill(" ".join(text.split()), 110, break_long_words=False, break_on_hyphens=False)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; the first column is left-aligned and the others are right-aligned."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def write_part(page: Path, name: str, text: str) -> None:
    """Replace the text between the begin and end markers of a name in a page."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, marker, after = rest.partition(end)
    if not marker:
        raise SystemExit(f"{page.name} has no markers {begin} and {end}.")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def show_progress(name: str):  # type: ignore[no-untyped-def]
    """Return a progress callback that prints about ten lines per run to stderr."""
    state = {"done": 0}

    def watch(inventory, outcome) -> None:  # type: ignore[no-untyped-def]
        total = len(inventory.missing)
        if outcome is not None:
            state["done"] += 1
        if total and state["done"] % max(1, total // 10) == 0:
            print(f"{name}: {state['done']} of {total} trials", file=sys.stderr, flush=True)

    return watch
