"""Finds the columns of a log by their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sojourn._validation import did_you_mean
from sojourn.sessions.reading._cells import looks_like_data

__all__ = [
    "ColumnMap",
    "ColumnNames",
    "describe_names",
    "find_columns",
    "look_like_names",
    "note_two_values",
]

_LENGTHS = ("length", "session_length", "episode_length", "lengths", "steps", "n_steps", "duration")
_ENDED = ("observed", "ended", "complete", "completed", "finished", "closed")
_OBSERVED = _ENDED + tuple(f"is_{word}" for word in _ENDED)
_NOT_ENDED = ("censored", "open", "truncated", "ongoing")
_OPEN = _NOT_ENDED + tuple(f"is_{word}" for word in _NOT_ENDED) + ("still_open",)
_ENTRIES = ("entry", "entered", "entry_step", "first_step")
_GROUPS = ("group", "state", "segment")
_FLAG_WORD_PARTS = (
    "cens",
    "open",
    "trunc",
    "ongoing",
    "active",
    "observ",
    "ended",
    "complet",
    "finish",
    "closed",
    "event",
    "status",
    "dead",
    "death",
    "died",
    "churn",
    "left",
    "done",
    "fail",
)
"""Parts of column names that hint at a flag for open or ended sessions."""

_FLAG_NAMES = ("e", "d", "delta")
"""Whole names of columns that hint at the same, as in data sets of survival analysis."""

_COUNT_NAMES = ("count", "counts", "n", "freq", "frequency", "weight", "weights", "n_sessions", "sessions")
"""Names of columns that hint at a number of sessions per row."""

_LEAST_ROWS = 20
"""Columns of fewer rows are not searched for two values."""


@dataclass(frozen=True)
class ColumnNames:
    """Column names given by the user.

    None means to look for one of the usual names, and "none" means that there is no such column.
    """

    length: str | None = None
    observed: str | None = None
    entry: str | None = None
    group: str | None = None
    count: str | None = None
    ended: str | None = None
    """The cell that means that a session was seen to end, such as "2" or "churned"; None for flags."""

    @property
    def names_any(self) -> bool:
        """Whether the user named at least one column."""
        names = (self.length, self.observed, self.entry, self.group, self.count)
        return any(name not in (None, "none") for name in names)


@dataclass(frozen=True)
class ColumnMap:
    """Indices of the columns in use, from 0; None where there is no such column.

    Attributes:
        names: Names of all columns of the file.
        length: Index of the column with the lengths.
        observed: Index of the column that flags ended or open sessions.
        is_open: Whether a true flag means that the session is open.
        entry: Index of the column with the entry steps.
        group: Index of the column with the groups.
        count: Index of the column with the number of sessions per row.
        ended: The cell that means that a session was seen to end; empty for flags.
        notes: Notes for the user about columns that are not used.
    """

    names: tuple[str, ...]
    length: int
    observed: int | None = None
    is_open: bool = False
    entry: int | None = None
    group: int | None = None
    count: int | None = None
    ended: str = ""
    notes: tuple[str, ...] = ()

    @property
    def used(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a meaning and the name of the column it is read from."""
        indices = {
            "lengths": self.length,
            "open sessions" if self.is_open else "ends": self.observed,
            "entries": self.entry,
            "groups": self.group,
            "counts": self.count,
        }
        return tuple((what, self.names[at].strip()[:40]) for what, at in indices.items() if at is not None)

    def name(self, index: int | None) -> str:
        """Return the name of a column; empty for None."""
        return "" if index is None else self.names[index]


def find_columns(names: Sequence[str], wanted: ColumnNames, source: str) -> ColumnMap:
    """Find the columns of a log.

    Args:
        names: Column names from the header row.
        wanted: Column names given by the user.
        source: Name of the file in messages.

    Raises:
        ValueError: If a column is missing or ambiguous; one line says which.
    """
    length = _find(names, wanted.length, _LENGTHS, source=source)
    if length is None:
        if {"episode", "step"} <= {_normalize(name) for name in names}:
            raise ValueError(
                f"{source} must have one row per session; it seems to have one per step, which "
                "sojourn.sessions.read_steps reads."
            )
        raise ValueError(
            f"{source} must have a column of session lengths called 'length', or one named with --length "
            f"(length=…); {describe_names(names)}."
        )
    if wanted.observed is None:
        _check_one_flag_column(names, source)
    observed = _find(names, wanted.observed, _OBSERVED + _OPEN, source=source)
    found = ColumnMap(
        names=tuple(names),
        length=length,
        observed=observed,
        is_open=observed is not None and wanted.ended is None and _normalize(names[observed]) in _OPEN,
        entry=_find(names, wanted.entry, _ENTRIES, source=source),
        group=_find(names, wanted.group, _GROUPS, source=source),
        count=_find(names, wanted.count, (), source=source),
        ended=_ended_word(wanted, observed, source),
    )
    if wanted.count is None:
        found = replace(found, notes=_notes_on_counts(names, length))
    if observed is None and wanted.observed is None:
        found = replace(found, notes=found.notes + _notes_on_unused_flags(names))
    _check_distinct(found, source)
    return found


