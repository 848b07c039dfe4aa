"""A run as a person sees it: a bar with what is left, or a plain line now and then."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console

from sojourn.cli.output._console import write_line

if TYPE_CHECKING:
    from sojourn.experiments import Inventory, Outcome

__all__ = ["Watch", "duration"]

_BETWEEN_LINES = 10.0  # seconds


def duration(seconds: float) -> str:
    """Return a time in words, to about two digits.

    Example:
        >>> duration(0.42), duration(75), duration(7260), duration(200_000)
        ('0.4 s', '1 min 15 s', '2 h 1 min', '2 d 7 h')
    """
    if seconds < 10.0:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for large, small, first, second in ((86400, 3600, "d", "h"), (3600, 60, "h", "min"), (60, 1, "min", "s")):
        if whole >= large:
            rest = whole % large // small
            return f"{whole // large} {first} {rest} {second}" if rest else f"{whole // large} {first}"
    return f"{whole} s"


class Watch:
    """Called by a run with what there is, and then with every outcome."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._console = Console(stderr=True, highlight=False)
        self._begun = self._last = self._last_outcome = time.monotonic()
        self._played = self._failed = self._left = 0
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, stock: Inventory, outcome: Outcome | None) -> None:
        """Take in what there is, or an outcome."""
        if outcome is None:
            self._begin(stock)
            return
        now = time.monotonic()
        if self._played == 1:
            self._begun = self._last_outcome  # what comes before the first outcome is starting, not playing
        self._last_outcome = now
        self._played += 1
        self._failed += outcome.content is None
        if self._bar is not None:
            self._bar.update(self._task, advance=1, rate=self._rate(now), failed=self._failures())
        elif now - self._last >= _BETWEEN_LINES:
            self._last = now
            left = (self._left - self._played) / self._per_second(now)
            write_line(
                f"{self._played:,} of {self._left:,} trials, {self._rate(now)}{self._failures()}, "
                f"about {duration(left)} left."
            )

    def _begin(self, stock: Inventory) -> None:
        self._left, self._begun = len(stock.missing), time.monotonic()
        self._last = self._begun
        if self._left == 0:
            return
        if not self._console.is_terminal:
            there = f"; {len(stock.done):,} are there" if stock.done else ""
            write_line(f"{self._name}: playing {self._left:,} trials{there}.")
            return
        from rich.progress import (  # noqa: PLC0415
            BarColumn,
            MofNCompleteColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", style="dim", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}{task.fields[failed]}", style="dim", markup=False),
            TimeRemainingColumn(compact=True),
            console=self._console,
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(
            self._name[:40], total=len(stock.trials), completed=len(stock.done), rate="", failed=""
        )

    def _rate(self, now: float) -> str:
        each = self._per_second(now)
        return f"{each:.1f} a second" if each >= 1.0 else f"one in {duration(1.0 / each)}"

    def _per_second(self, now: float) -> float:
        return max(1, self._played - 1) / max(now - self._begun, 1e-9)

    def _failures(self) -> str:
        return f", {self._failed:,} failed" if self._failed else ""
