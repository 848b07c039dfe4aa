"""Progress of one long task on stderr: a bar in a terminal, otherwise single lines."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console

from sojourn.cli.output._streams import print_message

__all__ = ["Task", "show_progress"]


class Task:
    """A task without a progress bar."""

    def announce(self, what: str) -> None:
        """Print a line that says what starts; does nothing if there is a bar."""
        print_message(what)

    def describe(self, what: str) -> None:
        """Change the description next to the bar; does nothing if there is no bar."""

    def set_share(self, done: float) -> None:
        """Set the share that is done, from 0 to 1."""


class _TaskWithBar(Task):
    """A task with a progress bar in the terminal."""

    def __init__(self, progress: Any, what: str) -> None:
        self._progress = progress
        self._task = progress.add_task(what, total=None)

    def announce(self, what: str) -> None:
        """Do nothing: the bar has its own description."""

    def describe(self, what: str) -> None:
        self._progress.refresh()  # shows the last share of what is over
        self._progress.reset(self._task, total=None, description=what)

    def set_share(self, done: float) -> None:
        self._progress.update(self._task, total=1.0, completed=done)


@contextlib.contextmanager
def show_progress(what: str) -> Iterator[Task]:
    """Show a progress bar while the block runs, if stderr is a terminal."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield Task()
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn  # noqa: PLC0415

    text = TextColumn("{task.description}", style="dim", markup=False)
    columns = (SpinnerColumn(), text, BarColumn(bar_width=24), TaskProgressColumn())
    # Redirection would print results that go to a file or a pipe on the terminal.
    redirect = sys.stdout.isatty()
    with Progress(*columns, console=console, transient=True, redirect_stdout=redirect) as progress:
        yield _TaskWithBar(progress, what)
