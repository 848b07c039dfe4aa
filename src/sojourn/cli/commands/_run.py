"""`sojourn run`: an experiment from one file."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from sojourn._threads import use_one_thread
from sojourn.cli._errors import FAILED, reading_input
from sojourn.cli._options import Debug, whole
from sojourn.cli.output._console import facts, number, print_json, show, working, write_line
from sojourn.cli.output._progress import Watch, duration

if TYPE_CHECKING:
    from sojourn.experiments import Executor, Experiment, Inventory, Report, Store

__all__ = ["EXAMPLES", "run", "stopped_by_sigterm"]

EXAMPLES = (
    "sojourn run --example river_swim > river.toml",
    "sojourn run river.toml --dry-run",
    "sojourn run river.toml",
    "sojourn run river.toml --on ray --address 10.0.0.1:6379",
)

TERMINATED = 143
_MOST_NAMED = 20
_MOST_SEEDS = 10


class Place(StrEnum):
    """Where trials are played."""

    processes = "processes"
    here = "here"
    ray = "ray"


def run(
    spec: Annotated[
        Path | None, typer.Argument(metavar="SPEC", help="The experiment, a TOML file.", show_default=False)
    ] = None,
    *,
    store: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where results are kept.", show_default="SPEC's name with .results"),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say how many trials there are, are done, and how long it takes."),
    ] = False,
    on: Annotated[
        Place, typer.Option("--on", help="Where trials are played: processes of this machine, here, or ray.")
    ] = Place.processes,
    workers: Annotated[
        str | None, typer.Option(metavar="N", help="How many at a time.", show_default="one a processor")
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="The Ray cluster's head.",
            show_default="one of its own, on this machine",
        ),
    ] = None,
    retries: Annotated[
        str, typer.Option(metavar="N", help="How often a trial that failed is tried again.")
    ] = "2",
    example: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Print an experiment to start from; see 'sojourn list specs'."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what came of it as JSON.")] = False,
    debug: Debug = False,
) -> None:
    """Run an experiment; the same command goes on where the last one stopped.

    Nothing that was computed is lost, whatever ends the run. The results are the same bytes however many
    workers there are and wherever they are.
    """
    with reading_input():
        if example is not None:
            from sojourn.experiments import read_example  # noqa: PLC0415

            typer.echo(read_example(example), nl=False)
            return
        if spec is None:
            raise ValueError("SPEC is missing; 'sojourn run --example river_swim' prints one to start from.")
    use_one_thread()
    with stopped_by_sigterm():
        with working("Reading the experiment"), reading_input():
            from sojourn.experiments import Store, read_experiment  # noqa: PLC0415

            executor = _executor(on, workers, address, retries)
            experiment = read_experiment(spec)
            kept = Store(store if store is not None else spec.with_suffix(".results"))
            kept.check_can_open()
        if dry_run:
            _foresee(experiment, kept, executor, as_json=as_json)
        else:
            _run(experiment, kept, executor, as_json=as_json)


def _executor(on: Place, workers: str | None, address: str | None, retries: str) -> Executor:
    from sojourn.experiments import Processes, Ray, ThisProcess  # noqa: PLC0415

    again = whole("--retries", retries, least=0)
    n_workers = None if workers is None else whole("--workers", workers, least=1)
    if address is not None and on is not Place.ray:
        raise ValueError("--address goes with '--on ray'; it was given without.")
    if on is Place.here:
        if n_workers not in (None, 1):
            raise ValueError(f"--workers must be 1 with '--on here'; got {n_workers}.")
        return ThisProcess(retries=again)
    if on is Place.ray:
        return Ray(address=address, retries=again, workers=n_workers)
    return Processes(workers=n_workers, retries=again)


class _Terminated(SystemExit):
    """The end that SIGTERM asks for: not one of the user's own code, which is only a failure."""


@contextlib.contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """Have SIGTERM end the run as an exception does: workers are stopped, nothing is left half-written."""

    def stop(*_: Any) -> None:
        raise _Terminated(TERMINATED)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(experiment: Experiment, store: Store, executor: Executor, *, as_json: bool) -> None:
    from sojourn.experiments import ExecutorError, run_experiment  # noqa: PLC0415

    begun = time.perf_counter()
    try:
        with Watch(experiment.name) as watch:
            report = run_experiment(experiment, store, executor=executor, watch=watch)
    except ExecutorError as error:
        write_line(str(error), label="Error")
        raise typer.Exit(FAILED) from error
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        write_line(
            f"{store.folder}: {error.strerror or error}{where}. What was kept is sound.", label="Error"
        )
        raise typer.Exit(FAILED) from error
    seconds = time.perf_counter() - begun
    for note in report.notes:
        write_line(note, label="Warning")
    lines = _failures(report)
    for line in lines[:_MOST_NAMED]:
        write_line(line, label="Error")
    if len(lines) > _MOST_NAMED:
        write_line(f"… and {len(lines) - _MOST_NAMED:,} more like these.", label="Error")
    if as_json:
        print_json(_data(experiment, store, report, seconds))
    else:
        _say(store, report, seconds)
    if report.failures:
        raise typer.Exit(FAILED)


