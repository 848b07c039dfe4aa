"""Reads session logs, event logs and step logs from any source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sojourn.sessions._log import SessionLog
from sojourn.sessions._step_log import StepLog
from sojourn.sessions.reading._cells import DURATION_RULE, parse_decimal, parse_duration
from sojourn.sessions.reading._event_rows import EventRows
from sojourn.sessions.reading._names import ColumnNames
from sojourn.sessions.reading._rows import RowReader, read_rows
from sojourn.sessions.reading._session_rows import SessionRows
from sojourn.sessions.reading._step_rows import StepRows, are_step_names

__all__ = ["read_log", "read_sessions", "read_steps"]


def read_sessions(
    source: Any,
    *,
    length: str | None = None,
    observed: str | None = None,
    entry: str | None = None,
    entry_after: bool = False,
    group: str | None = None,
    count: str | None = None,
    ended: str | Sequence[str] | None = None,
    open_survived: bool = False,
    step: str | float | None = None,
    start: str | None = None,
    end: str | None = None,
    gap: str | float | None = None,
    user: str | None = None,
    time: str | None = None,
    query: str | None = None,
) -> SessionLog:
    """Read a session log with one row per session, or cut a log of events into sessions.

    A row has the session's length in steps and optionally whether the session was seen to end: an open
    session of n steps means H ≥ n. `log.account` counts the rows that cannot be used and names the first of
    them. Only the columns below are kept.

    Args:
        source: One of

            - a file: CSV (delimited by commas, semicolons, tabs or bars), JSON lines, Parquet or SQLite; text
              may be compressed (.gz, .bz2, .xz, .zst). A CSV file with a single column of numbers needs no
              header;
            - several files, a pattern such as "logs/*.csv", or a folder, which is searched for such files
              (names with a leading "." or "_" are skipped). A file with several names is read once;
            - a stream of bytes with such text, such as `sys.stdin.buffer`;
            - a dictionary of columns, a pandas data frame, any table with Arrow's interface (polars, DuckDB,
              pyarrow), or a NumPy array of lengths or of records;
            - a cursor with the result of a database query (Python's DB-API).
        length: Name of the column of lengths; by default "length", "steps", "duration" or similar.
        observed: Name of the column that says whether the session was seen to end; by default "observed",
            "ended" or similar, or, with the opposite meaning, "open" or "censored". "none" means that all
            sessions were seen to end.
        entry: Name of the column with the step from which a session was under observation (left
            truncation); by default "entry". If an entry is 0, entries count the steps before that, as in
            start–stop data. "none" means that all were observed from their first step.
        entry_after: Whether entries count the steps before a session was observed even if none is 0.
        group: Name of the column with the session's group; by default "group", "state" or "segment". "none"
            means that there are no groups.
        count: Name of the column with the number of sessions that a row stands for, as a query with GROUP BY
            returns it; by default every row is one session.
        ended: What the `observed` column holds for sessions that were seen to end, if it is not true or 1:
            such as "2" (R's code), "churned" or ["churned", "expired"]. All other cells mean that the session
            is open.
        open_survived: Whether an open session of n steps was seen to go on after step n, so that H ≥ n + 1.
            This is what lifelines and R assume. Not with `step`.
        step: Length of a step, such as "1min". Lengths are then durations (seconds, 1:02:03, 90s, PT1H), or
            the time between `start` and `end`; a step that has begun counts. An open session counts as having
            survived a step of which half or more was seen.
        start: Name of the column with the time at which a session began; by default "start" or similar.
        end: Name of the column with the time at which it ended; by default "end" or similar. A session
            without it is open, up to the latest time in the log.
        gap: The longest pause within a session, such as "30min": rows are then events of users.
        user: Name of the column of users in a log of events; by default "user" or similar.
        time: Name of the column of times in a log of events; by default "time" or similar.
        query: The query to run if the source is an SQLite file with more than one table.

    Raises:
        ValueError: If the source cannot be read, has no column of lengths, or no row that can be used.

    Example:
        >>> log = read_sessions({"steps": [3, 1, 8], "ended": [True, True, False]})
        >>> len(log), log.n_open
        (3, 1)
        >>> times = read_sessions({"duration": ["0:03:10", "0:00:20"]}, step="1min")
        >>> times.lengths
        array([1, 4])
    """
    names = (length, observed, entry, group, count, _words(ended), start, end, *_step(step))
    wanted = ColumnNames(*names, entry_after=entry_after)
    reader: RowReader = SessionRows(wanted)
    headerless = gap is None and not wanted.names_any
    if gap is not None:
        if wanted.names_any or ended is not None:
            raise ValueError(
                "gap is for logs of events: it must come without length, observed, entry, group, ended, "
                "count, start, end and step."
            )
        reader = EventRows(_seconds("gap", gap) or 0.0, user, time)
    elif user is not None or time is not None:
        raise ValueError("user and time must come with a gap, such as gap='30min'.")
    log: SessionLog = read_rows(source, lambda _: reader, query=query, row=reader.row, headerless=headerless)
    return _with_convention(log, wanted, open_survived=open_survived)


def _with_convention(log: SessionLog, wanted: ColumnNames, *, open_survived: bool) -> SessionLog:
    """Return a log whose open sessions count as the user wants."""
    if open_survived and wanted.step is not None:
        raise ValueError(
            "open_survived (--open-survived) is for lengths in steps: with a step size, an open session "
            "counts as having survived a step of which half or more was seen."
        )
    return log.with_open_sessions_one_longer() if open_survived else log


def read_steps(
    source: Any, *, observed: str | None = None, count: str | None = None, query: str | None = None
) -> StepLog:
    """Read a log of every step, with the columns episode, step, state, action, reward and ended.

    States and actions may be any words. Steps count from 1 or from 0. Without the columns action and reward
    no problem can be estimated; without the state too, only the lengths of the episodes are known.

    `ended` is true at the last step of an episode that was seen to end by its law of lengths; an episode
    without it is still open. An optional column `terminated` is true where a terminal state of the problem
    ended the episode.

    An episode with an invalid or missing row is left out entirely. If an invalid row does not show to which
    episode it belongs, the unfinished episode right before it is left out, and `account.notes` says so.

    Args:
        source: See `read_sessions`.
        observed: Name of the column that says whether the episode was seen to end there; by default
            "ended". "none" means that all were seen to end.
        count: Name of a column with the number of steps that a row stands for: rows are then transitions,
            with a column next_state, which is empty at the last step of an episode, and without episodes.
        query: The query to run if the source is an SQLite file with more than one table.

    Raises:
        ValueError: If the source cannot be read, a column is missing, or no episode can be used.

    Example:
        >>> log = read_steps({"episode": ["a", "a", "b"], "step": [1, 2, 1], "ended": [0, 1, 0]})
        >>> log.sessions().lengths
        array([1, 2])
    """
    log: StepLog = read_rows(source, lambda _: StepRows(observed, count), query=query, row=StepRows.row)
    return log


def read_log(source: Any, *, query: str | None = None, **options: Any) -> SessionLog | StepLog:
    """Read a log with one row per session or per step, whichever its columns show.

    Args:
        source: See `read_sessions`.
        query: The query to run if the source is an SQLite file with more than one table.
        **options: Those of `read_sessions`; for a log of steps only `observed` and `count` may be given.
    """
    if options.get("length") is not None or options.get("gap") is not None:
        return read_sessions(source, query=query, **options)
    names: dict[str, Any] = {name: options.get(name) for name in ColumnNames.__dataclass_fields__}
    names["step"], names["step_is_number"] = _step(options.get("step"))
    names["ended"] = _words(options.get("ended"))
    names["entry_after"] = bool(options.get("entry_after"))
    wanted = ColumnNames(**names)

    def choose(columns: Sequence[str]) -> RowReader:
        is_steps = are_step_names(columns)
        return StepRows(wanted.observed, wanted.count) if is_steps else SessionRows(wanted)

    found: SessionLog | StepLog = read_rows(source, choose, query=query, headerless=not wanted.names_any)
    if isinstance(found, SessionLog):
        return _with_convention(found, wanted, open_survived=bool(options.get("open_survived")))
    for name, value in options.items():
        if value not in (None, "none", False) and name not in ("observed", "count"):
            option = f"--{name.replace('_', '-')}"
            raise ValueError(
                f"{option} is for logs with one row per session; {found.name} has one row per step."
            )
    return found


def _words(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return one or several words as a tuple."""
    return () if value is None else (value,) if isinstance(value, str) else tuple(value)


def _step(value: str | float | None) -> tuple[float | None, bool]:
    """Return the length of a step in seconds, and whether it is a number alone."""
    return _seconds("step", value), value is not None and parse_decimal(str(value)) is not None


def _seconds(name: str, value: str | float | None) -> float | None:
    """Return a duration in seconds; raises `ValueError` if it is not positive."""
    if value is None:
        return None
    seconds = parse_duration(str(value))
    if seconds is None or not seconds > 0.0:
        raise ValueError(f"{name} {DURATION_RULE}, above 0; got {value!r}.")
    return seconds
