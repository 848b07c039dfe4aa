"""`sojourn report`: results as one page to read and to send."""

from __future__ import annotations

from typing import Annotated

import typer

from sojourn.cli._errors import reading_input
from sojourn.cli._options import Debug, OneExperiment, StoreFolder, Target
from sojourn.cli._targets import check_target
from sojourn.cli.output._console import number, print_json, working, write_line

__all__ = ["EXAMPLES", "report"]

EXAMPLES = ("sojourn report river.results", "sojourn report river.results --to river.html")


def report(
    store: StoreFolder,
    *,
    to: Target = None,
    experiment: OneExperiment = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
    debug: Debug = False,
) -> None:
    """Write a report on all results: figures and tables in one page that loads nothing.

    Learners are compared on each problem and law, over the seeds that all of them have. Experiments that
    settings were chosen by are left out unless one is asked for.
    """
    with working("Reading the results") as work, reading_input():
        path = to if to is not None else store.with_suffix(".html")
        check_target("--to", path, [".html"])
        from sojourn.experiments import load_results  # noqa: PLC0415
        from sojourn.reports import describe_left_out, reported_trials, results_report, write_page  # noqa: PLC0415

        results = load_results(store, experiment=experiment)
        n_trials, left_out = len(reported_trials(results)), describe_left_out(results)
        work.say(f"Writing {path.name}")
        name = [] if experiment is None else ["--experiment", experiment]
        page = results_report(results, command=" ".join(["sojourn report", store.name, *name]))
        write_page(page, path)
    if as_json:
        print_json({"file": str(path), "trials": n_trials})
    else:
        write_line(f"Wrote the report on {number(n_trials)} trials to {path}.")
        if left_out:
            write_line(left_out)
