"""Finds out by their names what columns mean, and points out columns that are not used but may matter."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from sojourn._validation import did_you_mean
from sojourn.sessions.reading._cells import looks_like_data, parse_decimal, plain_word

__all__ = [
    "TIMES",
    "USERS",
    "ColumnMap",
    "ColumnNames",
    "describe_names",
    "find_column",
    "find_session_columns",
    "look_like_names",
    "notes_on_unused_columns",
]

_LENGTHS = ("length", "session_length", "episode_length", "lengths", "steps", "n_steps", "duration")
_ENDED = ("observed", "ended", "complete", "completed", "finished", "closed")
_OBSERVED = _ENDED + tuple(f"is_{word}" for word in _ENDED)
_NOT_ENDED = ("censored", "open", "truncated", "ongoing")
_OPEN = _NOT_ENDED + tuple(f"is_{word}" for word in _NOT_ENDED) + ("still_open",)
_ENTRIES = ("entry", "entered", "entry_step", "first_step")
_GROUPS = ("group", "state", "segment")
_STARTS = ("start", "started", "start_time", "started_at", "begin", "began", "session_start")
_ENDS = ("end", "stop", "end_time", "ended_at", "finished_at", "session_end")
USERS = (
    *("user", "user_id", "userid", "visitor", "visitor_id", "customer", "customer_id", "client_id"),
    "case:concept:name",
)
TIMES = ("time", "timestamp", "ts", "datetime", "event_time", "created_at", "date", "time:timestamp")
"""Usual names in logs of events; those with a colon are of XES, the standard of process mining."""

_LENGTH_HINTS = ("t", "time", "tenure", "turns", "messages", "num_steps", "clicks", "week", "weeks", "days")
_LENGTH_PARTS = ("time", "durat", "surviv", "tenure", "length", "days", "weeks", "months")
"""Parts of column names that hint at lengths."""

_FLAG_WORD_PARTS = (
    *("cens", "open", "trunc", "ongoing", "active", "observ", "ended", "complet", "finish", "closed"),
    *("event", "status", "dead", "death", "died", "churn", "left", "done", "fail"),
)
"""Parts of column names that hint at a flag for open or ended sessions."""

_FLAG_NAMES = ("e", "d", "delta")
"""Whole names of columns that hint at the same, as in data sets of survival analysis."""

_COUNT_NAMES = ("count", "counts", "n", "freq", "frequency", "weight", "weights", "n_sessions", "sessions")
"""Names of columns that hint at a number of sessions per row."""

_MAX_NAMES = 30
"""Number of columns that an error lists."""

_MAX_NOTED = 3
"""Number of columns that a note names."""

_LEAST_ADJOINING = 3
"""Fewer rows that begin where the one before stops are no intervals of the same subject."""

_LEAST_ROWS = 20
"""Columns of fewer rows are not searched for two values."""


@dataclass(frozen=True)
class ColumnNames:
    """Column names given by the user, and how to read their cells.

    None means to look for one of the usual names, and "none" means that there is no such column.

    Attributes:
        length: The column of lengths, or of durations if there is a step size.
        observed: The column that flags ended or open sessions.
        entry: The column of entry steps.
        group: The column of groups.
        count: The column with the number of sessions per row.
        ended: The cells that mean that a session was seen to end, such as "2" or "churned"; empty for flags.
        start: The column with the time at which a session began.
        end: The column with the time at which it ended.
        step: Length of a step in seconds; None if lengths are in steps.
        step_is_number: Whether it was given as a number alone, which is in the unit of the durations.
        entry_after: Whether sessions were seen after the step of their entry, not from it on.
    """

    length: str | None = None
    observed: str | None = None
    entry: str | None = None
    group: str | None = None
    count: str | None = None
    ended: tuple[str, ...] = ()
    start: str | None = None
    end: str | None = None
    step: float | None = None
    step_is_number: bool = False
    entry_after: bool = False

    @property
    def names_any(self) -> bool:
        """Whether the user named at least one column, or a step size."""
        names = (self.length, self.observed, self.entry, self.group, self.count, self.start, self.end)
        return self.step is not None or any(name not in (None, "none") for name in names)


@dataclass(frozen=True)
class ColumnMap:
    """Indices of the columns in use, from 0; None where there is no such column.

    Attributes:
        indices: The index of the column for each of "length", "observed", "entry", "group", "count",
            "start" and "end"; those that are missing are left out.
        is_open: Whether a true flag means that the session is open.
        ended: The cells that mean that a session was seen to end, as `plain_word` has them; empty for flags.
    """

    indices: dict[str, int]
    is_open: bool = False
    ended: tuple[str, ...] = ()

    def used(self, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Return pairs of a meaning and the name of the column it is read from."""
        words = _MEANINGS | {"observed": "open sessions" if self.is_open else "ends"}
        return tuple((words[what], names[at].strip()[:40]) for what, at in self.indices.items())


