from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn.sessions import read_sessions, read_steps

from .hostile import CASES


@pytest.mark.parametrize("name", CASES)
def test_hostile_logs_are_read_or_refused_in_one_line(name, tmp_path):
    content, expected = CASES[name]
    path = tmp_path / "log.csv"
    path.write_bytes(content)
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as caught:
            read_sessions(path)
        assert expected in str(caught.value)
        assert "log.csv" in str(caught.value)
        return
    log = read_sessions(path)
    rows, used = expected
    account = log.account
    assert (account.n_rows, account.n_used) == (rows, used)
    assert account.n_rejected == rows - used
    assert len(log) == used
    assert len(account.first_rejected) == min(rows - used, 5)
    assert all("\n" not in str(one) for one in account.first_rejected)


def test_there_are_more_than_sixty_hostile_logs():
    assert len(CASES) >= 60


def test_rejected_rows_are_named_by_their_line(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b'id,length,ended\n\na,4,1\nb,3.7,1\nc,5,maybe\nd,5\n"e\nf",6,0\ng,-1,1\n')
    log = read_sessions(path)
    assert [str(one) for one in log.account.first_rejected] == [
        "row 4: length must be a whole number ≥ 1; got '3.7'.",
        "row 5: ended must be true or false, 1 or 0; got a word of 5 characters.",
        "row 6: a row must have 3 cells; got 2.",
        "row 9: length must be a whole number ≥ 1; got '-1'.",
    ]
    assert (log.account.n_rows, log.account.n_used) == (6, 2)


def test_rows_without_a_header_are_counted_from_the_first_line(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"\n3\nx\n5\n")
    assert [one.row for one in read_sessions(path).account.first_rejected] == [3]


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "log.csv"
    path.write_bytes(b"length,ended\n4,1\n" + content)
    log = read_sessions(path)
    assert log.account.n_rows == log.account.n_used + log.account.n_rejected
    assert len(log) == log.account.n_used >= 1


cells = st.text(alphabet='ab0",;\n é', max_size=6)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(cells, st.integers(-2, 10**6), st.booleans(), cells), min_size=1, max_size=20),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_well_formed_files_are_read_like_the_csv_module_reads_them(tmp_path_factory, rows, quoting, end):
    buffer = io.StringIO()
    writer = csv.writer(buffer, quoting=quoting, lineterminator=end)
    writer.writerow(["id", "length", "ended", "group"])
    writer.writerows([*rows, ("x", 7, True, "y")])
    text = buffer.getvalue()
    path = tmp_path_factory.mktemp("csv") / "log.csv"
    path.write_bytes(text.encode())
    log = read_sessions(path)
    expected: dict[tuple[int, bool, str], int] = {}
    for _, length, ended, group in list(csv.reader(io.StringIO(text, newline="")))[1:]:
        if int(length) >= 1:
            key = (int(length), ended == "True", group.strip())
            expected[key] = expected.get(key, 0) + 1
    found: dict[tuple[int, bool, str], int] = {}
    for length, seen, group, count in zip(log.lengths, log.observed, log.group, log.counts, strict=True):
        key = (int(length), bool(seen), log.labels[group])
        found[key] = found.get(key, 0) + int(count)
    assert found == expected
    assert log.account.n_rows == len(rows) + 1


