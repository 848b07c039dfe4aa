from __future__ import annotations

import gzip
import io
import json
import sys

import numpy as np
import pytest

import sojourn as sj
from sojourn.sessions import SessionLog, analyze, read_sessions
from sojourn.sessions.reading import _csv
from sojourn.sessions.reading._tables import CsvColumn
from sojourn.sessions.reading.sources import _packed, _records


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def as_rows(log):
    """The rows of a log, sorted, without counts."""
    columns = zip(log.lengths, log.observed, log.entry, log.group, log.counts, strict=True)
    rows = [(int(n), bool(seen), int(e), int(g)) for n, seen, e, g, times in columns for _ in range(times)]
    return sorted(rows)


def test_columns_are_found_by_their_usual_names(tmp_path):
    path = write(tmp_path / "log.csv", "Session Length,Censored,entry,segment\n5,1,2,b\n3,0,1,a\n3,0,1,b\n")
    log = read_sessions(path)
    assert as_rows(log) == [(3, True, 1, 0), (3, True, 1, 1), (5, False, 2, 0)]
    assert log.labels == ("b", "a")  # the largest first
    assert (len(log), log.n_open, log.n_groups, log.name) == (3, 1, 2, "log.csv")


def test_columns_can_be_named_or_left_out(tmp_path):
    path = write(tmp_path / "log.csv", "clicks,left,ended,group\n5,0,1,x\n3,1,1,y\n")
    log = read_sessions(path, length="clicks", observed="left", group="none")
    assert as_rows(log) == [(3, True, 1, 0), (5, False, 1, 0)]
    assert log.n_groups == 0
    assert as_rows(read_sessions(path, length="clicks", observed="none", group="none")) == [
        (3, True, 1, 0),
        (5, True, 1, 0),
    ]
    with pytest.raises(ValueError, match=r"^log.csv has no column 'clics'. Did you mean 'clicks'\?$"):
        read_sessions(path, length="clics")


def test_equal_rows_are_counted(tmp_path):
    rng = np.random.default_rng(0)
    lengths, ended = rng.geometric(0.2, 5000), rng.random(5000) < 0.5
    text = "".join(f"{n},{int(seen)}\n" for n, seen in zip(lengths, ended, strict=True))
    log = read_sessions(write(tmp_path / "log.csv", "length,ended\n" + text))
    assert log.lengths.size < 120
    assert as_rows(log) == sorted((int(n), bool(seen), 1, 0) for n, seen in zip(lengths, ended, strict=True))
    assert log.sample.n == 5000


def test_a_log_is_the_same_from_csv_parquet_and_memory(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    n = 3000
    lengths = rng.geometric(0.1, n)
    entry = np.minimum(rng.integers(1, 5, n), lengths)
    seen = rng.random(n) < 0.7
    group = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    table = pa.table({"length": lengths, "observed": seen, "entry": entry, "group": group})
    pq.write_table(table, tmp_path / "log.parquet")
    rows = zip(lengths, seen, entry, group, strict=True)
    text = "length,observed,entry,group\n" + "".join(f"{a},{b},{c},{d}\n" for a, b, c, d in rows)
    logs = [
        read_sessions(tmp_path / "log.parquet"),
        read_sessions(write(tmp_path / "log.csv", text)),
        SessionLog.from_columns(lengths, seen, entry=entry, group=group.tolist()),
    ]
    assert as_rows(logs[0]) == as_rows(logs[1]) == as_rows(logs[2])
    assert logs[0].labels == logs[1].labels == logs[2].labels == ("a", "b", "c")
    assert logs[0].account.n_rows == logs[1].account.n_rows == n


def test_bad_rows_of_parquet_are_named(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "length": pa.array([3.0, None, 2.5, 7.0, 9.0, float("nan")]),
            "ended": pa.array(["yes", "no", "yes", "perhaps", None, "yes"]),
            "group": pa.array(["x", None, "x", "y", "y", "y"]),
        }
    )
    pq.write_table(table, tmp_path / "log.parquet")
    log = read_sessions(tmp_path / "log.parquet")
    assert (log.account.n_rows, log.account.n_used, log.account.n_rejected) == (6, 1, 5)
    assert [str(one) for one in log.account.first_rejected] == [
        "row 2: length must be a whole number ≥ 1; got 'None'.",
        "row 3: length must be a whole number ≥ 1; got '2.5'.",
        "row 4: ended must be true or false, 1 or 0; got a word of 7 characters.",
        "row 5: ended must be true or false, 1 or 0; got 'None'.",
        "row 6: length must be a whole number ≥ 1; got 'None'.",
    ]