_MEANINGS = {"length": "lengths", "entry": "entries", "group": "groups", "count": "counts"}
_MEANINGS |= {"start": "starts", "end": "end times"}


def find_session_columns(names: Sequence[str], wanted: ColumnNames, source: str) -> ColumnMap:
    """Find the columns of a session log.

    Args:
        names: Column names from the header row.
        wanted: Column names given by the user.
        source: Name of the file in messages.

    Raises:
        ValueError: If a column is missing or ambiguous; one line says which.
    """
    found: dict[str, int | None] = {}
    if wanted.start is None and wanted.end is None:
        found["length"] = find_column(names, wanted.length, _LENGTHS, source=source)
    if wanted.length is None and found.get("length") is None:
        times = {
            "start": find_column(names, wanted.start, _STARTS, source=source),
            "end": find_column(names, wanted.end, _ENDS, source=source),
        }
        if None not in times.values():
            if wanted.step is None:
                first, last = (names[at].strip()[:40] for at in times.values() if at is not None)
                raise ValueError(
                    f"{source} has times in {first!r} and {last!r} but no lengths: say how long a step is "
                    f"with --step, such as --step 1min (step='1min'), or, if they count steps, pass --length "
                    f"{last!r} --entry {first!r}."
                )
            found |= times
    if all(at is None for at in found.values()):
        raise ValueError(_no_lengths(names, source))
    asked = {vars(wanted)[what] for what in (*_MEANINGS, "observed")}
    rest = ["" if name.strip() in asked else name for name in names]  # those that may have usual names
    if wanted.observed is None:
        _check_one_flag_column(rest, source)
    for what, usual in (("observed", _OBSERVED + _OPEN), ("entry", _ENTRIES), ("group", _GROUPS)):
        name = vars(wanted)[what]
        found[what] = find_column(rest if name is None else names, name, usual, source=source)
    observed = found["observed"]
    if wanted.entry_after and found["entry"] is None:
        raise ValueError(f"{source} must have a column for --entry-after: name it with --entry.")
    found["count"] = find_column(names, wanted.count, (), source=source)
    indices = {what: at for what, at in found.items() if at is not None}
    _check_distinct(names, indices, source)
    is_open = observed is not None and not wanted.ended and _normalize(names[observed]) in _OPEN
    return ColumnMap(indices, is_open, _ended_words(wanted, observed, source))


def _no_lengths(names: Sequence[str], source: str) -> str:
    """Return an error that says what kind of log the names suggest, if it is not one of sessions."""
    if {"episode", "step"} <= {_normalize(name) for name in names}:
        return (
            f"{source} must have one row per session; it seems to have one per step, which "
            "sojourn.sessions.read_steps reads."
        )
    if find_column(names, None, USERS, source=source) is not None and (
        find_column(names, None, TIMES, source=source) is not None
    ):
        return (
            f"{source} seems to have one row per event: cut it into sessions with --gap, such as "
            "--gap 30min (gap='30min')."
        )
    readable = [name.strip()[:40] for name in names if not looks_like_data(name)]
    readable = [name for name in readable if "timestamp" not in _normalize(name)]
    near = [name for name in readable if _normalize(name) in _LENGTH_HINTS][:1]
    near = near or [name for name in readable if any(part in _normalize(name) for part in _LENGTH_PARTS)]
    hint = f" Is it --length {' or '.join(map(repr, near[:3]))}?" if near else ""
    at = find_column(names, None, TIMES, source=source)
    if at is not None and not near:
        hint += f" If rows are events, pass --gap 30min --user NAME --time {names[at].strip()!r}."
    start = find_column(names, None, _STARTS, source=source)
    if start is not None and not near:
        name = names[start].strip()[:40]
        hint += f" If {name!r} holds times of start, name those of the end: --end NAME --step 1min."
    return (
        f"{source} must have a column of session lengths called 'length', or one named with --length "
        f"(length=…); {describe_names(names)}.{hint}"
    )


