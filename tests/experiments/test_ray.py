"""Errors of the Ray executor; `evidence/checks/test_ray_cluster.py` runs it on a real cluster."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time

import pytest

from sojourn.experiments import ExecutorError, Job, Ray
from sojourn.experiments.executors import _ray

pytestmark = pytest.mark.filterwarnings("ignore")  # of warnings that Ray raises


def test_a_refused_connection_is_an_error_in_one_line():
    begun = time.monotonic()
    with pytest.raises(ExecutorError, match=r"^No Ray cluster at 127\.0\.0\.1:\d+: Connection refused\.$"):
        list(Ray(address=f"127.0.0.1:{_free_port()}").run("experiments.tasks:nap", [Job("a", "a")]))
    assert time.monotonic() - begun < 5.0


@pytest.mark.parametrize("address", ["nonsense", ":1", "host:", "host:99999999", "host:port"])
def test_addresses_are_checked(address):
    with pytest.raises(ExecutorError, match=r"^address must be 'host:port' or 'auto'; got"):
        list(Ray(address=address).run("experiments.tasks:nap", [Job("a", "a")]))


def test_a_silent_server_is_an_error_within_seconds(monkeypatch, tmp_path):
    (tmp_path / "logging.py").write_text("raise SystemExit('files of the current folder are not imported')")
    monkeypatch.chdir(tmp_path)
    assert _ray._CONNECT_TIMEOUT + _ray._ANSWER_TIMEOUT < 30.0
    monkeypatch.setattr(_ray, "_ANSWER_TIMEOUT", 3.0)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ExecutorError, match=rf"^No Ray cluster at {address}: no answer in 3 s\.$"):
            list(Ray(address=address).run("experiments.tasks:nap", [Job("a", "a")]))


def test_without_ray_the_error_says_what_to_install(tmp_path):
    (tmp_path / "ray.py").write_text("raise ImportError('no ray here')")
    code = (
        "from sojourn.experiments import Job, Ray\n"
        "try: list(Ray().run('math:pi', [Job('a', 'a')]))\n"
        "except Exception as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "Ray is not installed; install it with: pip install 'sojourn[ray]'.\n"


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
