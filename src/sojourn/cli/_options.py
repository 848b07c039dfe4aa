"""Options that several commands share, and parsers of numeric options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn._validation import check_open_unit, check_positive, check_whole
from sojourn.cli._errors import Invocation

__all__ = [
    "Debug",
    "ExperimentName",
    "FigureFile",
    "OutputFile",
    "ReportFile",
    "StoreFolder",
    "Workers",
    "parse_confidence",
    "parse_positive",
    "parse_whole",
    "parse_workers",
]


def _set_debug(ctx: typer.Context, wanted: bool) -> bool:
    if wanted:
        ctx.ensure_object(Invocation).debug = True
    return wanted


Debug = Annotated[
    bool,
    typer.Option("--debug", callback=_set_debug, is_eager=True, help="Show the traceback of an error."),
]
"""`--debug` after the name of a command; it may also come before it."""

StoreFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="The store of 'sojourn run'.", show_default=False)
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--to", metavar="FILE", help="The file to write.", show_default="next to DIR, with its name"
    ),
]
FigureFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw to a .png, .svg or .pdf file.", show_default=False)
]
ReportFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a report to an .html file.", show_default=False)
]
ExperimentName = Annotated[
    str | None,
    typer.Option("--experiment", metavar="NAME", help="One of the store's experiments.", show_default="all"),
]
Workers = Annotated[
    str | None,
    typer.Option(
        "--workers", metavar="N", help="Number of trials at a time.", show_default="one per processor"
    ),
]


def parse_confidence(text: str) -> float:
    """Parse the value of `--confidence`, a number between 0 and 1."""
    try:
        return check_open_unit("--confidence", float(text))
    except ValueError:
        raise ValueError(f"--confidence must be in (0, 1); got {text!r}.") from None


def parse_positive(option: str, text: str) -> float:
    """Parse the value of an option as a finite number above 0."""
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{option} must be a finite number > 0; got {text!r}.") from None
    return check_positive(option, number)


def parse_whole(option: str, text: str, *, least: int) -> int:
    """Parse the value of an option as a whole number; 1_000_000 and 1e6 are accepted."""
    for parse in (int, float):
        try:
            return check_whole(option, parse(text), least=least)
        except ValueError:
            continue
    raise ValueError(f"{option} must be a whole number ≥ {least}; got {text!r}.")


def parse_workers(text: str | None) -> int | None:
    """Parse the value of `--workers`; None means one per processor."""
    return None if text is None else parse_whole("--workers", text, least=1)