def test_parquet_of_strange_types_is_refused(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"length": [[1, 2], [3]]}), tmp_path / "log.parquet")
    with pytest.raises(
        ValueError, match=r"^log.parquet must have numbers, flags, times or text in 'length'; it has list"
    ):
        read_sessions(tmp_path / "log.parquet")
    pq.write_table(pa.table({"length": pa.array([], type=pa.int64())}), tmp_path / "none.parquet")
    with pytest.raises(
        ValueError, match=r"^none.parquet must have a row that can be used: it has only a header row"
    ):
        read_sessions(tmp_path / "none.parquet")


def test_parquet_of_usual_types_is_read(tmp_path):
    from decimal import Decimal

    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "length": pa.array([Decimal("3"), Decimal("4"), Decimal("4.5")]),
            "ended": pa.array(["TRUE", "false", "1"]).dictionary_encode(),
            "group": pa.array(["x", "y", "x"]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "log.parquet")
    log = read_sessions(tmp_path / "log.parquet")
    assert as_rows(log) == [(3, True, 1, 0), (4, False, 1, 1)]
    for unsigned in (pa.uint8(), pa.int16(), pa.uint64(), pa.float16(), pa.float32()):
        pq.write_table(pa.table({"length": pa.array([3, 4], type=unsigned)}), tmp_path / "log.parquet")
        assert as_rows(read_sessions(tmp_path / "log.parquet")) == [(3, True, 1, 0), (4, True, 1, 0)]
    flags = pa.array([Decimal("1.0"), Decimal("0.0"), Decimal("0.5")])
    pq.write_table(pa.table({"length": [3, 4, 5], "ended": flags}), tmp_path / "log.parquet")
    assert as_rows(read_sessions(tmp_path / "log.parquet")) == [(3, True, 1, 0), (4, False, 1, 0)]
    pq.write_table(pa.table({"length": [True, True]}), tmp_path / "log.parquet")
    with pytest.raises(ValueError, match="all 2 are rejected"):
        read_sessions(tmp_path / "log.parquet")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "log.parquet").write_bytes(b"PAR1....PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ValueError, match=r"^log.parquet is a Parquet file, .* pip install 'sojourn\[parquet\]'.$"
    ):
        read_sessions(tmp_path / "log.parquet")
    (tmp_path / "other.parquet").write_bytes(b"length\n4\n")
    with pytest.raises(
        ValueError, match=r"^other.parquet must be a Parquet file; it does not begin like one.$"
    ):
        read_sessions(tmp_path / "other.parquet")


def test_identifiers_are_not_used_as_groups(tmp_path):
    text = "length,group\n" + "".join(f"{i % 9 + 1},user{i}\n" for i in range(3000))
    log = read_sessions(write(tmp_path / "log.csv", text))
    assert (log.n_groups, len(log)) == (0, 3000)
    assert "too many for groups" in log.account.notes[0]
    assert "user" not in log.account.notes[0]


@pytest.mark.parametrize(("path", "words"), [("no.csv", "a file that exists"), (".", "a folder with .csv")])
def test_paths_without_logs_are_refused(path, words, tmp_path):
    with pytest.raises(ValueError, match=rf"^source must be {words}"):
        read_sessions(tmp_path / path)


def test_columns_in_memory_are_checked():
    with pytest.raises(ValueError, match=r"^lengths\[1\] must be a whole number from 1 to 2\*\*53; got 0.$"):
        SessionLog.from_columns([1, 0])
    with pytest.raises(ValueError, match=r"^group must be as many as lengths; got 1 groups for 2 lengths.$"):
        SessionLog.from_columns([1, 2], group=["a"])


