from __future__ import annotations

import sys
import time

import numpy as np
import pytest

import sojourn as sj
from sojourn.sessions import SessionLog, analyze, read_sessions
from sojourn.sessions.reading._cell_table import CellTable

from .alone import needs_peak, read_alone


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
        "row 6: length must be a whole number ≥ 1; got 'nan'.",
    ]


def test_parquet_of_strange_types_is_refused_row_by_row(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"length": [[1, 2], [3]]}), tmp_path / "log.parquet")
    with pytest.raises(
        ValueError, match=r"^log.parquet must have a row that can be used: all 2 are rejected"
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


@pytest.mark.parametrize("path", ["nothing.csv", "."])
def test_paths_that_are_not_files_are_refused(path, tmp_path):
    with pytest.raises(ValueError, match=r"^path must be a file"):
        read_sessions(tmp_path / path)


def test_columns_in_memory_are_checked():
    with pytest.raises(ValueError, match=r"^lengths\[1\] must be a whole number from 1 to 2\*\*53; got 0.$"):
        SessionLog.from_columns([1, 0])
    with pytest.raises(ValueError, match=r"^group must be as many as lengths; got 1 groups for 2 lengths.$"):
        SessionLog.from_columns([1, 2], group=["a"])


@needs_peak
def test_ten_million_rows_are_read_within_half_a_minute_and_a_gigabyte(tmp_path):
    rng = np.random.default_rng(0)
    lengths, ended, group = (
        rng.geometric(0.02, 100_000),
        rng.random(100_000) < 0.6,
        rng.integers(0, 4, 100_000),
    )
    rows = zip(lengths, ended, group, strict=True)
    block = "".join(f"u{i:06d},{n},{seen},g{g}\n" for i, (n, seen, g) in enumerate(rows))
    path = tmp_path / "log.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write("user,length,ended,group\n")
        for _ in range(100):
            file.write(block)
    begun = time.perf_counter()
    megabytes, _, n, steps, n_open = read_alone(path, "len(log), log.lengths @ log.counts, log.n_open")
    assert time.perf_counter() - begun < 30.0
    assert int(n) == 10_000_000
    assert int(steps) == 100 * int(lengths.sum())
    assert int(n_open) == 100 * int(np.sum(~ended))
    assert megabytes < 1_000


def test_large_files_are_read_in_blocks(tmp_path, monkeypatch):
    from sojourn.sessions.reading import _line_blocks

    rng = np.random.default_rng(3)
    lengths = rng.geometric(0.1, 4000)
    lines = [f'"note {i}\nmore",{n}\n' if i % 50 == 0 else f"plain,{n}\n" for i, n in enumerate(lengths)]
    path = write(tmp_path / "log.csv", "id,length\n" + "".join(lines))
    whole = read_sessions(path)
    monkeypatch.setattr(_line_blocks, "_BLOCK_BYTES", 97)
    monkeypatch.setattr(sys.modules["sojourn.sessions.reading._read"], "_HEAD_BYTES", 31)
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
    assert all(len(name) < 110 and name.startswith(begin[:80]) for name in log.labels)


def test_numbers_with_a_decimal_point_are_read(tmp_path):
    rng = np.random.default_rng(0)
    numbers = [*rng.integers(1, 2**53, 300).tolist(), *range(1, 200), 2**53]
    path = tmp_path / "log.csv"
    path.write_text("length\n" + "".join(f"{n}.0\n" for n in numbers), encoding="utf-8")
    log = read_sessions(path)
    assert np.repeat(log.lengths, log.counts).tolist() == sorted(numbers)


def test_numbers_with_a_decimal_point_are_parsed_in_blocks(tmp_path, monkeypatch):
    import sojourn.sessions.reading._csv as reader

    def refuse(cell):
        raise AssertionError(cell)

    monkeypatch.setattr(reader, "parse_whole", refuse)
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
    real = CellTable.hashes

    def weak(self, column, words):
        start, stop = self._column_bounds(column)
        width = (stop - start).astype(np.uint64)
        return np.where(width <= 8, real(self, column, words), weak_hash(width))

    monkeypatch.setattr(CellTable, "hashes", weak)
    log = read_sessions(tmp_path / "log.csv")
    assert as_rows(log) == as_rows(expected)
    assert log.labels == expected.labels
