"""`sojourn reproduce`: reproduce the paper from end to end."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from sojourn._text import one_line
from sojourn._threads import use_one_thread
from sojourn.cli._errors import FAILED, reading_input
from sojourn.cli._options import Debug, Workers, parse_workers
from sojourn.cli._signals import stopped_by_sigterm
from sojourn.cli.output._numbers import format_duration
from sojourn.cli.output._progress import show_progress
from sojourn.cli.output._run_progress import RunProgress
from sojourn.cli.output._streams import print_json, print_message, print_results

if TYPE_CHECKING:
    from sojourn.reproduction import Reproduction

__all__ = ["EXAMPLES", "reproduce"]

EXAMPLES = (
    "sojourn reproduce --quick",
    "sojourn reproduce",
    "sojourn reproduce theory shape --folder paper",
)


def reproduce(
    parts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PART]...",
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
    if quick:
        print_message("A quick run at a small size: it shows that everything works, but decides no claim.")
    for claim in made.claims:
        print_results(Text(f"{claim.verdict.value:16}{claim.source}: {claim.measured}"))
    seconds = format_duration(time.perf_counter() - started)
    written = f"{len(made.figures) // 2} figures and the report {made.report}, in {seconds}."
    print_results(Text(one_line(written), style="dim"))


def _reproduce(parts: list[str], folder: Path, *, quick: bool, workers: str | None) -> Reproduction:
    """Play the parts, with one progress display at a time."""
    displays: list[RunProgress] = []

    def start_display(name: str) -> RunProgress:
        if displays:
            displays.pop().__exit__(None, None, None)
        displays.append(RunProgress(name, executor.n_workers).__enter__())
        return displays[0]

    with stopped_by_sigterm():
        with show_progress("Loading"), reading_input():
            from sojourn.experiments import ExecutorError, Processes  # noqa: PLC0415
            from sojourn.reproduction import reproduce as play  # noqa: PLC0415

            executor = Processes(workers=parse_workers(workers))
        try:
            with reading_input():
                return play(parts, folder=folder, quick=quick, executor=executor, watching=start_display)
        except (ExecutorError, RuntimeError) as error:
            print_message(str(error), label="Error")
            raise typer.Exit(FAILED) from error
        finally:
            for display in displays:
                display.__exit__(None, None, None)


def _print_json(made: Reproduction) -> None:
    from sojourn.reports import claims_as_json  # noqa: PLC0415

    figures = [str(path) for path in made.figures]
    print_json({"claims": claims_as_json(made.claims), "report": str(made.report), "figures": figures})
