"""`sojourn run`: what a person reads, exit codes, examples."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time

import pytest
from cli.tiny import SPEC

from sojourn.cli.output._numbers import format_duration

BAD = """
class Bad:
    def start(self, **_): raise RuntimeError("no luck")
"""


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(SPEC)
    return path


def test_a_run_prints_its_outcome(run, spec):
    result = run("run", str(spec), "--on", "here")
    assert result.exit_code == 0
    assert result.stdout.startswith("2 trials played in ")
    assert "tiny.results" in "".join(result.stdout.split())
    assert result.stderr == "tiny: playing 2 trials.\n"
    again = run("run", str(spec), "--on", "here")
    assert again.stdout.startswith("Nothing to do: all 2 trials are done.")
    assert again.stderr == ""


def test_an_old_spec_is_played_with_a_note_of_one_line(run, spec):
    spec.write_text(SPEC.replace("[agents.", "[learners."))
    result = run("run", str(spec), "--on", "here")
    assert result.exit_code == 0
    playing, note = result.stderr.splitlines()
    assert playing == "tiny: playing 2 trials."
    assert note.startswith(f"Note: {spec}: [learners.NAME] is now [agents.NAME]; ")


def test_a_dry_run_plays_nothing(run, spec):
    result = run("run", str(spec), "--dry-run")
    assert "2 (2 cells × 2 seeds)" in result.stdout
    assert "2 more are the same as others" in result.stdout
    assert "done      0" in result.stdout
    assert "missing   2, about" in result.stdout
    assert "every episode of 20" in result.stdout
    assert not spec.with_suffix(".results").exists()
    run("run", str(spec), "--on", "here")
    data = json.loads(run("run", str(spec), "--dry-run", "--json").stdout)
    assert (data["trials"], data["done"], data["seconds"]) == (2, 2, 0.0)


def test_a_dry_run_starts_no_ray(spec, tmp_path):
    (tmp_path / "ray.py").write_text("raise SystemExit('ray was imported')")
    done = subprocess.run(
        [sys.executable, "-m", "sojourn", "run", str(spec), "--dry-run", "--on", "ray", "--address", "a:1"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "missing   2, about" in done.stdout


def test_json_has_the_same_outcome(run, spec, tmp_path):
    result = run("run", str(spec), "--on", "here", "--json", "--store", str(tmp_path / "s"))
    data = json.loads(result.stdout)
    assert (data["trials"], data["played"], data["reused"], data["failed"]) == (2, 2, 0, [])
    assert data["store"] == str(tmp_path / "s")


def test_failures_are_named_and_the_exit_code_is_one(run, spec, tmp_path):
    (tmp_path / "own_unlucky.py").write_text(BAD)
    bad = '[agents.bad]\ntype = "own_unlucky:Bad"'
    spec.write_text(SPEC.replace('[agents.twin]\ntype = "random"', bad))
    result = run("run", str(spec), "--on", "here", "--retries", "1")
    assert result.exit_code == 1
    assert "2 trials played" in result.stdout
    assert "2 failed" in result.stdout
    line = "Error: Failed 2 times: bad on river_swim(n=3), Fixed(length=4), seeds 0, 1: RuntimeError: no luck"
    assert result.stderr.splitlines()[-1] == line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "SPEC is missing; 'sojourn run --example river_swim' prints an example."),
        (["none.toml"], "none.toml: No such file or directory."),
        (["{spec}", "--workers", "0"], "--workers must be a whole number ≥ 1; got '0'."),
        (["{spec}", "--retries", "x"], "--retries must be a whole number ≥ 0; got 'x'."),
        (["{spec}", "--on", "here", "--workers", "2"], "--workers must be 1 with '--on here'; got 2."),
        (["{spec}", "--address", "a:1"], "--address goes with '--on ray'; it was given without."),
        (["{spec}", "--store", "{spec}"], "must be a folder; it is a file."),
        (["--example", "tinny"], "Unknown example 'tinny'. Did you mean 'tiny'?"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_two(run, spec, arguments, message):
    result = run("run", *(argument.format(spec=spec) for argument in arguments))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr


def test_no_cluster_is_one_line_and_exit_code_one(run, spec):
    result = run("run", str(spec), "--on", "ray", "--address", "127.0.0.1:1")
    assert result.exit_code == 1
    message = "Error: No Ray cluster at 127.0.0.1:1: Connection refused."
    assert result.stderr.splitlines() == ["tiny: playing 2 trials.", message]


def test_examples_are_printed_and_listed(run, tmp_path):
    text = run("run", "--example", "tiny").stdout
    (tmp_path / "tiny.toml").write_text(text)
    assert "12" in run("run", str(tmp_path / "tiny.toml"), "--dry-run").stdout
    listed = json.loads(run("list", "specs", "--json").stdout)
    assert {row["name"] for row in listed} >= {"tiny", "taxi", "river_swim", "long_run"}


def test_damage_is_reported_and_repaired(run, spec):
    run("run", str(spec), "--on", "here")
    path = next((spec.with_suffix(".results") / "trials").iterdir())
    path.write_bytes(b"")
    result = run("run", str(spec), "--on", "here")
    assert result.exit_code == 0
    assert result.stderr.startswith("Warning: A damaged trial was set aside as ")
    assert "1 trial played" in result.stdout


def test_damage_is_reported_even_if_the_run_is_stopped(run, spec, monkeypatch):
    run("run", str(spec), "--on", "here")
    next((spec.with_suffix(".results") / "trials").iterdir()).write_bytes(b"")

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sojourn.experiments._run.manifest_of", stop)
    result = run("run", str(spec), "--on", "here")
    assert result.exit_code == 130
    assert result.stderr.startswith("Warning: A damaged trial was set aside as ")


def test_a_spec_with_the_name_of_another_one_says_what_it_replaces(run, spec):
    run("run", str(spec), "--on", "here")
    assert run("run", str(spec), "--on", "here").stderr == ""
    (manifest,) = (spec.with_suffix(".results") / "experiments").iterdir()
    content = manifest.read_bytes()
    spec.write_text(spec.read_text().replace("seeds = 2", "seeds = 1"))
    result = run("run", str(spec), "--on", "here")
    message = (
        "Warning: From now on reports and exports leave out 1 finished trial of an earlier 'tiny' with other "
        "settings; the store keeps what it has.\n"
    )
    assert (result.exit_code, result.stderr) == (0, message)
    # An older manifest that was copied into the store, as when stores are merged.
    manifest.write_bytes(content)
    os.utime(manifest, (1e9, 1e9))
    assert run("run", str(spec), "--on", "here").stderr == message
    assert not manifest.exists()


def test_without_a_compiler_kernels_say_what_to_do(spec):
    command = [sys.executable, "-m", "sojourn", "run", str(spec), "--on", "here"]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Sojourn needs numba's compiler; unset NUMBA_DISABLE_JIT." in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_terminal_shows_a_bar(spec):
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "sojourn", "run", str(spec), "--on", "here"],
        stdout=subprocess.DEVNULL,
        stderr=follower,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(follower)
    shown = b""
    try:
        while chunk := os.read(leader, 10_000):
            shown += chunk
    except OSError:  # the other side closed
        pass
    os.close(leader)
    assert process.wait() == 0
    assert b"2/2" in shown
    assert b"tiny" in shown


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (10, "10 s"),
        (60, "1 min"),
        (3599, "59 min 59 s"),
        (86400 * 3, "3 d"),
    ],
)
def test_durations_have_two_units(seconds, text):
    assert format_duration(seconds) == text


def test_the_remaining_time_ignores_the_first_trials_of_workers_and_agents(monkeypatch, capsys):
    from types import SimpleNamespace

    from sojourn import experiments
    from sojourn.cli.output import _run_progress

    now = 0.0
    monkeypatch.setattr(_run_progress.time, "monotonic", lambda: now)
    monkeypatch.setattr(experiments, "describe_long_run", lambda *_: "")
    cells = {name: (SimpleNamespace(name=name), None) for name in ("early", "late", "slow")}
    inventory = SimpleNamespace(missing=["early"] * 102, trials=cells, done=[])
    # Each worker compiles in its first trial, and the agent "late" in its own; "slow" takes longer than that.
    begins = [(1000.0, "early"), (2000.0, "early"), *((2000.0 + 20.0 * k, "early") for k in range(1, 11))]
    ends = [(2260.0, "late"), (2280.0, "late"), (2300.0, "early"), (2460.0, "slow")]
    with _run_progress.RunProgress("slow to start", 2) as progress:
        progress(inventory, None)
        for i, (finished, agent) in enumerate(begins + ends):
            seconds, now = finished - now, finished
            outcome = SimpleNamespace(key=agent, content=None if i == 3 else b"", seconds=seconds)
            progress(inventory, outcome)
    lines = capsys.readouterr().err.splitlines()
    assert lines[:4] == [
        "slow to start: playing 102 trials.",
        "1 of 102 trials, estimating the time left.",
        "2 of 102 trials, estimating the time left.",
        "3 of 102 trials, estimating the time left.",
    ]
    assert lines[4] == "4 of 102 trials, one per 20 s, 1 failed, about 32 min 40 s left."
    assert lines[12:15] == [
        "12 of 102 trials, one per 20 s, 1 failed, about 30 min left.",
        "13 of 102 trials, estimating the time left, 1 failed.",
        "14 of 102 trials, estimating the time left, 1 failed.",
    ]
    assert lines[15] == "15 of 102 trials, one per 20 s, 1 failed, about 29 min left."
    assert lines[16] == "16 of 102 trials, one per 1 min 7 s, 1 failed, about 1 h 35 min left."


@pytest.mark.parametrize("law", ["fixed(1_000_000_000)", "fixed(9007199254740992)"])
def test_runs_of_impossible_length_are_announced(run, tmp_path, law):
    spec = tmp_path / "long.toml"
    spec.write_text(
        f'problem = "river_swim(3)"\nlaw = "{law}"\nepisodes = 5\nseeds = 2\n[agents.a]\ntype = "random"\n'
    )
    begun = time.monotonic()
    found = run("run", str(spec), "--dry-run", "--workers", "2", width=200)
    assert time.monotonic() - begun < 10.0
    assert found.exit_code == 0
    (note,) = found.stderr.splitlines()
    assert note.startswith("Note: This run has about ")
    expected = ("10,000,000,000 steps, up to 5,000,000,000 per trial", "about 8 minutes.")
    if "9007" in law:
        expected = ("9 × 10^16 steps, up to 5 × 10^16 per trial", "about 140 years.")
    assert expected[0] in note
    assert note.endswith(f"At 10 million steps per second it takes {expected[1]}")
    assert found.stdout.count("2, about ") == 1
