"""Sphinx extension: generate the reference of the command line from the application itself."""

from __future__ import annotations

from typing import Any

import typer
from rich.text import Text
from sphinx.application import Sphinx

from sojourn.cli._app import app as application

_MARK = "<!-- all commands -->"


def commands_text() -> str:
    """Return Markdown with one section per command: summary, usage, options and examples."""
    group: Any = typer.main.get_command(application)
    context = group.make_context("sojourn", [], resilient_parsing=True)
    names = group.list_commands(context)
    return "\n".join(_section(group.get_command(context, name), context) for name in names)


def _section(command: Any, above: Any) -> str:
    context = command.make_context(command.name, [], parent=above, resilient_parsing=True)
    usage = " ".join(command.get_usage(context).removeprefix("Usage:").split())
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    rows = [f"| `{_plain(name)}` | {_cell(meaning)} |" for name, meaning in filter(None, records)]
    _, *examples = Text.from_markup(command.epilog or "").plain.splitlines() or [""]
    lines = [
        f"## sojourn {command.name}",
        *(" ".join(paragraph.split()) for paragraph in (command.help or "").split("\n\n")),
        f"```text\n{usage}\n```",
        "\n".join(["| argument or option | meaning |", "|---|---|", *rows]),
    ]
    if examples:
        lines.append("```console\n" + "\n".join(f"$ {line.strip()}" for line in examples) + "\n```")
    return "\n\n".join(lines) + "\n"


def _plain(text: str) -> str:
    return Text.from_markup(text).plain.replace("|", "\\|")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def put_commands(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace the mark on a page with the sections of all commands."""
    if _MARK in source[0]:
        source[0] = source[0].replace(_MARK, commands_text())


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("source-read", put_commands)
    return {"parallel_read_safe": True}