def _ended_word(wanted: ColumnNames, observed: int | None, source: str) -> str:
    """Return the cell that means an end, in lower case; empty if flags are expected."""
    if wanted.ended is None:
        return ""
    if observed is None:
        raise ValueError(f"{source} must have a column for --ended (ended=…): name it with --observed.")
    word = wanted.ended.strip().lower()
    if not word:
        raise ValueError("--ended (ended=…) must not be empty.")
    return word


def _check_distinct(columns: ColumnMap, source: str) -> None:
    """Raise `ValueError` if one column is used for two meanings."""
    indices = {
        "--length": columns.length,
        "--observed": columns.observed,
        "--entry": columns.entry,
        "--group": columns.group,
        "--count": columns.count,
    }
    taken: dict[int, str] = {}
    for option, index in indices.items():
        if index is None:
            continue
        if index in taken:
            raise ValueError(
                f"{source} must have a column for each of {taken[index]} and {option}; got "
                f"{columns.name(index).strip()[:40]!r} for both (name another column, or pass 'none')."
            )
        taken[index] = option


def _check_one_flag_column(names: Sequence[str], source: str) -> None:
    """Raise `ValueError` if several columns may flag whether a session was seen to end."""
    flags = [name.strip() for name in names if _normalize(name) in _OBSERVED + _OPEN]
    if len({_normalize(name) for name in flags}) > 1:
        raise ValueError(
            f"{source} must have one column that says whether a session was seen to end, or one named with "
            f"--observed (observed=…); got {', '.join(map(repr, flags))}."
        )


def _notes_on_unused_flags(names: Sequence[str]) -> tuple[str, ...]:
    """Return a note for each column whose name suggests that it flags open sessions."""
    suspects = [name.strip()[:40] for name in names if _is_flag_name(name)]
    return tuple(_unused_flag(name) for name in suspects[:3] if not looks_like_data(name))


def _is_flag_name(name: str) -> bool:
    normal = _normalize(name)
    return normal in _FLAG_NAMES or any(part in normal for part in _FLAG_WORD_PARTS)


def _unused_flag(name: str) -> str:
    return (
        f"All sessions count as seen to their end. The column {name!r} may say otherwise, and is not used: "
        "name it with --observed (true: seen to end), or pass --observed none."
    )


def _notes_on_counts(names: Sequence[str], length: int) -> tuple[str, ...]:
    """Return a note for each column whose name suggests that it counts sessions."""
    found = [name.strip() for i, name in enumerate(names) if i != length and _normalize(name) in _COUNT_NAMES]
    return tuple(
        f"Every row counts as one session. The column {name!r} may be a number of sessions, and is not used: "
        "name it with --count, or pass --count none."
        for name in found[:1]
    )


def note_two_values(columns: ColumnMap, wanted: ColumnNames, rows: Sequence[Sequence[str]]) -> ColumnMap:
    """Add a note on each unused column that has two values in the first rows: it may flag open sessions.

    Columns whose names say so already have a note.
    """
    if columns.observed is not None or wanted.observed is not None or len(rows) < _LEAST_ROWS:
        return columns
    used = {columns.length, columns.entry, columns.group, columns.count}
    notes = []
    for i, name in enumerate(columns.names):
        if i in used or _is_flag_name(name) or looks_like_data(name):
            continue
        values = {row[i].strip() for row in rows if i < len(row)} - {""}
        if len(values) == 2:
            notes.append(
                f"The column {name.strip()[:40]!r} has two values and is not used. If it says which sessions "
                "were seen to end, name it with --observed; otherwise pass --observed none."
            )
    return replace(columns, notes=columns.notes + tuple(notes[:3]))


def _find(names: Sequence[str], asked: str | None, usual: Sequence[str], *, source: str) -> int | None:
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
        return "got " + ", ".join(repr(name[:40]) for name in names[:8]) + (", …" if len(names) > 8 else "")
    cells = f"{len(names):,} cell{'s' * (len(names) != 1)}"
    return f"its first row, of {cells}, does not look like column names: add a header row above it"


def _normalize(name: str) -> str:
    """Return a name in lower case with underscores."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")
