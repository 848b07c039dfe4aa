"""The application: its commands and the options that come before them."""

from __future__ import annotations

from typing import Annotated

import typer

from sojourn.cli._errors import Invocation, OneLineGroup
from sojourn.cli.commands._export import EXAMPLES as EXPORT_EXAMPLES
from sojourn.cli.commands._export import export
from sojourn.cli.commands._fit import EXAMPLES as FIT_EXAMPLES
from sojourn.cli.commands._fit import fit
from sojourn.cli.commands._law import EXAMPLES as LAW_EXAMPLES
from sojourn.cli.commands._law import law
from sojourn.cli.commands._list import EXAMPLES as LIST_EXAMPLES
from sojourn.cli.commands._list import list_names
from sojourn.cli.commands._plan import EXAMPLES as PLAN_EXAMPLES
from sojourn.cli.commands._plan import plan
from sojourn.cli.commands._report import EXAMPLES as REPORT_EXAMPLES
from sojourn.cli.commands._report import report
from sojourn.cli.commands._reproduce import EXAMPLES as REPRODUCE_EXAMPLES
from sojourn.cli.commands._reproduce import reproduce
from sojourn.cli.commands._run import EXAMPLES as RUN_EXAMPLES
from sojourn.cli.commands._run import run
from sojourn.cli.commands._verify import EXAMPLES as VERIFY_EXAMPLES
from sojourn.cli.commands._verify import verify
from sojourn.cli.output._help import NarrowCommand, format_examples

__all__ = ["app"]

app = typer.Typer(
    name="sojourn",
    cls=OneLineGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("law", cls=NarrowCommand, epilog=format_examples(LAW_EXAMPLES))(law)
app.command("plan", cls=NarrowCommand, epilog=format_examples(PLAN_EXAMPLES))(plan)
app.command("fit", cls=NarrowCommand, epilog=format_examples(FIT_EXAMPLES))(fit)
app.command("reproduce", cls=NarrowCommand, epilog=format_examples(REPRODUCE_EXAMPLES))(reproduce)
app.command("run", cls=NarrowCommand, epilog=format_examples(RUN_EXAMPLES))(run)
app.command("verify", cls=NarrowCommand, epilog=format_examples(VERIFY_EXAMPLES))(verify)
app.command("export", cls=NarrowCommand, epilog=format_examples(EXPORT_EXAMPLES))(export)
app.command("report", cls=NarrowCommand, epilog=format_examples(REPORT_EXAMPLES))(report)
app.command("list", cls=NarrowCommand, epilog=format_examples(LIST_EXAMPLES))(list_names)


def _show_version(wanted: bool) -> None:
    if wanted:
        from sojourn import __version__  # noqa: PLC0415

        typer.echo(f"sojourn {__version__}")
        raise typer.Exit


@app.callback(
    invoke_without_command=True,
    epilog=format_examples([LAW_EXAMPLES[0], PLAN_EXAMPLES[0], LIST_EXAMPLES[0]]),
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
