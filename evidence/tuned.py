"""Run an experiment with every learner at its own best settings, and write what came of it as Markdown."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import sojourn as sj
from sojourn.experiments import load_results, read_experiment, run_experiment, tune

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
    experiment = read_experiment(file)
    best = tune(experiment, STORE, over=over, seeds=seeds, watch=_report(f"{spec}, choosing"))
    report = run_experiment(best, STORE, watch=_report(f"{spec}, judging"))
    if report.failures:
        raise SystemExit(f"{len(report.failures)} trials failed, first {report.failures[0].name}.")
    return load_results(STORE, experiment=experiment.name).comparisons()


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


def _report(what: str):  # type: ignore[no-untyped-def]
    state = {"done": 0}

    def watch(stock, outcome) -> None:  # type: ignore[no-untyped-def]
        total = len(stock.missing)
        if outcome is not None:
            state["done"] += 1
        if total and state["done"] % max(1, total // 10) == 0:
            print(f"{what}: {state['done']} of {total} trials", file=sys.stderr, flush=True)

    return watch