def _ended_words(wanted: ColumnNames, observed: int | None, source: str) -> tuple[str, ...]:
    """Return the cells that mean an end; empty if flags are expected."""
    if wanted.ended and observed is None:
        raise ValueError(f"{source} must have a column for --ended (ended=…): name it with --observed.")
    words = tuple(plain_word(word) for word in wanted.ended)
    if "" in words:
        raise ValueError("--ended (ended=…) must not be empty.")
    return words


def _check_distinct(names: Sequence[str], indices: dict[str, int], source: str) -> None:
    """Raise `ValueError` if one column is used for two meanings."""
    taken: dict[int, str] = {}
    for what, index in indices.items():
        if index in taken:
            raise ValueError(
                f"{source} must have a column for each of --{taken[index]} and --{what}; got "
                f"{names[index].strip()[:40]!r} for both (name another column, or pass 'none')."
            )
        taken[index] = what


def _check_one_flag_column(names: Sequence[str], source: str) -> None:
    """Raise `ValueError` if several columns may flag whether a session was seen to end."""
    flags = [name.strip() for name in names if _normalize(name) in _OBSERVED + _OPEN]
    if len({_normalize(name) for name in flags}) > 1:
        raise ValueError(
            f"{source} must have one column that says whether a session was seen to end, or one named with "
            f"--observed (observed=…); got {', '.join(map(repr, flags))}."
        )


def notes_on_unused_columns(
    names: Sequence[str], used: Mapping[str, int], wanted: ColumnNames, rows: Sequence[Sequence[str]]
) -> Iterator[str]:
    """Yield notes on columns that are not used, but that may count sessions, flag open ones or join rows.

    Args:
        names: Column names from the header row.
        used: Indices of the columns in use, by what they hold.
        wanted: Column names given by the user.
        rows: The first rows.
    """
    unused = {i: name.strip()[:40] for i, name in enumerate(names) if i not in used.values()}
    unused = {i: name for i, name in unused.items() if not looks_like_data(name)}
    counts = [name for name in unused.values() if _normalize(name) in _COUNT_NAMES]
    for name in counts[:1] if wanted.count is None else ():
        yield (
            f"Every row counts as one session. The column {name!r} may be a number of sessions, and is not "
            "used: name it with --count, or pass --count none."
        )
    if "observed" in used and not wanted.ended:
        name = names[used["observed"]].strip()[:40]
        if _normalize(name).startswith("cens") and _normalize(name) not in _OPEN:
            yield (
                f"In the column {name!r}, 1 (or true) is read as seen to end. If it means that a session was "
                "censored, pass --ended 0."
            )
    if wanted.observed is None and "observed" not in used:
        flags = [name for name in unused.values() if _is_flag_name(name)]
        if flags:
            it = "one" if len(flags) > 1 else "it"
            what = "sessions with an end time" if "end" in used else "sessions"
            yield (
                f"All {what} count as seen to their end. {_column_words(flags)} may say otherwise, and "
                f"{_are(flags)} not used: name {it} with --observed (true: seen to end; if 1 means that the "
                "end was not seen, add --ended 0), or pass --observed none."
            )
        others = {i: name for i, name in unused.items() if name not in flags and len(rows) >= _LEAST_ROWS}
        values = {i: {row[i].strip() for row in rows if i < len(row)} - {""} for i in others}
        pairs = [others[i] for i in others if len(values[i]) == 2]
        if pairs and "end" not in used:
            has, it = ("have", "one") if len(pairs) > 1 else ("has", "it")
            yield (
                f"{_column_words(pairs)} {has} two values and {_are(pairs)} not used. If {it} says which "
                "sessions were seen to end, name it with --observed; otherwise pass --observed none."
            )
    if {"entry", "length"} <= used.keys():
        for name in _subject_columns(unused, used, rows)[-1:]:
            yield (
                f"Rows with the same {name!r} adjoin: one begins where another ends. Each counts as a "
                "session of its own. If they are one session, as in data with covariates that change over "
                "time, keep one row for it, with its first entry and its last length."
            )


