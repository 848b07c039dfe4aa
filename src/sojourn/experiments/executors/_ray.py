"""The executor of a Ray cluster: the only module that imports Ray.

Only the driver keeps results, so that a task that Ray runs twice does no harm. A task is tried again by us
and not by Ray: a job that raised or crashed `retries` times is given up, a node that died costs no try.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sojourn._imports import exits_are_errors, import_object
from sojourn._validation import check_whole
from sojourn.experiments.executors._base import ExecutorError, Job, Outcome, say_error
from sojourn.experiments.executors._pool import usable_cores

__all__ = ["Ray"]

_MOST_LOST = 20  # times that a job may be lost with its node
_CONNECT, _ANSWER = 5.0, 20.0  # seconds
_PROBE = (
    "import logging, sys, ray; "
    "ray.init(address=sys.argv[1], log_to_driver=False, logging_level=logging.ERROR); ray.shutdown()"
)
_AHEAD = 2  # tasks that are submitted for each processor
_ENVIRONMENT = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


@dataclass(frozen=True)
class Ray:
    """Runs jobs on a Ray cluster, or on one of its own on this machine.

    Every node needs this version of sojourn, and modules of your own where Python finds them.

    Args:
        address: "host:port" of the cluster's head, or "auto" for the one that this machine belongs to; None
            starts a small cluster on this machine and stops it at the end.
        retries: How often a job that raised or crashed is tried again.
        workers: How many jobs run at a time; by default as many as the cluster has processors.
    """

    address: str | None = None
    retries: int = 2
    workers: int | None = None

    def __post_init__(self) -> None:
        check_whole("retries", self.retries, least=0)
        if self.workers is not None:
            check_whole("workers", self.workers, least=1)

    @property
    def n_workers(self) -> int:
        """Number of jobs at a time, as far as it is known: 1 for a cluster that was not asked yet."""
        return self.workers or (usable_cores() if self.address is None else 1)

    def run(self, function: str, jobs: Iterable[Job]) -> Generator[Outcome, None, None]:
        """Run a function on every job; see `Executor.run`."""
        with _connected(self.address, self.workers) as (ray, is_ours):
            driver = _Driver(ray, self, function, jobs)
            try:
                yield from driver.outcomes()
            finally:
                if (
                    not is_ours
                ):  # else Ray ends them as we leave, and cannot trip over one that ends by itself
                    driver.cancel()


def _call(function: str, text: str, path: list[str]) -> tuple[bytes | None, str, float]:
    """Run one job on a node; return what came of it, why it failed, and how long it took."""
    for place in path:
        if place not in sys.path:
            sys.path.append(place)
    begun = time.perf_counter()
    try:
        with exits_are_errors():
            return import_object(function)(text), "", time.perf_counter() - begun
    except Exception as error:  # whatever a learner of the user's own raises
        return None, say_error(error), time.perf_counter() - begun


@dataclass(frozen=True)
class _Try:
    job: Job
    number: int
    lost: int


class _Driver:
    def __init__(self, ray: Any, settings: Ray, function: str, jobs: Iterable[Job]) -> None:
        self._ray, self._settings, self._function = ray, settings, function
        self._task = ray.remote(num_cpus=1, max_retries=0)(_call)
        self._fresh = (_Try(job, 1, 0) for job in jobs)
        self._again: deque[_Try] = deque()  # those that failed or were lost, after all others
        self._running: dict[Any, _Try] = {}
        self._path = [place for place in sys.path if place]

    def outcomes(self) -> Generator[Outcome, None, None]:
        self._submit()
        while self._running:
            done, _ = self._ray.wait(list(self._running), timeout=1.0)
            for reference in done:
                made = self._take(reference)
                if made is not None:
                    yield made
            self._submit()

    def cancel(self) -> None:
        """End what is running."""
        for reference in self._running:
            with contextlib.suppress(Exception):  # the cluster may be gone
                self._ray.cancel(reference, force=True)

    def _submit(self) -> None:
        most = self._settings.workers
        if most is None:
            most = _AHEAD * max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        while len(self._running) < most:
            call = next(self._fresh, None) or (self._again.popleft() if self._again else None)
            if call is None:
                return
            reference = self._task.remote(self._function, call.job.text, self._path)
            self._running[reference] = call

    def _take(self, reference: Any) -> Outcome | None:
        call = self._running.pop(reference)
        lost = call.lost
        try:
            content, reason, seconds = self._ray.get(reference)
            if content is not None:
                return Outcome(call.job.key, content, "", seconds, call.number)
        except self._ray.exceptions.RayError as error:
            reason, seconds = say_error(error), 0.0
            if isinstance(error, _losses(self._ray)) and lost < _MOST_LOST:
                self._again.append(_Try(call.job, call.number, lost + 1))
                return None
        if call.number <= self._settings.retries:
            self._again.append(_Try(call.job, call.number + 1, lost))
            return None
        return Outcome(call.job.key, None, reason, seconds, call.number)


def _losses(ray: Any) -> tuple[type[Exception], ...]:
    """Return the errors that say that a node is gone, and nothing of the job."""
    names = ("NodeDiedError", "ObjectLostError", "OwnerDiedError", "LocalRayletDiedError")
    return tuple(getattr(ray.exceptions, name) for name in names if hasattr(ray.exceptions, name))


@contextlib.contextmanager
def _connected(address: str | None, workers: int | None) -> Iterator[tuple[Any, bool]]:
    """Connect to a cluster, unless this process is connected; yield Ray, and whether we connected it."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import ray  # noqa: PLC0415
    except ImportError as error:
        raise ExecutorError("Ray is not installed; install it with: pip install 'sojourn[ray]'.") from error
    if ray.is_initialized():
        yield ray, False
        return
    told: dict[str, Any] = (
        {"address": address} if address else {"num_cpus": workers, "include_dashboard": False}
    )
    if address:
        _check_reachable(address)
    on_sigterm = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **told)
    except Exception as error:  # Ray raises many kinds, by what it finds at the address
        raise ExecutorError(f"No Ray cluster at {address or 'this machine'}: {say_error(error)}") from error
    if threading.current_thread() is threading.main_thread() and on_sigterm is not None:
        signal.signal(signal.SIGTERM, on_sigterm)  # Ray puts its own in place, which dumps its stack
    quiet = _WithoutRaylet(sys.stdout)
    with contextlib.redirect_stdout(quiet):
        try:
            yield ray, True
        finally:
            quiet.drops_all = True  # what Ray held back it prints now
            ray.shutdown()


