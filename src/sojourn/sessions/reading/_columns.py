"""Which columns of a log mean what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sojourn._validation import did_you_mean
from sojourn.sessions.reading._cells import looks_like_data

__all__ = ["Columns", "Wanted", "are_names", "find_columns", "listed"]

_LENGTHS = ("length", "session_length", "episode_length", "lengths", "steps", "n_steps", "duration")
_ENDED = ("observed", "ended", "complete", "completed", "finished", "closed")
_OBSERVED = _ENDED + tuple(f"is_{word}" for word in _ENDED)
_NOT_ENDED = ("censored", "open", "truncated", "ongoing")
_OPEN = _NOT_ENDED + tuple(f"is_{word}" for word in _NOT_ENDED) + ("still_open",)
_ENTRIES = ("entry", "entered", "entry_step", "first_step")
_GROUPS = ("group", "state", "segment")
_TELLING = (
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
)
"""What is in the names of columns that may say which sessions are open."""


@dataclass(frozen=True)
class Wanted:
    """Names of columns that a user gave; None: look for one of the usual names; "none": there is none."""

    length: str | None = None
    observed: str | None = None
    entry: str | None = None
    group: str | None = None

    @property
    def names_any(self) -> bool:
        """Whether a column is asked for by name."""
        return any(
            name not in (None, "none") for name in (self.length, self.observed, self.entry, self.group)
        )


@dataclass(frozen=True)
class Columns:
    """Where the columns are, by place from 0; None where there is none.

    Attributes:
        names: What all columns are called.
        length: Place of the lengths.
        observed: Place of the flags.
        is_open: Whether true flags mean that a session was not seen to end.
        entry: Place of the entries.
        group: Place of the groups.
        notes: What should be known about columns that are not used.
    """

    names: tuple[str, ...]
    length: int
    observed: int | None = None
    is_open: bool = False
    entry: int | None = None
    group: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def used(self) -> tuple[tuple[str, str], ...]:
        """What is taken from which column."""
        places = {
            "lengths": self.length,
            "open sessions" if self.is_open else "ends": self.observed,
            "entries": self.entry,
            "groups": self.group,
        }
        return tuple((what, self.names[at].strip()[:40]) for what, at in places.items() if at is not None)

    def name(self, place: int | None) -> str:
        """Return what a column is called."""
        return "" if place is None else self.names[place]


def find_columns(names: Sequence[str], wanted: Wanted, source: str) -> Columns:
    """Return where the columns are, or say in one line which one is missing.

    Args:
        names: The names in the first row.
        wanted: What the user asked for.
        source: What the file is called in messages.
    """
    length = _find(names, wanted.length, _LENGTHS, source=source)
    if length is None:
        if {"episode", "step"} <= {_plain(name) for name in names}:
            raise ValueError(
                f"{source} must have one row a session; it seems to have one a step, which "
                "sojourn.sessions.read_steps reads."
            )
        raise ValueError(
            f"{source} must have a column of session lengths called 'length', or one named with --length "
            f"(length=…); {listed(names)}."
        )
    if wanted.observed is None:
        _refuse_two_flags(names, source)
    observed = _find(names, wanted.observed, _OBSERVED + _OPEN, source=source)
    found = Columns(
        names=tuple(names),
        length=length,
        observed=observed,
        is_open=observed is not None and _plain(names[observed]) in _OPEN,
        entry=_find(names, wanted.entry, _ENTRIES, source=source),
        group=_find(names, wanted.group, _GROUPS, source=source),
        notes=_unused_flags(names) if observed is None and wanted.observed is None else (),
    )
    _refuse_two_meanings(found, source)
    return found


def _refuse_two_meanings(columns: Columns, source: str) -> None:
    """Raise `ValueError` if one column is to be two things."""
    places = {
        "--length": columns.length,
        "--observed": columns.observed,
        "--entry": columns.entry,
        "--group": columns.group,
    }
    taken: dict[int, str] = {}
    for option, place in places.items():
        if place is None:
            continue
        if place in taken:
            raise ValueError(
                f"{source} must have a column for each of {taken[place]} and {option}; got "
                f"{columns.name(place).strip()[:40]!r} for both (name another one, or say 'none')."
            )
        taken[place] = option


def _refuse_two_flags(names: Sequence[str], source: str) -> None:
    """Raise `ValueError` if several columns may say whether a session was seen to end."""
    flags = [name.strip() for name in names if _plain(name) in _OBSERVED + _OPEN]
    if len({_plain(name) for name in flags}) > 1:
        raise ValueError(
            f"{source} must have one column that says whether a session was seen to end, or one named with "
            f"--observed (observed=…); got {', '.join(map(repr, flags))}."
        )


def _unused_flags(names: Sequence[str]) -> tuple[str, ...]:
    """Return a note for each column that looks as if it said which sessions are open."""
    telling = [name.strip()[:40] for name in names if any(part in _plain(name) for part in _TELLING)]
    return tuple(
        f"All sessions count as seen to their end. The column {name!r} may say otherwise, and is not used: "
        "name it with --observed (true: seen to end), or say --observed none."
        for name in telling[:3]
        if not looks_like_data(name)
    )


def _find(names: Sequence[str], asked: str | None, usual: Sequence[str], *, source: str) -> int | None:
    if asked == "none":
        return None
    if asked is not None:
        places = [i for i, name in enumerate(names) if name.strip() == asked.strip()]
        if not places:
            known = [name.strip()[:40] for name in names[:1000] if not looks_like_data(name)]
            hint = did_you_mean(asked, known) if are_names(names) else ""
            raise ValueError(f"{source} has no column {asked!r}{hint and '.'}{hint or f'; {listed(names)}.'}")
    else:
        plain = [_plain(name) for name in names]
        places = next(
            ([i for i, name in enumerate(plain) if name == word] for word in usual if word in plain), []
        )
    if len(places) > 1:
        name = names[places[0]].strip()
        raise ValueError(f"{source} must have one column {name!r}; it has {len(places)}.")
    return places[0] if places else None


def are_names(names: Sequence[str]) -> bool:
    """Whether none of the cells in a first row looks like data."""
    return not any(looks_like_data(name) for name in names)


def listed(names: Sequence[str]) -> str:
    """Return the names; where the first row may be one of data, only how many cells it has."""
    if are_names(names):
        return "got " + ", ".join(repr(name[:40]) for name in names[:8]) + (", …" if len(names) > 8 else "")
    cells = f"{len(names):,} cell{'s' * (len(names) != 1)}"
    return f"its first row, of {cells}, does not look like names: put a row of names above it"


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")
