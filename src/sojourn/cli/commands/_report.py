"""`sojourn report`: write results as one HTML page."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from sojourn.cli._errors import reading_input
from sojourn.cli._options import Debug, ExperimentName, OutputFile, StoreFolder
from sojourn.cli._output_files import check_output_file, file_beside
from sojourn.cli.output._numbers import format_number
from sojourn.cli.output._progress import show_progress
from sojourn.cli.output._streams import print_json, print_message

__all__ = ["EXAMPLES", "report"]

EXAMPLES = ("sojourn report river.results", "sojourn report river.results --to river.html")


def report(
    store: StoreFolder,
    *,
    to: OutputFile = None,
    experiment: ExperimentName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    debug: Debug = False,
) -> None:
    """Write a report with figures and tables as one self-contained HTML page.

    Agents are compared on each problem and law, over the seeds that all of them have. Experiments that only
    tuned settings are left out unless --experiment names one.
    """
    with show_progress("Reading the results") as task, reading_input():
        path = to if to is not None else file_beside(store, ".html")
        check_output_file("--to", path, [".html"])
        from sojourn.experiments import load_results  # noqa: PLC0415
        from sojourn.reports import (  # noqa: PLC0415
            describe_left_out,
            is_results_report,
            reported_trials,
            results_report,
            write_page,
        )

        if to is None and path.exists() and not is_results_report(path):
            raise ValueError(f"{path} exists and is not an earlier report; name another file with --to.")
        results = load_results(store, experiment=experiment)
        n_trials, left_out = len({one.key for one in reported_trials(results)}), describe_left_out(results)
        task.describe(f"Writing {path.name}")
        name = [] if experiment is None else ["--experiment", experiment]
        page = results_report(results, command=shlex.join(["sojourn", "report", store.name, *name]))
        write_page(page, path)
    if as_json:
        print_json({"file": str(path), "trials": n_trials})
    else:
        trials = f"{format_number(n_trials)} trial{'s' * (n_trials != 1)}"
        print_message(f"Wrote the report on {trials} to {path}.")
        if left_out:
            print_message(left_out)