class _WithoutRaylet(io.TextIOBase):
    """Stdout without what Ray prints there by itself: outcomes say it, and results must stay readable."""

    def __init__(self, stream: Any) -> None:
        self._stream, self.drops_all = stream, False

    def write(self, text: str) -> int:
        """Write, unless it is Ray's own thread that does."""
        if self.drops_all or threading.current_thread().name.startswith("ray_"):
            return len(text)
        return int(self._stream.write(text))

    def flush(self) -> None:
        """Flush."""
        self._stream.flush()


def _check_reachable(address: str) -> None:
    """Raise `ExecutorError` soon if there is no cluster: Ray itself would wait for minutes."""
    if address != "auto":
        host, _, port = address.removeprefix("ray://").rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 65536:
            raise ExecutorError(f"address must be 'host:port' or 'auto'; got {address!r}.")
        try:
            with socket.create_connection((host, int(port)), timeout=_CONNECT):
                pass
        except OSError as error:
            raise ExecutorError(f"No Ray cluster at {address}: {error.strerror or error}.") from error
    try:
        probe = [sys.executable, "-c", _PROBE, address]
        tried = subprocess.run(probe, capture_output=True, text=True, check=False, timeout=_ANSWER)
    except subprocess.TimeoutExpired as error:
        raise ExecutorError(f"No Ray cluster at {address}: no answer in {_ANSWER:.0f} s.") from error
    if tried.returncode != 0:
        reason = (tried.stderr.strip().splitlines() or ["it does not answer"])[-1]
        raise ExecutorError(f"No Ray cluster at {address}: {reason[:300]}")
