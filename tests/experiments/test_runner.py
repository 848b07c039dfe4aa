"""Runs: resumed, killed, and several on one store; always with the same bytes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from experiments.conftest import contents
from experiments.harm import alive

from sojourn._files import pack_archive
from sojourn.experiments import (
    ExecutorError,
    Processes,
    ThisProcess,
    _run,
    read_experiment,
    run_experiment,
    take_inventory,
    verify_store,
)
from sojourn.experiments._eta import forecast
from sojourn.experiments.store._store import Store
from sojourn.experiments.store._stored_file import StoredFile, content_hash
from sojourn.experiments.trials._archive import _is_surely_sound, defect_of_file, read_trial
from sojourn.experiments.trials._play import play_trial
from sojourn.experiments.trials._trial import RESULTS_VERSION

RUN = [sys.executable, "-m", "sojourn", "run"]


class Shuffled:
    """An executor that runs jobs in another order."""

    n_workers = 2

    def __init__(self, executor):
        self._executor = executor

    def run(self, function, jobs):
        mixed = list(jobs)
        random.Random(0).shuffle(mixed)
        return self._executor.run(function, mixed)


def test_a_run_continues_where_the_last_one_stopped(write, tmp_path):
    experiment, folder = read_experiment(write()), tmp_path / "store"
    seen = []

    def stop_after_four(stock, outcome):
        seen.append(outcome)
        if len(seen) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment(experiment, folder, executor=ThisProcess(), watch=stop_after_four)
    assert seen[0] is None
    assert len(contents(folder)) == 4
    report = run_experiment(experiment, folder, executor=ThisProcess())
    assert (report.total, report.reused, report.played) == (9, 4, 5)
    report = run_experiment(experiment, folder, executor=ThisProcess())
    assert (report.total, report.reused, report.played) == (9, 9, 0)


def test_a_changed_spec_reuses_the_trials_that_it_still_has(store, write):
    more = write(("seeds = 3", "seeds = 4"), ("[0.1, 0.01]", "[0.01, 0.001]"))
    report = run_experiment(read_experiment(more), store, executor=ThisProcess())
    assert (report.total, report.reused, report.played) == (12, 6, 6)
    assert len(contents(store)) == 15  # trials of the old spec are kept


def test_the_same_trial_under_two_names_is_played_once(write, tmp_path):
    twin = '[agents.twin]\ntype = "random"\n[agents.chance]'
    experiment = read_experiment(write(("[agents.chance]", twin)))
    assert experiment.n_trials == 12
    report = run_experiment(experiment, tmp_path / "store", executor=ThisProcess())
    assert (report.total, report.played) == (9, 9)


@pytest.mark.parametrize("executor", [Processes(3), Shuffled(Processes(2)), Shuffled(ThisProcess())])
def test_bytes_are_the_same_however_trials_are_played(store, write, tmp_path, executor):
    report = run_experiment(read_experiment(write()), tmp_path / "other", executor=executor)
    assert report.played == 9
    assert contents(tmp_path / "other") == contents(store)


OWN = """
import os, signal, time
class Bad:
    def __init__(self, how): self.how = how
    def start(self, *, rng, **_):
        first = rng.integers(2**62) % 1000
        if self.how == "raise": raise RuntimeError("no luck\\nat all")
        if self.how == "signal": os.kill(os.getpid(), signal.SIGSEGV)
        if self.how == "memory": raise MemoryError
        time.sleep(float(self.how))
        return self
    def act(self, state, h): return 0
    def observe(self, *_): pass
    def end_episode(self, *_): pass
