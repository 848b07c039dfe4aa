"""What an executor is: it plays jobs somewhere, and gives back one outcome for each, in any order."""

from __future__ import annotations

import signal
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

__all__ = ["Executor", "ExecutorError", "Job", "Outcome", "say_death", "say_error"]


class ExecutorError(RuntimeError):
    """An executor cannot work at all: no cluster, no worker that starts. One line says why."""


@dataclass(frozen=True)
class Job:
    """A function named by its import path, from text to bytes, and the text.

    Attributes:
        key: What the job is called; no two alike.
        text: What the function is called with.
    """

    key: str
    text: str


@dataclass(frozen=True)
class Outcome:
    """What came of a job.

    Attributes:
        key: The job.
        content: What the function returned, or None if it failed at every try.
        reason: Why it failed the last time, in one line; empty if it did not.
        seconds: How long the last try took.
        tries: How often it was tried.
    """

    key: str
    content: bytes | None
    reason: str
    seconds: float
    tries: int


@runtime_checkable
class Executor(Protocol):
    """Where jobs are run.

    `sojourn.testing.check_executor` checks an executor of your own.
    """

    @property
    def n_workers(self) -> int:
        """How many jobs run at a time, as far as is known."""

    def run(self, function: str, jobs: Iterable[Job]) -> Generator[Outcome, None, None]:
        """Run a function on every job; yield one outcome for each, as they come.

        A job that raises, or whose process dies, is tried again after the others, `retries` times, and then
        given up with its reason; it never stops the others. When the generator is closed, nothing goes on.

        Args:
            function: Import path of a function that takes a text and returns bytes.
            jobs: What to call it with. They are best taken one by one, as there is somebody to run them: what
                another run has done meanwhile does not come up.

        Raises:
            ExecutorError: If nothing can be run at all.
        """


def say_error(error: BaseException) -> str:
    """Return an error in one line of reasonable length."""
    try:
        words = " ".join(str(error).split()).encode(errors="replace").decode()
    except Exception:  # whatever an error of the user's own does when it is asked
        words = ""
    text = f"{type(error).__name__}: {words}" if words else type(error).__name__
    return text if len(text) <= 500 else f"{text[:499]}…"


def say_death(code: int | None, last_words: str = "") -> str:
    """Return how a process died, from its exit code."""
    if code is not None and code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = " (out of memory?)" if name == "SIGKILL" else ""
        reason = f"its process was ended by {name}{hint}"
    else:
        reason = f"its process ended with exit code {code}"
    return f"{reason}: {last_words}" if last_words else reason