def _column_words(names: Sequence[str]) -> str:
    """Return the beginning of a sentence about columns; of many, only the first are named."""
    if len(names) == 1:
        return f"The column {names[0]!r}"
    shown = [*map(repr, names[:_MAX_NOTED]), *["others"] * (len(names) > _MAX_NOTED)]
    return f"The columns {', '.join(shown[:-1])} and {shown[-1]}"


def _are(names: Sequence[str]) -> str:
    return "are" if len(names) > 1 else "is"


def _is_flag_name(name: str) -> bool:
    normal = _normalize(name)
    return normal in _FLAG_NAMES or any(part in normal for part in _FLAG_WORD_PARTS)


def _subject_columns(
    unused: Mapping[int, str], used: Mapping[str, int], rows: Sequence[Sequence[str]]
) -> list[str]:
    """Return the columns by which rows are intervals of one subject after the other, the best one last.

    Survival data have such rows where covariates change over time: sorted by subject and entry, almost all
    rows with the same subject as the row before begin where that one stops. (Data of several states repeat
    an interval for each of them.) The best column joins most rows; of several, the finest.
    """
    found = {}
    length, entry, width = used["length"], used["entry"], max((*unused, *used.values()))
    by_entry = sorted((row for row in rows if len(row) > width), key=lambda row: _number_or_text(row[entry]))
    for i, name in unused.items():
        pairs = list(pairwise(sorted(by_entry, key=itemgetter(i))))
        same = [
            (one, other)
            for one, other in pairs
            if one[i] == other[i] != "" and (one[entry], one[length]) != (other[entry], other[length])
        ]
        adjoin = sum(one[length] == other[entry] for one, other in same)
        if adjoin >= max(_LEAST_ADJOINING, 0.9 * len(same)):
            found[name] = adjoin, len({row[i] for pair in pairs for row in pair})
    return sorted(found, key=found.__getitem__)


def _number_or_text(cell: str) -> tuple[float, str]:
    """Return a key by which cells are sorted: numbers by size, and before other cells."""
    number = parse_decimal(cell)
    return (math.inf if number is None else number, cell)


def find_column(names: Sequence[str], asked: str | None, usual: Sequence[str], *, source: str) -> int | None:
    """Return the index of the column with the name that was asked for, or with one of the usual names."""
    if asked == "none":
        return None
    if asked is not None:
        found = [i for i, name in enumerate(names) if name.strip() == asked.strip()]
        if not found:
            known = [name.strip()[:40] for name in names[:1000] if not looks_like_data(name)]
            hint = did_you_mean(asked, known) if look_like_names(names) else ""
            rest = f".{hint}" if hint else f"; {describe_names(names)}."
            raise ValueError(f"{source} has no column {asked!r}{rest}")
    else:
        normalized = [_normalize(name) for name in names]
        word = next((word for word in usual if word in normalized), None)
        found = [i for i, name in enumerate(normalized) if name == word]
    if len(found) > 1:
        name = names[found[0]].strip()
        raise ValueError(f"{source} must have one column {name!r}; it has {len(found)}.")
    return found[0] if found else None


def look_like_names(names: Sequence[str]) -> bool:
    """Whether none of the cells in a header row looks like data."""
    return not any(looks_like_data(name) for name in names)


def describe_names(names: Sequence[str]) -> str:
    """Describe a header row for a message: its names, or only its size if it may hold data."""
    if look_like_names(names):
        return (
            "got "
            + ", ".join(repr(name[:40]) for name in names[:_MAX_NAMES])
            + ", …" * (len(names) > _MAX_NAMES)
        )
    cells = f"{len(names):,} cell{'s' * (len(names) != 1)}"
    return f"its first row, of {cells}, does not look like column names, and a header row may be missing"


def _normalize(name: str) -> str:
    """Return a name in lower case with underscores."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")
