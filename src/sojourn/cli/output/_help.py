"""Help texts; on narrow terminals names are printed above their meanings, so that neither is cut off."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text
from typer.core import TyperCommand

from sojourn.cli.output._streams import is_narrow, results_console

__all__ = ["NarrowCommand", "NarrowHelp", "format_examples"]

_Base: Any = TyperCommand if TYPE_CHECKING else object


class NarrowHelp(_Base):  # type: ignore[misc]
    """Mixin for commands and groups whose help also fits narrow terminals."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write typer's tables, or plain lines where the tables would be cut off."""
        _hide_types(self.get_params(ctx))
        if is_narrow():
            formatter.write(_plain_help(self, ctx, results_console().width))
        else:
            super().format_help(ctx, formatter)


class NarrowCommand(NarrowHelp, TyperCommand):
    """A command whose help also fits narrow terminals."""


def format_examples(commands: Sequence[str]) -> str:
    """Return the end of a command's help: its examples, one per line."""
    return "\n".join(["[bold]Examples[/bold]", *(escape(command) for command in commands)])


def _hide_types(parameters: Sequence[Any]) -> None:
    """Hide types such as `<bool>` and `<list[str]>`: flags have no value, and arguments have good names."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        elif parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: None


def _plain_help(command: Any, ctx: Any, width: int) -> str:
    """Return the help of a command as plain lines of at most `width` columns."""
    lines = [*_wrap(" ".join(command.get_usage(ctx).split()), width), ""]
    for paragraph in (command.help or "").split("\n\n"):
        lines += [*_wrap(paragraph, width), ""]
    records = [parameter.get_help_record(ctx) for parameter in command.get_params(ctx)]
    lines += _entries("Options", [record for record in records if record], width)
    subcommands = [command.get_command(ctx, name) for name in getattr(command, "commands", {})]
    panels: dict[str, list[tuple[str, str]]] = {}
    for sub in subcommands:
        panels.setdefault(sub.rich_help_panel, []).append((sub.name, sub.get_short_help_str(1000)))
    for panel, entries in panels.items():
        lines += _entries(panel, entries, width)
    lines.append(Text.from_markup(command.epilog or "").plain)
    return "\n".join(lines) + "\n"


def _entries(title: str, records: list[tuple[str, str]], width: int) -> list[str]:
    """Return a section of names, each with its meaning indented below it."""
    lines = [title] if records else []
    for name, meaning in records:
        lines += [*_wrap(name, width, indent="  "), *_wrap(meaning, width, indent="      ")]
    return [*lines, ""] if records else []


def _wrap(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()),
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
