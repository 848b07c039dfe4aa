"""Progress of long calls: a bar in terminals and notebooks, or a function of the caller's."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TypeAlias

__all__ = ["Progress", "report_progress"]

Progress: TypeAlias = bool | Callable[[float], object] | None
"""True for a bar, a function that is called with the share of the work that is done, or nothing."""


@contextlib.contextmanager
def report_progress(progress: Progress, what: str) -> Iterator[Callable[[float], object]]:
    """Give a function that reports the share of the work that is done.

    Args:
        progress: How progress is reported.
        what: Description next to the bar.

    Raises:
        TypeError: If `progress` is neither a boolean nor a function nor None.
    """
    if progress is None or progress is False:
        yield lambda share: None
    elif callable(progress):
        yield progress
    elif progress is True:
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TimeRemainingColumn(),
        )
        console = Console(stderr=True, highlight=False)
        with Progress(*columns, console=console, transient=True, redirect_stdout=False) as bar:
            task = bar.add_task(what, total=1.0)
            yield lambda share: bar.update(task, completed=share)
    else:
        raise TypeError(f"progress must be True, False, a function or None; got {progress!r}.")
