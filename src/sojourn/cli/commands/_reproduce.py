"""`sojourn reproduce`: the paper, end to end."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from sojourn._threads import use_one_thread
from sojourn.cli._errors import FAILED, reading_input
from sojourn.cli._options import Debug, whole
from sojourn.cli.commands._run import stopped_by_sigterm
from sojourn.cli.output._console import print_json, show, working, write_line
from sojourn.cli.output._progress import Watch, duration

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
            show_default="all of them",
        ),
    ] = None,
    *,
    folder: Annotated[
        Path, typer.Option(metavar="DIR", help="Where results, figures and the report go.")
    ] = Path("reproduction"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Show everything in small, in a minute or two.")
    ] = False,
    workers: Annotated[
        str | None,
        typer.Option(metavar="N", help="How many trials at a time.", show_default="one a processor"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the claims and what became of them as JSON.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Reproduce the paper: results, figures, and a report of what holds of it.

    What was played before is not played again: the same command goes on where it stopped.
    """
    use_one_thread()
    begun = time.perf_counter()
    with stopped_by_sigterm():
        with working("Loading"), reading_input():
            from sojourn.experiments import ExecutorError, Processes  # noqa: PLC0415
            from sojourn.reproduction import reproduce as play  # noqa: PLC0415

            n_workers = None if workers is None else whole("--workers", workers, least=1)
            executor = Processes(workers=n_workers)
        watches: list[Watch] = []

        def watching(name: str) -> Watch:
            if watches:
                watches.pop().__exit__(None, None, None)
            watches.append(Watch(name).__enter__())
            return watches[0]

        try:
            with reading_input():
                made = play(parts or (), folder=folder, quick=quick, executor=executor, watching=watching)
        except (ExecutorError, RuntimeError) as error:
            write_line(str(error), label="Error")
            raise typer.Exit(FAILED) from error
        finally:
            for watch in watches:
                watch.__exit__(None, None, None)
    claims = [claim for chapter in made.chapters for claim in chapter.claims]
    if as_json:
        told: list[dict[str, Any]] = [
            {"source": c.source, "claim": c.text, "verdict": c.verdict.value, "measured": c.measured}
            for c in claims
        ]
        print_json(
            {"claims": told, "report": str(made.report), "figures": [str(path) for path in made.figures]}
        )
        return
    if quick:
        write_line("A quick run, in small: its verdicts show that everything works, and nothing else.")
    for claim in claims:
        show(Text(f"{claim.verdict.value:8}{claim.source}: {claim.measured}"))
    seconds = duration(time.perf_counter() - begun)
    show(Text(f"{len(made.figures) // 2} figures and the report {made.report}, in {seconds}.", style="dim"))
