from __future__ import annotations

import io
import json
import math
import re
from types import SimpleNamespace

import pytest

from sojourn.cli.commands._reproduce import PART_WEIGHTS, OverallProgress, print_claims
from sojourn.cli.output._ascii import spell_missing_symbols
from sojourn.cli.output._numbers import format_bounds, format_number, shorten
from sojourn.cli.output._streams import print_json, print_message
from sojourn.reports import Claim, ClaimVerdict
from sojourn.reproduction import PARTS


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (20.0, "20"),
        (23.105547, "23.106"),
        (988233, "988,233"),
        (1200.5, "1,200.5"),
        (60000.5, "60,000.5"),
        (1e-7, "1.000e-07"),
        (2**53, "9.007e+15"),
        (-0.25, "-0.25"),
        (math.inf, "inf"),
    ],
)
def test_numbers_read_well(value, text):
    assert format_number(value) == text


def test_bounds_are_rounded_outwards():
    assert format_bounds(1.25, 1.3125, 1.375, least=1e-9) == ("1.25", "1.31", "1.38")
    low, _, high = format_bounds(1 / 3, 1 / 3, 1 / 3, least=1e-3)
    assert (low, high) == ("0.3333", "0.3334")
    assert format_bounds(-3.0, -3.0, -3.0, least=1.0) == ("-3.0", "-3.0", "-3.0")
    assert format_bounds(1000.5, 2000.0, 3000.5, least=1.0) == ("1,000", "2,000", "3,001")


def test_bounds_have_no_negative_zero():
    assert format_bounds(-0.0, -0.0, 0.0, least=0.1) == ("0.00", "0.00", "0.00")


def test_non_finite_numbers_become_null(capsys):
    print_json({"a": [math.nan, math.inf, 1.5], "b": (None, -math.inf)})
    assert json.loads(capsys.readouterr().out) == {"a": [None, None, 1.5], "b": [None, None]}


def test_symbols_that_an_encoding_lacks_are_spelled_in_ascii():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    spell_missing_symbols(stream)
    stream.write("Γ(N) ≤ 1 … 雪")
    stream.flush()
    assert stream.buffer.getvalue() == b"G(N) <= 1 ... ?"


def test_long_texts_are_cut():
    assert shorten("abcdef", 4) == "abc…"
    assert shorten("abcd", 4) == "abcd"


def test_errors_on_a_terminal_are_broken_between_words_only(monkeypatch, capsys):
    path = "/" + "long/" * 20  # longer than a line
    monkeypatch.setenv("COLUMNS", "40")
    message = f"path must be a file that exists, or one named with --length; got {path}."
    for is_terminal in ("1", ""):
        monkeypatch.setenv("FORCE_COLOR", is_terminal)
        monkeypatch.setenv("TTY_COMPATIBLE", is_terminal or "0")
        print_message(message)
        lines = capsys.readouterr().err.splitlines()
        assert " ".join(line.strip() for line in lines) == message
        assert (len(lines) > 1) == bool(is_terminal)
        assert all(len(line) <= 40 for line in lines if "/" not in line) or not is_terminal


def test_a_reproduction_prints_one_line_per_claim(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    claims = (
        Claim("Lemma 1", "A ≤ B " + "and so on " * 20, ClaimVerdict.FAILS, "measured"),
        Claim("Theorem 2", "B ≤ C", ClaimVerdict.HOLDS, "measured"),
    )
    made = SimpleNamespace(claims=claims)
    print_claims(made, quick=False)
    first, second, _, counts = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"✗ fails +Lemma 1 +A ≤ B and so on .*…", first)
    assert len(first.split("Lemma 1")[1].strip()) <= 60
    assert re.fullmatch(r"✓ holds +Theorem 2 +B ≤ C", second)
    assert counts == "2 claims: 1 “holds”, 1 “fails”."
    print_claims(made, quick=True)
    quick = capsys.readouterr().out
    assert "fails" not in quick
    assert quick.count("· quick run ") == 2


def test_reproduce_estimates_the_time_left_from_the_parts_that_were_played():
    assert list(PART_WEIGHTS) == list(PARTS)
    overall = OverallProgress([])
    assert overall.start("figure1", 0.0) == ""
    overall.count(SimpleNamespace(trials=range(8), missing=range(8)))
    # Weight 12 of 100 took 120 s, so the other 88 take 880 s.
    assert overall.start("figure1-tuned", 120.0) == " (12% done, about 14 min 40 s left)"
    overall.count(SimpleNamespace(trials=range(8), missing=()))  # all stored: no time
    assert overall.start("theory", 125.0) == " (29% done, about 11 min 50 s left)"
    some = OverallProgress(["price"])
    assert some.start("price", 0.0) == some.start("figures and report", 9.0) == ""
