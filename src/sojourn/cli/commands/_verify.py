"""`sojourn verify`: whether everything in a store is as it was written."""

from __future__ import annotations

from typing import Annotated

import typer

from sojourn.cli._errors import FAILED, reading_input
from sojourn.cli._options import Debug, StoreFolder
from sojourn.cli.output._console import facts, number, print_json, show, working, write_line

__all__ = ["EXAMPLES", "verify"]

EXAMPLES = ("sojourn verify river.results", "sojourn verify river.results --json")

_MOST_NAMED = 50


def verify(
    store: StoreFolder,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    debug: Debug = False,
) -> None:
    """Read every byte of a store, and name what is damaged; nothing is changed.

    Running the experiment again sets damaged files aside and plays their trials anew.
    """
    with working("Reading every file") as work, reading_input():
        from sojourn.experiments import verify_store  # noqa: PLC0415

        verdict = verify_store(store, progress=work.share)
    if as_json:
        experiments = [
            {"name": name, "trials": asked, "done": done} for name, asked, done in verdict.experiments
        ]
        findings = [{"path": str(finding.path), "what": finding.what} for finding in verdict.findings]
        print_json(
            {"store": str(store), "trials": verdict.trials, "experiments": experiments, "wrong": findings}
        )
    else:
        rows = [("sound trials", number(verdict.trials))]
        rows += [
            (name, f"{number(done)} of {number(asked)} trials") for name, asked, done in verdict.experiments
        ]
        show(facts(rows))
    for finding in verdict.findings[:_MOST_NAMED]:
        write_line(f"{finding.path}: {finding.what}.", label="Error")
    if len(verdict.findings) > _MOST_NAMED:
        write_line(f"… and {len(verdict.findings) - _MOST_NAMED:,} more.", label="Error")
    if verdict.findings:
        raise typer.Exit(FAILED)
