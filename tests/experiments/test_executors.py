"""Executors of one machine: conformance, failures, retries, and ending all processes."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from sojourn.experiments import Executor, ExecutorError, Job, Processes, Ray, ThisProcess
from sojourn.experiments.executors._failure_reasons import describe_error, describe_exit
from sojourn.testing import check_executor

TASK = "sojourn.testing._executors:task"


def test_this_process_conforms():
    check_executor(ThisProcess(), in_process=True)
    check_executor(ThisProcess(retries=0), in_process=True)


def test_processes_conform():
    check_executor(Processes(2, retries=1))


@pytest.mark.parametrize("executor", [ThisProcess(retries=1), Processes(workers=1, retries=1)])
@pytest.mark.parametrize("text", ["0", "subclass"])
def test_jobs_that_call_sys_exit_fail(executor, text):
    (outcome,) = executor.run("experiments.tasks:leave", [Job("key", text)])
    assert (outcome.content, outcome.tries) == (None, 2)
    assert outcome.reason == "ValueError: your code called sys.exit(0)."


@pytest.mark.parametrize("executor", [ThisProcess(retries=1), Processes(workers=1, retries=1)])
@pytest.mark.parametrize("text", ["base", "generator"])
def test_jobs_that_raise_what_is_not_an_exception_fail(executor, text):
    (outcome,) = executor.run("experiments.tasks:give_up", [Job("key", text)])
    assert (outcome.content, outcome.tries) == (None, 2)
    assert outcome.reason == {"base": "BaseException", "generator": "GeneratorExit"}[text] + ": I give up"


def test_a_signal_still_ends_this_process():
    with pytest.raises(SystemExit, match="143"):
        list(ThisProcess().run("experiments.tasks:leave", [Job("key", "signal")]))


def test_all_are_executors():
    for executor in (ThisProcess(), Processes(), Ray()):
        assert isinstance(executor, Executor)


@pytest.mark.parametrize("kind", [Processes, Ray])
@pytest.mark.parametrize("name", ["workers", "retries"])
def test_bad_settings_are_refused(kind, name):
    with pytest.raises(ValueError, match=f"{name} must be a whole number"):
        kind(**{name: -1})


def test_a_script_without_a_guard_is_not_run_again(tmp_path):
    # multiprocessing would import the script in every worker; Processes must not.
    script = tmp_path / "script.py"
    script.write_text(
        "from sojourn.experiments import Job, Processes\n"
        "print('once', flush=True)\n"
        "jobs = [Job(str(i), 'echo') for i in range(4)]\n"
        f"print(sum(o.content is not None for o in Processes(2).run({TASK!r}, jobs)))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "once\n4\n"


def test_a_file_named_like_a_module_of_python_does_not_stop_workers(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise RuntimeError('my own')")
    monkeypatch.chdir(tmp_path)
    (outcome,) = Processes(1, retries=0).run(TASK, [Job("a", "echo")])
    assert outcome.reason == ""


def test_what_jobs_print_does_not_pile_up(monkeypatch):
    files, make = [], tempfile.TemporaryFile
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: files.append(make()) or files[-1])
    jobs = [Job(str(i), f"print {'x' * 10_000}") for i in range(8)]  # a megabyte per job
    sizes = [os.fstat(files[0].fileno()).st_size for _ in Processes(1).run(TASK, jobs)]
    assert max(sizes) < 3_000_000


def test_errors_without_a_message_are_described_by_their_type():
    class WordlessError(Exception):
        def __str__(self):
            raise RuntimeError("no words")

    assert describe_error(WordlessError()) == "WordlessError"
    assert describe_error(ValueError("file \udcff is bad")) == "ValueError: file ? is bad"


def test_workers_that_cannot_start_are_an_error(monkeypatch):
    monkeypatch.setattr("sojourn.experiments.executors._pool._START", "raise SystemExit('no such thing')")
    begun = time.monotonic()
    with pytest.raises(ExecutorError, match=r"Workers cannot be started: .* exit code 1: no such thing\.$"):
        list(Processes(2).run(TASK, [Job("a", "echo"), Job("b", "echo")]))
    assert time.monotonic() - begun < 20.0


def test_exit_codes_are_described_in_words():
    assert describe_exit(-9) == "its process was ended by SIGKILL (out of memory?)"
    assert describe_exit(-11, "words") == "its process was ended by SIGSEGV: words"
    assert describe_exit(3) == "its process ended with exit code 3"
    assert describe_exit(-64 - 40) == "its process was ended by signal 104"


@pytest.mark.parametrize(("short", "most"), [(-1.0, 3), (math.inf, 5)], ids=["long jobs", "short jobs"])
def test_jobs_are_taken_when_a_worker_is_free(short, most, monkeypatch):
    monkeypatch.setattr("sojourn.experiments.executors._pool._SHORT", short)
    taken, ahead = [], []

    def jobs():
        for i in range(12):
            taken.append(i)
            yield Job(str(i), str(i))

    for n_back, outcome in enumerate(Processes(2).run("experiments.tasks:echo", jobs())):
        assert outcome.content == outcome.key.encode()
        ahead.append(len(taken) - n_back)
    assert max(ahead) == most  # including the one that just finished


def test_an_outcome_is_not_lost_if_taking_the_next_job_fails():
    def jobs():
        yield Job("first", "echo")
        raise OSError("the disk is gone")

    outcomes = Processes(1).run(TASK, jobs())
    assert next(outcomes).key == "first"
    with pytest.raises(OSError, match="the disk is gone"):
        next(outcomes)


def test_a_damaged_read_only_or_shared_cache_breaks_no_run(tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("SOJOURN_CACHE_DIR", str(cache))
    for state in ("shared", "damaged", "read-only"):
        if state == "damaged":
            files = sorted(path for path in cache.rglob("*.nb?"))
            assert files
            for i, path in enumerate(files):
                content = path.read_bytes()
                path.write_bytes([b"", content[: len(content) // 2], b"\x93no", bytes(len(content))][i % 4])
        if state == "read-only":
            for path in (cache, *cache.rglob("*")):
                path.chmod(0o555 if path.is_dir() else 0o444)
        jobs = [Job(str(i), "3") for i in range(6)]
        outcomes = list(Processes(2, retries=0).run("experiments.tasks:double", jobs))
        assert [outcome.content for outcome in outcomes] == [b"6.0"] * 6, state
    for path in cache.rglob("*"):
        path.chmod(0o755)


FORK = "experiments.tasks:fork"


def left_alive(folder, patience=5.0):
    """Process ids noted in a folder whose processes do not end soon."""
    numbers = [int(path.stem) for path in folder.glob("*.pid")]
    deadline = time.monotonic() + patience
    while (left := [n for n in numbers if _is_alive(n)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def _is_alive(number):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


@pytest.fixture
def kill_leftovers(tmp_path):
    yield
    for path in tmp_path.glob("*.pid"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(path.stem), signal.SIGKILL)


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@needs_proc
@pytest.mark.parametrize("how", ["die", "escape"])
def test_a_job_that_forks_and_is_killed_does_not_hang_the_run(tmp_path, kill_leftovers, how):
    # The forked child keeps the answer pipe open, so end-of-file does not reveal the death.
    begun = time.monotonic()
    (outcome,) = Processes(1, retries=0).run(FORK, [Job("key", f"{how} {tmp_path}")])
    assert time.monotonic() - begun < 15.0
    if how == "die":
        assert outcome.reason.startswith("its process was ended by SIGKILL")
        assert left_alive(tmp_path) == []
    else:
        assert outcome.content == b"done"


@needs_proc
def test_a_forked_child_that_returns_sends_no_second_answer(tmp_path, kill_leftovers):
    jobs = [Job(str(i), f"return {tmp_path}") for i in range(5)]
    outcomes = list(Processes(1, retries=0).run(FORK, jobs))
    assert [(outcome.key, outcome.content) for outcome in outcomes] == [(str(i), b"done") for i in range(5)]


def wait_for_pids(folder, number):
    deadline = time.monotonic() + 60.0
    while len(list(folder.glob("*.pid"))) < number:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@needs_proc
def test_closing_a_run_ends_processes_that_its_jobs_started(tmp_path, kill_leftovers):
    jobs = [Job("echo", f"return {tmp_path}"), Job("wait", f"spawn {tmp_path}")]
    outcomes = Processes(1).run(FORK, jobs)
    assert next(outcomes).key == "echo"
    wait_for_pids(tmp_path, 4)
    begun = time.monotonic()
    outcomes.close()
    assert time.monotonic() - begun < 5.0
    assert left_alive(tmp_path) == []


@needs_proc
@pytest.mark.parametrize("spin", [False, True])
def test_nothing_outlives_a_run_whose_process_group_is_killed(tmp_path, kill_leftovers, spin):
    function = "experiments.tasks:spin" if spin else FORK
    code = (
        "from sojourn.experiments import Job, Processes\n"
        f"list(Processes(2).run({function!r}, [Job(str(i), 'spawn {tmp_path}') for i in range(2)]))"
    )
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-c", code], start_new_session=True, env={**os.environ, "PYTHONPATH": path}
    )
    wait_for_pids(tmp_path, 2 if spin else 6)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert left_alive(tmp_path) == []