def test_large_files_are_read_in_blocks(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    lengths = rng.geometric(0.1, 4000)
    lines = [f'"note {i}\nmore",{n}\n' if i % 50 == 0 else f"plain,{n}\n" for i, n in enumerate(lengths)]
    path = write(tmp_path / "log.csv", "id,length\n" + "".join(lines))
    whole = read_sessions(path)
    monkeypatch.setattr(_csv, "_BLOCK_BYTES", 97)
    monkeypatch.setattr(_packed, "_HEAD_BYTES", 31)
    pieces = read_sessions(path)
    assert as_rows(whole) == as_rows(pieces) == sorted((int(n), True, 1, 0) for n in lengths)
    assert whole.account == pieces.account
    assert sj.fit(whole.lengths, counts=whole.counts, family="geometric").n == 4000


def test_the_advice_names_the_columns_used(tmp_path):
    log = read_sessions(
        write(tmp_path / "log.csv", "id,Steps,is_censored,segment\nu,5,1,b\nu,3,0,a\nu,3,0,b\n")
    )
    assert log.account.columns == (
        ("lengths", "Steps"),
        ("open sessions", "is_censored"),
        ("groups", "segment"),
    )
    assert as_rows(log) == [(3, True, 1, 0), (3, True, 1, 1), (5, False, 1, 0)]
    found = analyze(log)
    assert (
        "Columns used: lengths from 'Steps', open sessions from 'is_censored'"
        in dict(found.advice())["The sessions"]
    )
    assert found.as_dict()["rows"]["columns"]["lengths"] == "Steps"


def test_two_columns_of_flags_are_refused_unless_one_is_named(tmp_path):
    path = write(tmp_path / "log.csv", "length,ended,open\n3,1,1\n4,0,0\n")
    with pytest.raises(ValueError, match=r"or one named with --observed .*; got 'ended', 'open'\.$"):
        read_sessions(path)
    assert as_rows(read_sessions(path, observed="ended")) == [(3, True, 1, 0), (4, False, 1, 0)]
    assert as_rows(read_sessions(path, observed="open")) == [(3, False, 1, 0), (4, True, 1, 0)]
    assert read_sessions(path, observed="none").n_open == 0


def test_unused_columns_that_may_flag_open_sessions_are_noted(tmp_path):
    path = write(tmp_path / "log.csv", "length,was_censored\n3,1\n4,0\n")
    (note,) = read_sessions(path).account.notes
    assert "'was_censored' may say otherwise" in note
    assert read_sessions(path, observed="none").account.notes == ()
    assert read_sessions(write(tmp_path / "log.csv", "length,country\n3,x\n")).account.notes == ()


def test_long_groups_with_the_same_start_stay_apart(tmp_path):
    begin = "https://shop.example/" + "a" * 100
    path = tmp_path / "log.csv"
    path.write_text("length,group\n" + f"3,{begin}A\n4,{begin}B\n5,{begin}A\n" * 9, encoding="utf-8")
    log = read_sessions(path)
    assert log.n_groups == 2
    assert np.bincount(log.group, log.counts).tolist() == [18, 9]
    assert all(len(name) < 120 and name.startswith(begin[:80]) for name in log.labels)


def test_numbers_with_a_decimal_point_are_read(tmp_path):
    rng = np.random.default_rng(0)
    numbers = [*rng.integers(1, 2**53, 300).tolist(), *range(1, 200), 2**53]
    path = tmp_path / "log.csv"
    path.write_text("length\n" + "".join(f"{n}.0\n" for n in numbers), encoding="utf-8")
    log = read_sessions(path)
    assert np.repeat(log.lengths, log.counts).tolist() == sorted(numbers)


def test_numbers_with_a_decimal_point_are_parsed_in_blocks(tmp_path, monkeypatch):
    from sojourn.sessions.reading import _rows

    def refuse(cell, *_):
        raise AssertionError(cell)

    for module in (_csv, _rows):
        monkeypatch.setattr(module, "parse_whole", refuse)
    path = tmp_path / "log.csv"
    path.write_text("id,length,entry\n" + 'a,12.0,3.0\nb,"7.0",1\n', encoding="utf-8")
    assert read_sessions(path).lengths.tolist() == [7, 12]


FORGED = ("9OHm5OO/Ud<i(+Q4", "O8a=P2z~.eo9&T:I")
"""Two labels with the same hash."""


def test_labels_with_the_same_hash_are_different_groups(tmp_path):
    first, second = FORGED
    rows = [f"3,{first}", f"30,{second}", "4,a", f"5,{first}", f"50,{second}", "2,b", f'60,"{second}"']
    log = read_sessions(write(tmp_path / "log.csv", "length,group\n" + "\n".join(rows) + "\n"))
    assert log.n_groups == 4
    lengths = {label: [] for label in log.labels}
    for length, _, _, group in as_rows(log):
        lengths[log.labels[group]].append(length)
    assert lengths == {first: [3, 5], second: [30, 50, 60], "a": [4], "b": [2]}


@pytest.mark.parametrize("weak_hash", [lambda width: 0 * width, lambda width: width], ids=["equal", "width"])
def test_groups_do_not_depend_on_the_hash(weak_hash, tmp_path, monkeypatch):
    labels = [c * n for n in (1, 2, 7, 8, 9, 15, 16, 17, 79, 80, 81, 88, 200) for c in "xyx"]
    labels += ["x" * 100 + "y", "y" + "x" * 100, "z" * 8 + "x", "x" * 8 + "z", "", "é" * 9, "é" * 8 + "è"]
    text = "length,group\n" + "".join(f"{i + 1},{label}\n" for i, label in enumerate(labels * 2))
    expected = read_sessions(write(tmp_path / "log.csv", text))
    assert expected.n_groups == len(set(labels))
    real = CsvColumn._hashes

    def weak(self, words):
        width = (self._stop - self._start).astype(np.uint64)
        return np.where(width <= 8, real(self, words), weak_hash(width))

    monkeypatch.setattr(CsvColumn, "_hashes", weak)
    log = read_sessions(tmp_path / "log.csv")
    assert as_rows(log) == as_rows(expected)
    assert log.labels == expected.labels


ROWS = {"steps": [5, 3, 3, 8], "ended": [True, True, False, False], "group": ["b", "a", "b", "b"]}
TEXT = "steps,ended,group\n5,1,b\n3,1,a\n3,0,b\n8,0,b\n"
EXPECTED = [(3, False, 1, 0), (3, True, 1, 1), (5, True, 1, 0), (8, False, 1, 0)]


def packed(name, content):
    import bz2
    import gzip
    import lzma

    import pyarrow as pa

    pack = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    pack["zst"] = lambda text: pa.compress(text, codec="zstd", asbytes=True)
    return pack[name](content)


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst"])
def test_compressed_files_are_read(suffix, tmp_path):
    path = tmp_path / f"log.csv.{suffix}"
    path.write_bytes(packed(suffix, TEXT.encode()))
    assert as_rows(read_sessions(path)) == EXPECTED
    path.write_bytes(packed(suffix, TEXT.encode() * 1_000)[:-9])
    with pytest.raises(ValueError, match=r"^log.csv.\w+ cannot be read: [^\n]+\.$"):
        read_sessions(path)


def frames():
    import pandas as pd
    import pyarrow as pa

    table = pa.table(ROWS)
    yield "a dictionary", ROWS
    yield "a dictionary of arrays", {name: np.array(column) for name, column in ROWS.items()}
    yield "pandas", pd.DataFrame(ROWS)
    yield "pandas with an index", pd.DataFrame(ROWS, index=[0.5, 7.0, 7.0, -1.0])
    yield "pandas with its own types", pd.DataFrame(ROWS).convert_dtypes()
    yield "pandas with categories", pd.DataFrame(ROWS).astype({"group": "category"})
    yield "an Arrow table", table
    yield "a record reader", table.to_reader()
    records = list(zip(*ROWS.values(), strict=True))
    yield "a structured array", np.array(records, dtype=[("steps", int), ("ended", bool), ("group", "U1")])


FRAMES = dict(frames())


@pytest.mark.parametrize("kind", FRAMES)
def test_tables_in_memory_are_read(kind):
    assert as_rows(read_sessions(FRAMES[kind])) == EXPECTED


def test_an_array_of_lengths_is_a_log():
    assert as_rows(read_sessions(np.array([3, 1, 3]))) == [(1, True, 1, 0), (3, True, 1, 0), (3, True, 1, 0)]


def test_a_query_is_read():
    import sqlite3

    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE visits (steps INTEGER, ended INTEGER, segment TEXT)")
        base.executemany("INSERT INTO visits VALUES (?, ?, ?)", zip(*ROWS.values(), strict=True))
        log = read_sessions(base.execute("SELECT steps, ended, segment FROM visits"))
        assert as_rows(log) == EXPECTED
        with pytest.raises(ValueError, match="the query must be the result of a query that returns rows"):
            read_sessions(base.execute("CREATE TABLE other (steps INTEGER)"))


def test_json_lines_are_read(tmp_path):
    lines = [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]
    text = "".join(json.dumps(line) + "\n\n" for line in lines)
    assert as_rows(read_sessions(write(tmp_path / "log.jsonl", text))) == EXPECTED
    log = read_sessions(write(tmp_path / "log.jsonl", text + '{"steps": 2.5}\n{"other": 1}\n'))
    assert [one.row for one in log.account.first_rejected] == [5, 6]
    with pytest.raises(ValueError, match=r"^log.jsonl must have one JSON object per line; line 2 has none"):
        read_sessions(write(tmp_path / "log.jsonl", '{"steps": 2}\n[1]\n'))
    with pytest.raises(ValueError, match="it is one JSON list"):
        read_sessions(write(tmp_path / "log.json", '[{"steps": 2}]'))


def test_several_files_are_one_log(tmp_path):
    (tmp_path / "parts").mkdir()
    write(tmp_path / "parts" / "b.csv", "steps,ended,group\n5,1,b\n3,1,a\n0,1,a\n")
    (tmp_path / "parts" / "c.csv.gz").write_bytes(packed("gz", b"group;steps;ended\nb;3;0\nb;8;0\n"))
    write(tmp_path / "parts" / "notes.md", "not a log")
    for source in (
        tmp_path / "parts",
        str(tmp_path / "parts" / "*.csv*"),
        [tmp_path / "parts" / "b.csv", tmp_path / "parts" / "c.csv.gz"],
    ):
        log = read_sessions(source)
        assert as_rows(log) == EXPECTED
        assert log.labels == ("b", "a")
        assert (log.account.n_rows, log.account.n_rejected, log.name) == (5, 1, "2 files")
        assert str(log.account.first_rejected[0]).startswith("row 4: in b.csv: steps must be a whole number")


def test_several_files_count_like_one(tmp_path):
    rng = np.random.default_rng(0)
    text = [f"{n},{i % 3}\n" for i, n in enumerate(rng.geometric(0.2, 3_000))]
    whole = read_sessions(write(tmp_path / "whole.csv", "length,group\n" + "".join(text)))
    pieces = ["".join(text[i : i + 750]) for i in range(0, 3_000, 750)]
    parts = [write(tmp_path / f"{i}.csv", f"length,group\n{piece}") for i, piece in enumerate(pieces)]
    joined = read_sessions(parts)
    for name in ("lengths", "observed", "entry", "group", "counts"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))
    assert joined.labels == whole.labels
    write(tmp_path / "plain.csv", "length\n3\n")
    with pytest.raises(ValueError, match="All files must have groups, or none"):
        read_sessions([*parts, tmp_path / "plain.csv"])


