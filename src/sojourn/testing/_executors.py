"""The conformance suite of executors."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sojourn.experiments import Job, Outcome

__all__ = ["check_executor"]

_TASK = "sojourn.testing._executors:task"
_PATIENCE = 5.0
"""Seconds within which a closed executor must have stopped its jobs."""
_BEAT = 0.05
"""Seconds between two writes of a job that writes to a file to show that it is running."""


def check_executor(executor: Any, *, in_process: bool = False) -> None:
    """Check that an executor does what experiments rely on.

    Call it in the tests of your own executor. It runs some dozens of short jobs that echo, raise, print,
    return megabytes, fail the first time only, crash, or run until they are stopped.

    Args:
        executor: The executor; its jobs must see this machine's files.
        in_process: Whether jobs run in this process; if so, jobs that crash or run without end are left out.

    Raises:
        AssertionError: If the executor breaks a rule; one line names the rule.
        TypeError: If it has no method `run`.

    Example:
        >>> from sojourn.experiments import ThisProcess
        >>> check_executor(ThisProcess(retries=1), in_process=True)
    """
    if isinstance(executor, type) or not callable(getattr(executor, "run", None)):
        raise TypeError(f"executor must have a method run, such as Processes(); got {executor!r}.")
    _require(int(executor.n_workers) >= 1, "n_workers must be at least 1", executor.n_workers)
    _run(executor, [])
    _check_results(executor, prints=not in_process)
    _check_failures(executor, crashes=not in_process)
    with tempfile.TemporaryDirectory() as folder:
        _check_second_tries(executor, Path(folder), crashes=not in_process)
        if not in_process:
            _check_stopping(executor, Path(folder))
    _check_results(executor, prints=not in_process)  # again: an executor can be reused


def task(text: str) -> bytes:
    """Run one job of the suite, described by a text."""
    what, _, rest = text.partition(" ")
    if what == "raise":
        raise ValueError(f"{rest}\nin two lines")
    if what == "exit":
        os._exit(3)
    if what == "signal":
        os.kill(os.getpid(), int(rest))
        time.sleep(60.0)
    if what == "once":
        return _only_once(*rest.split(" ", 1))
    if what == "beat":
        return _beat(Path(rest))
    if what == "print":
        sys.stdout.write(f"{rest}\n" * 100)
        os.write(1, b"straight to the file\n")
    if what == "large":
        return bytes(int(rest))
    return _digest(text)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _only_once(path: str, how: str) -> bytes:
    if Path(path).exists():
        return b"the second time"
    Path(path).touch()
    return task(how)


def _beat(path: Path) -> bytes:
    """Write to a file again and again for two minutes, to show that the job is running."""
    for _ in range(int(120.0 / _BEAT)):
        with path.open("ab") as file:
            file.write(b".")
        time.sleep(_BEAT)
    return b""


def _run(executor: Any, texts: Sequence[str]) -> dict[str, Outcome]:
    """Run jobs, check the rules for all outcomes, and return the outcomes by the text of their job."""
    jobs = [Job(f"job {i}", text) for i, text in enumerate(texts)]
    found: dict[str, Outcome] = {}
    for outcome in executor.run(_TASK, iter(jobs)):  # an iterator without a length, as in a run
        _require(isinstance(outcome, Outcome), "run must yield outcomes", outcome)
        _require(outcome.key not in found, "a job must have one outcome", outcome.key)
        failed = outcome.content is None
        _require(failed == bool(outcome.reason), "a job must have a result or a reason", outcome)
        _require("\n" not in outcome.reason, "a reason must be one line", outcome.reason)
        _require(outcome.tries >= 1 and outcome.seconds >= 0.0, "tries and seconds must be reported", outcome)
        found[outcome.key] = outcome
    missing = [job.key for job in jobs if job.key not in found]
    _require(not missing, "every job must have an outcome", missing)
    _require(len(found) == len(jobs), "outcomes must belong to the given jobs", sorted(found))
    return {job.text: found[job.key] for job in jobs}


def _check_results(executor: Any, *, prints: bool) -> None:
    texts = [*(f"echo {i}" for i in range(20)), "echo γ(h) = 1 ≥ ½\n\ttwo lines", "large 3000000"]
    found = _run(executor, [*texts, *(["print words"] if prints else [])])
    for text, outcome in found.items():
        is_right = outcome.content == (_digest(text) if text == "print words" else task(text))
        _require(is_right, "a job's result must be what its function returns", text)
        _require(outcome.tries == 1, "a job that succeeds must be run once", text)


def _check_failures(executor: Any, *, crashes: bool) -> None:
    bad = ["raise a reason"]
    if crashes:
        bad += [f"signal {int(signal.SIGKILL)}", f"signal {int(signal.SIGSEGV)}", "exit"]
    found = _run(executor, [*bad, *(f"echo {i}" for i in range(10))])
    for text, outcome in found.items():
        _require((outcome.content is None) == (text in bad), "a failure must not touch other jobs", text)
    reason = found["raise a reason"].reason
    _require("ValueError" in reason and "a reason" in reason, "a reason must say what was raised", reason)
    if hasattr(executor, "retries"):
        for text in bad:
            tries = found[text].tries
            _require(tries == 1 + executor.retries, "a failing job must be tried 1 + retries times", tries)


def _check_second_tries(executor: Any, folder: Path, *, crashes: bool) -> None:
    if getattr(executor, "retries", 1) < 1:
        return
    hows = ["raise x", *(["exit", f"signal {int(signal.SIGKILL)}"] if crashes else [])]
    found = _run(executor, [f"once {folder / f'once-{i}'} {how}" for i, how in enumerate(hows)])
    for text, outcome in found.items():
        _require(outcome.content == b"the second time", "a job that failed must be tried again", text)
        _require(outcome.tries == 2, "tries must be counted", text)


def _check_stopping(executor: Any, folder: Path) -> None:
    """Close a run while jobs are running; they must stop."""
    beating = [Job(f"beat {i}", f"beat {folder / f'beat-{i}'}") for i in range(2)]
    with contextlib.closing(executor.run(_TASK, [Job("first", "echo 1"), *beating])) as outcomes:
        next(iter(outcomes))
        deadline = time.monotonic() + 60.0
        while not any(folder.glob("beat-*")) and time.monotonic() < deadline:
            time.sleep(_BEAT)
        begun = time.monotonic()
    took = time.monotonic() - begun
    _require(took < 2.0 * _PATIENCE, "closing must take seconds at most", round(took, 1))
    deadline = time.monotonic() + _PATIENCE
    while (before := _sizes(folder)) is not None and time.monotonic() < deadline:
        time.sleep(10.0 * _BEAT)
        if _sizes(folder) == before:
            return
    _require(False, "a job must stop when its run is closed")


def _sizes(folder: Path) -> list[int]:
    return [path.stat().st_size for path in sorted(folder.glob("beat-*"))]


def _require(holds: bool, rule: str, found: object = None) -> None:
    if not holds:
        shown = "" if found is None else f"; got {str(found)[:200]!r}"
        raise AssertionError(f"{rule}{shown}.")
