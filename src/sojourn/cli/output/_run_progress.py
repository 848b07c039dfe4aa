"""Progress of an experiment on stderr: a bar in a terminal, otherwise a line every few seconds."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console

from sojourn.cli.output._numbers import format_duration
from sojourn.cli.output._streams import print_message

if TYPE_CHECKING:
    from sojourn.experiments import Inventory, Outcome

__all__ = ["RunProgress"]

_SECONDS_BETWEEN_LINES = 10.0


class RunProgress:
    """Shows the progress of an experiment; the run calls it at the start and after every trial."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._console = Console(stderr=True, highlight=False)
        self._started = self._last_line = self._last_outcome = time.monotonic()
        self._n_played = self._n_failed = self._n_missing = 0
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> RunProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, inventory: Inventory, outcome: Outcome | None) -> None:
        """Show the start of the run (`outcome` is None) or the outcome of a trial."""
        if outcome is None:
            self._start(inventory)
            return
        now = time.monotonic()
        if self._n_played == 1:
            self._started = self._last_outcome  # the time before the first outcome is start-up, not play
        self._last_outcome = now
        self._n_played += 1
        self._n_failed += outcome.content is None
        if self._bar is not None:
            self._bar.update(self._task, advance=1, rate=self._rate(now), failed=self._failures())
        elif now - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = now
            seconds_left = (self._n_missing - self._n_played) / self._per_second(now)
            print_message(
                f"{self._n_played:,} of {self._n_missing:,} trials, {self._rate(now)}{self._failures()}, "
                f"about {format_duration(seconds_left)} left."
            )

    def _start(self, inventory: Inventory) -> None:
        """Show the number of missing trials, or start the bar."""
        self._n_missing, self._started = len(inventory.missing), time.monotonic()
        self._last_line = self._started
        if self._n_missing == 0:
            return
        if not self._console.is_terminal:
            done = f"; {len(inventory.done):,} are done" if inventory.done else ""
            print_message(f"{self._name}: playing {self._n_missing:,} trials{done}.")
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
            self._name[:40], total=len(inventory.trials), completed=len(inventory.done), rate="", failed=""
        )

    def _rate(self, now: float) -> str:
        rate = self._per_second(now)
        return f"{rate:.1f} per second" if rate >= 1.0 else f"one per {format_duration(1.0 / rate)}"

    def _per_second(self, now: float) -> float:
        return max(1, self._n_played - 1) / max(now - self._started, 1e-9)

    def _failures(self) -> str:
        return f", {self._n_failed:,} failed" if self._n_failed else ""