def test_streams_are_read():
    import io

    assert as_rows(read_sessions(io.BytesIO(TEXT.encode()))) == EXPECTED
    assert as_rows(read_sessions(io.BytesIO(packed("gz", TEXT.encode())))) == EXPECTED
    with pytest.raises(TypeError, match="source must be a stream of bytes"):
        read_sessions(io.StringIO(TEXT))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"SQLite format 3\0" + bytes(100), "is an SQLite file that cannot be read so"),
        (b"ARROW1\0\0", "it is a Feather file"),
        (b"\x80\x04\x95" + bytes(20), "it is a pickle, which cannot be read safely"),
    ],
)
def test_other_formats_are_named(content, words, tmp_path):
    (tmp_path / "log.csv").write_bytes(content)
    with pytest.raises(ValueError, match=words):
        read_sessions(tmp_path / "log.csv")


@pytest.mark.parametrize(
    ("source", "error", "words"),
    [
        (3, TypeError, "source must be a file, a table, a stream or a query; got int"),
        ("https://example.org/log.csv", ValueError, "must be a file on this machine"),
        ("nothing*.csv", ValueError, "nothing matches"),
        ([], ValueError, "at least one file"),
        ({"steps": [1, 2], "ended": [True]}, ValueError, "must have columns of the same length"),
        ({"steps": [[1, 2], [3, 4]]}, ValueError, "must have one dimension"),
        ({"other": [1]}, ValueError, "the table must have a column of session lengths"),
    ],
)
def test_wrong_sources_are_one_line(source, error, words):
    with pytest.raises(error, match=words) as found:
        read_sessions(source)
    assert "\n" not in str(found.value)


