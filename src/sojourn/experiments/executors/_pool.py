"""The executor that runs jobs in worker processes of this machine.

Every worker is a fresh Python process that runs one job at a time. Jobs are taken only when a worker is free,
because another run may do later ones in the meantime. Only while jobs are short does each worker get a second
one in advance, so that it does not idle between two. If a worker dies, its job is tried again later and a new
worker replaces it.

Every worker leads its own process group, so that processes which an agent starts are ended with the worker.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import IO

from sojourn._threads import ONE_THREAD, usable_cores
from sojourn._validation import check_whole
from sojourn.experiments.executors._base import ExecutorError, Job, Outcome
from sojourn.experiments.executors._failure_reasons import describe_exit
from sojourn.experiments.executors._retry import Attempt, RetryQueue
from sojourn.experiments.executors._worker import CALL, READY, RESULT, Message, read_message, write_message

__all__ = ["Processes"]

_SHORT = 0.1  # seconds: up to this duration, a worker gets a second job in advance
_MAX_FAILED_STARTS = 3  # in a row
_PATIENCE = 2.0  # seconds to wait for a killed worker, or for the last answers of a dead one
_MAX_PRINTED = 10_000  # bytes of a dead worker's output that are searched for a reason
_START = (
    "import json, sys; given = json.loads(sys.argv[1]); sys.path[:] = given['path']; "
    "from sojourn.experiments.executors._worker import main; main(given['function'], given['lifeline'])"
)


@dataclass(frozen=True)
class Processes:
    """Runs jobs in processes of this machine; a job that crashes ends its worker, but no other job.

    Args:
        workers: Number of processes; by default one per processor.
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
        """Call a function on every job; see `Executor.run`."""
        supervisor = _Supervisor(function, RetryQueue(jobs, self.retries), self.n_workers)
        try:
            yield from supervisor.outcomes()
        finally:
            supervisor.stop()


class _Supervisor:
    """Starts workers, distributes attempts over them and collects outcomes."""

    def __init__(self, function: str, attempts: RetryQueue, n_workers: int) -> None:
        self._function, self._attempts, self._n_workers = function, attempts, n_workers
        self._workers: list[_WorkerProcess] = []
        self._events: queue.SimpleQueue[tuple[_WorkerProcess, Message | None]] = queue.SimpleQueue()
        self._failed_starts = 0  # in a row
        self._were_short: deque[bool] = deque(maxlen=2 * n_workers)  # whether the latest jobs were short

    def outcomes(self) -> Generator[Outcome, None, None]:
        self._distribute()
        while any(worker.attempts for worker in self._workers):
            worker, message = self._events.get()
            if worker not in self._workers:
                continue
            outcome = self._handle_death(worker) if message is None else self._receive(worker, *message)
            try:
                self._distribute()  # before yielding, so that no worker idles meanwhile
            finally:
                if outcome is not None:
                    yield outcome  # even if taking the next job raised

    def _receive(self, worker: _WorkerProcess, kind: bytes, content: bytes, seconds: float) -> Outcome | None:
        """Handle a message of a worker."""
        worker.is_ready, self._failed_starts = True, 0
        if kind == READY:
            return None
        worker.clear_output()
        attempt = worker.attempts.popleft()
        self._were_short.append(seconds <= _SHORT)
        if kind == RESULT:
            return Outcome(attempt.job.key, content, "", seconds, attempt.number)
        return self._attempts.fail(attempt, content.decode(errors="replace"), seconds)

    def _handle_death(self, worker: _WorkerProcess) -> Outcome | None:
        """Remove a dead worker and reschedule what it was working on."""
        self._workers.remove(worker)
        reason = worker.describe_exit()
        worker.close()
        if not worker.is_ready:
            self._failed_starts += 1
            self._attempts.put_back(worker.attempts)
            if self._failed_starts >= _MAX_FAILED_STARTS:
                raise ExecutorError(f"Workers cannot be started: {reason}.")
            return None
        if not worker.attempts:
            return None
        running, *not_started = worker.attempts
        self._attempts.put_back(not_started)
        return self._attempts.fail(running, reason, 0.0)

    def _distribute(self) -> None:
        """Give every worker an attempt, starting missing workers, and a second one while jobs are short."""
        while (attempt := self._attempts.next() if self._has_capacity() else None) is not None:
            idle = next((worker for worker in self._workers if not worker.attempts), None)
            if idle is None:
                idle = _WorkerProcess(self._function, lambda *event: self._events.put(event))
                self._workers.append(idle)
            idle.send(attempt)
        if not self._were_short or not all(self._were_short):
            return
        for worker in self._workers:
            if len(worker.attempts) == 1 and (attempt := self._attempts.next()) is not None:
                worker.send(attempt)

    def _has_capacity(self) -> bool:
        return len(self._workers) < self._n_workers or any(not worker.attempts for worker in self._workers)

    def stop(self) -> None:
        """Kill all workers and the processes that they started, and wait until they are gone."""
        for worker in self._workers:
            worker.kill()
        deadline = time.monotonic() + _PATIENCE
        for worker in self._workers:
            worker.close(max(0.0, deadline - time.monotonic()))
        self._workers.clear()


