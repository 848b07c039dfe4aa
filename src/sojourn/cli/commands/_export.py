"""`sojourn export`: one tidy table of all results."""

from __future__ import annotations

from typing import Annotated

import typer

from sojourn.cli._errors import reading_input
from sojourn.cli._options import Debug, OneExperiment, StoreFolder, Target
from sojourn.cli._targets import check_target
from sojourn.cli.output._console import number, print_json, working, write_line

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
    to: Target = None,
    experiment: OneExperiment = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
    debug: Debug = False,
) -> None:
    """Write all results as one table: a row for each trial and recorded episode.

    Regret, reward and steps are summed from the first episode on; grids have a column each.
    """
    with working("Reading the results") as work, reading_input():
        if parquet == csv:
            raise ValueError("One of --parquet and --csv must be given.")
        ending = ".parquet" if parquet else ".csv"
        path = to if to is not None else store.with_suffix(ending)
        check_target("--to", path, [ending])
        from sojourn.experiments import export_csv, export_parquet, load_results  # noqa: PLC0415

        results = load_results(store, experiment=experiment)
        work.say(f"Writing {path.name}")
        n_rows = (export_parquet if parquet else export_csv)(results, path, progress=work.share)
    if as_json:
        print_json({"file": str(path), "rows": n_rows, "trials": len(results)})
    else:
        write_line(f"Wrote {number(n_rows)} rows of {number(len(results))} trials to {path}.")
