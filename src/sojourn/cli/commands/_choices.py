"""`sojourn choices`: estimate discount functions from choices between dated rewards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli._errors import reading_input
from sojourn.cli._options import Debug, FigureFile, ReportFile, parse_confidence
from sojourn.cli._output_files import check_output_files
from sojourn.cli.output._analysis import check_rejected_share, print_account
from sojourn.cli.output._choices import print_choice_analysis, write_choice_files
from sojourn.cli.output._progress import show_progress
from sojourn.cli.output._streams import print_json

if TYPE_CHECKING:
    from sojourn.behavior import ChoiceData

__all__ = ["EXAMPLES", "choices"]

EXAMPLES = (
    "sojourn choices sample:money --figure money.png",
    "sojourn choices choices.csv --report choices.html --table subjects.csv",
    "sojourn choices choices.csv --family mazur --json",
)


def choices(
    source: Annotated[
        str,
        typer.Argument(
            metavar="CHOICES",
            help="A delimited text file with one row per choice and hBayesDM's columns: subjID, delay_later, "
            "amount_later, delay_sooner, amount_sooner, choice (1 for later); or sample:NAME, generated data "
            "that come with Sojourn (money, immediate).",
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
    design cannot tell are refused. Standard errors for this design are simulated.
    """
    with show_progress("Reading the choices") as task:
        with reading_input():
            level = parse_confidence(confidence)
            check_output_files(Path(source), figure, report, table)
            data = _read(source)
        print_account(data.name, data.account)
        with reading_input():
            if not accept_rejects:
                check_rejected_share(data.account, "are no findings")
        task.describe("Fitting")
        with reading_input():
            from sojourn.behavior import analyze_choices  # noqa: PLC0415

            found: Any = analyze_choices(data, family, lapse=lapse, confidence=level, simulations=simulations)
        if as_json:
            print_json(found.as_dict())
        else:
            print_choice_analysis(found)
        task.describe("Drawing")
        write_choice_files(found, figure, report, table)


def _read(source: str) -> ChoiceData:
    from sojourn.behavior import read_choices, sample_choices  # noqa: PLC0415

    name = source.removeprefix("sample:")
    return read_choices(source) if name == source else sample_choices(name)
