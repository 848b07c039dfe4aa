"""`sojourn choices`."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

from sojourn.behavior import sample_choices_text
from sojourn.cli.output._choices import _write_subjects


def test_choices_are_fitted_and_explained(run, tmp_path):
    names = ("fit.svg", "fit.html", "subjects.csv")
    figure, report, table = (tmp_path / name for name in names)
    done = run(
        "choices",
        "sample:immediate",
        *("--family", "mazur", "--family", "beta_delta", "--simulations", "5"),
        *("--figure", str(figure), "--report", str(report), "--table", str(table)),
        width=100,
    )
    assert done.exit_code == 0
    text = " ".join(done.stdout.split())
    for words in (
        "To the median subject, 1 is worth ½ after a delay of",
        "40 subjects made 1,680 choices",
        "beta_delta needs sooner rewards both now and after a front-end delay",
        "has an infinite sum and is not a law",
        "There are 42 choices per subject.",
        "pooled (95% interval)",
    ):
        assert words in text
    assert figure.read_text(encoding="utf-8").startswith("<?xml")
    assert "Choices between dated rewards" in report.read_text(encoding="utf-8")
    lines = table.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("family,subject,parameter,estimate")
    assert len(lines) == 1 + 41 * 2
    assert lines[0].endswith("log_likelihood,undetermined")
    assert lines[-1].startswith("mazur,pooled,sensitivity,")


def test_json_holds_everything(run, tmp_path):
    path = tmp_path / "choices.csv"
    text = sample_choices_text("money").splitlines()
    text[0] = text[0].replace("choice", "answer")
    path.write_text("\n".join([*text[:109], "x,1,2,3,4,5"]), encoding="utf-8")
    figure = tmp_path / "fit.svg"
    done = run(
        *("choices", str(path), "--column", "choice=answer", "--family", "beta_delta"),
        *("--simulations", "3", "--json", "--figure", str(figure), "--unit", "days"),
    )
    assert "delay, in days" in figure.read_text(encoding="utf-8")
    assert done.exit_code == 0
    data = json.loads(done.stdout)
    assert (data["subjects"], data["choices"], data["rows"]["rejected"]) == (2, 108, 1)
    assert data["fits"][0]["pooled"]["parameters"]["beta"] > 0
    assert "1 of 109 rows cannot be used" in done.stderr


def test_many_rejected_rows_stop_the_findings(run, tmp_path):
    path = tmp_path / "choices.csv"
    text = sample_choices_text("money").splitlines()
    path.write_text("\n".join([*text[:55], *["x,1,2,3,4,5"] * 6]), encoding="utf-8")
    arguments = ("choices", str(path), "--family", "mazur", "--simulations", "2")
    done = run(*arguments)
    assert done.exit_code == 2
    assert "There are no findings: 10% of the rows cannot be used" in " ".join(done.stderr.split())
    assert run(*arguments, "--accept-rejects").exit_code == 0


DESIGN = "amount_sooner,amount_later,delay_later\n" + "\n".join(
    f"{sooner},40,{days}" for days in (7, 30, 90, 180) for sooner in (10, 20, 30, 36)
)


def test_a_design_without_choices_is_told_what_it_can_tell(run, tmp_path):
    path = tmp_path / "design.csv"
    rows = DESIGN.splitlines()
    path.write_text("\n".join([f"{rows[0]},answer", *(f"{row},1" for row in rows[1:])]), encoding="utf-8")
    arguments = ("choices", str(path), "--family", "mazur", "--family", "beta_delta", "--simulations", "30")
    done = run(*arguments, width=100)
    assert done.exit_code == 0
    text = " ".join(done.stdout.split())
    for words in (
        "design.csv: a design without choices",
        "Relative standard errors for one typical subject with 16 choices: mazur (k ",
        "beta_delta needs sooner rewards both now and after a front-end delay",
        "cannot be told from choices between dated rewards",
    ):
        assert words in text
    note = "There is no column of choices: the rows are read as a design. Not used: 'answer'."
    assert note in " ".join(done.stderr.split())
    data = json.loads(run(*arguments, "--json").stdout)
    assert [one["subject"] for one in data["families"]["mazur"]] == ["impatient", "typical", "patient"]
    assert list(data["refused"]) == ["beta_delta"]
    done = run(*arguments, "--figure", str(tmp_path / "x.png"))
    assert done.exit_code == 2
    assert "--figure must come with choices; design.csv has no column 'choice'" in done.stderr


def test_choices_come_from_standard_input_and_from_several_files(run, tmp_path):
    header, *rows = sample_choices_text("money").splitlines()
    for name, part in (("a.csv", rows[:54]), ("b.csv", rows[54:108])):
        (tmp_path / name).write_text("\n".join([header, *part]), encoding="utf-8")
    rest = ("--family", "mazur", "--simulations", "2", "--json")
    piped = json.loads(run("choices", "-", *rest, input="\n".join([header, *rows[:108]])).stdout)
    for sources in ([str(tmp_path / "*.csv")], [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]):
        assert json.loads(run("choices", *sources, *rest).stdout)["fits"] == piped["fits"]
    done = run("choices", "sample:money", str(tmp_path / "a.csv"))
    assert "CHOICES must be files or one sample; got 2 with 'sample:money'." in done.stderr


def test_bad_input_is_one_line(run, tmp_path):
    for arguments, words in (
        (("nowhere.csv",), "source must be a file that exists; got 'nowhere.csv'."),
        (("sample:monny",), "Unknown sample 'monny'. Did you mean 'money'?"),
        (
            ("sample:money", "--column", "choice"),
            "--column must be like amount_sooner=COLUMN; got 'choice='.",
        ),
        (("sample:money", "--family", "mazurr"), "Did you mean 'mazur'?"),
        (("sample:money", "--confidence", "95"), "--confidence must be in (0, 1); got '95'."),
        (("sample:money", "--figure", "x.gif"), "--figure must end in .png or .svg or .pdf"),
    ):
        done = run("choices", *arguments)
        assert done.exit_code == 2
        assert words in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


def test_names_in_data_do_no_harm(run, tmp_path):
    path, table = tmp_path / "\x1b[31mred.csv", tmp_path / "subjects.csv"
    rows = [row.split(",") for row in sample_choices_text("money").splitlines()[:55]]
    path.write_text("\n".join([",".join(rows[0]), *(",".join(["=1+\x1b1", *row[1:]]) for row in rows[1:])]))
    done = run("choices", str(path), "--family", "mazur", "--simulations", "3", "--table", str(table))
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout
    assert done.stdout.startswith("\\x1b[31mred.csv\n")
    assert {line.split(",")[1] for line in table.read_text().splitlines()[1:]} == {"'=1+\\x1b1", "pooled"}


def test_subjects_that_only_formulas_tell_apart_stay_different(run, tmp_path):
    path, table = tmp_path / "log.csv", tmp_path / "subjects.csv"
    rows = [row.split(",") for row in sample_choices_text("money").splitlines()[:31]]
    named = [",".join([name, *row[1:]]) for name in ("=a", "'=a", "pooled") for row in rows[1:]]
    path.write_text("\n".join([",".join(rows[0]), *named]))
    done = run("choices", str(path), "--family", "mazur", "--simulations", "3", "--table", str(table))
    assert done.exit_code == 0
    names = {line.split(",")[1] for line in table.read_text().splitlines()[1:]}
    assert names == {"'=a", "'=a (2)", "pooled (2)", "pooled"}


def test_long_names_of_subjects_are_written_row_by_row(tmp_path):
    @dataclass
    class Fit:
        name: str
        parameters: ClassVar[dict[str, float]] = {"k": 1.0}
        standard_errors: ClassVar[dict[str, float]] = {"k": 1.0}
        intervals: ClassVar[dict[str, Any]] = {}
        log_likelihood, undetermined = -1.0, ()

    subjects = [Fit("a" * 100_000) for _ in range(60)]  # the same text: it takes memory once
    found: Any = SimpleNamespace(fits=[SimpleNamespace(family="mazur", subjects=subjects, pooled=Fit(""))])
    with (tmp_path / "table.csv").open("wb") as file:
        tracemalloc.start()
        try:
            _write_subjects(found, file)
            assert tracemalloc.get_traced_memory()[1] < 4_000_000
        finally:
            tracemalloc.stop()
    assert (tmp_path / "table.csv").stat().st_size > 6_000_000