def test_open_sessions_can_be_counted_as_lifelines_counts_them():
    from lifelines import KaplanMeierFitter
    from lifelines.datasets import load_dd

    data = load_dd()
    table = data[["duration", "observed"]]
    rival = KaplanMeierFitter().fit(data.duration, data.observed)
    found = analyze(read_sessions(table, open_survived=True)).kaplan_meier
    h = np.arange(1, 40)
    # Ours is P(H ≥ h), theirs P(H > t).
    np.testing.assert_allclose(found.survival(h), rival.survival_function_at_times(h - 1), rtol=1e-12)
    usual = analyze(read_sessions(table)).kaplan_meier
    assert np.abs(usual.survival(h) - rival.survival_function_at_times(h - 1).to_numpy()).max() > 0.005


def test_counts_stand_for_many_rows(tmp_path):
    import sqlite3

    rng = np.random.default_rng(3)
    lengths = np.minimum(rng.geometric(0.3, 2_000), 9)
    table = {"steps": lengths, "ended": lengths < 9, "segment": rng.choice(["a", "b"], 2_000)}
    whole = read_sessions(table)
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE visits (steps INTEGER, ended INTEGER, segment TEXT)")
        rows = zip(lengths.tolist(), (lengths < 9).tolist(), table["segment"].tolist(), strict=True)
        base.executemany("INSERT INTO visits VALUES (?, ?, ?)", rows)
        query = "SELECT steps, ended, segment, COUNT(*) AS n FROM visits GROUP BY steps, ended, segment"
        counted = list(base.execute(query))
        found = [read_sessions(base.execute(query), count="n")]
    text = "steps,ended,segment,n\n" + "".join(",".join(map(str, row)) + "\n" for row in counted)
    found.append(read_sessions(write(tmp_path / "log.csv", text), count="n"))
    for log in found:
        assert (as_rows(log), log.labels) == (as_rows(whole), whole.labels)
        assert repr(analyze(log).fits) == repr(analyze(whole).fits)
    bad = read_sessions(write(tmp_path / "log.csv", text + "3,1,a,-1\n"), count="n")
    assert str(bad.account.first_rejected[0]).startswith(f"row {len(counted) + 2}: n must be a whole number")


