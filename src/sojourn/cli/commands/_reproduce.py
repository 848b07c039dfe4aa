"""`sojourn reproduce`: reproduce the paper from end to end."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from sojourn._text import one_line
from sojourn._threads import use_one_thread
from sojourn.cli._errors import FAILED, reading_input
from sojourn.cli._options import Debug, Workers, parse_workers
from sojourn.cli.output._numbers import format_duration
from sojourn.cli.output._progress import show_progress
from sojourn.cli.output._run_progress import RunProgress
from sojourn.cli.output._streams import print_json, print_message, print_results

if TYPE_CHECKING:
    from sojourn.experiments import Inventory, Outcome
    from sojourn.reproduction import Reproduction, Watch

__all__ = ["EXAMPLES", "PART_WEIGHTS", "OverallProgress", "print_claims", "reproduce"]

EXAMPLES = (
    "sojourn reproduce --quick",
    "sojourn reproduce",
    "sojourn reproduce theory shape --folder paper",
)

_MOST_LETTERS = 60
"""Largest number of letters of a claim that are printed."""

PART_WEIGHTS = {"figure1": 12, "figure1-tuned": 17, "theory": 20, "unknown": 9, "price": 2, "shape": 40}
"""Rough shares of the time of a full run, in percent; only the estimate of the time left depends on them."""

_MARKS = {"good": ("✓", "green"), "mixed": ("~", "yellow"), "bad": ("✗", "red"), "open": ("?", "magenta")}


def reproduce(
    parts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PART",
            help="figure1, figure1-tuned, theory, unknown, price, shape.",
            show_default="all parts",
        ),
    ] = None,
    *,
    folder: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder for results, figures and the report.")
    ] = Path("reproduction"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Run everything at a small size, in a minute or two.")
    ] = False,
    workers: Workers = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the claims and their verdicts as JSON.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Reproduce the paper: results, figures, and a report on which of its claims hold.

    Finished trials are not played again: the same command resumes after an interruption.
    """
    use_one_thread()
    started = time.perf_counter()
    made = _reproduce(parts or [], folder, quick=quick, workers=workers)
    if as_json:
        _print_json(made)
        return
    print_claims(made, quick=quick)
    seconds = format_duration(time.perf_counter() - started)
    written = f"{len(made.figures) // 2} figures and the report {made.report}, in {seconds}."
    print_results(Text(one_line(written), style="dim"))


def print_claims(made: Reproduction, *, quick: bool) -> None:
    """Print one line per claim with its verdict, and the counts; a quick run decides nothing."""
    from sojourn.reports import VERDICT_TONES, count_verdicts  # noqa: PLC0415

    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(3):
        table.add_column(overflow="fold")
    for claim in made.claims:
        mark, style = ("·", "dim") if quick else _MARKS[VERDICT_TONES[claim.verdict]]
        verdict = Text(f"{mark} {'quick run' if quick else claim.verdict.value}", style=style)
        table.add_row(verdict, claim.source, one_line(claim.text, most=_MOST_LETTERS))
    print_results(table)
    if quick:
        counts = f"{len(made.claims)} claims. A quick run shows that everything works, but decides no claim."
    else:
        counts = count_verdicts(made.claims)
    print_results("", Text(counts, style="bold"))


def _reproduce(parts: list[str], folder: Path, *, quick: bool, workers: str | None) -> Reproduction:
    """Play the parts, with one progress display at a time."""
    with _Display(parts) as display:
        with show_progress("Loading"), reading_input():
            from sojourn.experiments import ExecutorError, Processes  # noqa: PLC0415
            from sojourn.reproduction import reproduce as play  # noqa: PLC0415

            executor = Processes(workers=parse_workers(workers))
        display.n_workers = executor.n_workers
        try:
            with reading_input():
                return play(
                    parts,
                    folder=folder,
                    quick=quick,
                    executor=executor,
                    watching=display.start_experiment,
                    on_part=display.start_part,
                )
        except (ExecutorError, RuntimeError) as error:
            display.close()
            print_message(str(error), label="Error")
            raise typer.Exit(FAILED) from error


class OverallProgress:
    """Estimates the time left for all parts, from the time that finished parts took and rough weights.

    Args:
        parts: Names of the parts that are made; all if there are none.
    """

    def __init__(self, parts: Sequence[str]) -> None:
        self._ahead = {name: weight for name, weight in PART_WEIGHTS.items() if not parts or name in parts}
        self._total = sum(self._ahead.values())
        self._part: str | None = None
        self._since = self._seconds = self._played = 0.0
        self._n_trials = self._n_missing = 0

    def count(self, inventory: Inventory) -> None:
        """Count the trials of an experiment of the current part."""
        self._n_trials += len(inventory.trials)
        self._n_missing += len(inventory.missing)

    def start(self, name: str, now: float) -> str:
        """Begin a part; return how much of the whole is done and about how long the rest takes, if known.

        Parts whose trials were stored by an earlier run took no time and do not count.
        """
        if self._part is not None:
            weight = self._ahead.pop(self._part, 0)
            share = self._n_missing / self._n_trials if self._n_trials else 1.0
            self._played += share * weight
            self._seconds += now - self._since if share else 0.0
        self._part, self._since, self._n_trials, self._n_missing = name, now, 0, 0
        left = sum(self._ahead.values())
        if not self._played or not left:
            return ""
        time_left = format_duration(self._seconds / self._played * left)
        return f" ({100 * (self._total - left) // self._total}% done, about {time_left} left)"


class _Display(contextlib.ExitStack):
    """Shows which part is being made, and the trials of its experiments while they are played."""

    n_workers = 1
    _part = ""

    def __init__(self, parts: Sequence[str]) -> None:
        super().__init__()
        self._overall = OverallProgress(parts)

    def start_part(self, name: str, number: int, n_parts: int) -> None:
        """Show the name and number of a part, and the time left, until its first experiment starts."""
        self._part = f"Part {number} of {n_parts}{self._overall.start(name, time.monotonic())}, {name}"
        self._show_work()

    def _show_work(self) -> None:
        self.close()
        self.enter_context(show_progress(f"{self._part}: computing"))

    def start_experiment(self, name: str) -> Watch:
        """Show the trials of an experiment; after the last one, show the part again."""
        self.close()
        shown = self.enter_context(RunProgress(f"{self._part}: {name}", self.n_workers))

        def watch(inventory: Inventory, outcome: Outcome | None) -> None:
            if outcome is None:
                self._overall.count(inventory)
            shown(inventory, outcome)
            if shown.is_done:
                self._show_work()

        return watch


def _print_json(made: Reproduction) -> None:
    from sojourn.reports import claims_as_json  # noqa: PLC0415

    figures = [str(path) for path in made.figures]
    print_json({"claims": claims_as_json(made.claims), "report": str(made.report), "figures": figures})
