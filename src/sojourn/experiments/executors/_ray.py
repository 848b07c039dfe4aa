"""The executor that runs jobs on a Ray cluster; the only module that imports Ray.

Only this process writes results, so a task that Ray runs twice does no harm. Failed tasks are retried here
and not by Ray: a job that raised or crashed counts against `retries`, a node that died does not.

If the head of the cluster dies, Ray waits for a minute and then ends this process. So the head is checked
every few seconds, and a lost one ends the run with an error. A head that is frozen accepts connections, but
calls of Ray never return; one that takes a minute ends the run, too.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import logging
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any

from sojourn._imports import exits_are_errors, import_object
from sojourn._threads import usable_cores
from sojourn._validation import check_whole
from sojourn.experiments.executors._base import ExecutorError, Job, Outcome
from sojourn.experiments.executors._failure_reasons import describe_error
from sojourn.experiments.executors._ray_start import HeadLostError, head_watched
from sojourn.experiments.executors._retry import Attempt, RetryQueue

__all__ = ["Ray"]

_CONNECT_TIMEOUT, _ANSWER_TIMEOUT = 5.0, 20.0  # seconds
_PROBE = (
    "import logging, sys, ray; "
    "ray.init(address=sys.argv[1], log_to_driver=False, logging_level=logging.ERROR); ray.shutdown()"
)
_CHECK_SECONDS = 2.0  # time between two checks of the head
_MAX_SILENCE = 5.0  # seconds without an answer after which the head counts as lost
_CALL_SECONDS = 60.0  # time after which a call of Ray that has not returned means that the head is lost
_SHUTDOWN_SECONDS = 3.0  # patience with Ray's shutdown after the head is lost
_STOP_SECONDS = 10.0  # patience with it after another error, or Ctrl-C
_CANCEL_SECONDS = 8.0  # patience with tasks that are to end
_TASKS_PER_CPU = 2  # submitted tasks, so that no processor waits for the next one
_ENVIRONMENT = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
_NODE_ERRORS = ("NodeDiedError", "ObjectLostError", "OwnerDiedError", "LocalRayletDiedError")
"""Ray's errors which mean that a node is gone; they say nothing about the job."""


@dataclass(frozen=True)
class Ray:
    """Runs jobs on a Ray cluster, or on a small one that it starts on this machine.

    Every node needs this version of sojourn, and your own modules where Python finds them.

    Args:
        address: "host:port" of the cluster's head, or "auto" for the cluster that this machine belongs to;
            None starts a small cluster on this machine and stops it at the end.
        retries: How often a job that raised or crashed is tried again.
        workers: How many jobs run at a time; by default one per processor of the cluster.
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
        """Number of jobs that run at a time, as far as it is known: 1 before a cluster is connected."""
        return self.workers or (usable_cores() if self.address is None else 1)

    def run(self, function: str, jobs: Iterable[Job]) -> Generator[Outcome, None, None]:
        """Call a function on every job; see `Executor.run`."""
        with _connected(self.address, self.workers) as (ray, is_own):
            driver = _Driver(ray, function, RetryQueue(jobs, self.retries), self.workers)
            try:
                yield from driver.outcomes()
            except HeadLostError:
                raise
            except BaseException:
                if not is_own:  # our own connection ends the tasks when it is shut down
                    driver.cancel()
                raise


def _call(function: str, text: str, path: list[str]) -> tuple[bytes | None, str, float]:
    """Run one job on a node; return its result or None, the reason of a failure, and the seconds."""
    for place in path:
        if place not in sys.path:
            sys.path.append(place)
    begun = time.perf_counter()
    try:
        with exits_are_errors():
            return import_object(function)(text), "", time.perf_counter() - begun
    except (KeyboardInterrupt, SystemExit):  # Ray cancels the task
        raise
    except BaseException as error:  # a user's agent may raise anything
        return None, describe_error(error), time.perf_counter() - begun


class _Head:
    """Checks from time to time, without a call of Ray, whether the head of the cluster is alive."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._address = str(ray.get_runtime_context().gcs_address)
        self._answered = self._checked = time.monotonic()

    def check(self) -> None:
        """Raise `HeadLostError` if the head has not answered for several seconds."""
        if time.monotonic() - self._checked >= _CHECK_SECONDS:
            self._checked = time.monotonic()
            if self._answers():
                self._answered = time.monotonic()
        if time.monotonic() - self._answered > _MAX_SILENCE or self._own_process_died():
            raise self.lost()

    def lost(self) -> HeadLostError:
        """Return the error that says that the head is lost."""
        return HeadLostError(
            f"The head of the Ray cluster at {self._address} is lost. Finished trials are kept; "
            "the same command resumes the run."
        )

    def _answers(self) -> bool:
        host, _, port = self._address.rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), timeout=_CHECK_SECONDS):
                return True
        except (OSError, ValueError):
            return False

    def _own_process_died(self) -> bool:
        """Whether a process of a cluster that this process started is gone."""
        node = getattr(self._ray._private.worker, "_global_node", None)
        if node is None or not hasattr(node, "dead_processes"):
            return False
        return any(kind in ("gcs_server", "raylet") for kind, _ in node.dead_processes())


