"""Memory that reading a log takes, for files of hundreds of megabytes and ten million rows."""

from __future__ import annotations

import numpy as np
import pytest
from sessions.alone import needs_peak, read_alone


@needs_peak
@pytest.mark.parametrize(
    "kind",
    [
        "endless line",
        "endless line of numbers",
        "quotes without end",
        "blank lines",
        "blank lines first",
        "spaces",
        "short lines",
    ],
)
def test_memory_stays_small_whatever_the_file_holds(kind, tmp_path):
    path = tmp_path / "log.csv"
    with path.open("wb") as file:
        if kind == "blank lines first":
            file.write(b"\n" * (1 << 23))
        file.write(b"length\n5\n")
        if kind == "endless line":
            file.truncate(600 << 20)  # zeros
        elif kind == "endless line of numbers":
            for _ in range(80):
                file.write(b"1,2,3,4," * (1 << 17))
        elif kind == "quotes without end":
            for _ in range(10):
                file.write(b'"4\n' * (1 << 17))
        else:
            file.write({"spaces": b" \n", "short lines": b"x\n"}.get(kind, b"\n") * (1 << 20))
            file.write(b"\n" * (1 << 23))
    account = "log.account.n_rows == log.account.n_used + log.account.n_rejected, log.account.n_used"
    megabytes, _, adds_up, used = read_alone(path, account)
    assert (adds_up, used) == ("True", "1")
    assert megabytes < 512


@needs_peak
@pytest.mark.parametrize("column", ["episode", "state", "action"])
def test_one_long_word_among_many_steps_takes_little_memory(column, tmp_path):
    # An array of twenty thousand words as long as the longest would take 10 GB.
    row = {"episode": "e", "step": "1", "state": "x", "action": "go", "reward": "1", "ended": "1"}
    lines = [",".join(row), ",".join((row | {column: "y" * 130_000}).values())]
    lines += [f"{i},1,s{i % 3},go,1,1" for i in range(20_000)]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    megabytes, _, used, message = read_alone(
        path, "log.account.n_used, str(log.account.first_rejected[0]).replace(' ', '_')"
    )
    assert (used, message) == (
        "20000",
        f"row_2:_{column}_must_have_at_most_1,000_characters;_got_130,000.",
    )
    assert megabytes < 512


@needs_peak
def test_one_long_group_name_takes_little_memory(tmp_path):
    code = "type(log).from_columns([3] * 20_001, group=['g'] * 20_000 + ['y' * 130_000])"
    path = tmp_path / "log.csv"
    path.write_text("length\n3\n", encoding="utf-8")
    megabytes, _, groups, peak = read_alone(path, f"{code}.n_groups, peak()")
    assert groups == "2"
    assert megabytes <= int(peak) < 512


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
    figures = "len(log), log.lengths @ log.counts, log.n_open, __import__('time').process_time()"
    megabytes, _, n, steps, n_open, seconds = read_alone(path, figures)
    assert float(seconds) < 30.0  # of the processor, which does not depend on the load of the machine
    assert int(n) == 10_000_000
    assert int(steps) == 100 * int(lengths.sum())
    assert int(n_open) == 100 * int(np.sum(~ended))
    assert megabytes < 1_000


@needs_peak
def test_rows_that_rarely_repeat_take_little_memory(tmp_path):
    rng = np.random.default_rng(0)
    n, path = 1_000_000, tmp_path / "log.csv"
    lengths = rng.integers(1, 2**53, n)
    columns = (lengths, rng.integers(0, 2, n), rng.integers(1, lengths + 1), rng.integers(0, 900, n))
    with path.open("w", encoding="utf-8") as file:
        file.write("length,ended,entry,group\n")
        file.writelines(f"{a},{b},{c},g{d}\n" for a, b, c, d in zip(*columns, strict=True))
    _, megabytes, distinct, entries = read_alone(path, "log.lengths.size, log.entry.sum()")
    assert (int(distinct), int(entries)) == (n, int(columns[2].sum()))
    assert megabytes < 100  # a gigabyte for ten million