class _WorkerProcess:
    """A worker process as its run sees it.

    Args:
        function: Import path of the function that it calls.
        report: Called from another thread with the worker and each of its messages, and with None once it is
            dead. Its death is learned from the system, because a process that it started may keep its pipe
            open.

    Attributes:
        attempts: Attempts that were sent and not yet answered; the first is running.
        is_ready: Whether it has ever sent a message.
    """

    def __init__(self, function: str, report: Callable[[_WorkerProcess, Message | None], object]) -> None:
        self.attempts: deque[Attempt] = deque()
        self.is_ready = False
        self._is_gone = False
        self._report = report
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        try:
            self._process, self._lifeline = _start_process(function, self._output)
        except OSError as error:
            self._output.close()
            raise ExecutorError(f"A worker could not be started: {error}.") from error
        self._reader = threading.Thread(target=self._report_messages, daemon=True)
        self._watcher = threading.Thread(target=self._report_death, daemon=True)
        self._reader.start()
        self._watcher.start()

    def send(self, attempt: Attempt) -> None:
        """Send one more attempt."""
        self.attempts.append(attempt)
        with contextlib.suppress(OSError):  # it just died, which `_report_death` reports
            write_message(_pipe(self._process.stdin), CALL, attempt.job.text.encode())

    def _report_messages(self) -> None:
        with contextlib.suppress(OSError), _pipe(self._process.stdout) as pipe:
            while (message := read_message(pipe)) is not None:
                self._report(self, message)

    def _report_death(self) -> None:
        _wait_for_exit(self._process)
        self.kill()  # processes that it left behind; the number of the group is not reused yet
        self._is_gone = True
        self._process.wait()
        self._reader.join(_PATIENCE)  # not longer: a process that left the group may hold the pipe open
        self._report(self, None)

    def kill(self) -> None:
        """Kill the process and all others of its group."""
        if self._is_gone:
            return
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def clear_output(self) -> None:
        """Delete what it printed; only output shortly before a death is of use."""
        os.lseek(self._output.fileno(), 0, os.SEEK_SET)  # the worker shares this position
        os.ftruncate(self._output.fileno(), 0)

    def describe_exit(self) -> str:
        """Return how it died, in one line."""
        self._output.seek(max(0, self._output.seek(0, os.SEEK_END) - _MAX_PRINTED))
        lines = self._output.read(_MAX_PRINTED).decode(errors="replace").splitlines()
        fatal = [line for line in lines if line.startswith(("Fatal", "MemoryError"))]
        found = fatal or [line for line in lines if line.strip()][-1:]
        return describe_exit(self._process.returncode, found[-1][:200] if found else "")

    def close(self, patience: float = _PATIENCE) -> None:
        """Wait until the process is gone, and close its pipes and files."""
        self._watcher.join(patience)
        for file in (self._process.stdin, self._output, self._lifeline):
            with contextlib.suppress(OSError):
                if file is not None:
                    file.close()


def _start_process(function: str, output: IO[bytes]) -> tuple[subprocess.Popen[bytes], IO[bytes] | None]:
    """Start a worker; return it and its lifeline, a pipe that is closed when this process ends."""
    ends = os.pipe() if sys.platform == "linux" else ()
    given = json.dumps({"path": sys.path, "function": function, "lifeline": ends[0] if ends else None})
    try:
        process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-c",
                _START,
                given,
            ],  # -P: files here do not shadow Python's modules
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            env={**os.environ, **ONE_THREAD},
            start_new_session=True,
            pass_fds=ends[:1],
        )
    except OSError:
        for end in ends:
            os.close(end)
        raise
    if not ends:
        return process, None
    os.close(ends[0])
    return process, os.fdopen(ends[1], "wb")


def _wait_for_exit(process: subprocess.Popen[bytes]) -> None:
    """Wait until a process has ended, if possible without freeing its number for reuse."""
    if hasattr(os, "waitid"):
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    else:
        process.wait()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise ExecutorError("A worker has no pipe.")
    return pipe
