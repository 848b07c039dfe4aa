"""The application: its commands and the options that come before them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from sojourn.cli._errors import Invocation, OneLineGroup
from sojourn.cli.commands import (
    _choices,
    _export,
    _fit,
    _law,
    _list,
    _plan,
    _report,
    _reproduce,
    _run,
    _verify,
)
from sojourn.cli.output._help import NarrowCommand, format_examples

__all__ = ["app"]

app = typer.Typer(
    name="sojourn",
    cls=OneLineGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _add(panel: str, name: str, command: Callable[..., Any], examples: Sequence[str]) -> None:
    """Add a command to a panel of the help; its help is its docstring, with lines of a paragraph joined."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    epilog = format_examples(examples)
    app.command(name, cls=NarrowCommand, help=text, epilog=epilog, rich_help_panel=panel)(command)


_add("Look", "fit", _fit.fit, _fit.EXAMPLES)
_add("Look", "law", _law.law, _law.EXAMPLES)
_add("Look", "plan", _plan.plan, _plan.EXAMPLES)
_add("Look", "choices", _choices.choices, _choices.EXAMPLES)
_add("Experiment", "run", _run.run, _run.EXAMPLES)
_add("Experiment", "report", _report.report, _report.EXAMPLES)
_add("Experiment", "export", _export.export, _export.EXAMPLES)
_add("Experiment", "verify", _verify.verify, _verify.EXAMPLES)
_add("Paper", "reproduce", _reproduce.reproduce, _reproduce.EXAMPLES)
_add("Help", "list", _list.list_names, _list.EXAMPLES)


def _show_version(wanted: bool) -> None:
    if wanted:
        from sojourn import __version__  # noqa: PLC0415

        typer.echo(f"sojourn {__version__}")
        raise typer.Exit


@app.callback(
    invoke_without_command=True,
    epilog=format_examples([_fit.EXAMPLES[0], _plan.EXAMPLES[0], _list.EXAMPLES[0]]),
)
def sojourn(
    ctx: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Reinforcement learning when you don't know how long you've got.

    A law of episode lengths is a discount function: fit one, look at one, plan and learn under it.
    """
    ctx.ensure_object(Invocation).debug = debug
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
