"""Logs in other forms: times, durations, events, start–stop intervals, counts of steps, SQLite files."""

from __future__ import annotations

import _thread
import contextlib
import io
import json
import math
import os
import shutil
import signal
import sqlite3
import struct
import threading
import time

import numpy as np
import pytest

import sojourn as sj
from sojourn.sessions import analyze, read_log, read_sessions, read_steps, sample_path
from sojourn.sessions.reading.sources import _arrow, _packed, _records

from .test_read import as_rows, packed, write


def ended(log):
    """The pairs of length and whether it was seen to end."""
    return [(length, seen) for length, seen, *_ in as_rows(log)]


CELLS = {
    "seconds": ["59", "60", "61.5", "0"],
    "a clock": ["0:00:59", "00:01:00", "0:01:01.5", "0:00:00"],
    "units": ["59s", "1min", "61.5 s", "0s"],
    "milliseconds": ["59000ms", "60000 msec", "61500 milliseconds", "0ms"],
    "ISO 8601": ["PT59S", "PT1M", "PT1M1.5S", "PT0S"],
    "numbers": [59, 60.0, 61.5, 0],
    "timedelta": np.array([59_000, 60_000, 61_500, 0], dtype="m8[ms]"),
}


@pytest.mark.parametrize("kind", CELLS)
def test_durations_count_the_steps_that_began(kind, tmp_path):
    log = read_sessions({"duration": CELLS[kind]}, step="1min")
    assert ended(log) == [(1, True), (1, True), (1, True), (2, True)]
    assert "steps of 1 min" in log.account.notes[0]
    if isinstance(CELLS[kind][0], str):
        path = write(tmp_path / "log.csv", "duration\n" + "\n".join(CELLS[kind]) + "\n")
        assert ended(read_sessions(path, step=60)) == ended(log)


@pytest.mark.parametrize(("name", "steps"), [("Duration (min)", 3), ("hours_watched", 180), ("minimum", 1)])
def test_numbers_are_in_the_unit_that_the_name_of_their_column_says(name, steps):
    for cells in ([3, 3], ["3", "3 min"]):
        log = read_sessions({name: cells, "entry": [0, 0]}, length=name, step="1min")
        assert set(log.lengths.tolist()) == ({steps} if cells == [3, 3] else {steps, 3})
    assert ("as the name" in log.account.notes[0]) == (steps != 1)
    for step in (2, "2"):  # a number alone is in the same unit
        log = read_sessions({name: [3, 3], "entry": [0, 0]}, length=name, step=step)
        assert set(log.lengths.tolist()) == {2}


@pytest.mark.parametrize(("long", "n_notes"), [(2, 2), (3, 1)])
def test_durations_that_are_nearly_all_one_step_may_be_in_another_unit(long, n_notes):
    notes = read_sessions({"time": [5.0] * 20 + [90.0] * long}, length="time", step="1min").account.notes
    assert len(notes) == n_notes
    assert ("91% of the sessions that were seen to end last at most one step" in " ".join(notes)) == (
        n_notes == 2
    )


def test_sessions_without_an_end_are_not_said_to_last_one_step():
    starts, ends = [0.0] * 24, [None] * 20 + [600.0] * 4
    notes = read_sessions({"start": starts, "end": ends}, step="1min").account.notes
    assert not any("at most one step" in note for note in notes)


def test_entries_of_sessions_whose_lengths_are_durations_are_durations():
    log = read_sessions({"duration": [200, 200, 200, 100], "entry": [0, 60, 90, 90]}, step="1min")
    # A step that had begun before a session was seen does not count; of the last session no step does.
    assert sorted(zip(log.lengths.tolist(), log.entry.tolist(), strict=True)) == [(4, 1), (4, 2), (4, 3)]
    assert "Entries are the time before a session was seen" in " ".join(log.account.notes)


def test_rows_with_a_count_of_0_are_ignored():
    account = (log := read_sessions({"length": [1, 2, 0, 3], "n": [5, 0, 0, 2]}, count="n")).account
    assert len(log) == 7
    assert (account.n_rows, account.n_used, account.n_rejected) == (2, 2, 0)
    assert account.notes == ("2 rows have a count of 0, which stands for no session.",)
    with pytest.raises(ValueError, match="all counts are 0"):
        read_sessions({"length": [1], "n": [0]}, count="n")


@pytest.mark.parametrize(("cell", "which"), [("", "without a group"), ("none", "whose group is 'none'")])
def test_sessions_without_a_group_are_pointed_out(cell, which):
    log = read_sessions({"length": [1, 2, 3], "group": ["a", cell, "a"]})
    assert log.labels == ("a", cell)
    assert log.account.notes == (f"Sessions {which} count as a group of their own.",)


def test_a_column_named_for_one_meaning_is_not_taken_for_another():
    log = read_sessions({"began": [10.0], "ended": [100.0]}, start="began", end="ended", step="1min")
    assert ended(log) == [(2, True)]
    assert "Times that are numbers are seconds since 1970." in log.account.notes[0]


@pytest.mark.parametrize("cell", ["-1", "1:30", "1:99:00", "soon", "5 parsecs", "P", "PT", ""])
def test_what_is_not_a_duration_is_rejected(cell):
    account = read_sessions({"duration": ["90", cell]}, step="30s").account
    assert "duration must be a duration: seconds" in str(account.first_rejected[0])
    dates = {"start": ["4/10/1848", "2026-01-01"], "end": ["4/11/1848", "2026-01-02"]}
    account = read_sessions(dates, step="1d").account
    assert str(account.first_rejected[0]).endswith("or seconds since 1970; got '4/10/1848'.")


@pytest.mark.parametrize(("step", "got"), [("0", "'0'"), ("soon", "'soon'"), (-1, "-1")])
def test_a_step_must_be_a_positive_duration(step, got):
    with pytest.raises(ValueError, match=f"^step must be a duration: .*, above 0; got {got}"):
        read_sessions({"duration": [1]}, step=step)


