import os

import pytest
from laws.cases import EVERY_LAW

import sojourn as sj
from sojourn.laws import LAWS
from sojourn.laws._survival_csv import read_survival


@pytest.mark.parametrize("law", EVERY_LAW, ids=lambda law: repr(law)[:60])
def test_every_repr_parses_back(law):
    assert sj.parse_law(repr(law)) == law


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("geometric(0.95)", sj.Geometric(0.95)),
        ("  GEOMETRIC( gamma = .95 ) ", sj.Geometric(0.95)),
        ("polynomial(1.4, offset=20)", sj.Polynomial(1.4, offset=20)),
        ("quasi-hyperbolic(0.7, 0.95)", sj.QuasiHyperbolic(0.7, 0.95)),
        ("quasi_hyperbolic(beta=0.7, gamma=0.95)", sj.QuasiHyperbolic(0.7, 0.95)),
        (
            "kaplan-meier([1, 3], [True, False], tail='end')",
            sj.KaplanMeier([1, 3], [True, False], tail="end"),
        ),
        ("empirical((1, 2, 2))", sj.Empirical([1, 2, 2])),
        (
            "kaplan_meier(tail='end', lengths=[1, 3], observed=[true, FALSE])",
            sj.KaplanMeier([1, 3], [True, False], tail="end"),
        ),
        (
            "mixture([0.5, 0.5], [negative-binomial(2, 0.5), mixture((1,), (fixed(3),))])",
            sj.Mixture([0.5, 0.5], [sj.NegativeBinomial(2, 0.5), sj.Mixture([1], [sj.Fixed(3)])]),
        ),
    ],
)
def test_common_spellings_of_laws_are_parsed(text, expected):
    assert sj.parse_law(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("geometrc(0.9)", "Unknown law 'geometrc'. Did you mean 'geometric'?"),
        ("quasihyperbolik(1)", "Unknown law 'quasihyperbolik'. Did you mean 'quasi_hyperbolic'?"),
        ("geometric", "geometric needs gamma; write geometric(gamma)."),
        ("geometric()", "geometric needs gamma; write geometric(gamma)."),
        ("quasi-hyperbolic", "quasi_hyperbolic needs beta and gamma; write quasi_hyperbolic(beta, gamma)."),
        ("geometric(gama=0.9)", "geometric has no argument 'gama'. Did you mean 'gamma'?"),
        ("geometric(0.9, zzz=1)", "geometric has no argument 'zzz'. It takes gamma."),
        ("geometric(0.9, gamma=0.9)", "geometric got gamma twice."),
        ("geometric(gamma=0.9, gamma=0.9)", "geometric got gamma twice."),
        ("geometric(0.9, 0.8)", "geometric takes gamma; got 2 arguments."),
        ("geometric(1.2)", "gamma must be in [0, 1); got 1.2."),
        ("geometric(nan)", "gamma must be in [0, 1); got nan."),
        ("polynomial(-INF)", "p must be a finite number > 1; got -inf."),
        ("fixed(Infinity)", "length must be a whole number ≥ 1; got inf."),
        ("nan", "Unknown law 'nan'."),
        (
            'kaplan_meier("km.csv")',
            "kaplan_meier takes lengths, not a file; got 'km.csv'. Only tabulated reads a file, of survival; "
            "from Python, pass KaplanMeier the columns of yours.",
        ),
        (
            "empirical(lengths='km.csv')",
            "empirical takes lengths, not a file; got 'km.csv'. Only tabulated reads a file, of survival; "
            "from Python, pass Empirical the columns of yours.",
        ),
        (
            "geometric(0.9",
            "law must be written like 'geometric(0.95)'; got 'geometric(0.9' ('(' was never closed).",
        ),
        ("0.9", "law must be a law such as 'geometric(0.95)'; got '0.9'."),
        (
            "geometric(__import__('os').getcwd())",
            "law must be made of laws, numbers, lists and quoted text; got \"__import__('os').getcwd()\".",
        ),
        ("fixed(99999999999999999999)", "law must hold no whole number above 2**53."),
    ],
)
def test_bad_text_raises_a_one_line_error(text, message):
    with pytest.raises((ValueError, TypeError)) as caught:
        sj.parse_law(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000,
        "-" * 100_000 + "1",
        "1+" * 100_000 + "1",
        "1+" * 900 + "1",
        "a." * 100_000 + "a",
        "mixture([1],[" * 40 + "fixed(1)" + "])" * 40,
        "fixed(" + "9" * 10_000 + ")",
        "fixed(0x" + "f" * 10_000 + ")",
        "f'" + "{1}{0}" * 150_000 + "'",  # Python needs minutes for it
        "geometric(0.5)\x00",
        "x" * 2_000_000,
        "",
    ],
    ids=lambda text: text[:12],
)
def test_absurd_text_raises_a_one_line_error(text):
    with pytest.raises(ValueError, match=r"^(law must|Unknown law)") as caught:
        sj.parse_law(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_only_text_is_parsed():
    with pytest.raises(TypeError, match=r"^law must be a text such as"):
        sj.parse_law(0.95)


def test_the_registry_names_every_law():
    assert {cls.__name__ for cls in LAWS.values()} == {type(law).__name__ for law in EVERY_LAW}


@pytest.mark.parametrize(
    "text",
    [
        "1\n0.5\n0.25\n",
        "survival\n1\n0.5\n0.25",
        "h,survival\n1,1\n2,0.5\n3,0.25\n",
        "survival,h\r\n1,1\r\n0.5,2\r\n0.25,3\r\n",
        "1,1\n2,0.5\n\n3,0.25\n",
        "\ufeffH, Survival\n1, 1\n2, 0.5\n3, 0.25\n",
    ],
)
def test_tables_are_read_from_files(text, tmp_path):
    path = tmp_path / "my-table(2).csv"
    path.write_text(text, encoding="utf-8")
    assert sj.parse_law(f"tabulated('{path}')") == sj.Tabulated([1.0, 0.5, 0.25])
    assert sj.parse_law(f"tabulated(survival='{path}')") == sj.Tabulated([1.0, 0.5, 0.25])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n0.5\nx\n", "t.csv row 3: survival must be a number from 0 to 0.5, the row before; got text."),
        ("1\n0.5\n0.6\n", "t.csv row 3: survival must be a number from 0 to 0.5, the row before; got '0.6'."),
        ("1\nnan\n", "t.csv row 2: survival must be a number from 0 to 1.0, the row before; got 'nan'."),
        ("h,survival\n1,1\n3,0.5\n", "t.csv row 3: h must be 2; got '3'."),
        ("h,gamma\n1,1\n", "t.csv row 1: columns must be survival, or h and survival; got other names."),
        ("1,1\n2\n", "t.csv row 2: must have as many cells as the first row; got 1."),
        ("", "t.csv must have one row per step; it is empty."),
        ("survival\n", "t.csv must have one row per step; it is empty."),
        ("0.5\n", "t.csv row 1: survival must be 1 in the first row; got '0.5'."),
    ],
)
def test_bad_tables_name_the_file_and_the_row(text, message, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError) as caught:
        sj.Tabulated.from_csv(path)
    assert str(caught.value) == message


