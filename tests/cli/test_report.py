from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sojourn.cli._output_files import file_beside


def test_a_report_is_written_beside_the_store(run, store, tmp_path):
    path = tmp_path / "tiny.html"
    path.write_text('<p class="kind">Session lengths</p>')  # a report of 'sojourn fit', perhaps
    refused = f"Error: {path} exists and is not an earlier report; name another file with --to.\n"
    result = run("report", str(store))
    assert (result.exit_code, result.stderr) == (2, refused)
    path.unlink()
    assert run("report", str(store)).exit_code == 0
    result = run("report", str(store))  # replaces the earlier one
    assert result.exit_code == 0
    assert result.stderr == f"Wrote the report on 2 trials to {path}.\n"
    page = path.read_text(encoding="utf-8")
    assert "<h1>tiny.results</h1>" in page
    assert page.count("<figure>") == 1
    assert "IQM of regret" in page
    data = json.loads(run("report", str(store), "--to", str(tmp_path / "other.html"), "--json").stdout)
    assert data == {"file": str(tmp_path / "other.html"), "trials": 2}
    assert (tmp_path / "other.html").read_text(encoding="utf-8") == page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "report.pdf"], "--to must end in .html; got 'report.pdf'."),
        (["--experiment", "tinny"], "Did you mean 'tiny'?"),
    ],
)
def test_bad_input_gets_one_line_and_no_page(run, store, tmp_path, arguments, message):
    result = run("report", str(store), *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.glob("*.html"))


def test_the_file_beside_a_store_has_its_whole_name(tmp_path, monkeypatch):
    names = {"river.results": "river.csv", "scale0.1": "scale0.1.csv", "scale0.01": "scale0.01.csv"}
    assert {name: file_beside(Path(name), ".csv").name for name in names} == names
    (tmp_path / "store" / "trials").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "store")
    assert file_beside(Path(), ".csv") == tmp_path.resolve() / "store.csv"
    monkeypatch.chdir(tmp_path / "store" / "trials")
    assert file_beside(Path(".."), ".csv") == tmp_path.resolve() / "store.csv"


def test_a_folder_that_is_not_a_store_is_refused(run, tmp_path):
    result = run("report", str(tmp_path / "none"))
    assert result.exit_code == 2
    assert result.stderr.endswith("must be a store of 'sojourn run'; there is none.\n")


def test_tuning_experiments_are_left_out_unless_named(run, store, tmp_path):
    from sojourn.experiments import ThisProcess, read_experiment, run_experiment

    experiment = replace(read_experiment(tmp_path / "tiny.toml"), name="chosen by", purpose="tuning")
    run_experiment(experiment, store, executor=ThisProcess())
    result = run("report", str(store))
    assert result.stderr == (
        f"Wrote the report on 2 trials to {tmp_path / 'tiny.html'}.\n"
        "1 tuning experiment is left out; --experiment NAME shows one.\n"
    )
    one = run("report", str(store), "--experiment", "chosen by", "--to", str(tmp_path / "one.html"))
    assert one.stderr == f"Wrote the report on 2 trials to {tmp_path / 'one.html'}.\n"
    assert "<h2>chosen by: " in (tmp_path / "one.html").read_text(encoding="utf-8")


def test_an_experiment_may_be_named_like_tuning(run, store, tmp_path):
    (tmp_path / "x-tuning.toml").write_text((tmp_path / "tiny.toml").read_text())
    more = run("run", str(tmp_path / "x-tuning.toml"), "--store", str(store), "--on", "here")
    assert more.exit_code == 0, more.stderr
    result = run("report", str(store))
    assert result.stderr == f"Wrote the report on 2 trials to {tmp_path / 'tiny.html'}.\n"
    assert "<h2>x-tuning: " in (tmp_path / "tiny.html").read_text(encoding="utf-8")
