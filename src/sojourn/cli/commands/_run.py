"""`sojourn run`: run an experiment from a TOML file."""

from __future__ import annotations

import time
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from sojourn._text import one_line
from sojourn._threads import use_one_thread
from sojourn.cli._errors import FAILED, reading_input
from sojourn.cli._options import Debug, Workers, parse_whole, parse_workers
from sojourn.cli.output._numbers import format_duration, format_number
from sojourn.cli.output._progress import show_progress
from sojourn.cli.output._run_progress import RunProgress
from sojourn.cli.output._streams import print_json, print_message, print_results, print_text
from sojourn.cli.output._tables import labeled_texts

if TYPE_CHECKING:
    from sojourn.experiments import Executor, Experiment, Inventory, Report, Store

__all__ = ["EXAMPLES", "run"]

EXAMPLES = (
    "sojourn run --example river_swim > river.toml",
    "sojourn run river.toml --dry-run",
    "sojourn run river.toml",
    "sojourn run river.toml --on ray --address 10.0.0.1:6379",
)

_MAX_FAILURES = 20
_MAX_SEEDS = 10


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
        typer.Option(
            metavar="DIR", help="The folder for results.", show_default="the name of SPEC with .results"
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Play nothing; show the number of trials and the time they take."),
    ] = False,
    on: Annotated[
        Place,
        typer.Option("--on", help="Where to play: processes of this machine, this process (here), or ray."),
    ] = Place.processes,
    workers: Workers = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="The head of a Ray cluster.",
            show_default="a new one on this machine",
        ),
    ] = None,
    retries: Annotated[
        str, typer.Option(metavar="N", help="Number of times that a failed trial is tried again.")
    ] = "2",
    example: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Print an example experiment; see 'sojourn list specs'."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    debug: Debug = False,
) -> None:
    """Run an experiment; the same command resumes it after an interruption.

    Finished trials are never lost, whatever ends the run. The results are the same bytes for any number of
    workers and any place where they run.
    """
    with reading_input():
        if example is not None:
            from sojourn.experiments import read_example  # noqa: PLC0415

            print_text(read_example(example))
            return
        if spec is None:
            raise ValueError("SPEC is missing; 'sojourn run --example river_swim' prints an example.")
    use_one_thread()
    with show_progress("Reading the experiment"), reading_input():
        from sojourn.experiments import Store, read_experiment  # noqa: PLC0415

        executor = _executor(on, workers, address, retries)
        experiment = read_experiment(spec)
        results = Store(store if store is not None else spec.with_suffix(".results"))
        results.check_can_open()
    if dry_run:
        _dry_run(experiment, results, executor, as_json=as_json)
    else:
        _run(experiment, results, executor, as_json=as_json)


def _executor(on: Place, workers: str | None, address: str | None, retries: str) -> Executor:
    from sojourn.experiments import Processes, Ray, ThisProcess  # noqa: PLC0415

    n_retries, n_workers = parse_whole("--retries", retries, least=0), parse_workers(workers)
    if address is not None and on is not Place.ray:
        raise ValueError("--address goes with '--on ray'; it was given without.")
    if on is Place.here:
        if n_workers not in (None, 1):
            raise ValueError(f"--workers must be 1 with '--on here'; got {n_workers}.")
        return ThisProcess(retries=n_retries)
    if on is Place.ray:
        return Ray(address=address, retries=n_retries, workers=n_workers)
    return Processes(workers=n_workers, retries=n_retries)


def _run(experiment: Experiment, store: Store, executor: Executor, *, as_json: bool) -> None:
    """Run the missing trials and print the outcome."""
    print_warning = partial(print_message, label="Warning")
    from sojourn.experiments import ExecutorError, run_experiment  # noqa: PLC0415

    started = time.perf_counter()
    try:
        with RunProgress(experiment.name, executor.n_workers) as progress:
            report = run_experiment(
                experiment, store, executor=executor, watch=progress, on_note=print_warning
            )
    except ExecutorError as error:
        print_message(str(error), label="Error")
        raise typer.Exit(FAILED) from error
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        kept = "Finished trials are kept; 'sojourn verify' checks them."
        print_message(f"{store.folder}: {error.strerror or error}{where}. {kept}", label="Error")
        raise typer.Exit(FAILED) from error
    seconds = time.perf_counter() - started
    _print_failures(report)
    if as_json:
        print_json(_data(experiment, store, report, seconds))
    else:
        _print_outcome(store, report, seconds)
    if report.failures:
        raise typer.Exit(FAILED)