@pytest.mark.parametrize("content", ["root:x:0:0\n", "root,x\n", "root,7\n", "1\nroot:x\n", "1,1\nroot,1\n"])
def test_the_text_of_a_file_that_is_no_table_is_not_shown(content, tmp_path):
    (tmp_path / "secret").write_text(content)
    with pytest.raises(ValueError) as caught:
        sj.parse_law(f"tabulated('{tmp_path / 'secret'}')")
    assert "root" not in str(caught.value)


def test_a_missing_table_is_named():
    with pytest.raises(ValueError, match=r"^'nofile.csv' cannot be read as a survival table: No such file"):
        sj.parse_law('tabulated("nofile.csv")')


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_table_in_a_pipe_or_a_device_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for path in (tmp_path / "pipe.csv", "/dev/zero"):
        with pytest.raises(
            ValueError, match=r"cannot be read as a survival table: it is not a regular file\.$"
        ):
            read_survival(path)


def test_a_table_that_is_too_large_is_refused(tmp_path, monkeypatch):
    (tmp_path / "large.csv").write_text("1\n0.5\n0.25\n")
    assert read_survival(tmp_path / "large.csv") == [1.0, 0.5, 0.25]
    monkeypatch.setattr("sojourn.laws._survival_csv._MAX_BYTES", 8)
    with pytest.raises(ValueError, match=r"it is larger than 8 bytes\.$"):
        read_survival(tmp_path / "large.csv")


def test_a_survival_table_with_an_open_quote_gets_one_line(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text('"' + "1\n" * 300_000, encoding="utf-8")
    with pytest.raises(ValueError, match=r"^(law: )?q\.csv row .*cannot be read as CSV"):
        sj.Tabulated.from_csv(path)


@pytest.mark.parametrize("r", [1e300, 1e-300])
def test_negative_binomial_laws_without_a_usable_mean_are_refused(r):
    with pytest.raises(ValueError, match=r"mean length above 2\*\*53|r must be at least 1e-100"):
        sj.NegativeBinomial(r, 0.5)
