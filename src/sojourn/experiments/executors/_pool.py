"""The executor of local processes, with a supervisor of its own.

Every worker is a fresh interpreter with one call in its hands. Jobs are asked for when there is somebody to
run them, for another run may have done what comes later; only while calls are short does one more wait at
each worker, so that it does not idle between two. If it dies, the call in its hands is tried again later, and
another worker takes its place.
"""

from __future__ import annotations

import os
import queue
import time
from collections import deque
from collections.abc import Generator, Iterable
from dataclasses import dataclass

from sojourn._validation import check_whole
from sojourn.experiments.executors._base import ExecutorError, Job, Outcome
from sojourn.experiments.executors._orphan_guard import Warden
from sojourn.experiments.executors._wire_format import READY, RESULT
from sojourn.experiments.executors._worker_process import Frame, Hired

__all__ = ["Processes", "usable_cores"]

_SHORT = 0.1  # seconds up to which a call is so short that the next one waits beside it
_MOST_DEATHS = 3  # of workers in a row that never got ready
_PATIENCE = 2.0  # seconds that workers are given to die


def usable_cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Processes:
    """Runs jobs in processes of this machine; a job that crashes costs its worker, and no other job.

    Args:
        workers: Number of processes; by default one a processor.
        retries: How often a job that raised or crashed is tried again.
    """

    workers: int | None = None
    retries: int = 2

    def __post_init__(self) -> None:
        check_whole("retries", self.retries, least=0)
        if self.workers is not None:
            check_whole("workers", self.workers, least=1)

    @property
    def n_workers(self) -> int:
        """Number of processes."""
        return self.workers if self.workers is not None else usable_cores()

    def run(self, function: str, jobs: Iterable[Job]) -> Generator[Outcome, None, None]:
        """Run a function on every job; see `Executor.run`."""
        supervisor = _Supervisor(function, jobs, self.n_workers, self.retries)
        try:
            yield from supervisor.outcomes()
        finally:
            supervisor.stop()


@dataclass(frozen=True)
class _Try:
    job: Job
    number: int


class _Supervisor:
    def __init__(self, function: str, jobs: Iterable[Job], n_workers: int, retries: int) -> None:
        self._function, self._n_workers, self._retries = function, n_workers, retries
        self._fresh = (_Try(job, 1) for job in jobs)
        self._waiting: deque[_Try] = deque()  # handed to workers that died before they began them
        self._again: deque[_Try] = deque()  # those that failed, after all others
        self._warden: Warden | None = None
        self._workers: list[Hired] = []
        self._news: queue.SimpleQueue[tuple[Hired, Frame | None]] = queue.SimpleQueue()
        self._deaths = 0
        self._are_short: deque[bool] = deque(maxlen=2 * n_workers)  # the last calls

    def outcomes(self) -> Generator[Outcome, None, None]:
        self._fill()
        while any(worker.calls for worker in self._workers):
            worker, frame = self._news.get()
            if worker not in self._workers:
                continue
            made = self._death_of(worker) if frame is None else self._answer_of(worker, *frame)
            try:
                self._fill()  # first, so that nobody idles meanwhile
            finally:
                if made is not None:
                    yield made  # also if no more jobs can be had

    def _answer_of(self, worker: Hired, kind: bytes, content: bytes, seconds: float) -> Outcome | None:
        worker.is_ready, self._deaths = True, 0
        if kind == READY:
            return None
        worker.forget_words()
        call = worker.calls.popleft()
        self._are_short.append(seconds <= _SHORT)
        if kind == RESULT:
            return Outcome(call.job.key, content, "", seconds, call.number)
        return self._failed(call, content.decode(errors="replace"), seconds)

    def _death_of(self, worker: Hired) -> Outcome | None:
        self._workers.remove(worker)
        reason = worker.say_death()
        worker.dismiss()
        if not worker.is_ready:
            self._deaths += 1
            self._waiting.extendleft(reversed(worker.calls))
            if self._deaths >= _MOST_DEATHS:
                raise ExecutorError(f"Workers cannot be started: {reason}.")
            return None
        if not worker.calls:
            return None
        call, *others = worker.calls
        self._waiting.extendleft(reversed(others))  # they were not begun, and are not to blame
        return self._failed(call, reason, 0.0)

    def _failed(self, call: _Try, reason: str, seconds: float) -> Outcome | None:
        if call.number <= self._retries:
            self._again.append(_Try(call.job, call.number + 1))
            return None
        return Outcome(call.job.key, None, reason, seconds, call.number)

    def _fill(self) -> None:
        """Hand out calls: one to each worker, started if it is missing; one more where all are short."""
        while (call := self._next() if self._has_room() else None) is not None:
            idle = next((worker for worker in self._workers if not worker.calls), None)
            if idle is None:
                idle = self._hire()
                self._workers.append(idle)
            idle.hand(call, call.job.text)
        if not self._are_short or not all(self._are_short):
            return
        for worker in self._workers:
            if len(worker.calls) == 1 and (call := self._next()) is not None:
                worker.hand(call, call.job.text)

    def _has_room(self) -> bool:
        return len(self._workers) < self._n_workers or any(not worker.calls for worker in self._workers)

    def _next(self) -> _Try | None:
        """Return the next call, which nobody has begun; None if there is none."""
        if self._waiting:
            return self._waiting.popleft()
        call = next(self._fresh, None)
        return call if call is not None or not self._again else self._again.popleft()

    def _hire(self) -> Hired:
        if self._warden is None:
            self._warden = Warden()
        return Hired(self._function, self._warden, lambda worker, frame: self._news.put((worker, frame)))

    def stop(self) -> None:
        """End all workers and what they started, and wait until they are gone."""
        for worker in self._workers:
            worker.kill()
        deadline = time.monotonic() + _PATIENCE
        for worker in self._workers:
            worker.dismiss(max(0.0, deadline - time.monotonic()))
        self._workers.clear()
        if self._warden is not None:
            self._warden.dismiss()
