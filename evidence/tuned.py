"""Run an experiment with every learner at its own best settings, and write what came of it as Markdown."""

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
TUNING = range(1_000, 1_003)


def compare_tuned(
    spec: str,
    *,
    over: Iterable[str] = ("bonus.scale",),
    seeds: Iterable[int] = TUNING,
    text: str | None = None,
) -> list[sj.Comparison]:
    """Choose settings on some seeds, play the experiment's own, and compare the learners on each problem.

    The experiment is a file beside this one, or `text`. Trials are kept in `build/evidence`, so that a second
    run finds them.
    """
    file = HERE / f"{spec}.toml"
    if text is not None:
        file = STORE.parent / f"{spec}.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    best = tune(read_experiment(file), STORE, over=over, seeds=seeds, watch=report(f"{spec}, choosing"))
    return play(best)


def play(experiment: Experiment) -> list[sj.Comparison]:
    """Play an experiment, and compare the learners on each problem and law."""
    return _played(experiment).comparisons()


def _played(experiment: Experiment) -> Results:
    done = run_experiment(experiment, STORE, watch=report(experiment.name))
    if done.failures:
        raise SystemExit(f"{len(done.failures)} trials failed, first {done.failures[0].name}.")
    return load_results(STORE, experiment=experiment.name)


def shortlist(experiment: Experiment, *, seeds: Iterable[int], keep: int) -> Experiment:
    """Return the experiment with the best few points of each learner's grids on each problem and law.

    They are those with the smallest mean total regret on these seeds, which are for that alone.
    """
    chosen_by = tuple(seeds)
    cells = [
        replace(cell, trials=tuple(replace(cell.trials[0], seed=seed) for seed in chosen_by))
        for cell in experiment.cells
    ]
    name = f"{experiment.name}-shortlist"
    results = _played(replace(experiment, name=name, cells=tuple(cells), seeds=chosen_by))
    found = {trial.key: trial.uncached().cumulative_regret[-1] for trial in results}
    groups: dict[Any, list[tuple[float, int]]] = {}
    for i, cell in enumerate(cells):
        mean = float(np.mean([found[trial.key] for trial in cell.trials]))
        groups.setdefault((cell.settings["problem"], cell.settings["law"], cell.name), []).append((mean, i))
    kept = {i for group in groups.values() for _, i in sorted(group)[:keep]}
    return replace(experiment, cells=tuple(c for i, c in enumerate(experiment.cells) if i in kept))


def paragraph(text: str) -> str:
    """Return a text with lines of at most 110 characters."""
    return textwrap.fill(" ".join(text.split()), 110, break_long_words=False, break_on_hyphens=False)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown, the first column to the left and the others to the right."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def write_part(page: Path, name: str, text: str) -> None:
    """Put a text between the two marks of that name in a page."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, mark, after = rest.partition(end)
    if not mark:
        raise SystemExit(f"{page.name} has no marks {begin} and {end}.")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def report(what: str):  # type: ignore[no-untyped-def]
    """Return a watch that says ten times how far a run has come."""
    state = {"done": 0}

    def watch(stock, outcome) -> None:  # type: ignore[no-untyped-def]
        total = len(stock.missing)
        if outcome is not None:
            state["done"] += 1
        if total and state["done"] % max(1, total // 10) == 0:
            print(f"{what}: {state['done']} of {total} trials", file=sys.stderr, flush=True)

    return watch
