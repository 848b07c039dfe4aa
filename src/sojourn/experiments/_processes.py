"""The executor of local processes, with a supervisor of its own.

Every worker is a fresh interpreter with one call in its hands and one waiting, so that it never idles
between two. A thread a worker carries its answers; if its pipe ends, the worker is dead, the call in its
hands is tried again later, and another worker takes its place.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from sojourn._threads import ONE_THREAD
from sojourn._validation import check_whole
from sojourn.experiments._executor import ExecutorError, Job, Outcome, say_death
from sojourn.experiments._frames import CALL, READY, RESULT, read_frame, write_frame

__all__ = ["Processes", "usable_cores"]

_AHEAD = 2  # calls that a worker holds: one in its hands, one waiting
_MOST_DEATHS = 3  # of workers in a row that never got ready
_PATIENCE = 2.0  # seconds that a worker is given to die
_START = (
    "import json, sys; told = json.loads(sys.argv[1]); "
    "sys.path[:] = told['path']; "
    "from sojourn.experiments._worker import main; main(told['function'])"
)


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

    def run(self, function: str, jobs: Sequence[Job]) -> Generator[Outcome, None, None]:
        """Run a function on every job; see `Executor.run`."""
        supervisor = _Supervisor(function, jobs, min(self.n_workers, len(jobs)), self.retries)
        try:
            yield from supervisor.outcomes()
        finally:
            supervisor.stop()


@dataclass(eq=False)
class _Worker:
    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    calls: deque[_Try] = field(default_factory=deque)
    carrier: threading.Thread | None = None
    is_ready: bool = False

    def last_words(self) -> str:
        """Return the first line that a dying interpreter wrote, if it says what happened."""
        self.errors.seek(max(0, self.errors.seek(0, os.SEEK_END) - 10_000))
        lines = self.errors.read().decode(errors="replace").splitlines()
        fatal = [line for line in lines if line.startswith(("Fatal", "MemoryError"))]
        found = fatal or [line for line in lines if line.strip()][-1:]
        return found[-1][:200] if found else ""


@dataclass(frozen=True)
class _Try:
    job: Job
    number: int


class _Supervisor:
    def __init__(self, function: str, jobs: Sequence[Job], n_workers: int, retries: int) -> None:
        self._function, self._n_workers, self._retries = function, n_workers, retries
        self._waiting = deque(_Try(job, 1) for job in jobs)
        self._workers: list[_Worker] = []
        self._answers: queue.SimpleQueue[tuple[_Worker, Any]] = queue.SimpleQueue()
        self._deaths = 0

    def outcomes(self) -> Generator[Outcome, None, None]:
        self._fill()
        while any(worker.calls for worker in self._workers):
            worker, frame = self._answers.get()
            if worker not in self._workers:
                continue
            made = self._death_of(worker) if frame is None else self._answer_of(worker, *frame)
            self._fill()
            if made is not None:
                yield made

    def _answer_of(self, worker: _Worker, kind: bytes, content: bytes, seconds: float) -> Outcome | None:
        worker.is_ready, self._deaths = True, 0
        if kind == READY:
            return None
        call = worker.calls.popleft()
        if kind == RESULT:
            return Outcome(call.job.key, content, "", seconds, call.number)
        return self._failed(call, content.decode(errors="replace"), seconds)

    def _death_of(self, worker: _Worker) -> Outcome | None:
        self._workers.remove(worker)
        code = worker.process.wait()
        reason = say_death(code, worker.last_words())
        self._dismiss(worker)
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
            self._waiting.append(_Try(call.job, call.number + 1))
            return None
        return Outcome(call.job.key, None, reason, seconds, call.number)

    def _fill(self) -> None:
        """Start workers that are missing, and hand out calls: first to who has none."""
        while len(self._workers) < self._n_workers and self._n_idle_calls() > 0:
            self._workers.append(self._hire())
        for ahead in range(1, _AHEAD + 1):
            for worker in self._workers:
                # Near the end nobody hoards: the last calls wait here for whoever is free first.
                if len(worker.calls) < ahead and len(self._waiting) > (0 if ahead == 1 else self._n_workers):
                    self._hand(worker, self._waiting.popleft())

    def _n_idle_calls(self) -> int:
        return len(self._waiting) - sum(not worker.calls for worker in self._workers)

    def _hand(self, worker: _Worker, call: _Try) -> None:
        worker.calls.append(call)
        with contextlib.suppress(OSError):  # it just died: its pipe will say so
            write_frame(_pipe(worker.process.stdin), CALL, call.job.text.encode())

    def _hire(self) -> _Worker:
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the worker is dismissed
        try:
            process = self._start(errors)
        except OSError as error:
            errors.close()
            raise ExecutorError(f"A worker could not be started: {error}.") from error
        worker = _Worker(process, errors)
        worker.carrier = threading.Thread(target=self._carry, args=(worker,), daemon=True)
        worker.carrier.start()
        return worker

    def _start(self, errors: IO[bytes]) -> subprocess.Popen[bytes]:
        told = json.dumps({"path": sys.path, "function": self._function})
        return subprocess.Popen(
            [sys.executable, "-c", _START, told],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, **ONE_THREAD},
        )

    def _carry(self, worker: _Worker) -> None:
        """Bring a worker's answers, and the news of its death."""
        pipe = _pipe(worker.process.stdout)
        try:
            while (frame := read_frame(pipe)) is not None:
                self._answers.put((worker, frame))
        except OSError:
            pass  # as if it had ended
        self._answers.put((worker, None))

    def stop(self) -> None:
        """End all workers, and wait until they are gone."""
        for worker in self._workers:
            worker.process.kill()
        deadline = time.monotonic() + _PATIENCE
        for worker in self._workers:
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.process.wait(max(0.0, deadline - time.monotonic()))
            self._dismiss(worker)
        self._workers.clear()

    def _dismiss(self, worker: _Worker) -> None:
        if worker.carrier is not None:
            worker.carrier.join(_PATIENCE)  # a pipe must not be closed under who reads it
            if worker.carrier.is_alive():
                return
        for pipe in (worker.process.stdin, worker.process.stdout, worker.errors):
            with contextlib.suppress(OSError):
                _pipe(pipe).close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise ExecutorError("A worker has no pipe.")
    return pipe
