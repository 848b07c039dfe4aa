from __future__ import annotations

import json
import re

import pytest


def test_json_has_the_closed_forms_of_the_geometric_law(run):
    result = run("law", "geometric(0.95)", "--json")
    data = json.loads(result.stdout)
    # Mean 1/(1 − 0.95); 0.95^m ≤ ½ from m = 14 on; Γ(N) = 20 · 0.95^(N−1) ≤ 1 from N = 60 on (and 105, 150).
    assert data["mean"] == pytest.approx(20.0, rel=1e-12)
    assert data["median"] == 14
    assert data["longest"] is None
    assert [entry["horizon"] for entry in data["effective_horizons"]] == [60, 105, 150]
    assert [entry["truncation"] for entry in data["effective_horizons"]] == [1.0, 0.1, 0.01]
    for row in data["steps"]:
        assert row["survival"] == pytest.approx(0.95 ** (row["step"] - 1), rel=1e-12)
        assert row["hazard"] == pytest.approx(0.05, rel=1e-12)
        assert row["continuation"] == pytest.approx(0.95, rel=1e-12)
        assert row["remaining"] == pytest.approx(20.0, rel=1e-12)


def test_json_compares_with_the_geometric_law_of_the_same_mean(run):
    data = json.loads(run("law", "uniform(1, 40)", "--json", "--steps", "1,20,40,41").stdout)
    assert data["mean"] == 20.5
    assert data["longest"] == 40
    # Of 40 equally likely lengths, 40 − h + 1 are at least h.
    assert [row["survival"] for row in data["steps"]] == pytest.approx([1.0, 21 / 40, 1 / 40, 0.0])
    assert data["geometric"]["mean"] == pytest.approx(20.5, rel=1e-12)
    assert data["geometric"]["steps"][1]["survival"] == pytest.approx((1 - 1 / 20.5) ** 19, rel=1e-12)


def test_horizons_above_the_largest_step_are_null_in_json_and_named_in_text(run):
    # Γ(N) ≈ N^−0.05 / 0.05 ≤ 1 needs N = 20^20 = 10^26.
    data = json.loads(run("law", "polynomial(1.05)", "--json", "--truncation", "1").stdout)
    assert data["effective_horizons"] == [{"truncation": 1.0, "horizon": None}]
    assert "> 2^53" in run("law", "polynomial(1.05)").stdout


def test_text_shows_the_mean_of_a_heavy_tail(run):
    # 20 + ζ(1.4), ζ(1.4) = 3.10555 (mpmath.zeta(1.4)).
    result = run("law", "polynomial(1.4, offset=20)")
    assert result.exit_code == 0
    assert re.search(r"mean length +23\.106 +23\.106", result.stdout)
    assert "both logarithmic" in result.stdout
    assert result.stderr == ""


def test_a_geometric_law_is_not_compared_with_itself(run):
    output = run("law", "geometric(0.95)").stdout
    assert "geometric, same mean" not in output
    assert "geometric, same mean" not in run("law", "negative_binomial(1, 0.9)").stdout
    assert re.search(r"mean length +20\n", output)


def test_no_plot_leaves_the_curve_out(run):
    assert "by step h" in run("law", "fixed(20)").stdout
    assert "by step h" not in run("law", "fixed(20)", "--no-plot").stdout


def test_truncations_may_be_repeated(run):
    data = json.loads(run("law", "fixed(20)", "--truncation", "5", "--truncation", "0.5", "--json").stdout)
    # Γ(N) = 21 − N ≤ 5 from N = 16 on; at most the longest length.
    assert [entry["horizon"] for entry in data["effective_horizons"]] == [16, 20]


@pytest.mark.parametrize("law", ["fixed(1)", "fixed(9007199254740992)", "geometric(0)", "polynomial(1.0001)"])
def test_extreme_laws_are_shown(run, law):
    result = run("law", law)
    assert result.exit_code == 0, result.stderr
    assert json.loads(run("law", law, "--json").stdout)["mean"] >= 1.0


@pytest.mark.parametrize("width", [60, 200])
@pytest.mark.parametrize("law", ["polynomial(1.4, offset=20)", "uniform(1, 40)", "polynomial(1.05)"])
def test_nothing_is_cut_off_at_any_width(run, law, width):
    narrow, wide = run("law", law, width=width).stdout, run("law", law, width=120).stdout
    assert "\x1b" not in narrow
    assert max(map(len, narrow.splitlines())) <= width
    tables = [text.split("by step h")[0].split() for text in (narrow, wide)]
    assert [word for word in tables[0] if "─" not in word] == [word for word in tables[1] if "─" not in word]


