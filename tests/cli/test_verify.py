from __future__ import annotations

import json

import pytest


def test_an_intact_store_is_reported(run, store):
    result = run("verify", str(store))
    assert result.exit_code == 0
    assert result.stdout == "intact trials  2\ntiny           2 of 2 trials\n"
    assert result.stderr == ""


def test_damage_is_named_and_the_exit_code_is_one(run, store):
    path = min((store / "trials").iterdir())
    path.write_bytes(path.read_bytes() + b" ")
    result = run("verify", str(store))
    assert result.exit_code == 1
    assert "1 of 2 trials" in result.stdout
    assert result.stderr == f"Error: {path}: its content does not match the hash in its name.\n"
    data = json.loads(run("verify", str(store), "--json").stdout)
    assert data["wrong"] == [{"path": str(path), "what": "its content does not match the hash in its name"}]
    assert data["experiments"] == [{"name": "tiny", "trials": 2, "done": 1}]


def test_trials_that_no_experiment_lists_are_counted(run, store, tmp_path):
    spec = tmp_path / "tiny.toml"
    other = tmp_path / "other.toml"
    other.write_text(spec.read_text().replace("seeds = 2", "seeds = [7]"))
    assert run("run", str(other), "--store", str(store), "--on", "here").exit_code == 0
    lost, kept = sorted(
        (store / "experiments").iterdir(), key=lambda path: json.loads(path.read_text())["name"]
    )
    lost.unlink()
    result = run("verify", str(store))
    assert (result.exit_code, result.stderr.count("\n")) == (0, 1)
    assert result.stderr.startswith("Note: 1 trial is of no experiment, as after changing a spec;")
    assert json.loads(run("verify", str(store), "--json").stdout)["unlisted"] == 1

    kept.unlink()
    table = tmp_path / "tiny.csv"
    table.write_text("experiment,problem,law,agent,\n")  # the beginning of an earlier export
    result = run("verify", str(store))
    what = "no experiment lists the 3 trials; run the spec again, which plays none of them again"
    assert (result.exit_code, result.stderr) == (1, f"Error: {store / 'experiments'}: {what}.\n")
    result = run("export", str(store), "--csv")
    message = f"Error: {store} has no results yet; run its experiment first.\n"
    assert (result.exit_code, result.stderr) == (2, message)
    assert table.read_text() == "experiment,problem,law,agent,\n"
    assert run("run", str(spec), "--store", str(store), "--on", "here").stdout.startswith("Nothing to do")
    assert run("verify", str(store)).exit_code == 0


def test_a_folder_that_is_not_a_store_is_refused(run, tmp_path):
    result = run("verify", str(tmp_path / "none"))
    assert result.exit_code == 2
    assert result.stderr.endswith("must be a store of 'sojourn run'; there is none.\n")


def test_tables_are_exported_beside_the_store(run, store, tmp_path):
    for ending in ("csv", "parquet"):
        table = tmp_path / f"tiny.{ending}"
        table.write_text("survival\n1\n")  # the spec may read a table of that name
        result = run("export", str(store), f"--{ending}")
        refused = f"Error: {table} exists and is not an earlier export; name another file with --to.\n"
        assert (result.exit_code, result.stderr) == (2, refused)
        table.unlink()
        assert run("export", str(store), f"--{ending}").exit_code == 0
        result = run("export", str(store), f"--{ending}")  # replaces the earlier one
        assert result.exit_code == 0
        assert result.stderr == f"Wrote 80 rows of 2 trials to {tmp_path / f'tiny.{ending}'}.\n"
        assert (tmp_path / f"tiny.{ending}").is_file()
    data = json.loads(run("export", str(store), "--csv", "--to", str(tmp_path / "x.csv"), "--json").stdout)
    assert data == {"file": str(tmp_path / "x.csv"), "rows": 80, "trials": 2}
    assert (tmp_path / "x.csv").read_text() == (tmp_path / "tiny.csv").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "Exactly one of --parquet and --csv must be given."),
        (["--csv", "--parquet"], "Exactly one of --parquet and --csv must be given."),
        (["--csv", "--to", "x.txt"], "--to must end in .csv; got 'x.txt'."),
        (["--csv", "--experiment", "tny"], "Unknown experiment 'tny'. Did you mean 'tiny'?"),
    ],
)
def test_bad_exports_are_refused_in_one_line(run, store, options, message):
    result = run("export", str(store), *options)
    assert (result.exit_code, result.stderr) == (2, f"Error: {message}\n")