def _failures(report: Report) -> list[str]:
    """Return a line for all trials that differ in nothing but the seed and failed for the same reason."""
    alike: dict[tuple[str, str, int], list[int]] = {}
    for failure in report.failures:
        alike.setdefault((failure.where, failure.reason, failure.tries), []).append(failure.trial.seed)
    return [
        f"Failed {tries} times: {where}, {_seeds(seeds)}: {reason}"
        for (where, reason, tries), seeds in alike.items()
    ]


def _seeds(seeds: list[int]) -> str:
    listed = ", ".join(map(str, sorted(seeds)[:_MOST_SEEDS]))
    more = f" and {len(seeds) - _MOST_SEEDS:,} more" if len(seeds) > _MOST_SEEDS else ""
    return f"seed{'s' * (len(seeds) > 1)} {listed}{more}"


def _say(store: Store, report: Report, seconds: float) -> None:
    if report.played == report.elsewhere == 0 and not report.failures:
        text = f"Nothing to do: all {report.total:,} trials are there."
    else:
        text = f"{report.played:,} trials played in {duration(seconds)}"
        text += f", {report.reused:,} were there" if report.reused else ""
        text += f", {report.elsewhere:,} were played by another run" if report.elsewhere else ""
        text += f", {len(report.failures):,} failed" if report.failures else ""
        text += "."
    show(Text(text), Text(f"Results are in {store.folder}.", style="dim"))


def _data(experiment: Experiment, store: Store, report: Report, seconds: float) -> dict[str, Any]:
    failures = [
        {"trial": f.trial.key, "name": f.name, "reason": f.reason, "tries": f.tries} for f in report.failures
    ]
    return {
        "experiment": experiment.name,
        "store": str(store.folder),
        "trials": report.total,
        "reused": report.reused,
        "played": report.played,
        "elsewhere": report.elsewhere,
        "failed": failures,
        "notes": list(report.notes),
        "seconds": round(seconds, 3),
    }


def _foresee(experiment: Experiment, store: Store, executor: Executor, *, as_json: bool) -> None:
    from sojourn.experiments import forecast, take_inventory  # noqa: PLC0415

    with working("Looking at what there is"):
        stock = take_inventory(experiment, store)
    with working("Trying how long a trial takes") as work:
        rest = forecast(stock, store, executor.n_workers, progress=work.share)
    if as_json:
        print_json(
            {
                "experiment": experiment.name,
                "store": str(store.folder),
                "trials": len(stock.trials),
                "done": len(stock.done),
                "damaged": len(stock.damaged),
                "combinations": len(experiment.cells),
                "seeds": len(experiment.seeds),
                "seconds": rest,
            }
        )
        return
    show(Text(experiment.name, style="bold cyan"), "", facts(_rows(experiment, store, stock, executor, rest)))


def _rows(
    experiment: Experiment, store: Store, stock: Inventory, executor: Executor, rest: float
) -> list[tuple[str, str]]:
    asked = f"{number(len(experiment.cells))} combinations × {number(len(experiment.seeds))} seeds"
    rows = [("trials", f"{number(len(stock.trials))} ({asked})")]
    if len(stock.trials) < experiment.n_trials:
        same = experiment.n_trials - len(stock.trials)
        rows.append(("", f"{number(same)} more are the same as others, and played once"))
    rows.append(("done", number(len(stock.done))))
    if stock.damaged:
        rows.append(("damaged", f"{number(len(stock.damaged))}, to be played again"))
    n_left = len(stock.missing)
    at_a_time = f", {executor.n_workers} at a time" if n_left else ""
    rows.append(("left", f"{number(n_left)}, about {duration(rest)}{at_a_time}" if n_left else "nothing"))
    first = experiment.cells[0].settings
    kept = first["record"]
    kept = "every episode" if isinstance(kept, str) else f"{number(kept['checkpoints'])} checkpoints"
    rows.append(("recorded", f"{kept} of {number(first['episodes'])}"))
    rows.append(("store", str(store.folder)))
    return rows
