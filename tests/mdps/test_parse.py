"""Problems from text: canonical texts, custom problems and one-line errors."""

from __future__ import annotations

import sys

import pytest

from sojourn._imports import call_imported, import_object, is_import_path
from sojourn.mdps import parse_problem, read_problem


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("river_swim", "river_swim"),
        ("RiverSwim(6)", "river_swim"),
        ("river_swim(n=6.0)", "river_swim"),
        ("riverswim(8.0)", "river_swim(n=8)"),
        ("chain(5, large=10, slip=0.2)", "chain(large=10, n=5, slip=0.2)"),
        ("Taxi-v4", "Taxi-v4"),
        ("FrozenLake-v1(map_name='8x8')", "FrozenLake-v1(map_name='8x8')"),
    ],
)
def test_equivalent_texts_have_the_same_canonical_text(given, text):
    named = read_problem(given, "problem")
    assert named.text == text
    assert read_problem(named.text, "problem").text == text


def test_a_named_problem_can_be_built():
    assert parse_problem("chain(5, slip=0.2)").name == parse_problem("Chain(slip=0.2, n=5)").name


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Write a user's module with custom problems."""
    code = "import sojourn as sj\nlake = sj.mdps.chain(3)\nnumber = 3\n"
    code += "def any(**settings): return sj.mdps.river_swim(**settings)\ndef place(n, /): return lake\n"
    (tmp_path / "own_rivers.py").write_text(code + "def river(n=4): return sj.mdps.river_swim(n)\n")
    (tmp_path / "own_broken.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("own_rivers", "own_broken"):
        sys.modules.pop(name, None)


def test_a_custom_problem_is_named_by_its_import_path(own):
    assert parse_problem("own_rivers:river(5)").n_states == 5
    assert parse_problem("own_rivers:lake").n_states == 3
    assert read_problem("own_rivers:river(5)", "problem").text == "own_rivers:river(n=5)"
    assert parse_problem("own_rivers:any(n=5)").n_states == 5


@pytest.mark.parametrize("text", ["own_rivers:river(n=5.0)", "mine:Env-v0(pay=1.0)"])
def test_floats_reach_other_peoples_functions_as_floats(own, text):
    assert read_problem(text, "problem").text == text  # which is what worker processes parse


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("own_rivers:rivr", "own_rivers has no 'rivr'."),
        ("own_rivers:river(m=2)", "own_rivers:river has no argument 'm'. It takes n."),
        ("own_rivers:any(5)", "own_rivers:any takes no positional arguments; got 1 argument."),
        ("own_rivers:place(5)", "own_rivers:place must take its arguments by name"),
        ("own_rivers:lake(2)", "own_rivers:lake is a problem already and takes no arguments."),
        (
            "own_rivers:number",
            "own_rivers:number must be a TabularMDP or a function that returns one; got 3.",
        ),
        ("own_broken:x", "own_broken cannot be imported: ZeroDivisionError: division by zero"),
        ("no_such:x", "No module 'no_such' for 'no_such:x'; it must be installed, or lie beside the file"),
        ("river_swim(n=3, n=4)", "river_swim got n twice."),
        ("Taxi-v4(a=1, b=2, a=3)", "Taxi-v4 got a twice."),
        ("rivr_swim(3)", "Unknown environment 'rivr_swim'. Did you mean 'river_swim'?"),
        ("own_rivers:river({2, 3})", "problem must have numbers and quoted text as arguments"),
        ("river_swim(open('x'))", "problem must have numbers and quoted text as arguments"),
        ("x" * 20_000, "problem must be written like 'Taxi-v4' or 'river_swim(6)'; got 'xxx"),
        ("", "problem must be written like"),
    ],
)
def test_errors_are_one_line(own, text, said):
    with pytest.raises(ValueError) as error:
        parse_problem(text)
    assert str(error.value).startswith(said)
    assert len(str(error.value)) < 250
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["a:b", "a.b:c.d", "my_lab.learners:Mine"])
def test_import_paths_are_known(text):
    assert is_import_path(text)


@pytest.mark.parametrize(
    "text", ["a", "a:", ":b", "a:b:c", "a/b:c", "../a:b", "a b:c", "1a:b", "a" * 2000 + ":b"]
)
def test_other_texts_are_not_import_paths(text):
    assert not is_import_path(text)
    with pytest.raises(ValueError, match=r"must be written like 'package\.module:Name'"):
        import_object(text[:100])


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (KeyError("x"), "mine:problem raised KeyError: 'x'"),
        (EOFError("No data\nleft"), "mine:problem raised EOFError: No data left"),
        (MemoryError(), "mine:problem raised MemoryError"),
        (GeneratorExit(), "mine:problem raised GeneratorExit"),
        (type("OddError", (KeyError,), {"__str__": None})(), "mine:problem raised OddError"),
        (SystemExit(3), "your code called sys.exit(3)."),
        (ValueError("n must be positive."), "n must be positive."),
    ],
)
def test_errors_of_imported_code_are_one_line(raised, expected):
    def problem():
        raise raised

    with pytest.raises(ValueError) as caught:
        call_imported("mine:problem", problem, {})
    assert str(caught.value) == expected


def test_ctrl_c_in_imported_code_passes():
    def problem():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call_imported("mine:problem", problem, {})
