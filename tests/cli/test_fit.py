from __future__ import annotations

import errno
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from sessions.hostile import CASES

import sojourn as sj
from sojourn.sessions import SAMPLES


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr("sojourn.cli.commands._fit.RESAMPLES", 3)


def test_a_log_is_fitted_and_explained(run):
    done = run("fit", "sample:streaming", width=100)
    assert done.exit_code == 0
    for words in (
        "5,000 sessions",
        "30% at step 1, 27% at step 2, 23% at steps 3–4 and 16% from step 5 on",
        "The best single γ is 0.7642",
        "BetaGeometric(a=2.37",
    ):
        assert words in " ".join(done.stdout.split())
    law = sj.parse_law(done.stdout.strip().splitlines()[-1])
    assert law.mean == pytest.approx(5.02, abs=0.01)


def test_samples_are_listed_and_each_can_be_fitted(run):
    rows = [row for row in json.loads(run("list", "samples", "--json").stdout) if row["kind"] == "log"]
    assert [row["signature"] for row in rows] == [f"sample:{name}" for name in SAMPLES]
    for row in rows:
        assert row["description"].split()[0] in run("list", "samples").stdout
        assert run("fit", row["signature"], "--json").exit_code == 0


def test_a_step_log_is_fitted_with_its_states_and_its_problem(run, tmp_path):
    data = json.loads(run("fit", "sample:shop", "--json").stdout)
    assert data["rows"]["read"] == 8706
    assert data["sessions"] == 2500
    assert data["groups"]["of"] == "state"
    assert data["groups"]["depends"] is False
    assert data["problem"]["loss"] / data["problem"]["value"] == pytest.approx(0.44, abs=0.01)
    report = tmp_path / "shop.html"
    assert "shows no difference between the states' rates of leaving at the 5% level" in " ".join(
        run("fit", "sample:shop", "--no-plot", "--report", str(report)).stdout.split()
    )
    page = report.read_text(encoding="utf-8")
    assert "States are numbered" in page
    assert "curious" not in page


def test_a_step_log_whose_last_steps_pay_more_is_pointed_out(run, tmp_path):
    rows = [f"{e},{h},s,a,{int(h == 3)},{int(h == 3)}" for e in range(30) for h in (1, 2, 3)]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["episode,step,state,action,reward,ended", *rows]), encoding="utf-8")
    done = run("fit", str(path), "--no-plot")
    assert "last steps of sessions pay 1 on average" in " ".join((done.stdout + done.stderr).split())


def test_json_holds_everything(run):
    done = run("fit", "sample:support", "--json", "--truncation", "0.5", "--problem", "two_paths")
    data = json.loads(done.stdout)
    assert data["sessions"] == data["rows"]["used"] == 3000
    assert [one["bic"] for one in data["fits"]] == sorted(one["bic"] for one in data["fits"])
    assert data["effective_horizons"] == [
        {"truncation": 0.5, "horizon": sj.parse_law(data["law"]).effective_horizon(0.5)}
    ]
    assert data["groups"]["depends"] is True
    assert "label" not in data["groups"]["groups"][0]
    assert data["problem"]["loss"] >= -data["problem"]["width"]
    labelled = json.loads(run("fit", "sample:support", "--json", "--labels").stdout)
    assert [one["label"] for one in labelled["groups"]["groups"]] == ["desk", "phone"]


def test_delta_is_an_old_name_of_truncation(run):
    old = run("fit", "sample:support", "--json", "--delta", "0.5")
    new = run("fit", "sample:support", "--json", "--truncation", "0.5")
    assert (old.exit_code, old.stdout) == (0, new.stdout)
    assert old.stderr == "Note: --delta is now called --truncation; the old name will be removed.\n"
    assert new.stderr == ""
    assert "--delta" not in run("fit", "--help").stdout