@pytest.mark.parametrize(
    "rows",
    [
        "alice@example.com,12,1\nbob@example.com,3,0\n",
        "Alice Secret,12,yes\n",
        "2026-01-31,secret\n",
        "Secret,u81123\n",
    ],
)
@pytest.mark.parametrize("length", [None, "lenth", "secre", "alice@example.co"])
def test_messages_do_not_quote_a_first_row_of_data(rows, length, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(rows, encoding="utf-8")
    with pytest.raises(ValueError, match="does not look like column names") as caught:
        read_sessions(path, length=length)
    message = str(caught.value).replace(f"{length}", "").lower()
    for word in ("alice", "secret", "2026", "u81123", "12"):
        assert word not in message
    assert f"of {rows.splitlines()[0].count(',') + 1} cells" in message


@pytest.mark.parametrize(
    "cell", ["Jane", "jane.doe@example.com", "Jane 12", "4111111111111111", "+49 170 1234567 890"]
)
def test_messages_do_not_quote_words_that_may_be_personal(cell, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(f"length,ended\n4,1\n{cell}x,1\n4,{cell}\n", encoding="utf-8")
    message = [str(one) for one in read_sessions(path).account.first_rejected]
    assert len(message) == 2
    assert not any(cell in line for line in message)
    path.write_text(
        f"episode,step,state,action,reward,ended\na,1,x,go,1,1\nb,1,x,go,{cell}x,1\n", encoding="utf-8"
    )
    assert cell not in str(read_steps(path).account.first_rejected[0])


def test_the_first_bad_rows_are_named_in_any_order_of_discovery(tmp_path):
    path = tmp_path / "log.csv"
    # Short lines are found first, then flags, then late entries: the first rows are of the last kind.
    late, flags, short = b"3,1,9\n" * 3, b"3,?,1\n" * 200, b"3\n" * 200
    path.write_bytes(b"length,ended,entry\n4,1,1\n" + late + flags + short)
    account = read_sessions(path).account
    assert [one.row for one in account.first_rejected] == [3, 4, 5, 6, 7]
    assert "must be at most" in account.first_rejected[0].rule
    assert account.n_rejected == 403


@given(st.permutations(range(1, 40)))
def test_the_smallest_rows_are_kept(rows):
    from sojourn.sessions.reading._rows import FirstRejections

    kept = FirstRejections()
    for row in rows:
        kept.add(row, f"rule {row}")
    assert [(one.row, one.rule) for one in kept.first()] == [(i, f"rule {i}") for i in range(1, 6)]
    assert kept.n == 39


STRAY = ['5" pipe,{}', '"a,{}', '"""a,{}', '{},"']


@pytest.mark.parametrize("stray", STRAY)
@pytest.mark.parametrize("at", [0, 100, 199])
def test_a_stray_quote_among_multiline_rows_loses_only_its_own_line(stray, at, tmp_path):
    # Lines within cells look like sessions of over 900 steps.
    rows = [f'"note\nsee,{900 + i}\nend",{i + 1}\n' for i in range(200)]
    lines = [*rows[:at], stray.format(888) + "\n", *rows[at:]]
    path = tmp_path / "log.csv"
    path.write_text("id,length\n" + "".join(lines), encoding="utf-8")
    log = read_sessions(path)
    assert log.lengths.tolist() == list(range(1, 201))
    assert [str(one) for one in log.account.first_rejected] == [f"row {3 * at + 2}: a quote must be closed."]
    steps = [f'e{i},1,"note\ns{i},1,x,go,1,1\nend",go,{i},1\n' for i in range(200)]
    lines = [*steps[:at], f"bad,1,{stray.format(5)},go,1,1\n", *steps[at:]]
    path.write_text("episode,step,state,action,reward,ended\n" + "".join(lines), encoding="utf-8")
    found = read_steps(path)
    assert found.reward.tolist() == list(range(200))
    assert (found.account.n_rows, found.account.n_used) == (201, 200)


def test_a_multiline_row_counts_the_same_at_any_position(tmp_path):
    path = tmp_path / "log.csv"
    for before in (0, 1_980_000, 2_080_000, 2_150_000):  # a piece of the file ends after 2 MB
        short, long = b'"' + b"z\n" * 30_000 + b'",7\n', b'"' + b"z\n" * 50_000 + b'",8\n'
        path.write_bytes(b"id,length\n" + b"a,1\n" * (before // 4) + short + long + b"b,5\n")
        account = read_sessions(path).account
        assert (account.n_used - before // 4, account.n_rejected) == (2, 50_001)


def test_a_row_of_delimiters_only_is_a_row(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"length\tended\n4\t1\n\t\n\n  \n\t\t\n")
    account = read_sessions(path).account
    assert (account.n_rows, account.n_used) == (3, 1)
    assert [one.row for one in account.first_rejected] == [3, 6]
