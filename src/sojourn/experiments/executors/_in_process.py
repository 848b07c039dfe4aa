"""The executor that runs jobs in this process, one after the other."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass

from sojourn._imports import exits_are_errors, import_object
from sojourn._validation import check_whole
from sojourn.experiments.executors._base import Job, Outcome, say_error

__all__ = ["ThisProcess"]


@dataclass(frozen=True)
class ThisProcess:
    """Runs jobs in this process: nothing to start, easy to debug; a job that crashes takes all with it.

    Args:
        retries: How often a job that raised is tried again.
    """

    retries: int = 2

    def __post_init__(self) -> None:
        check_whole("retries", self.retries, least=0)

    @property
    def n_workers(self) -> int:
        """One job at a time."""
        return 1

    def run(self, function: str, jobs: Iterable[Job]) -> Generator[Outcome, None, None]:
        """Run a function on every job; see `Executor.run`."""
        call = import_object(function)
        again: deque[tuple[Job, int]] = deque()
        for job, tries in itertools.chain(((job, 1) for job in jobs), _emptying(again)):
            begun = time.perf_counter()
            try:
                with exits_are_errors():
                    content, reason = call(job.text), ""
            except Exception as error:  # whatever a learner of the user's own raises
                content, reason = None, say_error(error)
            if reason and tries <= self.retries:
                again.append((job, tries + 1))
            else:
                yield Outcome(job.key, content, reason, time.perf_counter() - begun, tries)


def _emptying(waiting: deque[tuple[Job, int]]) -> Iterator[tuple[Job, int]]:
    """Yield what waits, also what comes to wait meanwhile, until nothing does."""
    while waiting:
        yield waiting.popleft()
