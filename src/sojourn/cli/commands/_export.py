"""`sojourn export`: write all results as one tidy table."""

from __future__ import annotations

from typing import Annotated

import typer

from sojourn.cli._errors import reading_input
from sojourn.cli._options import Debug, ExperimentName, OutputFile, StoreFolder
from sojourn.cli._output_files import check_output_file, file_beside
from sojourn.cli.output._numbers import format_number
from sojourn.cli.output._progress import show_progress
from sojourn.cli.output._streams import print_json, print_message

__all__ = ["EXAMPLES", "export"]

EXAMPLES = (
    "sojourn export river.results --parquet",
    "sojourn export river.results --csv --to table.csv",
)


def export(
    store: StoreFolder,
    *,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write Parquet; needs pyarrow.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Write CSV.")] = False,
    to: OutputFile = None,
    experiment: ExperimentName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    debug: Debug = False,
) -> None:
    """Write all results as one table, with one row per trial and recorded episode.

    Regret, reward and steps are cumulative. Each setting that a grid varies has its own column.
    """
    with show_progress("Reading the results") as task, reading_input():
        if parquet == csv:
            raise ValueError("Exactly one of --parquet and --csv must be given.")
        ending = ".parquet" if parquet else ".csv"
        path = to if to is not None else file_beside(store, ending)
        check_output_file("--to", path, [ending])
        from sojourn.experiments import export_csv, export_parquet, is_export, load_results  # noqa: PLC0415

        if to is None and path.exists() and not is_export(path):
            raise ValueError(f"{path} exists and is not an earlier export; name another file with --to.")
        results = load_results(store, experiment=experiment)
        if not len(results):
            raise ValueError(f"{results.folder} has no results yet; run its experiment first.")
        task.describe(f"Writing {path.name}")
        n_rows = (export_parquet if parquet else export_csv)(results, path, progress=task.set_share)
    n_trials = len({trial.key for trial in results})
    if as_json:
        print_json({"file": str(path), "rows": n_rows, "trials": n_trials})
    else:
        trials = f"{format_number(n_trials)} trial{'s' * (n_trials != 1)}"
        print_message(f"Wrote {format_number(n_rows)} rows of {trials} to {path}.")