class _Calls:
    """Calls functions of Ray in another thread, because they block for a minute if the head is lost."""

    def __init__(self, head: _Head) -> None:
        self._head = head
        self.patience = _CALL_SECONDS
        """Seconds after which a call that has not returned means that the head is lost."""
        self._waiting: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        threading.Thread(target=self._serve, daemon=True).start()

    def __call__(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Return the result of a call.

        Raises:
            HeadLostError: If the head of the cluster is lost before or meanwhile.
        """
        self._head.check()
        future: Future[Any] = Future()
        deadline = time.monotonic() + self.patience
        self._waiting.put((future, functools.partial(function, *arguments, **options)))
        while not wait([future], timeout=_CHECK_SECONDS).done:
            self._head.check()
            if time.monotonic() > deadline:
                raise self._head.lost()
        return future.result()

    def _serve(self) -> None:
        while True:
            future, call = self._waiting.get()
            try:
                future.set_result(call())
            except BaseException as error:  # is raised where the result is awaited
                future.set_exception(error)


class _Driver:
    """Submits tasks and collects their outcomes."""

    def __init__(self, ray: Any, function: str, attempts: RetryQueue, n_workers: int | None) -> None:
        self._ray, self._function, self._attempts, self._n_workers = ray, function, attempts, n_workers
        self._task = ray.remote(num_cpus=1, max_retries=0)(_call)
        known = [name for name in _NODE_ERRORS if hasattr(ray.exceptions, name)]
        self._node_errors = tuple(getattr(ray.exceptions, name) for name in known)
        self._running: dict[Any, Attempt] = {}
        self._call = _Calls(_Head(ray))
        self._path = [place for place in sys.path if place]

    def outcomes(self) -> Generator[Outcome, None, None]:
        self._submit()
        while self._running:
            done, _ = self._call(self._ray.wait, list(self._running), timeout=1.0)
            for reference in done:
                outcome = self._receive(reference)
                if outcome is not None:
                    yield outcome
            self._submit()

    def cancel(self) -> None:
        """End all running tasks.

        Ray ignores a request that arrives while a task starts, so requests are repeated until all have ended.
        """
        running, deadline = list(self._running), time.monotonic() + _CANCEL_SECONDS
        self._call.patience = _CANCEL_SECONDS
        with contextlib.suppress(Exception):  # the cluster may be gone
            while running and time.monotonic() < deadline:
                for reference in running:
                    self._call(self._ray.cancel, reference, force=True)
                _, running = self._call(self._ray.wait, running, num_returns=len(running), timeout=1.0)

    def _submit(self) -> None:
        limit = self._n_workers
        if limit is None:
            limit = _TASKS_PER_CPU * max(1, int(self._call(self._ray.cluster_resources).get("CPU", 1)))
        while len(self._running) < limit and (attempt := self._attempts.next()) is not None:
            reference = self._call(self._task.remote, self._function, attempt.job.text, self._path)
            self._running[reference] = attempt

    def _receive(self, reference: Any) -> Outcome | None:
        attempt = self._running.pop(reference)
        try:
            content, reason, seconds = self._call(self._ray.get, reference)
            if content is not None:
                return Outcome(attempt.job.key, content, "", seconds, attempt.number)
        except self._ray.exceptions.RayError as error:
            reason, seconds = describe_error(error), 0.0
            if isinstance(error, self._node_errors) and self._attempts.retry_lost(attempt):
                return None
        return self._attempts.fail(attempt, reason, seconds)


@contextlib.contextmanager
def _connected(address: str | None, workers: int | None) -> Iterator[tuple[Any, bool]]:
    """Connect to a cluster unless this process is connected; yield Ray and whether the connection is ours."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import ray  # noqa: PLC0415
    except ImportError as error:
        raise ExecutorError("Ray is not installed; install it with: pip install 'sojourn[ray]'.") from error
    if ray.is_initialized():
        yield ray, False
        return
    options: dict[str, Any] = {"address": address}
    if address:
        _check_reachable(address)
    else:  # "local" starts a new cluster; without it Ray would join one that runs on this machine
        options = {"address": "local", "num_cpus": workers, "include_dashboard": False}
    try:
        _start(ray, options)
    except HeadLostError:
        _stop(ray, _SHUTDOWN_SECONDS)
        raise
    except Exception as error:  # Ray raises many types
        where = address or "this machine"
        raise ExecutorError(f"No Ray cluster at {where}: {describe_error(error)}") from error
    quiet = _WithoutRayOutput(sys.stdout)
    with contextlib.redirect_stdout(quiet):
        try:
            yield ray, True
        except BaseException as error:
            quiet.drops_all = True  # Ray prints what it held back while it shuts down
            _stop(ray, _SHUTDOWN_SECONDS if isinstance(error, HeadLostError) else _STOP_SECONDS)
            raise
        quiet.drops_all = True
        ray.shutdown()


def _start(ray: Any, options: dict[str, Any]) -> None:
    """Connect to a cluster, and restore the handler of SIGTERM that Ray replaces."""
    is_main = threading.current_thread() is threading.main_thread()
    on_sigterm = signal.getsignal(signal.SIGTERM) if is_main else None
    is_own = options["address"] == "local"
    try:
        with head_watched() if is_main and is_own else contextlib.nullcontext():
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    except SystemExit:  # from the handler that Ray installs, whose exit code is not that of SIGTERM
        if callable(on_sigterm):
            on_sigterm(signal.SIGTERM, None)
        raise
    finally:
        if on_sigterm is not None:
            signal.signal(signal.SIGTERM, on_sigterm)


def _stop(ray: Any, patience: float) -> None:
    """Shut down Ray, but wait only so many seconds for answers of its head, which may be lost."""
    node = getattr(ray._private.worker, "_global_node", None)
    atexit.unregister(ray.shutdown)
    shutdown = threading.Thread(target=ray.shutdown, daemon=True)
    shutdown.start()
    shutdown.join(patience)
    if node is not None:
        with contextlib.suppress(Exception):
            node.kill_all_processes(check_alive=False, allow_graceful=False)


class _WithoutRayOutput(io.TextIOBase):
    """Stdout without the lines that Ray prints: stdout is for results, and outcomes report failures."""

    def __init__(self, stream: Any) -> None:
        self._stream, self.drops_all = stream, False

    def write(self, text: str) -> int:
        """Write the text, unless the caller is a thread of Ray."""
        if self.drops_all or threading.current_thread().name.startswith("ray_"):
            return len(text)
        return int(self._stream.write(text))

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()


def _check_reachable(address: str) -> None:
    """Raise `ExecutorError` within seconds if there is no cluster; Ray would wait for minutes."""
    if address != "auto":
        host, _, port = address.removeprefix("ray://").rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 65536:
            raise ExecutorError(f"address must be 'host:port' or 'auto'; got {address!r}.")
        try:
            with socket.create_connection((host, int(port)), timeout=_CONNECT_TIMEOUT):
                pass
        except OSError as error:
            raise ExecutorError(f"No Ray cluster at {address}: {error.strerror or error}.") from error
    try:
        # -P: files in the current folder do not shadow Python's modules
        probe = [sys.executable, "-P", "-c", _PROBE, address]
        probed = subprocess.run(probe, capture_output=True, text=True, check=False, timeout=_ANSWER_TIMEOUT)
    except subprocess.TimeoutExpired as error:
        raise ExecutorError(f"No Ray cluster at {address}: no answer in {_ANSWER_TIMEOUT:.0f} s.") from error
    if probed.returncode != 0:
        reason = (probed.stderr.strip().splitlines() or ["it does not answer"])[-1]
        raise ExecutorError(f"No Ray cluster at {address}: {reason[:300]}")
