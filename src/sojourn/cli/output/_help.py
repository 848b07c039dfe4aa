"""Help on narrow terminals: names above their meaning, so that neither is cut."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from rich.text import Text
from typer.core import TyperCommand

from sojourn.cli.output._console import is_narrow, results

__all__ = ["NarrowCommand", "NarrowHelp"]

_Base: Any = TyperCommand if TYPE_CHECKING else object


class NarrowHelp(_Base):  # type: ignore[misc]
    """What a command or group adds to typer's help: another form of it on narrow terminals."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write typer's tables, or plain lines where those would be cut off."""
        if is_narrow():
            formatter.write(_plain_help(self, ctx, results().width))
        else:
            super().format_help(ctx, formatter)


class NarrowCommand(NarrowHelp, TyperCommand):
    """A command whose help fits narrow terminals too."""


def _plain_help(command: Any, ctx: Any, width: int) -> str:
    lines = [*_wrapped(" ".join(command.get_usage(ctx).split()), width), ""]
    for paragraph in (command.help or "").split("\n\n"):
        lines += [*_wrapped(paragraph, width), ""]
    records = [parameter.get_help_record(ctx) for parameter in command.get_params(ctx)]
    lines += _entries("Options", [record for record in records if record], width)
    subcommands = [command.get_command(ctx, name) for name in getattr(command, "commands", {})]
    lines += _entries("Commands", [(sub.name, sub.get_short_help_str(1000)) for sub in subcommands], width)
    lines.append(Text.from_markup(command.epilog or "").plain)
    return "\n".join(lines) + "\n"


def _entries(title: str, records: list[tuple[str, str]], width: int) -> list[str]:
    lines = [title] if records else []
    for name, meaning in records:
        lines += [*_wrapped(name, width, indent="  "), *_wrapped(meaning, width, indent="      ")]
    return [*lines, ""] if records else []


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()),
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
