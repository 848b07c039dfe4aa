"""What the commands print: results on stdout, everything else on stderr."""

from __future__ import annotations

import codecs
import contextlib
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any, TextIO

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

__all__ = [
    "bounds",
    "examples",
    "facts",
    "number",
    "print_json",
    "results",
    "shortened",
    "show",
    "spell_out",
    "table",
    "working",
    "write_line",
]

_LABEL_STYLES = {"Error": "bold red", "Warning": "bold yellow", "Note": "bold cyan"}

_SPELLED = str.maketrans(
    {
        "γ": "g",
        "Γ": "G",
        "ρ": "r",
        "Δ": "D",
        "·": "*",
        "−": "-",
        "–": "-",
        "×": "x",
        "σ": "s",
        "Σ": "S",
        "≤": "<=",
        "≥": ">=",
        "≠": "!=",
        "≈": "~",
        "±": "+/-",
        "…": "...",
        "→": "->",
    }
)  # fmt: skip


def _spell(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_SPELLED)
    return text.encode("ascii", "replace").decode(), error.end


codecs.register_error("sojourn.spell", _spell)


def spell_out(*streams: TextIO) -> None:
    """Have the streams write what their encoding lacks in plain letters, and never fail."""
    for stream in streams:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="sojourn.spell")


def show(*renderables: RenderableType) -> None:
    """Write results to stdout, one below the other, without spaces at the ends of lines."""
    console = results()
    with console.capture() as captured:
        for renderable in renderables:
            console.print(renderable)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))
    sys.stdout.flush()


def results() -> Console:
    """Return the console for results, on stdout."""
    return Console(highlight=False, markup=False, emoji=False)


def write_line(message: str, *, label: str = "", one_line: bool = True) -> None:
    """Write a message to stderr, whatever its length in one line, without control characters."""
    if one_line:
        words = " ".join(message.split())
        message = "".join(c if c.isprintable() else repr(c)[1:-1] for c in words)
    text = Text.assemble((f"{label}: ", _LABEL_STYLES[label]), message) if label else Text(message)
    Console(stderr=True, highlight=False).print(text, soft_wrap=True)


def print_json(data: Any) -> None:
    """Write an object as JSON on stdout; what is not a finite number becomes null."""
    typer.echo(json.dumps(_finite(data), indent=2, allow_nan=False))


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


@contextlib.contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show on stderr that something takes its time, if a person is watching.

    Call what it gives to say what comes next.
    """
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status(Text(what, style="dim")) as status:
        yield lambda next_: status.update(Text(next_, style="dim"))


def examples(commands: Sequence[str]) -> str:
    """Return the end of a command's help: its examples, one a line."""
    return "\n".join(["[bold]Examples[/bold]", *(escape(command) for command in commands)])


def table(*headings: str, left: Iterable[int] = (0,)) -> Table:
    """Return an empty table with a rule under its headings; numbers to the right, columns in `left` left."""
    lined = Table(
        box=SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1), header_style="bold", border_style="dim"
    )
    for i, heading in enumerate(headings):
        lined.add_column(heading, justify="left" if i in set(left) else "right", overflow="fold")
    return lined


def facts(rows: Iterable[tuple[str, str]]) -> Table:
    """Return two columns: what, and the fact."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for what, fact in rows:
        grid.add_row(what, fact)
    return grid


def shortened(text: str, most: int = 200) -> str:
    """Return a text, cut where it is too long to be read."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def number(value: float) -> str:
    """Return a number as people read it: about five digits, thousands apart."""
    if not math.isfinite(value):
        return str(value)
    size = abs(value)
    if size >= 1e15 or 0.0 < size < 1e-4:
        return f"{value:.3e}"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.5g}" if size < 1e4 else f"{value:,.1f}"


def bounds(lower: float, value: float, upper: float, *, least: float) -> tuple[str, str, str]:
    """Return a value and its bounds with as many digits as they deserve, the bounds rounded outwards.

    Widths below `least` are of no interest.
    """
    width = max(upper - lower, least)
    unit = Decimal(1).scaleb(min(math.floor(math.log10(width)) - 1, 0))
    roundings = ((lower, ROUND_FLOOR), (value, ROUND_HALF_EVEN), (upper, ROUND_CEILING))
    low, middle, high = (f"{Decimal(x).quantize(unit, rounding) + 0:,f}" for x, rounding in roundings)
    return low, middle, high