"""


def test_failing_trials_are_named_and_the_others_finish(write, tmp_path):
    (tmp_path / "own_bad.py").write_text(OWN)
    bad = 'type = "own_bad:Bad"\nhow = { grid = ["raise", "signal", "memory"] }'
    experiment = read_experiment(write(("seeds = 3", "seeds = 1"), ('type = "random"', bad)))
    report = run_experiment(experiment, tmp_path / "store", executor=Processes(2, retries=1))
    assert report.played == 2
    found = {failure.name: (failure.reason, failure.tries) for failure in report.failures}
    where = "on river_swim(n=3), Fixed(length=4), seed 0"
    assert found[f"chance (how=raise) {where}"] == ("RuntimeError: no luck at all", 2)
    assert found[f"chance (how=memory) {where}"] == ("MemoryError", 2)
    reason, tries = found[f"chance (how=signal) {where}"]
    assert reason.startswith("its process was ended by SIGSEGV: Fatal Python error: Segmentation fault")
    assert tries == 2
    assert verify_store(tmp_path / "store").findings == ()


@pytest.fixture
def slow(write, tmp_path):
    """The spec of an experiment with 60 trials, half of which take 0.1 s."""
    (tmp_path / "own_bad.py").write_text(OWN)
    return write(
        ("seeds = 3", "seeds = 30"),
        ("[0.1, 0.01]", "[0.1]"),
        ('type = "random"', 'type = "own_bad:Bad"\nhow = "0.1"'),
    )


def start(spec, *options):
    return subprocess.Popen(
        [*RUN, str(spec), *options],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=spec.parent,
    )


def wait_for(folder, number):
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        if folder.is_dir() and len(list((folder / "trials").glob("*.npz"))) >= number:
            return
        time.sleep(0.02)
    raise AssertionError("the run did not get that far")


def test_killed_runs_lose_nothing(slow, tmp_path):
    slow.write_text(slow.read_text().replace("seeds = 30", "seeds = 12"))
    folder = slow.with_suffix(".results")
    before: dict[str, bytes] = {}
    rng = random.Random(4)
    for number in (2, 8, 14):
        process = start(slow, "--workers", "2")
        wait_for(folder, number)
        time.sleep(rng.uniform(0.0, 0.2))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        now = contents(folder)
        assert before.items() <= {name: now[name] for name in now if not name.startswith(".")}.items()
        before = {name: content for name, content in now.items() if not name.startswith(".")}
    report = run_experiment(read_experiment(slow), folder, executor=ThisProcess())
    assert report.reused >= len(before)
    assert verify_store(folder).findings == ()
    assert Store(folder).temporary_files() == []
    calm = run_experiment(read_experiment(slow), tmp_path / "calm", executor=ThisProcess())
    assert calm.played == 24
    assert contents(tmp_path / "calm") == contents(folder)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_leaves_no_process_and_a_sound_store(slow, number, code):
    folder = slow.with_suffix(".results")
    process = start(slow, "--workers", "2")
    wait_for(folder, 2)
    assert len(alive(folder.parent)) == 3
    begun = time.monotonic()
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert time.monotonic() - begun < 5.0
    assert process.returncode == code
    assert "Traceback" not in errors
    assert alive(folder.parent) == []
    assert verify_store(folder).findings == ()


def test_workers_end_when_only_their_run_is_killed(slow):
    folder = slow.with_suffix(".results")
    process = start(slow, "--workers", "2")
    wait_for(folder, 2)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 10.0
    while alive(folder.parent) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive(folder.parent) == []


def test_two_runs_on_one_store_share_the_work(slow):
    folder = slow.with_suffix(".results")
    slow.write_text(slow.read_text().replace('how = "0.1"', 'how = "0.3"'))  # few per second
    both = [start(slow, "--workers", "1", "--json") for _ in range(2)]
    reports = []
    for process in both:
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        reports.append(json.loads(output))
    assert len(contents(folder)) == 60
    assert verify_store(folder).findings == ()
    for data in reports:
        assert data["reused"] + data["played"] + data["elsewhere"] == 60
    # Each run lists the store once per second, so few of these short trials are played twice.
    assert sum(data["played"] for data in reports) + max(data["reused"] for data in reports) < 90


def test_trials_that_another_run_plays_meanwhile_are_skipped(write, tmp_path, monkeypatch):
    monkeypatch.setattr(_run, "_REFRESH_SECONDS", 0.0)
    monkeypatch.setattr(_run, "_REFRESH_FACTOR", 0.0)
    experiment, folder = read_experiment(write()), tmp_path / "store"
    seen, other = [], []

    def start_another_run(stock, outcome):
        seen.append(outcome)
        if len(seen) == 3:
            other.append(run_experiment(experiment, folder, executor=ThisProcess()))

    report = run_experiment(experiment, folder, executor=ThisProcess(), watch=start_another_run)
    assert (other[0].reused, other[0].played, other[0].elsewhere) == (2, 7, 0)
    assert (report.reused, report.played, report.elsewhere) == (0, 2, 7)
    assert [outcome.tries for outcome in seen[1:]] == [1, 1] + [0] * 7
    assert verify_store(folder).findings == ()


def test_only_a_run_that_is_not_alone_shuffles_its_trials(write, tmp_path):
    experiment, store = read_experiment(write()), Store(tmp_path / "store")
    orders = []

    class Noting(ThisProcess):
        def run(self, function, jobs):
            orders.append([job.key for job in jobs])
            yield from ()

    def run():
        with pytest.raises(
            ExecutorError, match=r"ended before all trials .* the same command resumes the run\.$"
        ):
            run_experiment(experiment, store, executor=Noting())

    run()
    with Store(tmp_path / "store").writing() as access:
        assert access.is_alone
        for _ in range(3):
            run()
    in_order = [trial.key for _, trial in experiment.trials()]
    assert orders[0] == in_order
    assert all(sorted(order) == sorted(in_order) for order in orders)
    assert any(order != in_order for order in orders[1:])


def test_a_forecast_uses_the_timing_log_or_short_trials(store, write):
    experiment = read_experiment(write(("seeds = 3", "seeds = 13")))
    stock = take_inventory(experiment, Store(store))
    assert len(stock.missing) == 30
    for key, _ in list(stock.trials.items()):
        if key in stock.done:
            Store(store).timings.append(key, 2.0)
    assert forecast(stock, Store(store), 2) == pytest.approx(30.0)
    fresh = take_inventory(experiment, Store(store / "none"))
    assert 0.0 < forecast(fresh, Store(store / "none"), 1) < 20.0
    assert forecast(take_inventory(read_experiment(write()), Store(store)), Store(store), 2) == 0.0


@pytest.mark.parametrize("ending", [SystemExit(3), BaseException("no")])
def test_a_forecast_leaves_out_trials_that_end_the_program(store, write, monkeypatch, ending):
    def leave(text):
        raise ending

    monkeypatch.setattr("sojourn.experiments._eta.play_trial", leave)
    stock = take_inventory(read_experiment(write()), Store(store / "none"))
    assert forecast(stock, Store(store / "none"), 1) == 0.0


def header_of(trial):
    settings = json.loads(trial.settings)
    header = {"format": "sojourn trial 1", "results": RESULTS_VERSION, "settings": settings}
    return header | {"seed": trial.seed, "problem": "x"}


def test_an_inventory_reads_every_played_trial_in_the_quick_way(store, write, monkeypatch):
    # The general way takes ten times as long; benchmarks/experiments.py measures the time.
    monkeypatch.setattr("sojourn.experiments.trials._archive.read_trial", forbidden)
    report = run_experiment(read_experiment(write()), store, executor=ThisProcess())
    assert (report.total, report.played) == (9, 0)


def forbidden(*_, **__):
    raise AssertionError("The general way was used.")


def test_the_quick_check_knows_the_files_of_a_trial(write):
    # `read_trial` decides; the quick check only says where it need not be called.
    trials = [trial for _, trial in read_experiment(write()).trials()]
    files = [play_trial(trial.text) for trial in trials]
    for i, trial in enumerate(trials):
        assert [_is_surely_sound(content, trial) for content in files] == [i == j for j in range(len(files))]
    renamed = files[0].replace(b"about", b"other")
    for content in (b"", b"about.npy", b"about.npy" * 9, files[0][:-400], renamed):
        assert not _is_surely_sound(content, trials[0])


def test_a_file_under_another_trials_key_is_not_that_trial(store, write):
    sound = contents(store)
    first, second = sorted((store / "trials").iterdir())[:2]
    first.unlink()
    second.rename(second.with_name(first.name[:33] + second.name[33:]))
    report = run_experiment(read_experiment(write()), store, executor=ThisProcess())
    assert (report.reused, report.played) == (7, 2)
    assert [note.partition(" was set aside")[0] for note in report.notes] == ["A damaged trial"]
    assert contents(store) == sound
    assert [path.read_bytes() for path in (store / "damaged").iterdir()] == [sound[second.name]]


def test_files_with_a_good_hash_but_another_form_are_read_in_the_general_way(store, write):
    # The same trial with another order of keys is sound; another trial, or no archive, is not.
    experiment = read_experiment(write())
    (_, first), (_, second), (_, third), *_ = experiment.trials()
    _, arrays = read_trial(play_trial(first.text), first.key)
    for path in (store / "trials").iterdir():
        if path.name[:32] in {first.key, second.key, third.key}:
            path.unlink()
    header = header_of(first)
    for key, content in (
        (first.key, pack_archive(dict(reversed(header.items())), arrays)),
        (second.key, pack_archive(header, arrays)),
        (third.key, b"no archive"),
    ):
        (store / "trials" / f"{key}-{content_hash(content)}.npz").write_bytes(content)
    inventory = take_inventory(experiment, Store(store))
    assert first.key in inventory.done
    assert len(inventory.done) == 7
    assert {file.key for file in inventory.damaged} == {second.key, third.key}


def test_large_files_are_checked_in_full(write, tmp_path):
    experiment = read_experiment(write(("episodes = 20", 'episodes = 100_000\nrecord = "episodes"')))
    trial = experiment.cells[2].trials[0]
    arrays = {name: np.random.default_rng(0).random(100_000) for name in ("regret", "regret_width")}
    arrays |= {"starts": np.zeros(100_000, int), "lengths": np.full(100_000, 4)}
    arrays |= {"observed": np.ones(100_000, bool)}
    for rewards, is_sound in ((arrays["regret"], True), (arrays["regret"] * np.nan, False)):
        content = pack_archive(header_of(trial), arrays | {"rewards": rewards})
        path = tmp_path / f"{trial.key}-{content_hash(content)}.npz"
        path.write_bytes(content)
        assert path.stat().st_size > 1 << 20 or not is_sound
        assert (defect_of_file(StoredFile(str(tmp_path), path.name), trial) == "") is is_sound