def test_figure_report_and_table_are_written(run, tmp_path):
    figure, report, table = (tmp_path / name for name in ("fit.svg", "fit.html", "fit.csv"))
    files = ["--figure", str(figure), "--report", str(report), "--table", str(table)]
    done = run("fit", "sample:streaming", "--no-plot", *files)
    assert done.exit_code == 0
    assert figure.read_text(encoding="utf-8").startswith("<?xml")
    assert report.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    law = sj.Tabulated.from_csv(table)
    assert law.survival([1, 2]).tolist() == [1.0, pytest.approx(0.7, abs=0.02)]
    assert f'tabulated("{table}")' in done.stderr.replace("\n", "")
    assert run("law", f'tabulated("{table}")', "--json").exit_code == 0


def test_rows_that_cannot_be_used_are_named(run, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("length,ended\n" + "3,1\n4,0\n" * 50 + "x,1\n", encoding="utf-8")
    done = run("fit", str(path), "--json")
    assert done.exit_code == 0
    assert "1 of 101 rows cannot be used" in done.stderr
    assert "log.csv row 102: length must be a whole number ≥ 1; got 'x'." in done.stderr
    assert json.loads(done.stdout)["rows"]["first_rejected"] == [
        {"row": 102, "rule": "length must be a whole number ≥ 1"}
    ]


def test_columns_are_taken_by_name(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = "".join(f"{n},{int(rng.random() < 0.8)},s{n % 2}\n" for n in rng.geometric(0.2, 400))
    path = tmp_path / "log.csv"
    path.write_text("clicks,left,where\n" + rows, encoding="utf-8")
    columns = ["--length", "clicks", "--observed", "left", "--group", "where"]
    data = json.loads(run("fit", str(path), *columns, "--json").stdout)
    assert data["open"] > 0
    assert len(data["groups"]["groups"]) == 2


@pytest.mark.parametrize("name", CASES)
def test_hostile_logs_end_in_a_fit_or_in_one_line(run, name, tmp_path):
    content, expected = CASES[name]
    path = tmp_path / "log.csv"
    path.write_bytes(content)
    done = run("fit", str(path), "--json", "--accept-rejects")
    assert "Traceback" not in done.output
    if done.exit_code:
        assert done.exit_code == 2
        assert done.exception is None or isinstance(done.exception, SystemExit)
        errors = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
        assert len(errors) == 1
        assert isinstance(expected, str) or name == "all censored"
        return
    rows = json.loads(done.stdout)["rows"]
    assert (rows["read"], rows["used"]) == expected
    assert rows["read"] == rows["used"] + rows["rejected"]
    assert len(re.findall(r"log\.csv row \d+:", done.stderr)) == min(rows["rejected"], 5)
    assert done.stderr.isprintable() or "\x1b" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv"], "source must be a file that exists; got 'nothing.csv'."),
        (["sample:streming"], "Unknown sample 'streming'. Did you mean 'streaming'?"),
        (["sample:streaming", "--length", "lenth"], "has no column 'lenth'. Did you mean 'length'?"),
        (
            ["sample:streaming", "--entry", "length"],
            "for each of --length and --entry; got 'length' for both",
        ),
        (
            ["sample:streaming", "--group", "length"],
            "for each of --length and --group; got 'length' for both",
        ),
        (["sample:streaming", "--truncation", "0"], "--truncation must be a finite number > 0; got 0.0."),
        (["sample:streaming", "--confidence", "95"], "--confidence must be in (0, 1); got '95'."),
        (["sample:streaming", "--figure", "fit.bmp"], "--figure must end in .png or .svg or .pdf"),
        (["sample:streaming", "--report", "no/fit.html"], "--report must be in a folder that exists"),
        (["sample:streaming", "--problem", "Taxy-v4"], "Unknown environment 'Taxy-v4'"),
    ],
)
def test_wrong_options_get_one_line(run, arguments, message):
    done = run("fit", *arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert message in done.stderr.replace("\n", " ")


def test_a_table_of_data_without_first_steps_is_refused(run, tmp_path):
    path, table = tmp_path / "log.csv", tmp_path / "table.csv"
    path.write_text("length,entry\n" + "4,3\n5,3\n9,4\n" * 30, encoding="utf-8")
    done = run("fit", str(path), "--no-plot", "--table", str(table))
    assert done.exit_code == 2
    assert "the data are used from step 3 on only" in " ".join(done.stderr.split())
    assert not table.exists()
    assert "P(H ≥ h | H ≥ 3)" in run("fit", str(path)).stdout


@pytest.mark.parametrize(("n", "n_resamples"), [(100, 6), (101, 3)])
def test_small_logs_are_resampled_more_often(run, tmp_path, n, n_resamples):
    path = tmp_path / "log.csv"
    path.write_text("length\n" + "".join(f"{1 + h % 9}\n" for h in range(n)), encoding="utf-8")
    assert json.loads(run("fit", str(path), "--json").stdout)["resampled"]["logs"] == n_resamples
    assert json.loads(run("fit", str(path), "--json", "--resamples", "4").stdout)["resampled"]["logs"] == 4


def test_a_table_of_data_with_a_hole_is_refused(run, tmp_path):
    path, table = tmp_path / "log.csv", tmp_path / "table.csv"
    path.write_text("length,entry\n" + "4,1\n5,1\n9,8\n10,8\n" * 30 + "6,1\n7,6\n8,6\n", encoding="utf-8")
    done = run("fit", str(path), "--no-plot", "--table", str(table))
    assert done.exit_code == 2
    assert "Hardly any session was observed at steps 6–7." in " ".join(done.stdout.split())
    assert "the data are used from step 8 on only" in " ".join(done.stderr.split())
    assert not table.exists()


@pytest.mark.parametrize("option", ["--table", "--figure", "--report"])
@pytest.mark.parametrize("way", ["same", "around", "link"])
def test_the_log_is_never_written_over(run, tmp_path, option, way):
    path = tmp_path / {"--table": "own.csv", "--figure": "own.png", "--report": "own.html"}[option]
    content = b"length,ended\n" + b"3,1\n4,0\n" * 30
    path.write_bytes(content)
    target = path
    if way == "around":
        target = tmp_path / ".." / tmp_path.name / path.name
    elif way == "link":
        target = tmp_path / f"other{path.suffix}"
        target.symlink_to(path)
    done = run("fit", str(path), option, str(target))
    assert done.exit_code == 2
    assert f"{option} must not be the file that is read" in " ".join(done.stderr.split())
    assert path.read_bytes() == content


def test_files_are_written_whole_or_not_at_all(run, tmp_path, monkeypatch):
    import matplotlib.figure

    def broken(figure, file, **options):
        del figure, options
        file.write(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(matplotlib.figure.Figure, "savefig", broken)
    figure = tmp_path / "fit.png"
    figure.write_bytes(b"before")
    assert run("fit", "sample:streaming", "--no-plot", "--figure", str(figure)).exit_code == 2
    assert figure.read_bytes() == b"before"
    assert [one.name for one in tmp_path.iterdir()] == ["fit.png"]


@pytest.mark.parametrize(
    "options", [["--ended", "2"], ["--entry", "step"], ["--group", "state"], ["--labels"]], ids=str
)
def test_options_that_do_not_apply_to_step_logs_are_refused(run, options):
    done = run("fit", "sample:shop", "--json", *options)
    assert done.exit_code == 2
    assert f"{options[0]} is for logs with one row per session" in " ".join(done.stderr.split())


def test_states_are_not_tested_with_group_none(run):
    assert json.loads(run("fit", "sample:shop", "--json", "--group", "none").stdout)["groups"] is None


def test_the_tail_that_a_table_cuts_off_is_noted(run, tmp_path):
    path, table = tmp_path / "log.csv", tmp_path / "table.csv"
    path.write_text("length,ended\n" + "1,1\n" * 50 + "3,0\n" * 50, encoding="utf-8")
    done = run("fit", str(path), "--no-plot", "--table", str(table))
    # Half get to step 3; with ρ = √½ from there on, ½ ρ/(1 − ρ) = 1.21 steps follow, of 3.21.
    assert "50% of all get that far" in " ".join(done.stderr.split())
    assert "another 1.21 steps would follow, 38% of the mean length" in " ".join(done.stderr.split())
    assert sj.Tabulated.from_csv(table).mean == pytest.approx(2.0)
    path.write_text("length,ended\n" + "1,1\n" * 50 + "3,1\n" * 50, encoding="utf-8")
    assert "The table ends there" not in run("fit", str(path), "--no-plot", "--table", str(table)).stderr


STATUS = "steps,treated,status\n" + "".join(f"{1 + i % 9},{i % 2},{1 + i % 2}\n" for i in range(40))


def test_unused_columns_that_may_flag_open_sessions_are_pointed_out(run, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(STATUS)
    done = run("fit", str(path), "--no-plot")
    assert "The column 'status' may say otherwise" in " ".join(done.stderr.split())
    assert "The column 'treated' has two values and is not used." in " ".join(done.stderr.split())
    assert run("fit", str(path), "--no-plot", "--observed", "none").stderr == ""


def test_hints_are_about_what_was_rejected(run, tmp_path):
    path = tmp_path / "log.csv"
    for cell, hint in (("0", "count from 0"), ("2.5", "say how long a step is"), ('"1,500"', "thousands")):
        path.write_text("length\n" + "3\n" * 9 + f"{cell}\n")
        error = run("fit", str(path), "--no-plot").stderr
        assert hint in " ".join(error.split())
        assert ("thousands" in error) == ("1,500" in cell)


def test_a_column_of_counts_is_pointed_out(run, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("steps,count\n1,500\n2,300\n3,100\n")
    assert "The column 'count' may be a number of sessions" in " ".join(run("fit", str(path)).stderr.split())


def test_there_is_no_advice_if_many_rows_are_rejected(run, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("steps\n" + "".join(f"{1 + i % 9}\n" for i in range(90)) + "2.5\n" * 10)
    done = run("fit", str(path))
    assert (done.exit_code, done.stdout) == (2, "")
    words = " ".join(done.stderr.split())
    assert "There is no advice: 10% of the rows cannot be used" in words
    assert "if they are durations, say how long a step is (--step 1min)" in words
    assert run("fit", str(path), "--accept-rejects").exit_code == 0
    path.write_text("steps,n\n1,30\n2,25\n3,20\n4,15\n2.5,110\n")
    words = " ".join(run("fit", str(path), "--count", "n").stderr.split())
    assert "There is no advice: 55% of the sessions cannot be used" in words
    done = run("fit", str(path), "--observed", "steps", "--length", "steps")
    assert done.exit_code == 2


def test_codes_of_a_status_are_not_read_as_flags(run, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(STATUS)
    done = run("fit", str(path), "--observed", "status")  # R's code: 2 means that the session ended
    assert done.exit_code == 2
    assert "name it: --ended 2, --ended churned" in " ".join(done.stderr.split())
    found = json.loads(run("fit", str(path), "--observed", "status", "--ended", "2", "--json").stdout)
    assert (found["sessions"], found["open"]) == (40, 20)


def test_a_step_that_is_longer_than_all_sessions_is_refused(run, tmp_path):
    path = tmp_path / "hours.csv"
    path.write_text("duration,ended\n" + "6.5,1\n816,1\n30,0\n" * 5, encoding="utf-8")
    done = run("fit", str(path), "--step", "6h")
    assert (done.exit_code, done.stdout) == (2, "")
    errors = " ".join(done.stderr.split())
    assert "Numbers without a unit are seconds" in errors
    assert "Error: --step must be shorter than the longest session; all 15 have one step of 6h." in errors


def test_standard_input_and_several_files_are_read(run, tmp_path):
    rows = [f"{1 + i % 7},{int(i % 5 > 0)}\n" for i in range(100)]
    for name, some in (("a", rows[:60]), ("b", rows[60:])):
        (tmp_path / f"{name}.csv").write_text("steps,ended\n" + "".join(some))
    whole = "steps,ended\n" + "".join(rows)
    piped = json.loads(run("fit", "-", "--json", input=whole).stdout)
    several = json.loads(run("fit", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), "--json").stdout)
    folder = json.loads(run("fit", str(tmp_path), "--json").stdout)
    for found in (piped, several, folder):
        assert (found["sessions"], found["open"]) == (100, 20)
        assert found["fits"] == piped["fits"]
    survived = json.loads(run("fit", "-", "--json", "--open-survived", input=whole).stdout)
    assert sj.parse_law(survived["law"]).mean > sj.parse_law(piped["law"]).mean


def test_the_schedule_is_that_of_the_law(run, tmp_path):
    done = run("fit", "sample:streaming", "--no-plot", "--schedule", str(tmp_path / "discount.csv"))
    header, *lines = (tmp_path / "discount.csv").read_text().splitlines()
    assert header == "step,survival,discount,remaining,discount_low,discount_high"
    law = sj.parse_law(done.stdout.strip().splitlines()[-1])
    found = np.array([[cell or "nan" for cell in line.split(",")] for line in lines], dtype=float)
    h = np.arange(1, len(lines) + 1)
    np.testing.assert_array_equal(
        found[:, :4], np.stack([h, law.survival(h), law.continuation(h), law.remaining(h)], 1)
    )
    assert law.tail(len(lines) + 1) <= 0.01 * law.mean
    run("fit", "sample:streaming", "--no-plot", "--schedule", str(tmp_path / "discount.json"))
    columns = json.loads((tmp_path / "discount.json").read_text())
    assert list(columns) == header.split(",")
    np.testing.assert_array_equal(np.array(list(columns.values()), dtype=float).T, found)


def test_groups_get_schedules_and_plans_of_their_own(run, tmp_path):
    path = tmp_path / "discount.csv"
    options = ["--problem", "cash_or_invest(5)", "--schedule", str(path), "--json"]
    groups = json.loads(run("fit", "sample:support", *options).stdout)["groups"]["groups"]
    header, *lines = path.read_text().splitlines()
    assert header == "group,step,survival,discount,remaining"
    mdp = sj.mdps.cash_or_invest(5)
    for i, group in enumerate(groups):
        law = sj.parse_law(group["law"])
        rows = [line.split(",") for line in lines if line.startswith(f"{i + 1},")]
        assert [float(row[2]) for row in rows] == law.survival(range(1, len(rows) + 1)).tolist()
        assert group["value"] == pytest.approx(mdp.start @ sj.plan(mdp, law).value, rel=1e-12)
        assert group["value"] >= group["value_under_common_law"] - 1e-9
    run("fit", "sample:support", "--schedule", str(path), "--labels", "--no-plot")
    assert {line.split(",")[0] for line in path.read_text().splitlines()[1:]} == {"desk", "phone"}


def test_groups_that_do_not_determine_their_discount_get_no_schedule(run, tmp_path):
    lengths = np.random.default_rng(0).geometric(0.3, 300)
    rows = [f"{n},1,known" for n in lengths] + ["1,1,short"] * 5 + ["2,0,short"] * 35
    (tmp_path / "log.csv").write_text("\n".join(["length,ended,group", *rows, ""]))
    path = tmp_path / "discount.csv"
    done = run("fit", str(tmp_path / "log.csv"), "--no-plot", "--resamples", "0", "--schedule", str(path))
    assert {line.split(",")[0] for line in path.read_text().splitlines()[1:]} == {"1"}
    assert "leaves out each group whose sessions do not determine" in " ".join(done.stderr.split())


def test_a_group_that_determines_its_discount_gets_a_schedule_if_the_whole_log_does_not(run, tmp_path):
    lengths = np.random.default_rng(0).geometric(0.3, 100)
    rows = [f"{n},1,known" for n in lengths] + ["1,1,"] * 30 + ["40,0,"] * 600
    (tmp_path / "log.csv").write_text("\n".join(["length,ended,group", *rows, ""]))
    path = tmp_path / "discount.csv"
    options = ["--no-plot", "--resamples", "0", "--schedule", str(path), "--labels"]
    done = run("fit", str(tmp_path / "log.csv"), *options)
    assert "The log does not show enough to choose a discount" in " ".join(done.stdout.split())
    assert "1 (empty)" in done.stdout
    assert {line.split(",")[0] for line in path.read_text().splitlines()[1:]} == {"known"}


def test_the_answer_comes_first(run, tmp_path):
    first = {
        "sample:streaming": "Use a discount that changes with the step, ρ(h) of the law at the end",
        "sample:support": "The groups differ",
    }
    for sample, words in first.items():
        text = " ".join(run("fit", sample, "--no-plot").stdout.split())
        assert words in text[:400]
    lines = run("fit", "sample:streaming").stdout.splitlines()
    picture = next(i for i, line in enumerate(lines) if line.startswith("survival γ(h)"))
    assert picture < 10
    assert lines[picture - 2].split()[-1] == "1]."  # the end of the answer
    assert any(line.startswith("The sessions") for line in lines[picture:])
    rows = [
        f"{e},{h},{'xy'[h == 1 + e % 3]},{int(h == 1 + e % 3)}"
        for e in range(60)
        for h in range(1, 2 + e % 3)
    ]
    (tmp_path / "log.csv").write_text("\n".join(["episode,step,state,ended", *rows, ""]))
    text = " ".join(run("fit", str(tmp_path / "log.csv"), "--no-plot", "--resamples", "0").stdout.split())
    assert "In short Leaving depends on the state, so no law of lengths is a discount" in text
    assert "state no. 1 0.00 times (in the alphabetical order of their names)" in text


def test_a_law_that_does_not_fit_is_marked_where_it_is_printed(run, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("length\n" + "2\n" * 300 + "9\n" * 300)
    done = run("fit", str(path), "--no-plot", "--resamples", "0")
    assert "The best law, which the data contradict, in the form that all commands accept:" in done.stdout
    good = run("fit", "sample:streaming", "--no-plot", "--resamples", "0").stdout
    assert "\nThe law, in the form that all commands accept:" in good


def test_means_are_not_listed_where_the_log_does_not_determine_them(run, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("length,ended\n" + "".join(f"{1 + i % 4},{int(i % 4 < 2)}\n" for i in range(200)))
    done = run("fit", str(path), "--no-plot", "--resamples", "0")
    assert "The log does not determine it" in " ".join(done.stdout.split())
    rows = [line.split() for line in done.stdout.splitlines() if re.search(r" (inside|outside)$", line)]
    assert len(rows) >= 5
    assert all(row[-2] == "–" for row in rows if row[-1] == "inside")


def test_a_full_disk_is_a_failure(run, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", "report.html")

    monkeypatch.setattr("sojourn.reports.write_page", full)
    done = run("fit", "sample:streaming", "--no-plot", "--report", str(tmp_path / "report.html"))
    assert (done.exit_code, done.stderr) == (1, "Error: report.html: No space left on device.\n")


def test_no_log_of_a_folder_or_pattern_is_overwritten(run, tmp_path):
    log = tmp_path / "a.csv"
    log.write_text("length\n1\n2\n")
    for option in ("--table", "--schedule"):
        for source in (tmp_path, tmp_path / "*.csv"):
            done = run("fit", str(source), option, str(log))
            assert done.exit_code == 2
            assert f"{option} must not be" in done.stderr
    assert log.read_text() == "length\n1\n2\n"
    done = run(
        "fit",
        str(log),
        "--table",
        str(tmp_path / "x.csv"),
        "--schedule",
        f"{tmp_path}/../{tmp_path.name}/x.csv",
    )
    assert "--schedule and --table must be two files" in " ".join(done.stderr.split())


def test_a_closed_standard_input_is_one_line(run, monkeypatch):
    monkeypatch.setattr("sojourn.cli._sources.sys", SimpleNamespace(stdin=None))
    done = run("fit", "-")
    assert done.exit_code == 2
    assert "it is closed" in done.stderr


def test_rejected_rows_that_are_unlike_the_others_withhold_the_advice(run, tmp_path):
    rows = {
        "30% of the sessions": ("steps,n", ["3,60", "2,9", "5,1"] * 10 + ["0,300"], ["--count", "n"]),
        "long ones, with about 44% of all steps": ("steps", ["3"] * 500 + ['"1,200"'], []),
        "long ones if their points separate thousands": ("steps", ["3"] * 500 + ["1.200"], []),
        "the rows that cannot be used are all shorter than the others": (
            "steps",
            ["3", "4", "5"] * 100 + ["0"] * 6,
            [],
        ),
        "no session shorter than 4 steps is among the rows that cannot be used, although 33% of the others": (
            "steps,ended",
            ["3,1", "4,1", "5,1"] * 150 + ["4,", "5,"] * 9,
            [],
        ),
        "ended nor that it is open: write what other cells hold for the one or the other. Pass": (
            "steps,status",
            ["3,left", "4,on"] * 100 + ["3,"] * 20,
            ["--observed", "status", "--ended", "left"],
        ),
        "rows without an entry": ("steps,entry", ["3,1", "9,4"] * 50 + ["5,"] * 3, []),
    }
    for words, (header, lines, options) in rows.items():
        path = tmp_path / "log.csv"
        path.write_text("\n".join([header, *lines, ""]))
        done = run("fit", str(path), "--no-plot", "--resamples", "0", *options)
        assert done.exit_code == 2
        assert words in " ".join(done.stderr.split())
    path.write_text("\n".join(["steps", *["3", "4", "5"] * 100, "4.5", "x", "0", "3.5", ""]))
    assert run("fit", str(path), "--no-plot", "--resamples", "0").exit_code == 0


def test_an_empty_name_is_not_the_current_folder(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("length\n3\n4\n", encoding="utf-8")
    for command in ("fit", "choices"):
        done = run(command, "")
        assert (done.exit_code, done.stdout) == (2, "")
        assert "must be a file that exists; got an empty name." in done.stderr


def test_a_problem_whose_steps_all_pay_the_same_has_no_plan(run, tmp_path):
    rows = [
        f"{episode},{step},{'uv'[step % 2]},{'ab'[(episode + step // 2) % 2]},{step == n:d},{step == n:d}"
        for episode, n in enumerate(np.random.default_rng(0).geometric(0.2, 200).tolist())
        for step in range(1, n + 1)
    ]
    path = tmp_path / "steps.csv"
    path.write_text("\n".join(["episode,step,state,action,reward,ended", *rows]), encoding="utf-8")
    done = run("fit", str(path), "--no-plot")
    assert done.exit_code == 0
    assert "pay the same, so no policy is better" in " ".join(done.stderr.split())
    assert "On the problem" not in done.stdout


def test_events_of_which_most_are_left_out_give_no_advice(run, tmp_path):
    # All users begin with the log, and most of them have one session.
    rows = [f"{user},{60 * i}" for user in range(50) for i in range(20)]
    rows += [f"{user},{100_000 * k + 60 * i}" for user in range(5) for k in (1, 2) for i in range(3)]
    path = tmp_path / "events.csv"
    path.write_text("\n".join(["user,time", *rows]), encoding="utf-8")
    done = run("fit", str(path), "--gap", "30min")
    assert (done.exit_code, done.stdout) == (2, "")
    message = "the sessions that may have begun before the log, and are left out, have 97% of the events"
    assert message in " ".join(done.stderr.split())
    assert run("fit", str(path), "--gap", "30min", "--accept-rejects", "--no-plot").exit_code == 0
