"""The executor protocol: an executor runs jobs somewhere and yields one outcome per job, in any order."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

__all__ = ["Executor", "ExecutorError", "Job", "Outcome"]


class ExecutorError(RuntimeError):
    """An executor cannot run anything: there is no cluster, or no worker starts. The message is one line."""


@dataclass(frozen=True)
class Job:
    """One call of a function.

    Attributes:
        key: Identifies the job; no two jobs of a run have the same key.
        text: The argument of the function.
    """

    key: str
    text: str


@dataclass(frozen=True)
class Outcome:
    """The result of a job.

    Attributes:
        key: The key of the job.
        content: The bytes that the function returned, or None if it failed at every try.
        reason: Why the last try failed, in one line; empty if the job succeeded.
        seconds: Duration of the last try.
        tries: Number of tries; 0 if another run had done the job already.
    """

    key: str
    content: bytes | None
    reason: str
    seconds: float
    tries: int


@runtime_checkable
class Executor(Protocol):
    """Runs jobs somewhere.

    `sojourn.testing.check_executor` checks that your own executor keeps the rules below.
    """

    @property
    def n_workers(self) -> int:
        """Number of jobs that run at a time, as far as it is known."""

    def run(self, function: str, jobs: Iterable[Job]) -> Generator[Outcome, None, None]:
        """Call a function on every job and yield one outcome per job as they finish.

        A job that raises, or whose process dies, is tried again after the others, `retries` times, and then
        given up with its reason; it never stops other jobs. Closing the generator ends all running jobs.

        Args:
            function: Import path of a function that takes a text and returns bytes.
            jobs: The jobs. Take them lazily, one per free worker, so that jobs which another run has done in
                the meantime are skipped.

        Raises:
            ExecutorError: If nothing can be run at all.
        """