@pytest.mark.parametrize("word", ["churned", "Churned ", "gave up early", "2", "2.5"])
def test_a_word_can_mean_the_end(word, tmp_path):
    cells = [word, "active", word.upper(), "1", ""]
    text = "steps,status\n" + "".join(f"{i + 1},{cell}\n" for i, cell in enumerate(cells))
    for source in (
        write(tmp_path / "log.csv", text),
        {"steps": [1, 2, 3, 4, 5], "status": [*cells[:-1], None]},
    ):
        log = read_sessions(source, observed="status", ended=word)
        assert as_rows(log) == [(1, True, 1, 0), (2, False, 1, 0), (3, True, 1, 0), (4, False, 1, 0)]
        assert "status must not be empty" in str(log.account.first_rejected[0])
    codes = read_sessions({"time": [3, 4], "status": [1.0, 2.0]}, length="time", observed="status", ended="2")
    assert as_rows(codes) == [(3, False, 1, 0), (4, True, 1, 0)]
    with pytest.raises(ValueError, match="must have a column for --ended"):
        read_sessions({"steps": [1]}, ended="2")


def test_comments_and_the_line_of_excel_before_the_header_are_skipped(tmp_path):
    log = read_sessions(write(tmp_path / "log.csv", "# export\n\nsep=;\n#\nsteps;ended\n5;1\nx;1\n"))
    assert as_rows(log) == [(5, True, 1, 0)]
    assert log.account.first_rejected[0].row == 7


