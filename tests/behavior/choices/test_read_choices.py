"""Choices and designs from every source that the readers of logs take."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3

import numpy as np
import pytest

from sojourn import behavior

NAMES = ("subjID", "amount_sooner", "delay_sooner", "amount_later", "delay_later", "choice")
ROWS = [("b", 5.5, 0, 10, 7, 1), ("a", 8, 7, 10, 14, 0), ("b", 2, 0, 10, 30, 0)]
CSV = "\n".join([",".join(NAMES), *(",".join(map(str, row)) for row in ROWS)]).encode()
COLUMNS = {name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)}


def zstd_file(tmp_path):
    pa = pytest.importorskip("pyarrow")
    (tmp_path / "choices.csv.zst").write_bytes(pa.compress(CSV, "zstd", asbytes=True))
    return tmp_path / "choices.csv.zst"


def gzip_file(tmp_path):
    (tmp_path / "choices.csv.gz").write_bytes(gzip.compress(CSV))
    return tmp_path / "choices.csv.gz"


def json_file(tmp_path):
    lines = (json.dumps(dict(zip(NAMES, row, strict=True))) for row in ROWS)
    (tmp_path / "choices.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path / "choices.jsonl"


def pattern(tmp_path):
    header, *rows = CSV.splitlines()
    for i, row in enumerate(rows):
        (tmp_path / f"{i}.csv").write_bytes(header + b"\n" + row)
    return str(tmp_path / "*.csv")


def parquet_file(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table(COLUMNS), tmp_path / "choices.parquet")
    return tmp_path / "choices.parquet"


def cursor(tmp_path):
    base = sqlite3.connect(":memory:")
    base.execute(f"CREATE TABLE choices ({', '.join(NAMES)})")
    base.executemany("INSERT INTO choices VALUES (?, ?, ?, ?, ?, ?)", ROWS)
    return base.execute("SELECT * FROM choices")


SOURCES = [
    gzip_file,
    zstd_file,
    json_file,
    pattern,
    parquet_file,
    cursor,
    lambda _: io.BytesIO(CSV),
    lambda _: COLUMNS,
    lambda _: pytest.importorskip("pandas").DataFrame(COLUMNS),
    lambda _: pytest.importorskip("pyarrow").table(COLUMNS),
    lambda _: np.array(ROWS, dtype=[(name, "U1" if i == 0 else "f8") for i, name in enumerate(NAMES)]),
]


@pytest.mark.parametrize("make", SOURCES)
def test_all_sources_give_the_same_choices(make, tmp_path):
    data = behavior.read_choices(make(tmp_path))
    assert (data.subjects, data.subject.tolist()) == (("b", "a"), [0, 1, 0])
    for name, column in list(COLUMNS.items())[1:5]:
        assert getattr(data, name).tolist() == column
    assert data.chose_later.tolist() == COLUMNS["choice"]


def test_bad_rows_are_counted_and_named(tmp_path):
    path = tmp_path / "choices.csv"
    rows = [
        "ID;SSamount;LL amount;LL.delay;choice",
        "a;5;10;7;later",
        "a;5;ten;7;0",
        "b;8;10;7;Sooner",
        "b;1",
        ";8;10;7;1",
        "c;0;10;7;1",
    ]
    path.write_text("\n".join(rows), encoding="utf-8")
    data = behavior.read_choices(path)
    assert (data.subjects, data.chose_later.tolist()) == (("a", "b"), [1.0, 0.0])
    assert (data.account.n_rows, data.account.n_used, data.account.n_rejected) == (6, 2, 4)
    assert [str(one) for one in data.account.first_rejected] == [
        "row 3: amount_later must be a finite number; got a word of 3 characters.",
        "row 5: a row must have 5 cells; got 2.",
        "row 6: subject must not be empty; got ''.",
        "row 7: amount_sooner must be a number > 0; got '0'.",
    ]


def test_files_without_subjects_are_one_subject_each(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        text = "amount_sooner,amount_later,delay_later,choice\n5,10,7,1\n8,10,7,0\n"
        (tmp_path / folder / "answers.csv").write_text(text, encoding="utf-8")
    data = behavior.read_choices(tmp_path)
    assert (data.subject.tolist(), data.subjects) == ([0, 0, 1, 1], ("answers.csv", "answers.csv"))


def test_columns_may_have_names_of_their_own():
    own = {name.upper() + "!": column for name, column in COLUMNS.items()}
    names = dict(zip(("subject", *NAMES[1:]), own, strict=True))
    data = behavior.read_choices(own, columns=names)
    assert data.chose_later.tolist() == COLUMNS["choice"]
    with pytest.raises(ValueError, match=r"the table has no column 'CHOICE\?'. Did you mean 'CHOICE!'\?"):
        behavior.read_design(own, columns=names | {"choice": "CHOICE?"})
    with pytest.raises(ValueError, match=r"columns must be one of 'subject', .*; got 'amount'"):
        behavior.read_choices(own, columns={"amount": "x"})


def test_a_design_needs_no_choices(tmp_path):
    pairs = {name: COLUMNS[name] for name in NAMES[:5]}
    design = behavior.read_design(pairs)
    assert repr(design) == "ChoiceDesign('the table', 3 pairs of 2 subjects)"
    assert isinstance(behavior.read_design(COLUMNS), behavior.ChoiceData)
    with pytest.raises(ValueError, match="it is a design without choices"):
        behavior.read_choices(design)
    with pytest.raises(ValueError, match=r"must have a column 'choice'. Did you mean 'choise'\?"):
        behavior.read_design(pairs | {"choise": [1, 0, 1]})
    header = ",".join(NAMES[:5]).encode()
    (tmp_path / "0.csv").write_bytes(header + b"\nb,5,0,10,7")
    (tmp_path / "1.csv").write_bytes(CSV)
    with pytest.raises(ValueError, match=r"1.csv must have choices in all rows or in none"):
        behavior.read_design(tmp_path)


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("nowhere.csv", ValueError, "source must be a file that exists; got 'nowhere.csv'."),
        (3, TypeError, "source must be a file, a table, a stream or a query; got int."),
        (
            COLUMNS | {"choice": [1, 2, 1]},
            ValueError,
            "must have 1 for later and 0 for sooner",
        ),
        (COLUMNS | {"response": [1, 0, 1]}, ValueError, "one column 'choice'; got 'choice' and 'response'"),
        (
            {"amount_sooner": [1], "choice": [1]},
            ValueError,
            "must have a column 'amount_later'. It has",
        ),
    ],
)
def test_what_cannot_be_read_is_named(source, error, message):
    with pytest.raises(error) as found:
        behavior.read_choices(source)
    assert message in str(found.value)