@pytest.mark.parametrize(
    ("start", "end", "n_notes"),
    [
        ("2026-01-31 18:00+01:00", "2026-01-31 17:05", 1),
        ("2026-01-31 17:00", "2026-01-31T17:05Z", 1),
        ("2026-01-31 17:00 UTC", "2026-01-31 18:05+01:00", 0),
        ("2026-01-31 17:00", "2026-01-31 17:05", 0),
    ],
)
def test_times_with_and_without_a_zone_are_pointed_out(start, end, n_notes, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("start,end\n" + f"{start},{end}\n" * 3)
    log = read_sessions(path, step="1min")
    assert (log.lengths == 5).all()
    notes = [note for note in log.account.notes if "Some times in 'start' and 'end' have a time zone" in note]
    assert len(notes) == n_notes


@pytest.mark.parametrize("cell", ["0:01:07", "90s", "PT1H30M"])
def test_durations_need_the_length_of_a_step(cell):
    rule = (
        rf"all 2 are rejected, row 1: .* got '{cell}'\. Lengths are whole .* say how long a step is \(--step"
    )
    with pytest.raises(ValueError, match=rule):
        read_sessions({"duration": [cell, cell]})


def test_times_become_lengths(tmp_path):
    rows = (
        "2026-01-31 10:00:00,2026-01-31 10:02:30,a",
        "2026-01-31T11:00:00+01:00,2026-01-31T10:00:59Z,a",
        "2026-01-31 10:00:00,2026-01-31 09:00:00,b",  # backward
        "2026-01-31 10:01:00,,b",  # open up to 10:02:30
        "yesterday,2026-01-31 10:00:00,b",
    )
    path = write(tmp_path / "log.csv", "begin,end,segment\n" + "\n".join(rows) + "\n")
    log = read_sessions(path, step="1min")
    assert sorted(ended(log)) == [(1, True), (3, False), (3, True)]  # half of its second step was seen
    assert "1 session without an end counts as open up to the latest time seen." in log.account.notes
    assert [one.row for one in log.account.first_rejected] == [4, 6]
    with pytest.raises(ValueError, match=r"times in 'begin' and 'end' but no lengths: .* --step 1min"):
        read_sessions(path)
    frame = {
        "start": np.array(["2026-01-01T00:00", "2026-01-01T00:00"], dtype="M8[s]"),
        "end": np.array(["2026-01-01T00:10", "NaT"], dtype="M8[s]"),
    }
    assert ended(read_sessions(frame, step="5min")) == [(2, True), (3, False)]
    import pyarrow as pa

    assert ended(read_sessions(pa.table(frame), step="5min")) == [(2, True), (3, False)]


def test_events_are_cut_into_sessions_at_gaps():
    # By hand, with a gap of 30: user a has 0 10 20 | 100 110 | 300, user b has 50 60 | 200, user c has 310.
    times = {"a": [0, 10, 20, 100, 110, 300], "b": [50, 60, 200], "c": [310]}
    rows = [(user, t) for user, some in times.items() for t in some]
    order = np.random.default_rng(0).permutation(len(rows))
    table = {"user": [rows[i][0] for i in order], "time": [rows[i][1] for i in order]}
    log = read_sessions(table, gap=30)
    # The session from 0 on may have begun before the log; those with events after 280 may go on.
    assert ended(log) == [(1, False), (1, False), (1, True), (2, True), (2, True)]
    assert "10 events are 6 sessions" in log.account.notes[0]
    with pytest.raises(ValueError, match="cut it into sessions with --gap"):
        read_sessions(table)
    with pytest.raises(ValueError, match="must have a session that begins after its first"):
        read_sessions(table, gap="1h")
    with pytest.raises(ValueError, match="gap is for logs of events"):
        read_sessions(table, gap=30, length="time")
    bad = read_sessions({"user": [*table["user"], "", "d"], "time": [*table["time"], 50, "late"]}, gap=30)
    assert bad.account.n_rejected == 2


def test_open_sessions_of_a_short_log_of_events_are_not_biased():
    # By hand: after events from 280 on, going on can be seen, but not leaving, so 305 does not count.
    log = read_sessions({"user": list("zaaaab"), "time": [0, 100, 275, 285, 305, 310]}, gap=30)
    assert ended(log) == [(1, False), (1, True), (2, False)]
    # Half of the users leave after every event; the log covers little more than two gaps.
    rng = np.random.default_rng(1)
    lengths = rng.geometric(0.5, 5_000)
    start = rng.uniform(-5, 3, 5_000)
    pauses = [np.append(0, rng.random(n - 1).cumsum()) for n in lengths]
    time = np.repeat(start, lengths) + np.concatenate(pauses)
    user, seen = np.repeat(np.arange(5_000), lengths), (time > 0) & (time < 2.5)
    log = read_sessions({"user": user[seen], "time": time[seen]}, gap=1)
    at_risk = log.counts[(log.lengths > 1) | log.observed].sum()
    left = log.counts[(log.lengths == 1) & log.observed].sum()
    assert abs(left / at_risk - 0.5) < 3 * 0.5 / math.sqrt(at_risk)


def test_a_single_letter_is_a_name(tmp_path):
    path = write(tmp_path / "log.csv", "T,E\n3,1\n4,0\n")
    with pytest.raises(ValueError, match=r"got 'T', 'E'\. Is it --length 'T'\?$"):
        read_sessions(path)
    assert ended(read_sessions(path, length="T", observed="E")) == [(3, True), (4, False)]


def test_names_with_years_and_times_are_not_taken_for_data_or_lengths():
    with pytest.raises(ValueError, match=r"got 'age', 'year1687', 'year1688'\.$"):
        read_sessions({"age": [1, 2], "year1687": [317, 79], "year1688": [312, 80]})
    with pytest.raises(ValueError, match="seems to have one row per event"):
        read_sessions({"case:concept:name": ["a", "b"], "time:timestamp": ["2026-01-01", "2026-01-02"]})


def test_entries_from_0_are_intervals_after_a_step(tmp_path):
    # (0, 3] is at risk at steps 1 to 3, and (2, 4] at steps 3 and 4.
    log = read_sessions({"length": [3, 4, 5], "entry": [0, 2, 5]})
    assert [(n, e) for n, _, e, _ in as_rows(log)] == [(3, 1), (4, 3)]
    assert any(
        "Entries count the steps before a session was seen, as one is 0." in note
        for note in log.account.notes
    )
    assert any(
        "1 session of which no step was seen (entry = length) is left out." in note
        for note in log.account.notes
    )


def test_the_reading_of_entries_is_said_and_can_be_chosen():
    rng = np.random.default_rng(0)
    lengths, entry = sj.Geometric(0.5).sample(rng, 4_000), rng.integers(1, 4, 4_000)
    seen = {"length": lengths[lengths > entry], "entry": entry[lengths > entry]}  # (entry, length]
    assert any("pass --entry-after" in note for note in read_sessions(seen).account.notes)
    log = read_sessions(seen, entry_after=True)
    for read in (read_log(seen, entry_after=True), read_log({"length": [3, 4], "entry": [1, 2]})):
        assert len(read) > 1
    assert log.account.notes == ("Entries count the steps before a session was seen.",)
    assert analyze(log).law.continuation(5) == pytest.approx(0.5, abs=0.03)
    since = {"length": lengths[lengths >= entry], "entry": entry[lengths >= entry]}
    assert read_sessions(since).account.notes == (
        "An entry of e means that a session was seen from step e on.",
    )


@pytest.mark.parametrize(("cell", "length"), [("7,0", 7), ("1,000", None), ("3,5", None), ("1.234,0", None)])
def test_decimal_commas_are_read_where_commas_do_not_separate_cells(cell, length, tmp_path):
    log = read_sessions(write(tmp_path / "log.csv", f"id;length\na;{cell}\nb;5\n"))
    assert sorted(log.lengths.tolist()) == sorted([5] if length is None else [5, length])
    steps = "episode;step;state;action;reward;ended\na;1;x;go;-0,125;0\na;2;x;go;2,5;1\n"
    assert read_steps(write(tmp_path / "log.csv", steps)).reward.tolist() == [-0.125, 2.5]


def test_times_with_fractions_of_seconds_count_whole_steps():
    # Seconds since 1970 have a resolution of 2.4e-7: 0.1 s between two times is off by up to 2e-6 of it.
    starts = 1_700_000_000.0 + np.arange(1, 1001) / 1000.0
    stamp = np.datetime64("1970-01-01T00:00:00", "ms")
    begin = stamp + np.round(starts * 1000).astype("m8[ms]")
    for step, n in (("100ms", 1), ("50ms", 2), ("10ms", 10)):
        columns = {"start": begin.astype(str).tolist(), "end": (begin + 100).astype(str).tolist()}
        assert ended(read_sessions(columns, step=step)) == [(n, True)] * 1000


def test_whole_numbers_that_pandas_wrote_with_a_point_are_the_same_groups(tmp_path):
    one = write(tmp_path / "a.csv", "length,group\n3,1\n4,2\n")
    other = write(tmp_path / "b.csv", "length,group\n3,1.0\n4,\n")
    assert set(read_sessions([one, other]).labels) == {"1", "2", ""}
    versions = write(tmp_path / "c.csv", "length,group\n3,1.0\n4,1.1\n")
    assert set(read_sessions(versions).labels) == {"1.0", "1.1"}


def test_a_rounding_error_is_not_a_step():
    assert ended(read_sessions({"length": np.full(9, 0.1, dtype=np.float32)}, step="0.1s")) == [(1, True)] * 9
    times = [1_700_000_000.0 + 0.1 * i for i in range(40)]
    times = [1_699_999_900.0, *times, 1_700_000_100.0]
    log = read_sessions({"user": [1] * 42, "time": times}, gap="100ms")
    assert log.account.notes[0].startswith("42 events are 3 sessions")


def test_points_that_may_separate_thousands_are_rejected(tmp_path):
    german = write(tmp_path / "german.csv", "length;ended\n12,5;1\n1.500;1\n7,25;1\n1.000;1\n")
    log = read_sessions(german, step="1s")
    assert (log.lengths.tolist(), log.account.n_rejected) == ([8, 13], 2)
    whole = read_sessions(write(tmp_path / "whole.csv", "length;ended\n1.000;1\n2.500;1\n7;1\n"))
    assert (whole.lengths.tolist(), whole.account.n_rejected) == ([7], 2)
    english = write(tmp_path / "english.csv", "length;ended\n12.5;1\n1.500;1\n")
    assert read_sessions(english, step="1s").lengths.tolist() == [2, 13]
    zeros = write(tmp_path / "zeros.csv", "length;ended\n12.000;1\n1.000;1\n")
    assert read_sessions(zeros).lengths.tolist() == [1, 12]


def test_files_of_which_only_some_say_which_sessions_ended_are_refused(tmp_path):
    one = write(tmp_path / "a.csv", "length,ended\n3,1\n4,0\n")
    other = write(tmp_path / "b.csv", "length\n3\n4\n")
    with pytest.raises(ValueError, match=r"All files must say which sessions ended, or none .*; a.csv does"):
        read_sessions([one, other])
    assert len(read_sessions([one, other], observed="none")) == 4


def test_open_durations_count_as_in_a_life_table():
    # Lifetimes are exponential with mean 4, and people come under observation at different times: the share
    # that outlives n steps is exp(-n / 4), however many are censored within steps.
    rng = np.random.default_rng(0)
    lives, limits = (
        rng.exponential(4.0, 40_000),
        np.where(rng.random(40_000) < 0.5, 6.7, rng.uniform(0, 8, 40_000)),
    )
    columns = {"duration": np.minimum(lives, limits), "ended": lives <= limits}
    log = read_sessions(columns, step=1)
    h = np.arange(1, 8)
    survival = analyze(log).band.of(h)
    assert np.abs(survival - np.exp(-(h - 1) / 4.0)).max() < 0.01
    assert (
        "counts as having survived each step of which half or more was seen"
        in dict(analyze(log).advice())["The sessions"]
    )
    with pytest.raises(ValueError, match=r"^open_survived \(--open-survived\) is for lengths in steps"):
        read_sessions(columns, step=1, open_survived=True)


@pytest.mark.parametrize(("yes", "no"), [("1.000000", "0.00"), ("1.0", "0"), ("TRUE", "f")])
def test_flags_may_be_numbers_with_zeros(yes, no):
    log = read_sessions({"length": [3, 4], "ended": [yes, no]})
    assert ended(log) == [(3, True), (4, False)]


def test_several_words_may_mean_an_end_and_the_others_are_named():
    cells = ["churned", "Expired", "active", "paused", "active", "2"]
    columns = {"length": [1, 2, 3, 4, 5, 6], "status": cells}
    log = read_sessions(columns, observed="status", ended="churned")
    assert log.n_open == 5
    note = "count as open: 'active' (2), 'expired' (1), 'paused' (1), '2' (1)."
    assert note in log.account.notes[0]
    both = read_sessions(columns, observed="status", ended=["churned", "expired", "2.0"])
    assert both.n_open == 3
    assert "'active' (2), 'paused' (1)." in both.account.notes[0]
    one = read_sessions(
        {"length": [1, 2], "status": ["churned", "active"]}, observed="status", ended="churned"
    )
    assert one.account.notes == ()
    many = {"length": [1] * 12, "status": ["churned", *map(str, range(11))]}
    assert (
        "more than 8 different ones"
        in read_sessions(many, observed="status", ended="churned").account.notes[0]
    )


def test_times_that_may_not_be_seconds_are_pointed_out():
    columns = {"start": [10 * i for i in range(30)], "end": [10 * i + 200 for i in range(30)]}
    notes = read_sessions(columns, step="30d").account.notes
    assert any("pass the step in that unit, as a number alone" in note for note in notes)
    assert read_sessions(columns, step="30").lengths.tolist() == [7]


def test_durations_and_times_may_have_decimal_commas(tmp_path):
    path = write(tmp_path / "log.csv", "duration;ended\n90,5;1\n60;0\n")
    assert sorted(ended(read_sessions(path, step="1min"))) == [(2, False), (2, True)]
    path = write(tmp_path / "times.csv", "start;end\n10,5;70,25\n10,5;70,75\n")
    assert ended(read_sessions(path, step="1min")) == [(1, True), (2, True)]


def test_sqlite_files_are_read(tmp_path):
    path = tmp_path / "log.db"
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.executescript("CREATE TABLE visits (steps, ended); INSERT INTO visits VALUES (3, 1), (8, 0);")
        assert ended(read_sessions(path)) == [(3, True), (8, False)]
        base.executescript("CREATE TABLE more (x);")
        with pytest.raises(
            ValueError, match=r"is an SQLite file with the tables and views 'visits', 'more': .*--query"
        ):
            read_sessions(path)
    assert ended(read_sessions(path, query="SELECT * FROM visits WHERE ended")) == [(3, True)]
    with pytest.raises(ValueError, match="cannot be read so: no such table: other"):
        read_sessions(path, query="SELECT * FROM other")
    assert ended(read_sessions(path, query="SELECT value AS length FROM json_each('[3]')")) == [(3, True)]
    with pytest.raises(ValueError, match=r"read so: You can only execute one statement at a time\.$"):
        read_sessions(path, query="SELECT 1; SELECT 2")
    with pytest.raises(ValueError, match="must be an SQLite file if a query is given"):
        read_sessions(write(tmp_path / "log.csv", "length\n3\n"), query="SELECT 1")


STEPS = {
    "episode": ["a", "a", "b", "b", "b", "c"],
    "step": [1, 2, 1, 2, 3, 1],
    "state": ["x", "y", "x", "x", "y", "y"],
    "action": ["go", "stay", "stay", "go", "go", "stay"],
    "reward": [1.0, 0.5, 0.25, 3.0, 0.0, -2.0],
    "ended": [0, 1, 0, 0, 0, 1],
}


def step_sources(folder):
    """All the kinds of sources."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = list(zip(*STEPS.values(), strict=True))
    text = ",".join(STEPS) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    lines = "".join(json.dumps(dict(zip(STEPS, row, strict=True))) + "\n" for row in rows)
    base = sqlite3.connect(":memory:")
    base.execute(f"CREATE TABLE steps ({', '.join(STEPS)})")
    base.executemany("INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?)", rows)
    pq.write_table(pa.table(STEPS), folder / "log.parquet")
    (folder / "log.csv.gz").write_bytes(packed("gz", text.encode()))
    head, *rest = text.splitlines(keepends=True)
    parts = [write(folder / f"{i}.csv", head + "".join(part)) for i, part in enumerate((rest[:3], rest[3:]))]
    return {
        "CSV": write(folder / "log.csv", text),
        "gzip": folder / "log.csv.gz",
        "JSON lines": write(folder / "log.jsonl", lines),
        "Parquet": folder / "log.parquet",
        "a stream": io.BytesIO(text.encode()),
        "two files": parts,
        "a dictionary": STEPS,
        "pandas": pd.DataFrame(STEPS),
        "Arrow": pa.table(STEPS),
        "a query": base.execute("SELECT * FROM steps"),
        "steps from 0": STEPS | {"step": [step - 1 for step in STEPS["step"]]},
        "any order": {name: [column[i] for i in (3, 1, 0, 5, 4, 2)] for name, column in STEPS.items()},
    }


def test_step_logs_are_read_from_every_source(tmp_path):
    whole = read_steps(STEPS)
    assert whole.next_state.tolist() == [1, 0, 0, 1, 0, 0]
    assert whole.is_last.tolist() == [False, True, False, False, True, True]
    for kind, source in step_sources(tmp_path).items():
        log = read_log(source)
        assert (log.states, log.actions, kind) == (("x", "y"), ("go", "stay"), kind)
        assert as_rows(log.sessions()) == as_rows(whole.sessions()), kind
        assert log.problem(unvisited="stay") == whole.problem(unvisited="stay"), kind


def test_steps_without_states_give_lengths_only(tmp_path):
    text = "episode,step,event\na,1,0\na,2,1\nb,1,0\n"
    log = read_steps(write(tmp_path / "log.csv", text), observed="event")
    assert ended(log.sessions()) == [(1, False), (2, True)]
    assert log.leaving_by_state() is None
    with pytest.raises(ValueError, match=r"log.csv must have the columns 'state', 'action' and 'reward'"):
        log.problem()
    assert ended(read_steps(tmp_path / "log.csv", observed="none").sessions()) == [(1, True), (2, True)]
    with pytest.raises(ValueError, match=r"must have a column 'ended'.*--observed none"):
        read_steps(tmp_path / "log.csv")


SESSION_SQL = """
SELECT steps, ended, segment, COUNT(*) AS n FROM sessions GROUP BY steps, ended, segment
"""

STEP_SQL = """
SELECT step, state, action, reward, next_state, ended, COUNT(*) AS n
FROM (SELECT *, LEAD(state) OVER (PARTITION BY episode ORDER BY step) AS next_state FROM steps) AS s
GROUP BY step, state, action, reward, next_state, ended
"""


def test_one_statement_counts_sessions_and_steps(tmp_path):
    # SQLite runs the statements of docs/sessions.md here; evidence/logs.py runs them with DuckDB.
    rng = np.random.default_rng(1)
    lengths = np.minimum(rng.geometric(0.2, 800), 9)
    table = {"steps": lengths, "ended": lengths < 9, "segment": rng.choice(["a", "b"], 800)}
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        base.execute("CREATE TABLE sessions (steps, ended, segment)")
        base.executemany(
            "INSERT INTO sessions VALUES (?, ?, ?)",
            zip(*(np.asarray(column).tolist() for column in table.values()), strict=True),
        )
        counted = read_sessions(base.execute(SESSION_SQL), count="n")
        texts = [analyze(log).as_dict() for log in (read_sessions(table), counted)]
        for text in texts:
            del text["source"], text["rows"]
            text["advice"] = text["advice"][:1] + text["advice"][2:]  # one paragraph names the columns
        assert repr(texts[0]) == repr(texts[1])
        base.execute("CREATE TABLE steps (episode, step, state, action, reward, ended)")
        lines = sample_path("shop").read_text(encoding="utf-8").splitlines()[1:]
        rows = [line.split(",") for line in lines]
        rows = [(e, int(h), s, a, float(r), int(over)) for e, h, s, a, r, over in rows]
        base.executemany("INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?)", rows)
        log, small = read_steps(sample_path("shop")), read_log(base.execute(STEP_SQL), count="n")
    assert small.step.size < log.step.size
    assert small.problem() == log.problem()
    assert repr(small.leaving_by_state()) == repr(log.leaving_by_state())
    assert as_rows(small.sessions()) == as_rows(log.sessions())


def test_durations_of_too_many_steps_are_rejected():
    log = read_sessions(io.BytesIO(b"duration\n60\n120\n1e30\n99999999999999999999h\n"), step="60")
    assert (log.lengths.tolist(), log.account.n_rejected) == ([1, 2], 2)
    with pytest.raises(ValueError, match=r"^step must be so long"):
        read_sessions(io.BytesIO(b"start,end\n0,9e10\n"), step="0.000000001")


def test_programs_in_sqlite_files_run_only_in_queries(tmp_path):
    path = tmp_path / "log.db"
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS length FROM c"
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute(f"CREATE VIEW log AS {endless}")
    with pytest.raises(ValueError, match=r"with the tables and views 'log': say what to read with --query"):
        read_sessions(path)
    assert len(read_sessions(path, query="SELECT * FROM log LIMIT 5")) == 5
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute('CREATE TABLE "a""b" (length, big GENERATED ALWAYS AS (zeroblob(100000000)))')
        base.executemany('INSERT INTO "a""b" VALUES (?)', [(i,) for i in range(1, 101)])
        base.commit()
    assert len(read_sessions(path)) == 100


@pytest.mark.parametrize(
    "query",
    [
        "VACUUM INTO 'copy.db'",
        "ATTACH 'file:copy.db?mode=rwc' AS other",
        "ATTACH 'copy.db' AS other",
        "SELECT load_extension('copy.so')",
        "CREATE TEMP TABLE t AS SELECT 1",
        "UPDATE visits SET steps = 1",
        "DROP TABLE visits",
        "PRAGMA journal_mode = WAL",
    ],
)
def test_queries_only_read(tmp_path, monkeypatch, query):
    monkeypatch.chdir(tmp_path)
    with contextlib.closing(sqlite3.connect("log.db")) as base:
        base.execute("CREATE TABLE visits (steps)")
    with pytest.raises(ValueError, match=r"^query must only read tables, with SELECT; got ['\"]"):
        read_sessions("log.db", query=query)
    assert [one.name for one in tmp_path.iterdir()] == ["log.db"]


def test_ctrl_c_stops_a_query(tmp_path):
    path = tmp_path / "log.db"
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE visits (steps)")
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) AS length FROM c"

    def interrupted(query):
        interrupt.start()
        read_sessions(path, query=query)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
    interrupt = threading.Timer(0.1, _thread.interrupt_main)
    try:
        with pytest.raises(KeyboardInterrupt):  # whenever the interrupt comes: without it nothing ends
            interrupted(endless)
    finally:
        interrupt.join()
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("kind", ["timedelta64[ns]", "timedelta64[s]", "datetime64[ns]", "datetime64[D]"])
def test_times_are_no_numbers_of_steps(kind):
    table = {"length": np.array([1, 2], dtype=kind)}
    with pytest.raises(ValueError, match="length must be a whole number"):
        read_sessions(table)
    if kind.startswith("timedelta"):
        assert read_sessions({"length": np.array([1, 2], "m8[h]").astype(kind)}, step="1h").longest == 2


def test_a_long_text_in_every_row_of_parquet_takes_memory_once(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(50_000, np.int32)), pa.array(["x" * 1_000_000]))
    table = pa.table({"length": np.ones(50_000, int), "group": texts, "other": texts})
    parquet.write_table(table, tmp_path / "log.parquet", store_schema=False)  # 100 GB, if each had its own
    assert len(read_sessions(tmp_path / "log.parquet")) == 50_000


def test_long_cells_of_parquet_are_refused_before_they_become_python_objects(tmp_path, monkeypatch):
    import pyarrow as pa
    from pyarrow import parquet

    monkeypatch.setattr(_arrow, "_MOST_ARROW_BYTES", 10_000)
    parquet.write_table(pa.table({"length": [1], "other": ["x" * 20_000]}), tmp_path / "log.parquet")
    with pytest.raises(ValueError, match=r"log.parquet must have short rows; got 0 MB for 1 rows\.$"):
        read_sessions(tmp_path / "log.parquet")


def test_time_differences_that_overflow_or_are_negative_are_rejected():
    log = read_sessions({"length": np.array([2**62, 90, -90], dtype="m8[s]")}, step="60")
    assert (log.lengths.tolist(), log.account.n_rejected) == ([2], 2)


def test_large_ids_next_to_missing_ones_stay_apart(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pd = pytest.importorskip("pandas")
    ids = [2**60 + 1, 2**60 + 2, None]  # equal as floats
    table = pa.table({"episode": pa.array(ids), "step": [1, 2, 1], "ended": [0, 1, 1]})
    parquet.write_table(table, tmp_path / "log.parquet")
    rest = {"step": [1, 2, 1], "ended": [0, 1, 1]}
    sources = [
        table,
        tmp_path / "log.parquet",
        table.to_pandas(types_mapper=pd.ArrowDtype),
        pd.DataFrame({"episode": pd.array(ids, dtype="Int64"), **rest}),
        {"episode": [*ids[:2], np.nan], **rest},
    ]
    for source in sources:
        log = read_steps(source)
        assert log.sessions().lengths.tolist() == [1]
        assert [one.row for one in log.account.first_rejected] == [2, 3]
    mixed = read_sessions({"length": [1, 2, 3], "group": [2**63 + 1, 2**63 + 2, 5]})
    assert set(mixed.labels) == {str(2**63 + 1), str(2**63 + 2), "5"}


def test_episodes_keep_their_order_in_every_source():
    columns = {"episode": [7, 7, 2], "step": [1, 2, 1], "ended": [0, 1, 1]}
    for episodes in ([7, 7, 2], ["7", "7", "2"]):
        assert read_steps(columns | {"episode": episodes}).step.tolist() == [1, 2, 1]


def test_a_rejected_episode_is_found_in_its_own_file(tmp_path):
    write(tmp_path / "a.csv", "episode,step,ended\n1,1,0\n1,3,1\n2,1,1\n")
    write(tmp_path / "b.csv", "episode,step,ended\n3,1,1\n")
    first = read_steps(tmp_path).account.first_rejected
    assert [(one.row, one.rule.split(":")[0]) for one in first] == [(2, "in a.csv"), (3, "in a.csv")]


class _Rows:
    """A cursor with the methods that Python's DB-API requires; rows may be dictionaries."""

    description = (("length",), ("ended",))

    def __init__(self, rows):
        self._rows = list(rows)

    def fetchone(self):
        """Return the next row, or None."""
        return self._rows.pop(0) if self._rows else None

    def fetchmany(self, size=1):
        """Return some rows."""
        return [self.fetchone() for _ in range(min(size, len(self._rows)))]


def test_cursors_need_not_be_iterable_and_streams_may_return_few_bytes():
    for rows in ([(3, 1), (5, 0)], [{"length": 3, "ended": 1}, {"length": 5, "ended": 0}]):
        assert ended(read_sessions(_Rows(rows))) == [(3, True), (5, False)]

    class Slow(io.BytesIO):
        def read(self, size=-1):
            return super().read(1)

    assert ended(read_sessions(Slow(b"\xef\xbb\xbflength,ended\r\n3,1\r\n5,0\r\n"))) == [
        (3, True),
        (5, False),
    ]


def test_unusual_columns_get_one_line():
    for column in (5, {3, 4}, np.array(5)):
        with pytest.raises(ValueError, match="columns must have one dimension"):
            read_sessions({"length": column})
    with pytest.raises(ValueError, match="it has only a header row"):
        read_sessions(io.BytesIO(b"user,time\n"), gap=3)
    pa = pytest.importorskip("pyarrow")
    lists = read_sessions(pa.table({"length": [1, 2], "group": [[1], [2]]}))
    assert lists.labels == ("[1]", "[2]")
    assert read_sessions(pa.table({"length": [1], "group": [b"a"]})).labels == ("a",)


def test_keys_of_partitioned_folders_are_columns(tmp_path):
    for country, year, cells in (("DE", 2025, "3,1\n5,1"), ("FR%20sud", 2026, "2,0\nbad\n4,1")):
        folder = tmp_path / f"year={year}" / f"country={country}"
        folder.mkdir(parents=True)
        (folder / "part.csv").write_text(f"steps,ended\n{cells}\n")
    log = read_sessions(tmp_path, group="country")
    assert log.labels == ("DE", "FR sud")
    assert log.account.n_rejected == 1
    named = {(log.labels[g], n) for g, n in zip(log.group.tolist(), log.lengths.tolist(), strict=True)}
    assert named == {("DE", 3), ("DE", 5), ("FR sud", 2), ("FR sud", 4)}
    (folder / "own.jsonl").write_text('{"steps": 7, "ended": true, "country": "IT"}\n')
    assert read_sessions(tmp_path, group="country").labels == ("DE", "FR sud", "IT")  # the file's own column


def test_files_with_other_columns_are_one_log_or_one_line(tmp_path):
    columns = "episode,step,state,action,reward,ended"
    write(tmp_path / "a.csv", f"{columns},terminated\na,1,x,go,1,0,1\n")
    write(tmp_path / "b.csv", f"{columns}\nb,1,x,go,1,1\n")
    assert read_steps(tmp_path).terminated.tolist() == [True, False]
    write(tmp_path / "c.csv", "episode,step,ended\nc,1,1\n")
    with pytest.raises(ValueError, match=r"^All files must have the columns 'state'.*; c.csv is unlike"):
        read_steps(tmp_path)


@pytest.mark.parametrize(
    ("entry", "expected"), [(0, [(3, 1), (5, 1), (5, 3)]), (1, [(3, 1), (5, 1), (5, 2)])]
)
def test_files_without_entries_are_seen_from_the_first_step(entry, expected, tmp_path):
    write(tmp_path / "a.csv", "length\n3\n")
    write(tmp_path / "b.csv", f"length,entry\n5,{entry}\n5,2\n")
    assert [(n, e) for n, _, e, _ in as_rows(read_sessions(tmp_path))] == expected


def test_intervals_of_one_subject_are_pointed_out():
    table = {"id": ["a", "a", "a", "b", "b", "c"], "sex": [1, 1, 1, 1, 1, 1]}
    intervals = {"entry": [0, 3, 5, 0, 2, 0], "length": [3, 5, 9, 2, 4, 7]}
    notes = " ".join(read_sessions(table | intervals, observed="none").account.notes)
    assert "Rows with the same 'id' adjoin" in notes
    covariate = {"id": list("aaaaabbbb"), "weight": [5, 5, 5, 6, 6, 7, 7, 8, 8]}
    times = {"entry": [0, 1, 2, 3, 4, 0, 1, 2, 3], "length": [1, 2, 3, 4, 5, 1, 2, 3, 4]}
    notes = " ".join(read_sessions(covariate | times, observed="none").account.notes)
    assert "Rows with the same 'id' adjoin" in notes
    # Data of several states repeat an interval for each of them.
    twice = {name: np.repeat(column, 2).tolist() for name, column in (covariate | times).items()}
    notes = " ".join(read_sessions(twice, observed="none").account.notes)
    assert "Rows with the same 'id' adjoin" in notes
    # In any order, or without adjoining rows, they may be sessions of their own.
    notes = read_sessions(table | intervals | {"id": list("abcdef")}, observed="none").account.notes
    assert not any("adjoin" in note for note in notes)


def test_a_forged_sqlite_file_with_more_rows_than_bytes_is_refused(tmp_path):
    path = tmp_path / "forged.db"
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA page_size = 4096")
        base.execute("CREATE TABLE log (length INT)")
        base.executemany("INSERT INTO log VALUES (?)", [(5,)] * 100)
        base.commit()
        root = base.execute("SELECT rootpage FROM sqlite_master").fetchone()[0]
    content = bytearray(path.read_bytes())
    n_pages, page = len(content) // 4096, slice((root - 1) * 4096, root * 4096)
    leaf = bytes(content[page])
    # An interior page of the tree whose 400 cells all point to the same page: 100 rows become 160,000.
    interior, n_cells = bytearray(4096), 400
    for i in range(n_cells):
        at = 4096 - 6 * (i + 1)
        interior[at : at + 6] = struct.pack(">I", n_pages + 1) + bytes([0x81, 0x00])
        struct.pack_into(">H", interior, 12 + 2 * i, at)
    interior[0] = 5
    struct.pack_into(">HHHB", interior, 1, 0, n_cells, 4096 - 6 * n_cells, 0)
    struct.pack_into(">I", interior, 8, n_pages + 1)
    content[page] = interior
    content += leaf
    struct.pack_into(">I", content, 28, len(content) // 4096)
    path.write_bytes(content)
    with pytest.raises(ValueError, match="damaged SQLite file: it has more rows than bytes"):
        read_sessions(path)


def test_the_counts_of_rejected_rows_may_be_anything(tmp_path):
    path = tmp_path / "log.csv"
    rows = [f"{length},1,100" for length in range(1, 60)]
    path.write_text("\n".join(["length,ended,n", *rows, '60,1,"10,000"']))
    account = read_sessions(path, count="n").account
    assert account.difference.startswith("the count of 1 row cannot be read, which may stand for any number")
    assert account.rejected_sessions is None
    assert account.hints == ["If they have thousands separators, leave these out."]
    path.write_text("\n".join(["length,ended,n", *rows, "0,1,300", "1,perhaps,300"]))
    assert read_sessions(path, count="n").account.rejected_sessions == pytest.approx(600 / 6_500)


def test_counts_of_transitions_that_cannot_be_read_are_a_reason_for_no_advice(tmp_path):
    path = tmp_path / "steps.csv"
    lines = ['1,a,x,1,b,0,"5,220"', "2,b,x,0,b,0,200", *["3,b,x,0,,1,100"] * 50]
    path.write_text("\n".join(["step,state,action,reward,next_state,ended,n", *lines]))
    log = read_steps(path, count="n")
    assert "may stand for any number of steps" in log.sessions().account.difference
    with pytest.raises(ValueError, match="must have the first step of an episode for a problem"):
        log.problem(unvisited="absorb")


def test_a_session_that_ends_at_its_entry_shows_how_entries_count(tmp_path):
    path = tmp_path / "log.csv"
    late = [f"{length},1,{entry}" for entry in (3, 4, 5) for length in range(6, 16)]
    path.write_text("\n".join(["length,ended,entry", *late]))
    assert "But no session ends at the step of its entry" in " ".join(read_sessions(path).account.notes)
    path.write_text("\n".join(["length,ended,entry", *late, "1,1,1"]))
    assert "But no session" not in " ".join(read_sessions(path).account.notes)


def test_a_long_text_that_all_rows_of_parquet_share_is_looked_at_once(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    words = pa.array(["0" * 5_000_000 + "3", "4"])
    lengths = pa.DictionaryArray.from_arrays(pa.array(np.arange(4_000, dtype=np.int32) % 2), words)
    pq.write_table(pa.table({"length": lengths}), tmp_path / "log.parquet")
    began = time.process_time()
    log = read_sessions(tmp_path / "log.parquet")
    assert time.process_time() - began < 10.0  # 20 s and more if every row is looked at
    assert (len(log), log.longest, log.account.n_rejected) == (2_000, 4, 2_000)
    assert log.account.first_rejected[0].got == "a text of 5,000,001 characters"


def test_text_of_sqlite_that_is_not_utf8_matters_only_where_it_is_used(tmp_path):
    base = sqlite3.connect(tmp_path / "log.sqlite")
    base.execute("CREATE TABLE visits (length, ended, note)")
    rows = [(b"3", 1, b"caf\xe9"), (b"4", 1, b"tea"), (b"5\xe9", 1, b"tea")]
    base.executemany("INSERT INTO visits VALUES (CAST(? AS TEXT), ?, CAST(? AS TEXT))", rows)
    base.commit()
    base.close()
    log = read_sessions(tmp_path / "log.sqlite")
    assert (log.lengths.tolist(), log.account.n_rejected) == ([3, 4], 1)


def test_a_hard_link_in_place_of_the_index_of_sqlite_is_not_overwritten(tmp_path):
    base = sqlite3.connect(tmp_path / "log.sqlite")
    base.executescript(
        "PRAGMA journal_mode = WAL; CREATE TABLE visits (length); INSERT INTO visits VALUES (3);"
    )
    for ending in ("", "-wal"):
        shutil.copy(tmp_path / f"log.sqlite{ending}", tmp_path / f"copy.sqlite{ending}")
    base.close()
    (tmp_path / "mine").write_text("mine")
    os.link(tmp_path / "mine", tmp_path / "copy.sqlite-shm")
    with pytest.raises(ValueError, match=r"^copy\.sqlite-shm has another name, a hard link"):
        read_sessions(tmp_path / "copy.sqlite")
    assert (tmp_path / "mine").read_text() == "mine"
    (tmp_path / "copy.sqlite-shm").unlink()
    assert len(read_sessions(tmp_path / "copy.sqlite")) == 1


def test_the_length_that_half_reach_is_not_within_data_that_show_another(tmp_path):
    # 56% are open at the longest length; a law may put the median before it.
    lengths = np.concatenate([np.arange(1, 45), np.full(56, 45)])
    found = analyze(read_sessions({"length": lengths, "ended": lengths < 45}), resamples=0)
    assert found.length_reached(0.5) > 45
    assert found.as_dict()["median"] is None


def test_pairs_that_were_never_tried_take_no_memory():
    n = 20_000
    numbers = np.repeat(np.arange(n), 2)
    steps = {name: numbers.astype(str) for name in ("episode", "state", "action")}
    steps |= {"step": [1, 2] * n, "reward": np.zeros(2 * n), "ended": [False, True] * n}
    with pytest.raises(ValueError, match=r"has action '1' in state '0', nor 399,979,999 other pairs"):
        read_steps(steps).problem()


@pytest.mark.parametrize("names", [("tenure_months", "entry_days"), ("tenure_days", "entry_months")])
def test_entries_in_months_are_not_compared_with_days(names):
    log = {names[0]: [4, 5, 6], names[1]: [0, 1, 2], "ended": [1, 1, 1]}
    with pytest.raises(ValueError, match=r"^entry_\w+ must be in (days|months), as tenure_\w+ is; its"):
        read_sessions(log, length=names[0], entry=names[1], step=1)


def test_an_unknown_time_zone_of_parquet_is_one_line(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    times = pa.array([1] * 9, pa.timestamp("us", tz="Mars/X"))
    pq.write_table(pa.table({"start": times, "end": times}), tmp_path / "log.parquet")
    with pytest.raises(ValueError, match=r"^log.parquet cannot be read as Parquet: .*Mars/X"):
        read_sessions(tmp_path / "log.parquet", step="1s")


def test_a_default_that_the_rows_of_sqlite_share_is_not_read_without_end(tmp_path):
    path = tmp_path / "log.sqlite"
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE visits (id)")
    base.executemany("INSERT INTO visits VALUES (?)", [(None,)] * 3_000)
    base.execute(f"ALTER TABLE visits ADD COLUMN length TEXT DEFAULT '{'0' * 100_000}3'")
    base.commit()
    base.close()
    with pytest.raises(ValueError, match=r"more than 100 times as much text as the file has bytes: select"):
        read_sessions(path)
    assert len(read_sessions(path, query="SELECT 3 AS length FROM visits")) == 3_000


@pytest.mark.parametrize("ending", ["bz2", "zst"])
def test_what_unpacks_to_thousands_of_times_its_size_is_refused(ending, tmp_path, monkeypatch):
    monkeypatch.setattr(_packed, "_MAX_UNPACKED", 1 << 20)
    path = tmp_path / f"log.csv.{ending}"
    path.write_bytes(packed(ending, b"length\n" + b"7\n" * 8_000_000))
    with pytest.raises(ValueError, match=r"must unpack to at most 1,000 times its size; unpack it first"):
        read_sessions(path)
    lengths = np.random.default_rng(0).geometric(0.1, 500_000)
    rows = b"".join(b"%d\n" % n for n in lengths.tolist())
    path.write_bytes(packed(ending, b"length\n" + rows))
    assert len(read_sessions(path)) == 500_000


def test_reading_an_sqlite_file_in_wal_mode_creates_no_files(tmp_path):
    path = tmp_path / "log.db"
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("CREATE TABLE log (length)")
        base.executemany("INSERT INTO log VALUES (?)", [(3,), (4,)])
        base.commit()
        assert len(read_sessions(path)) == 2  # while another program has it open, with its log of writes
    assert [one.name for one in tmp_path.iterdir()] == ["log.db"]
    assert len(read_sessions(path)) == 2
    assert [one.name for one in tmp_path.iterdir()] == ["log.db"]


def test_long_texts_in_a_database_are_read_a_few_rows_at_a_time(monkeypatch):
    monkeypatch.setattr(_records, "_BATCH_BYTES", 1_000)
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE log (length, note)")
    base.executemany("INSERT INTO log VALUES (?, ?)", [(1 + i % 3, "x" * 600) for i in range(9)])
    sizes = []
    real = _records.numbered

    def numbered(chunks, *rest):
        return real((sizes.append(len(chunk)) or chunk for chunk in chunks), *rest)

    monkeypatch.setattr(_records, "numbered", numbered)
    assert len(read_sessions(base.execute("SELECT * FROM log"))) == 9
    assert max(sizes) == 2


def test_files_of_a_folder_that_are_not_read_are_noted(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    write(folder / "a.csv", "length\n3\n4\n")
    write(folder / "_SUCCESS", "")
    assert read_sessions(folder).account.notes == ()
    write(folder / "a.csv.1", "length\n3\n")
    (note,) = read_sessions(folder).account.notes
    assert note.startswith("In logs 1 file, 'a.csv.1', is not read: only files that end in .csv, .tsv, ")


def test_a_file_beside_its_compressed_copy_is_pointed_out(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    write(folder / "a.csv", "length\n3\n4\n")
    (folder / "a.csv.gz").write_bytes(packed("gz", b"length\n3\n4\n"))
    (folder / "gone.csv").symlink_to(folder / "nowhere.csv")
    log = read_sessions(folder)
    assert len(log) == 4
    assert log.account.notes[0] == "a.csv.gz and a.csv are both read: if they are the same, remove one."
    assert log.account.notes[1].startswith("In logs 1 file, 'gone.csv', is not read")


def test_a_pipe_is_read_as_standard_input(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is a pipe: pass it as standard input, '-'"):
        read_sessions(tmp_path / "pipe")


def test_entries_have_the_unit_of_their_own_name():
    columns = {"duration_s": [200, 400], "entry_min": [2, 5], "ended": [1, 1]}
    log = read_sessions(columns, length="duration_s", entry="entry_min", step="1min")
    assert sorted((row[0], row[2]) for row in as_rows(log)) == [(4, 3), (7, 6)]
    same = read_sessions({"duration_min": [4, 7], "entry": [2, 5]}, length="duration_min", step="1min")
    assert sorted((row[0], row[2]) for row in as_rows(same)) == [(4, 3), (7, 6)]


def test_months_are_steps_or_refused():
    columns = {"tenure_months": [3, 14]}
    assert read_sessions(columns, length="tenure_months", step=1).lengths.tolist() == [3, 14]
    with pytest.raises(ValueError, match="step must be a number of months, such as --step 1"):
        read_sessions(columns, length="tenure_months", step="1d")


def test_an_end_in_the_year_9999_is_no_time():
    log = read_sessions({"start": ["2026-01-01"] * 2, "end": ["2026-01-03", "9999-12-31"]}, step="1d")
    assert (log.lengths.tolist(), log.account.n_rejected) == ([2], 1)


def test_a_link_out_of_a_folder_of_logs_is_refused(tmp_path):
    outside = write(tmp_path / "outside.csv", "length\n1\n2\n")
    folder = tmp_path / "logs"
    folder.mkdir()
    write(folder / "a.csv", "length\n3\n")
    (folder / "b.csv").symlink_to(folder / "a.csv")
    assert len(read_sessions(folder)) == 1  # a file with several names is read once
    (folder / "c.csv").symlink_to(outside)
    with pytest.raises(ValueError, match=r"c.csv must not be a link to a file outside its folder"):
        read_sessions(folder)


def test_intervals_with_a_status_are_pointed_out():
    columns = {"start": [0] * 30 + [4] * 10, "stop": [5] * 40, "event": [0, 1] * 20}
    log = read_sessions(columns, step=1)
    notes = " ".join(log.account.notes)
    assert "The column 'event' may say otherwise" in notes
    assert "pass --length 'stop' --entry 'start' instead" in notes
    text = dict(analyze(log).advice())["The sessions"]
    assert "all counted as seen to their end (each has an end time)" in text


def test_nested_cells_of_parquet_files_are_read_only_if_needed(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    notes = pa.array([{"s": "x"}, {"s": "y"}] * 20)
    path = tmp_path / "log.parquet"
    parquet.write_table(pa.table({"length": [1, 2] * 20, "note": notes, "ended": [True, False] * 20}), path)
    assert read_sessions(path).n_open == 20
    parquet.write_table(pa.table({"length": notes}), path)
    with pytest.raises(
        ValueError, match=r"must have numbers, flags, times or text in 'length'; it has struct"
    ):
        read_sessions(path)


def test_entries_that_leave_nothing_to_see_are_refused_in_one_line():
    with pytest.raises(ValueError, match=r"must have a session of which a step was seen: entry < length\.$"):
        read_sessions({"length": [3, 4], "entry": [3, 4]}, entry_after=True)
    with pytest.raises(ValueError, match=r"must have a column for --entry-after: name it with --entry\.$"):
        read_sessions({"length": [3, 4]}, entry_after=True)


def test_rows_of_one_subject_that_adjoin_are_noted_in_any_order():
    columns = {"ID": [], "entry": [], "length": [], "ended": []}
    for subject in range(40):
        for first in (7, 0, 3):  # not sorted
            for name, cell in zip(
                columns, (subject, first, first + (3 if first == 0 else 4), 0), strict=True
            ):
                columns[name].append(cell)
    columns["ended"][-1] = 1
    notes = read_sessions(columns, entry_after=True).account.notes
    assert any("Rows with the same 'ID' adjoin" in note for note in notes)
