"""The Ray executor, on a real cluster of several nodes on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from experiments.conftest import contents
from experiments.harm import descendants

from sojourn.experiments import Job, Ray, read_experiment, run_experiment, verify_store
from sojourn.testing import check_executor

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of warnings that Ray raises
    pytest.mark.xdist_group("ray"),  # one cluster at a time
]


@pytest.fixture(scope="module")
def cluster():
    os.environ.update(RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0", RAY_USAGE_STATS_ENABLED="0")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    yield cluster
    cluster.shutdown()


@pytest.fixture
def connected(cluster):
    """A driver that stays connected, as in a notebook: executors use its connection."""
    import ray

    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield ray
    ray.shutdown()


def test_ray_conforms(cluster, connected, capfd):
    check_executor(Ray(address=cluster.address, retries=1))


def test_bytes_are_the_same_although_a_node_dies(cluster, store, write, tmp_path):
    doomed = cluster.add_node(num_cpus=2)
    seen = []

    def kill_a_node(stock, outcome):
        seen.append(outcome)
        if len(seen) == 3:
            cluster.remove_node(doomed, allow_graceful=False)

    executor = Ray(address=cluster.address, retries=0)  # a counted try would be a failure
    report = run_experiment(
        read_experiment(write()), tmp_path / "other", executor=executor, watch=kill_a_node
    )
    assert (report.played, report.failures) == (9, ())
    assert contents(tmp_path / "other") == contents(store)


def test_jobs_of_a_dead_node_are_run_elsewhere(cluster, connected):
    doomed = cluster.add_node(num_cpus=3)
    outcomes = Ray(address=cluster.address, retries=0).run(
        "experiments.tasks:long_nap", [Job(str(i), str(i)) for i in range(12)]
    )
    first = next(outcomes)
    cluster.remove_node(doomed, allow_graceful=False)
    found = [first, *outcomes]
    assert sorted(int(outcome.content) for outcome in found) == list(range(12))
    assert {outcome.tries for outcome in found} == {1}


def test_closing_a_run_ends_its_tasks(cluster, tmp_path):
    # With the executor's connection: `connected` above keeps one open.
    jobs = [Job(str(i), f"beat {tmp_path / f'beat-{i}'}") for i in range(2)]
    outcomes = Ray(address=cluster.address).run("sojourn.testing._executors:task", [Job("a", "echo"), *jobs])
    next(outcomes)
    deadline = time.monotonic() + 60.0
    while len(list(tmp_path.glob("beat-*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    outcomes.close()
    sizes = []
    while len(sizes) < 2 or sizes[-1] != sizes[-2]:
        assert len(sizes) < 10
        time.sleep(0.5)
        sizes.append([path.stat().st_size for path in sorted(tmp_path.glob("beat-*"))])
    assert len(sizes[-1]) == 2


def start_run(spec):
    command = [sys.executable, "-m", "sojourn", "run", str(spec), "--on", "ray", "--workers", "2"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def begin_run(spec):
    """Start a run on Ray, wait for its first trial, and return its process."""
    process = start_run(spec)
    deadline = time.monotonic() + 120.0
    while not list(spec.parent.glob("tiny.results/trials/*.npz")) and time.monotonic() < deadline:
        time.sleep(0.05)
    return process


def test_sigterm_stops_a_run_on_ray_quietly(write, tmp_path):
    # On the small cluster that the executor starts: Ray ends a driver whose node has died.
    spec = write(("seeds = 3", "seeds = 2000"), ("[0.1, 0.01]", "[0.1]"))
    process = begin_run(spec)
    process.terminate()
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (143, ""), errors
    first, *others = errors.splitlines()
    assert first == "tiny: playing 4,000 trials."
    assert all(" of 4,000 trials, " in line for line in others)
    assert verify_store(tmp_path / "tiny.results").findings == ()


@pytest.fixture
def slow_spec(write, tmp_path):
    """An experiment of many trials that each take a third of a second."""
    (tmp_path / "own_slow.py").write_text(
        "import time\nfrom sojourn import RandomPlayer\n"
        "class Slow(RandomPlayer):\n"
        "    def start(self, **given): time.sleep(0.3); return super().start(**given)\n"
    )
    return write(("seeds = 3", "seeds = 500"), ('type = "random"', 'type = "own_slow:Slow"'))


def test_ctrl_c_stops_a_run_although_the_head_is_frozen(slow_spec, tmp_path):
    process = begin_run(slow_spec)
    (head,) = [pid for pid, args in descendants(process.pid) if args.split()[0].endswith("/gcs_server")]
    os.kill(head, signal.SIGSTOP)
    time.sleep(3.0)
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    output, errors = process.communicate(timeout=60)
    assert time.monotonic() - begun < 30.0
    assert (process.returncode, output, errors.splitlines()[-1]) == (130, "", "Stopped.")
    assert verify_store(tmp_path / "tiny.results").findings == ()


@pytest.mark.parametrize("seconds", [0.3, 0.7, 1.7])  # a head that dies at once is not seen
def test_a_head_that_is_lost_while_it_starts_ends_a_run_in_one_line(slow_spec, tmp_path, seconds):
    process = start_run(slow_spec)
    heads: list[int] = []
    while not heads:
        time.sleep(0.05)
        heads = [pid for pid, args in descendants(process.pid) if args.split()[0].endswith("/gcs_server")]
    time.sleep(seconds)
    os.kill(heads[0], signal.SIGKILL)
    begun = time.monotonic()
    _, errors = process.communicate(timeout=60)
    assert time.monotonic() - begun < 15.0
    assert process.returncode != 0
    assert errors.splitlines()[-1].startswith("Error: The head of the Ray cluster ")
    assert errors.endswith("Finished trials are kept; the same command resumes the run.\n")


def test_a_lost_head_ends_a_run_in_one_line(slow_spec, tmp_path):
    process = begin_run(slow_spec)
    (head,) = [pid for pid, args in descendants(process.pid) if args.split()[0].endswith("/gcs_server")]
    os.kill(head, signal.SIGKILL)
    begun = time.monotonic()
    output, errors = process.communicate(timeout=60)
    assert time.monotonic() - begun < 15.0
    assert (process.returncode, output) == (1, "")
    last = errors.splitlines()[-1]
    assert last.startswith("Error: The head of the Ray cluster at ")
    assert last.endswith(" is lost. Finished trials are kept; the same command resumes the run.")
    assert "Traceback" not in errors
    assert verify_store(tmp_path / "tiny.results").findings == ()
