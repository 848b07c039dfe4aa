"""Pairs of a sooner and a later reward, with or without choices, from any source of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.behavior.choices._rows import ChoiceRows
from sojourn.sessions import Account, read_rows

__all__ = ["ChoiceData", "ChoiceDesign", "read_choices", "read_design"]


@dataclass(frozen=True, eq=False)
class ChoiceDesign:
    """Pairs of a sooner and a later reward, one row per choice.

    Attributes:
        subject: Number of the subject of each choice, from 0, `(n,)`.
        amount_sooner: `(n,)`.
        delay_sooner: `(n,)`.
        amount_later: `(n,)`.
        delay_later: `(n,)`.
        subjects: Names of the subjects.
        account: How many rows were used and rejected.
        name: Name of the source.
    """

    subject: IntArray
    amount_sooner: FloatArray
    delay_sooner: FloatArray
    amount_later: FloatArray
    delay_later: FloatArray
    subjects: tuple[str, ...]
    account: Account
    name: str

    def __len__(self) -> int:
        return self.subject.size

    @property
    def n_subjects(self) -> int:
        """Number of subjects."""
        return len(self.subjects)

    def of_subject(self, subject: int) -> IntArray:
        """Return the rows of a subject."""
        return np.flatnonzero(self.subject == subject)

    def __repr__(self) -> str:
        people = f"{self.n_subjects:,} subject{'s' * (self.n_subjects != 1)}"
        what = "choice" if isinstance(self, ChoiceData) else "pair"
        return (
            f"{type(self).__name__}({self.name!r}, {len(self):,} {what}{'s' * (len(self) != 1)} of {people})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class ChoiceData(ChoiceDesign):
    """Choices between a sooner and a later reward, one row per choice.

    Attributes:
        chose_later: 1 where the later reward was chosen, else 0, `(n,)`.
    """

    chose_later: FloatArray


def read_choices(
    source: Any, *, columns: Mapping[str, str] | None = None, query: str | None = None
) -> ChoiceData:
    """Read choices between a sooner and a later reward.

    The columns are those of hBayesDM's delay discounting tasks: subjID, delay_later, amount_later,
    delay_sooner, amount_sooner, choice (1 for later, 0 for sooner). Common other names are known too
    ("ss_amount", "subject", …). Without a column of subjects, every file is one subject; without
    delay_sooner, sooner rewards are immediate. Delays may be in any unit, the same everywhere.

    Args:
        source: Files (CSV, JSON lines, Parquet or SQLite; text may be compressed), a pattern or a folder, a
            stream of bytes, a mapping of columns, a data frame, an Arrow table, an array of records or a
            database cursor; see `sojourn.sessions.read_sessions`.
        columns: Names of columns where they are not the usual ones, by "subject", "amount_sooner",
            "delay_sooner", "amount_later", "delay_later" and "choice".
        query: The query to run if the source is an SQLite file with more than one table.

    Raises:
        ValueError: If the source cannot be read, a column is missing, no row can be used, or choices are
            coded as 1 and 2. Rows that cannot be used are left out and counted in `account`.

    Example:
        >>> read_choices({"amount_sooner": [5, 8], "amount_later": [10, 10], "delay_later": [7, 7],
        ...               "choice": [1, 0]})
        ChoiceData('the table', 2 choices of 1 subject)
    """
    found = source if isinstance(source, ChoiceDesign) else _read(source, columns, query, needs_choices=True)
    if not isinstance(found, ChoiceData):
        raise ValueError(f"{found.name} must have a column 'choice'; it is a design without choices.")
    return found


def read_design(
    source: Any, *, columns: Mapping[str, str] | None = None, query: str | None = None
) -> ChoiceDesign:
    """Read pairs of a sooner and a later reward, before there are choices between them.

    Args:
        source: See `read_choices`; the column of choices may be missing.
        columns: See `read_choices`.
        query: The query to run if the source is an SQLite file with more than one table.

    Returns:
        A `ChoiceData` if there is a column of choices, otherwise a `ChoiceDesign`.

    Example:
        >>> read_design({"amount_sooner": [5, 8], "amount_later": [10, 10], "delay_later": [7, 7]})
        ChoiceDesign('the table', 2 pairs of 1 subject)
    """
    return source if isinstance(source, ChoiceDesign) else _read(source, columns, query, needs_choices=False)


def _read(
    source: Any, columns: Mapping[str, str] | None, query: str | None, *, needs_choices: bool
) -> ChoiceDesign:
    reader = ChoiceRows(needs_choices=needs_choices, columns=columns)
    found = read_rows(source, lambda _: reader, query=query, row=reader.row)
    return ChoiceData(**found) if "chose_later" in found else ChoiceDesign(**found)
