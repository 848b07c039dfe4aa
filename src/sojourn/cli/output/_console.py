"""What the commands print: results on stdout, everything else on stderr."""

from __future__ import annotations

import codecs
import contextlib
import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any, TextIO

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

__all__ = [
    "Work",
    "bounds",
    "examples",
    "facts",
    "fitted",
    "is_narrow",
    "number",
    "print_json",
    "results",
    "shortened",
    "show",
    "spell_out",
    "stacked",
    "table",
    "working",
    "write_line",
]

_NARROW = 60
"""Columns below which things stand one below the other."""

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


class Work:
    """Work that takes its time, as a person sees it."""

    def announce(self, what: str) -> None:
        """Say in a line what begins, where no display does."""
        write_line(what)

    def say(self, what: str) -> None:
        """Say what comes next, where a display shows it."""

    def share(self, done: float) -> None:
        """Say how much of it is done, from 0 to 1."""


class _ShownWork(Work):
    def __init__(self, progress: Any, what: str) -> None:
        self._progress = progress
        self._task = progress.add_task(what, total=None)

    def announce(self, what: str) -> None:
        """Leave it to the display."""

    def say(self, what: str) -> None:
        self._progress.reset(self._task, total=None, description=what)

    def share(self, done: float) -> None:
        self._progress.update(self._task, total=1.0, completed=done)


@contextlib.contextmanager
def working(what: str) -> Iterator[Work]:
    """Show on stderr that something takes its time, and how far it is: a bar, if a person is watching."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield Work()
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn  # noqa: PLC0415

    text = TextColumn("{task.description}", style="dim", markup=False)
    columns = (SpinnerColumn(), text, BarColumn(bar_width=24), TaskProgressColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        yield _ShownWork(progress, what)


def examples(commands: Sequence[str]) -> str:
    """Return the end of a command's help: its examples, one a line."""
    return "\n".join(["[bold]Examples[/bold]", *(escape(command) for command in commands)])


def table(*headings: str, left: Iterable[int] = (0,)) -> Table:
    """Return an empty table with a rule under its headings.

    Columns in `left` hold words, to the left and wrapped; the others numbers, to the right and never broken.
    """
    lined = Table(
        box=SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1), header_style="bold", border_style="dim"
    )
    words = set(left)
    for i, heading in enumerate(headings):
        if i in words:
            lined.add_column(heading, justify="left", overflow="fold")
        else:
            lined.add_column(heading, justify="right", no_wrap=True)
    return lined


def fitted(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, left: Iterable[int] = (0,), drop: Sequence[int]
) -> list[RenderableType]:
    """Return a table without as many of the columns in `drop`, the first first, as do not fit, and a note."""
    console, out, words = results(), set[int](), set(left)
    unlimited = console.options.update(width=10_000)
    for next_ in (*drop, None):
        kept = [i for i in range(len(headings)) if i not in out]
        made = table(*[headings[i] for i in kept], left=[place for place, i in enumerate(kept) if i in words])
        for row in rows:
            made.add_row(*[row[i] for i in kept])
        if next_ is None or Measurement.get(console, unlimited, made).minimum <= console.width:
            break
        out.add(next_)
    left_out = ", ".join(" ".join(headings[i].split()) for i in sorted(out))
    note = Text(f"Left out on this narrow terminal: {left_out}.", style="dim")
    return [made, note] if out else [made]


def facts(rows: Iterable[tuple[str, str]]) -> RenderableType:
    """Return two columns: what, and the fact; on narrow terminals one below the other."""
    if is_narrow():
        return stacked(rows)
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for what, fact in rows:
        grid.add_row(what, fact)
    return grid


def stacked(rows: Iterable[tuple[str, str]]) -> RenderableType:
    """Return headings, each with its text indented below."""
    parts: list[RenderableType] = []
    for what, fact in rows:
        parts += [Text(what, style="bold"), Padding(Text(fact), (0, 0, 0, 2))]
    return Group(*parts)


def is_narrow() -> bool:
    """Whether there is too little room for two columns of words."""
    return results().width < _NARROW


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
