"""Options that several commands have, and numbers read from them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn._validation import check_positive, check_whole
from sojourn.cli._errors import Invocation

__all__ = ["Debug", "OneExperiment", "StoreFolder", "Target", "positive", "whole"]


def _set_debug(ctx: typer.Context, wanted: bool) -> bool:
    if wanted:
        ctx.ensure_object(Invocation).debug = True
    return wanted


Debug = Annotated[
    bool,
    typer.Option("--debug", callback=_set_debug, is_eager=True, help="Show the traceback of an error."),
]
"""`--debug` after the command; it may stand before it as well."""

StoreFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="A store of 'sojourn run'.", show_default=False)
]
Target = Annotated[
    Path | None,
    typer.Option("--to", metavar="FILE", help="The file to write.", show_default="beside DIR, by its name"),
]
OneExperiment = Annotated[
    str | None,
    typer.Option("--experiment", metavar="NAME", help="One of the store's experiments.", show_default="all"),
]


def positive(option: str, text: str) -> float:
    """Return the finite number above 0 that an option was given."""
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{option} must be a finite number > 0; got {text!r}.") from None
    return check_positive(option, number)


def whole(option: str, text: str, *, least: int) -> int:
    """Return the whole number that an option was given; 1_000_000 and 1e6 will do."""
    for read in (int, float):
        try:
            return check_whole(option, read(text), least=least)
        except ValueError:
            continue
    raise ValueError(f"{option} must be a whole number ≥ {least}; got {text!r}.")
