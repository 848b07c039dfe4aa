"""Tables and labeled texts that fit the width of the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sojourn._text import one_line
from sojourn.cli.output._streams import is_narrow, results_console

__all__ = ["labeled_texts", "new_table", "stacked_texts", "table_to_fit"]


def new_table(*headings: str, words: Iterable[int] = (0,)) -> Table:
    """Return an empty table with a rule below its headings.

    Args:
        headings: One heading per column.
        words: Indices of columns with words, which are left-aligned and wrapped. The other columns hold
            numbers, which are right-aligned and never broken.
    """
    table = Table(
        box=SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1), header_style="bold", border_style="dim"
    )
    word_columns = set(words)
    for i, heading in enumerate(headings):
        if i in word_columns:
            table.add_column(heading, justify="left", overflow="fold")
        else:
            table.add_column(heading, justify="right", no_wrap=True)
    return table


def table_to_fit(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    words: Iterable[int] = (0,),
    optional: Sequence[int],
) -> list[RenderableType]:
    """Return a table that fits the terminal, and a note if columns had to be left out.

    Args:
        headings: One heading per column.
        rows: Texts of the cells.
        words: Indices of columns with words; see `new_table`.
        optional: Indices of columns that may be left out, in the order in which they go.
    """
    console, dropped, word_columns = results_console(), set[int](), set(words)
    unlimited = console.options.update(width=10_000)
    for next_to_drop in (*optional, None):
        kept = [i for i in range(len(headings)) if i not in dropped]
        kept_words = [place for place, i in enumerate(kept) if i in word_columns]
        table = new_table(*[headings[i] for i in kept], words=kept_words)
        for row in rows:
            table.add_row(*[one_line(row[i]) for i in kept])
        fits = Measurement.get(console, unlimited, table).minimum <= console.width
        if next_to_drop is None or fits:
            break
        dropped.add(next_to_drop)
    names = ", ".join(" ".join(headings[i].split()) for i in sorted(dropped))
    note = Text(f"Left out on this narrow terminal: {names}.", style="dim")
    return [table, note] if dropped else [table]


def labeled_texts(rows: Iterable[tuple[str, str]]) -> RenderableType:
    """Return labels with texts beside them, or below them on a narrow terminal."""
    if is_narrow():
        return stacked_texts(rows)
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in rows:
        grid.add_row(one_line(label), one_line(text))
    return grid


def stacked_texts(rows: Iterable[tuple[str, str]]) -> RenderableType:
    """Return labels, each with its text indented below it."""
    parts: list[RenderableType] = []
    for label, text in rows:
        parts += [Text(one_line(label), style="bold"), Padding(Text(one_line(text)), (0, 0, 0, 2))]
    return Group(*parts)
