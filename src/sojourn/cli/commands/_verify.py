"""`sojourn verify`: check that every file in a store is intact."""

from __future__ import annotations

from typing import Annotated

import typer

from sojourn.cli._errors import FAILED, reading_input
from sojourn.cli._options import Debug, StoreFolder
from sojourn.cli.output._numbers import format_number
from sojourn.cli.output._progress import show_progress
from sojourn.cli.output._streams import print_json, print_message, print_results
from sojourn.cli.output._tables import labeled_texts

__all__ = ["EXAMPLES", "verify"]

EXAMPLES = ("sojourn verify river.results", "sojourn verify river.results --json")

_MAX_NAMED = 50


def verify(
    store: StoreFolder,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    debug: Debug = False,
) -> None:
    """Read every byte of a store and name the damaged files; nothing is changed.

    'sojourn run' moves damaged files aside and plays their trials again.
    """
    with show_progress("Reading every file") as task, reading_input():
        from sojourn.experiments import verify_store  # noqa: PLC0415

        verdict = verify_store(store, progress=task.set_share)
    if as_json:
        experiments = [
            {"name": name, "trials": expected, "done": done} for name, expected, done in verdict.experiments
        ]
        findings = [{"path": str(finding.path), "what": finding.what} for finding in verdict.findings]
        print_json(
            {
                "store": str(store),
                "trials": verdict.trials,
                "unlisted": verdict.unlisted,
                "experiments": experiments,
                "wrong": findings,
            }
        )
    else:
        rows = [("intact trials", format_number(verdict.trials))]
        rows += [
            (name, f"{format_number(done)} of {format_number(expected)} trials")
            for name, expected, done in verdict.experiments
        ]
        print_results(labeled_texts(rows))
    if verdict.unlisted and verdict.experiments:
        trials = "1 trial is" if verdict.unlisted == 1 else f"{verdict.unlisted:,} trials are"
        print_message(
            f"{trials} of no experiment, as after changing a spec; tables leave them out. If the manifest of "
            "an experiment was lost, run its spec again: it plays none of them again.",
            label="Note",
        )
    for finding in verdict.findings[:_MAX_NAMED]:
        print_message(f"{finding.path}: {finding.what}.", label="Error")
    if len(verdict.findings) > _MAX_NAMED:
        print_message(f"… and {len(verdict.findings) - _MAX_NAMED:,} more.", label="Error")
    if verdict.findings:
        raise typer.Exit(FAILED)
