"""Progress of an experiment on stderr: a bar in a terminal, otherwise a line every few seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console

from sojourn.cli.output._numbers import format_duration
from sojourn.cli.output._streams import print_message

if TYPE_CHECKING:
    from sojourn.experiments import Inventory, Outcome, RemainingTime

__all__ = ["RunProgress"]

_SECONDS_BETWEEN_LINES = 10.0


class RunProgress:
    """Shows the progress of an experiment; the run calls it at the start and after every trial.

    Args:
        name: Name of the experiment.
        n_workers: Number of trials that are played at a time.
    """

    def __init__(self, name: str, n_workers: int) -> None:
        self._name, self._n_workers = name, n_workers
        self._console = Console(stderr=True, highlight=False)
        self._last_line = time.monotonic()
        self._n_played = self._n_failed = self._n_missing = 0
        self._bar: Any = None
        self._task: Any = None
        self._remaining: RemainingTime | None = None

    def __enter__(self) -> RunProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def is_done(self) -> bool:
        """Whether all missing trials have been played."""
        return self._n_played == self._n_missing

    def __call__(self, inventory: Inventory, outcome: Outcome | None) -> None:
        """Show the start of the run (`outcome` is None) or the outcome of a trial."""
        if outcome is None:
            self._start(inventory)
            return
        now = time.monotonic()
        self._n_played += 1
        self._n_failed += outcome.content is None
        if self._remaining is not None:
            self._remaining.add(now, inventory.trials[outcome.key][0].name, outcome.seconds)
        progress = self._describe_speed(now)
        if self._bar is not None:
            self._bar.update(self._task, advance=1, progress=progress)
        elif now - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = now
            print_message(f"{self._n_played:,} of {self._n_missing:,} trials, {progress}.")

    def _start(self, inventory: Inventory) -> None:
        """Show the number of missing trials, or start the bar."""
        from sojourn.experiments import RemainingTime, describe_long_run  # noqa: PLC0415

        self._n_missing, self._last_line = len(inventory.missing), time.monotonic()
        if self._n_missing == 0:
            return
        self._remaining = RemainingTime(self._n_missing, self._n_workers)
        note = describe_long_run(inventory, self._n_workers)
        if note:
            print_message(note, label="Note")
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
        )

        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", style="dim", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[progress]}", style="dim", markup=False),
            console=self._console,
            transient=True,
            redirect_stdout=sys.stdout.isatty(),  # text for a file or a pipe must not go to the terminal
        )
        self._bar.start()
        self._task = self._bar.add_task(
            self._name[:72], total=len(inventory.trials), completed=len(inventory.done), progress=""
        )

    def _describe_speed(self, now: float) -> str:
        """Return the speed, the failures and the time left, as far as they are known."""
        rate = None if self._remaining is None else self._remaining.per_second(now)
        seconds = None if self._remaining is None else self._remaining.seconds(now)
        if rate is None or seconds is None:
            return f"estimating the time left{self._failures()}"
        speed = f"{rate:.1f} per second" if rate >= 1.0 else f"one per {format_duration(1.0 / rate)}"
        return f"{speed}{self._failures()}, about {format_duration(seconds)} left"

    def _failures(self) -> str:
        return f", {self._n_failed:,} failed" if self._n_failed else ""
