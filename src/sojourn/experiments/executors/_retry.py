"""Retries, shared by all executors: which job runs next, and when a failing job is given up."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sojourn.experiments.executors._base import Job, Outcome

__all__ = ["Attempt", "RetryQueue"]

_MAX_LOSSES = 20  # of one job


@dataclass(frozen=True)
class Attempt:
    """One try of a job.

    Attributes:
        job: The job.
        number: 1 for the first try.
        losses: How often a try was lost with its machine; such tries are not counted in `number`.
    """

    job: Job
    number: int = 1
    losses: int = 0


class RetryQueue:
    """Yields each job once, then the failed ones again until they succeed or run out of retries.

    Args:
        jobs: The jobs, taken one by one as `next` is called.
        retries: How often a failing job is tried again.
    """

    def __init__(self, jobs: Iterable[Job], retries: int) -> None:
        self._new = (Attempt(job) for job in jobs)
        self._retries = retries
        self._not_started: deque[Attempt] = deque()
        self._again: deque[Attempt] = deque()

    def next(self) -> Attempt | None:
        """Return the next attempt, or None if there is none for now."""
        if self._not_started:
            return self._not_started.popleft()
        attempt = next(self._new, None)
        return attempt if attempt is not None or not self._again else self._again.popleft()

    def put_back(self, attempts: Iterable[Attempt]) -> None:
        """Return attempts that were never started; they come first again."""
        self._not_started.extendleft(reversed(list(attempts)))

    def retry_lost(self, attempt: Attempt) -> bool:
        """Schedule an attempt whose machine was lost, and return True, unless that happened too often."""
        if attempt.losses >= _MAX_LOSSES:
            return False
        self._again.append(replace(attempt, losses=attempt.losses + 1))
        return True

    def fail(self, attempt: Attempt, reason: str, seconds: float) -> Outcome | None:
        """Schedule another try of a failed attempt, or return its outcome if no retries are left."""
        if attempt.number <= self._retries:
            self._again.append(replace(attempt, number=attempt.number + 1))
            return None
        return Outcome(attempt.job.key, None, reason, seconds, attempt.number)
