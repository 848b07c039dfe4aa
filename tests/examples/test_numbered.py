"""The examples are numbered, run, and print the expected results."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"


def run_example(number: str, *arguments: str) -> str:
    (example,) = FOLDER.glob(f"{number}_*.py")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(example), *arguments], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout


def test_examples_are_numbered_and_say_how_to_run_them():
    examples = sorted(FOLDER.glob("*.py"))
    assert [path.name[:3] for path in examples] == [f"{i:02}_" for i in range(1, len(examples) + 1)]
    for path in examples:
        assert f"Run: python examples/{path.name}" in path.read_text(encoding="utf-8")


def test_first_steps():
    text = run_example("01")
    heavy = re.search(r"^Polynomial (cash.*)$", text, re.MULTILINE)[1].split()
    assert heavy == ["cash"] * 6 + ["invest"] * 4  # the switch in the docstring of cash_or_invest
    assert re.search(r"^Geometric  (cash ?)+$", text, re.MULTILINE)
    low, high = map(float, re.search(r"between ([\d.]+) and ([\d.]+)", text).groups())
    assert 0.0 < high - low < 1e-6
    assert "15% less" in text


def test_learning(tmp_path):
    figure = tmp_path / "learning.svg"
    text = run_example("02", str(figure))
    early, middle, late = map(float, re.findall(r"episodes +\S+ to +\S+ +([\d.]+)", text))
    assert early > middle > late
    totals = dict(re.findall(r"^(the law|fixed, \d+|chance) +([\d,]+)", text, re.MULTILINE))
    assert min(totals, key=lambda name: float(totals[name].replace(",", ""))) == "the law"
    assert figure.read_bytes().startswith(b"<?xml")


def test_unknown_law():
    text = run_example("03")
    true, played, estimated = map(
        float, re.search(r"true (\S+), .* (\S+), .* (\S+)$", text, re.MULTILINE).groups()
    )
    assert true == 10.5
    assert played < 7.0
    assert estimated == pytest.approx(true, rel=0.05)
    means = [float(mean) for mean in re.findall(r"^ +[\d,]+  ([\d.]+)$", text, re.MULTILINE)]
    assert len(means) == 6  # before episodes 17, 49, …, 1,009
    assert means[-1] == pytest.approx(true, rel=0.05)


def test_session_log(tmp_path):
    assert "Best law: BetaGeometric" in run_example("05")
    own = tmp_path / "own.csv"
    own.write_text("length,observed\n" + "3,1\n5,1\n9,0\n1,1\n2,1\n2,1\n4,1\n1,1\nx,1\n")
    text = run_example("05", str(own))
    assert "own.csv: 8 sessions, 1 still open, 1 rejected." in text
    assert "Largest error" not in text  # the true law is unknown


def test_preference_reversal():
    text = run_example("07")
    # The Saturdays of O'Donoghue and Rabin (1999), Example 1: naive 4, sophisticated 2, time-consistent 1.
    weeks = dict(re.findall(r"^  (\w+|no bias) +writes on Saturday (\d)", text, re.MULTILINE))
    assert weeks == {"committed": "2", "naive": "4", "sophisticated": "2", "no bias": "1"}
    rows = re.findall(r"β = (\S+):.*committed (\S+), naive (\S+)", text)
    assert len(rows) == 4
    for beta, committed, naive in rows:
        assert (float(committed) > float(naive)) == (float(beta) < 1.0)
