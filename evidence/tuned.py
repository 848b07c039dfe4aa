"""Run experiments with every learner at its own best settings, and write results as Markdown."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

import sojourn as sj
from sojourn.experiments import load_results, read_experiment, run_experiment, tune

HERE = Path(__file__).parent

STORE = HERE.parent / "build" / "evidence"
"""Folder of the store for all trials."""

TUNING = range(1_000, 1_003)
"""Seeds on which settings are chosen."""


def compare_tuned(spec: str) -> list[sj.Comparison]:
    """Tune the bonus scale on some seeds, run the experiment on its own, and compare the learners.

    Trials are kept in `build/evidence`; a second run does not repeat them.

    Args:
        spec: Name of the experiment, whose spec is a file in this folder.
    """
    watch = show_progress(f"{spec}, tuning")
    best = tune(
        read_experiment(HERE / f"{spec}.toml"), STORE, over=["bonus.scale"], seeds=TUNING, watch=watch
    )
    report = run_experiment(best, STORE, watch=show_progress(best.name))
    if report.failures:
        raise SystemExit(f"{len(report.failures)} trials failed, first {report.failures[0].name}.")
    return load_results(STORE, experiment=best.name).comparisons()


def paragraph(text: str) -> str:
    """Return text wrapped to lines of at most 110 characters."""
    return textwrap.fill(" ".join(text.split()), 110, break_long_words=False, break_on_hyphens=False)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; columns with words are left-aligned, those of numbers right-aligned."""
    rows = list(rows)
    is_text = [any(cell[:1].isalpha() for cell in column) for column in zip(*rows, strict=True)]
    rule = ["---" if i == 0 or left else "---:" for i, left in enumerate(is_text)]
    return "\n".join(
        ["| " + " | ".join(header) + " |", "|" + "|".join(rule) + "|"]
        + ["| " + " | ".join(row) + " |" for row in rows]
    )


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