@pytest.mark.parametrize("law", ["polynomial(1.4, offset=20)", "polynomial(1.05)", "fixed(9007199254740992)"])
def test_narrow_terminals_drop_columns_but_keep_numbers_whole(run, law):
    output = run("law", law, "--no-plot", width=40).stdout
    assert "…" not in output
    assert max(map(len, output.splitlines())) <= 40
    assert "Left out on this narrow terminal: continue ρ(h)" in " ".join(output.split())
    whole = set(run("law", law, "--no-plot", width=120).stdout.split())
    assert {word for word in output.split() if re.fullmatch(r"[\d.,e+-]*\d", word)} <= whole


def test_the_curve_uses_wide_terminals_up_to_a_limit(run):
    widths = [
        max(
            len(line)
            for line in run("law", "geometric(0.95)", width=width).stdout.splitlines()
            if "┤" in line
        )
        for width in (80, 200)
    ]
    assert widths[0] <= 80
    assert 80 < widths[1] <= 120


@pytest.mark.parametrize(
    ("law", "steps"),
    [
        # (h − 20)^−1.4 is 1 up to 21 and falls below ½, ¼, 0.1, 0.01, 0.001 and 1e-4 after these steps.
        ("polynomial(1.4, offset=20)", [1, 21, 22, 23, 25, 46, 100, 158, 739]),
        ("uniform(1, 40)", [1, 4, 10, 20, 30, 36, 40]),
        ("mixture([0.5, 0.5], [fixed(1), fixed(10)])", [1, 2, 10]),
        ("fixed(1)", [1]),
        ("fixed(20)", [1, 20]),
    ],
)
def test_steps_are_chosen_where_the_law_falls(run, law, steps):
    data = json.loads(run("law", law, "--json").stdout)
    assert [row["step"] for row in data["steps"]] == steps


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_plot_is_written_to_a_file(run, tmp_path, suffix):
    path = tmp_path / f"law.{suffix}"
    result = run("law", "uniform(1, 40)", "--plot", str(path))
    assert result.exit_code == 0, result.stderr
    assert path.read_bytes()[:4] in (b"\x89PNG", b"<?xm", b"%PDF")
    assert "by step h" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["geometrc(0.9)"], "Error: Unknown law 'geometrc'. Did you mean 'geometric'?"),
        (["geometric(1.2)"], "Error: gamma must be in [0, 1); got 1.2."),
        (["fixed(3)", "--truncation", "nan"], "Error: --truncation must be a finite number > 0; got nan."),
        (["fixed(3)", "--truncation", "abc"], "Error: --truncation must be a finite number > 0; got 'abc'."),
        (
            ["fixed(3)", "--steps", "1,x"],
            "Error: --steps must be whole numbers from 1 to 2^53, such as 1,10,100; got '1,x'.",
        ),
        (
            ["fixed(3)", "--steps", "0"],
            "Error: --steps must be whole numbers from 1 to 2^53, such as 1,10,100; got '0'.",
        ),
        (
            ["fixed(3)", "--plot", "no/where/law.png"],
            "Error: --plot must be in a folder that exists; got 'no/where/law.png'.",
        ),
        (["fixed(3)", "--plot", "law.bmp"], "Error: --plot must end in .png or .svg or .pdf; got 'law.bmp'."),
    ],
)
def test_bad_input_gets_a_one_line_error(run, arguments, message):
    result = run("law", *arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"{message}\n")


def test_a_plot_cannot_be_written_to_a_folder(run, tmp_path):
    folder = tmp_path / "law.png"
    folder.mkdir()
    result = run("law", "fixed(3)", "--plot", str(folder))
    assert result.exit_code == 2
    assert result.stderr == f"Error: --plot must be a file; {str(folder)!r} is a folder.\n"


def test_a_file_for_which_there_is_no_space_is_a_failure_and_no_bad_input(run, monkeypatch, tmp_path):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "law.png")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    result = run("law", "fixed(3)", "--no-plot", "--plot", str(tmp_path / "law.png"))
    assert (result.exit_code, result.stderr) == (1, "Error: law.png: No space left on device.\n")
