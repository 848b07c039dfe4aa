from __future__ import annotations

import io
import json
import math

import pytest

from sojourn.cli.output._ascii import spell_missing_symbols
from sojourn.cli.output._numbers import format_bounds, format_number, shorten
from sojourn.cli.output._streams import print_json


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