def _print_failures(report: Report) -> None:
    """Print one line for all trials that differ only in the seed and failed for the same reason."""
    seeds_by_failure: dict[tuple[str, str, int], list[int]] = {}
    for failure in report.failures:
        key = (failure.where, failure.reason, failure.tries)
        seeds_by_failure.setdefault(key, []).append(failure.trial.seed)
    lines = [
        f"Failed {tries} times: {where}, {_list_seeds(seeds)}: {reason}"
        for (where, reason, tries), seeds in seeds_by_failure.items()
    ]
    for line in lines[:_MAX_FAILURES]:
        print_message(line, label="Error")
    if len(lines) > _MAX_FAILURES:
        print_message(f"… and {len(lines) - _MAX_FAILURES:,} more like these.", label="Error")


def _list_seeds(seeds: list[int]) -> str:
    first = ", ".join(map(str, sorted(seeds)[:_MAX_SEEDS]))
    more = f" and {len(seeds) - _MAX_SEEDS:,} more" if len(seeds) > _MAX_SEEDS else ""
    return f"seed{'s' * (len(seeds) > 1)} {first}{more}"


def _print_outcome(store: Store, report: Report, seconds: float) -> None:
    if report.played == report.elsewhere == 0 and not report.failures:
        text = f"Nothing to do: all {report.total:,} trials are done."
    else:
        text = f"{report.played:,} trial{'s' * (report.played != 1)} played in {format_duration(seconds)}"
        text += f", {report.reused:,} were already done" if report.reused else ""
        text += f", {report.elsewhere:,} were played by another run" if report.elsewhere else ""
        text += f", {len(report.failures):,} failed" if report.failures else ""
        text += "."
    print_results(Text(text), Text(one_line(f"Results are in {store.folder}."), style="dim"))


def _data(experiment: Experiment, store: Store, report: Report, seconds: float) -> dict[str, Any]:
    """Return the outcome of a run as plain data, for JSON."""
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


def _dry_run(experiment: Experiment, store: Store, executor: Executor, *, as_json: bool) -> None:
    """Print the number of trials that are done and missing, and the estimated time."""
    from sojourn.experiments import describe_long_run, forecast, take_inventory  # noqa: PLC0415

    with show_progress("Reading the store"), reading_input():
        inventory = take_inventory(experiment, store)
    note = describe_long_run(inventory, executor.n_workers)
    if note:
        print_message(note, label="Note")
    with show_progress("Estimating the time per trial") as task:
        seconds = forecast(inventory, store, executor.n_workers, progress=task.set_share)
    if as_json:
        print_json(
            {
                "experiment": experiment.name,
                "store": str(store.folder),
                "trials": len(inventory.trials),
                "done": len(inventory.done),
                "damaged": len(inventory.damaged),
                "cells": len(experiment.cells),
                "combinations": len(experiment.cells),  # the name of "cells" in version 0.1
                "seeds": len(experiment.seeds),
                "seconds": seconds,
            }
        )
        return
    rows = _dry_run_rows(experiment, store, inventory, executor, seconds)
    print_results(Text(one_line(experiment.name), style="bold cyan"), "", labeled_texts(rows))


def _dry_run_rows(
    experiment: Experiment, store: Store, inventory: Inventory, executor: Executor, seconds: float
) -> list[tuple[str, str]]:
    """Return the labels and texts of a dry run."""
    grid = f"{format_number(len(experiment.cells))} cells × {format_number(len(experiment.seeds))} seeds"
    rows = [("trials", f"{format_number(len(inventory.trials))} ({grid})")]
    n_repeated = experiment.n_trials - len(inventory.trials)
    if n_repeated > 0:
        rows.append(("", f"{format_number(n_repeated)} more are the same as others and are played once"))
    rows.append(("done", format_number(len(inventory.done))))
    if inventory.damaged:
        rows.append(("damaged", f"{format_number(len(inventory.damaged))}, to be played again"))
    missing = "none"
    if inventory.missing:
        n_missing = format_number(len(inventory.missing))
        missing = f"{n_missing}, about {format_duration(seconds)}, {executor.n_workers} at a time"
    rows.append(("missing", missing))
    first = experiment.cells[0].settings
    record = first["record"]
    episodes = "every episode"
    if not isinstance(record, str) and "checkpoints" in record:
        episodes = f"{format_number(record['checkpoints'])} checkpoints"
    rows.append(("recorded", f"{episodes} of {format_number(first['episodes'])}"))
    if not isinstance(record, str) and "regret_episodes" in record:
        rows.append(("regret", f"estimated from {format_number(record['regret_episodes'])} episodes"))
    rows.append(("store", str(store.folder)))
    return rows
