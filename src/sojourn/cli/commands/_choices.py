"""`sojourn choices`: estimate discount functions from choices between dated rewards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli._errors import reading_input
from sojourn.cli._options import Debug, FigureFile, ReportFile, parse_confidence
from sojourn.cli._output_files import check_output_files
from sojourn.cli._sources import open_source
from sojourn.cli.output._analysis import check_rejected_share, print_account
from sojourn.cli.output._choices import print_choice_analysis, print_design_analysis, write_choice_files
from sojourn.cli.output._progress import show_progress
from sojourn.cli.output._streams import print_json

if TYPE_CHECKING:
    from sojourn.behavior import ChoiceDesign

__all__ = ["EXAMPLES", "choices"]

EXAMPLES = (
    "sojourn choices sample:money --figure money.png",
    "sojourn choices choices.csv --report choices.html --table subjects.csv",
    "sojourn choices 'subjects/*.csv' --column choice=answer --unit days --figure choices.pdf",
    "sojourn choices design.csv",
)


def choices(
    source: Annotated[
        list[str],
        typer.Argument(
            metavar="CHOICES",
            help="Files or folders with one row per choice (CSV, JSON lines, Parquet or SQLite; text may be "
            "compressed), or - for standard input, with hBayesDM's columns: subjID, delay_later, "
            "amount_later, delay_sooner, amount_sooner, choice (1 for later; without it, the file is a "
            "design, and the answer is what it can tell). Or sample:NAME, generated data that come with "
            "Sojourn (money, immediate).",
            show_default=False,
        ),
    ],
    *,
    family: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FAMILY",
            help="exponential, mazur, green_myerson, rachlin or beta_delta; may be repeated.",
            show_default="all that the design can tell",
        ),
    ] = None,
    lapse: Annotated[bool, typer.Option("--lapse", help="Estimate a lapse rate too.")] = False,
    confidence: Annotated[str, typer.Option(metavar="SHARE", help="Confidence level of intervals.")] = "0.95",
    simulations: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Simulated subjects and data sets, for standard errors and the test of fit (99 at least).",
        ),
    ] = 99,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT=COLUMN",
            help="A column with a name of its own, such as amount_sooner=immediate or choice=answer; may be "
            "repeated.",
            show_default=False,
        ),
    ] = None,
    unit: Annotated[
        str,
        typer.Option(metavar="WORD", help="Unit of the delays, for the figure.", show_default=False),
    ] = "",
    query: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="The query to run on an SQLite file.", show_default="its table"),
    ] = None,
    figure: FigureFile = None,
    report: ReportFile = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the estimates, of each subject and pooled, to a .csv file.",
            show_default=False,
        ),
    ] = None,
    accept_rejects: Annotated[
        bool,
        typer.Option("--accept-rejects", help="Give findings even if many rows of the file cannot be used."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    debug: Debug = False,
) -> None:
    """Estimate how people discount from their choices between a sooner and a later reward.

    Every family is fitted by maximum likelihood, to each subject and to all. Families whose parameters the
    design cannot tell are refused. Standard errors for this design are simulated; of a design without
    choices, only they are shown.
    """
    with show_progress("Reading the choices") as task:
        with reading_input():
            level = parse_confidence(confidence)
            for one in source:
                check_output_files(Path(one), figure, report, table)
            data = _read(source, _parse_columns(column or []), query)
        print_account(data.name, data.account)
        with reading_input():
            if not accept_rejects:
                check_rejected_share(data.account, "are no findings")
            from sojourn.behavior import ChoiceData, analyze_choices, analyze_design  # noqa: PLC0415

            found: Any
            if isinstance(data, ChoiceData):
                task.describe("Fitting")
                found = analyze_choices(data, family, lapse=lapse, confidence=level, simulations=simulations)
            else:
                _check_no_files(data.name, {"--figure": figure, "--report": report, "--table": table})
                task.describe("Simulating the design")
                found = analyze_design(data, family, simulations=simulations)
        if as_json:
            print_json(found.as_dict())
        elif isinstance(data, ChoiceData):
            print_choice_analysis(found)
        else:
            print_design_analysis(found)
        if isinstance(data, ChoiceData):
            task.describe("Drawing")
            write_choice_files(found, figure, report, table, unit=unit)


def _parse_columns(pairs: list[str]) -> dict[str, str]:
    """Return the names of columns by what they hold."""
    found = dict(pair.partition("=")[::2] for pair in pairs)
    for what, name in found.items():
        if not what or not name:
            raise ValueError(f"--column must be like amount_sooner=COLUMN; got {f'{what}={name}'!r}.")
    return found


def _read(source: list[str], columns: dict[str, str], query: str | None) -> ChoiceDesign:
    from sojourn.behavior import read_design, sample_choices  # noqa: PLC0415

    samples = [one for one in source if one.startswith("sample:")]
    if not samples:
        return read_design(
            open_source("CHOICES", source, [Path(one) for one in source]), columns=columns, query=query
        )
    if len(source) > 1:
        raise ValueError(f"CHOICES must be files or one sample; got {len(source):,} with {samples[0]!r}.")
    return sample_choices(samples[0].removeprefix("sample:"))


def _check_no_files(name: str, files: dict[str, Path | None]) -> None:
    """Raise `ValueError` if a file was asked for that a design without choices does not have."""
    for option, path in files.items():
        if path is not None:
            raise ValueError(
                f"{option} must come with choices; {name} has no column 'choice', and is read as a design."
            )