def test_no_row_is_lost_between_batches(monkeypatch):
    import sqlite3

    monkeypatch.setattr(_records, "_BATCH_ROWS", 4)
    lines = b"".join(b'{"length": %d}\n' % i for i in range(1, 12))
    assert read_sessions(io.BytesIO(lines)).lengths.tolist() == list(range(1, 12))
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE log (length)")
        base.executemany("INSERT INTO log VALUES (?)", [(i,) for i in range(1, 12)])
        found = read_sessions(base.execute("SELECT length FROM log"))
    assert found.lengths.tolist() == list(range(1, 12))
    late = lines + b'{"length": 3, "ended": false}\n'
    with pytest.raises(ValueError, match=r"'ended' is missing in all of its first lines"):
        read_sessions(io.BytesIO(late))
    assert len(read_sessions(io.BytesIO(late), observed="none")) == 12


def test_odd_cells_reject_only_their_rows():
    lines = b'{"length": 3}\n{"length": 1%s}\n{"length": %s}\n' % (b"0" * 400, b"[" * 500 + b"]" * 500)
    log = read_sessions(io.BytesIO(lines))
    assert (len(log), log.account.n_rejected) == (1, 2)
    masked = read_sessions({"length": np.ma.array([1, 2, 3], mask=[False, True, False])})
    assert (masked.lengths.tolist(), masked.account.n_rejected) == ([1, 3], 1)


def test_different_names_in_every_line_take_little_memory():
    lines = (json.dumps({"length": 3} | {f"k{i}_{j}": 1 for j in range(20)}) for i in range(3000))
    assert len(read_sessions(io.BytesIO("\n".join(lines).encode()))) == 3000


def test_counts_that_overflow_are_refused():
    with pytest.raises(ValueError, match=r"^All rows together must stand for at most"):
        read_sessions({"length": [3] * 2000, "n": [2**53] * 2000}, count="n")


def test_damaged_compressed_files_are_one_line(tmp_path):
    content = bytearray(gzip.compress(b"length\n" + b"".join(b"%d\n" % (i * i) for i in range(1, 3000))))
    content[2000:2010] = b"\xff" * 10
    (tmp_path / "log.csv.gz").write_bytes(content)
    with pytest.raises(ValueError, match=r"^log.csv.gz cannot be read: "):
        read_sessions(tmp_path / "log.csv.gz")


def test_folders_are_searched_without_hidden_parts_and_second_names(tmp_path):
    for name in ("a.csv", ".hidden/a.csv", "_temporary/a.csv", "sub/b.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / name, "length\n1\n2\n")
    (tmp_path / "latest.csv").symlink_to("a.csv")
    assert len(read_sessions(tmp_path)) == 4
    assert len(read_sessions(str(tmp_path / "*.csv"))) == 2
    with pytest.raises(ValueError, match=r"^source must not have '\*\*'; pass the folder"):
        read_sessions(str(tmp_path / "**" / "*.csv"))
    with pytest.raises(ValueError, match=r"got an empty name\.$"):
        read_sessions("")


def test_a_relative_path_is_never_an_address(tmp_path, monkeypatch):
    import pyarrow as pa
    from pyarrow import parquet

    (tmp_path / "s3:").mkdir()
    parquet.write_table(pa.table({"length": [1, 2]}), tmp_path / "s3:" / "log.parquet")
    monkeypatch.chdir(tmp_path)
    assert len(read_sessions(".")) == 2


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst"])
def test_no_member_of_a_compressed_file_is_skipped(suffix):
    first, second = packed(suffix, b"length\n1\n"), packed(suffix, b"2\n3\n")
    assert len(read_sessions(io.BytesIO(first + second))) == 3
    for damaged in (first + b"garbage" + second, first + second[:-1]):
        with pytest.raises(ValueError, match=r"^the stream cannot be read: "):
            read_sessions(io.BytesIO(damaged))


def test_parquet_with_impossible_dates_is_one_line(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    groups = pa.array([2**60], pa.date64())
    parquet.write_table(pa.table({"length": [1], "group": groups}), tmp_path / "log.parquet")
    with pytest.raises(ValueError, match=r"^log.parquet cannot be read as Parquet: date value out of range"):
        read_sessions(tmp_path / "log.parquet")
