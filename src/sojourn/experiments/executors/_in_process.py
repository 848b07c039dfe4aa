"""The executor that runs jobs in this process, one after the other."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable
from dataclasses import dataclass

from sojourn._imports import exits_are_errors, import_object
from sojourn._validation import check_whole
from sojourn.experiments.executors._base import Job, Outcome
from sojourn.experiments.executors._failure_reasons import describe_error
from sojourn.experiments.executors._retry import RetryQueue

__all__ = ["ThisProcess"]


@dataclass(frozen=True)
class ThisProcess:
    """Runs jobs in this process: quick to start and easy to debug, but a job that crashes ends the run.

    Args:
        retries: How often a job that raised is tried again.
    """

    retries: int = 2

    def __post_init__(self) -> None:
        check_whole("retries", self.retries, least=0)

    @property
    def n_workers(self) -> int:
        """1: jobs run one after the other."""
        return 1

    def run(self, function: str, jobs: Iterable[Job]) -> Generator[Outcome, None, None]:
        """Call a function on every job; see `Executor.run`."""
        call = import_object(function)
        queue = RetryQueue(jobs, self.retries)
        while (attempt := queue.next()) is not None:
            begun = time.perf_counter()
            try:
                with exits_are_errors():
                    content = call(attempt.job.text)
            except (KeyboardInterrupt, SystemExit):  # Ctrl-C, or the exit of a signal handler
                raise
            except BaseException as error:  # a user's agent may raise anything
                outcome = queue.fail(attempt, describe_error(error), time.perf_counter() - begun)
            else:
                seconds = time.perf_counter() - begun
                outcome = Outcome(attempt.job.key, content, "", seconds, attempt.number)
            if outcome is not None:
                yield outcome
