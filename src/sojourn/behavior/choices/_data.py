"""Choices between dated rewards, read from files and tables."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn._validation import did_you_mean
from sojourn.sessions import Account, Rejection, read_rows

__all__ = ["ChoiceData", "read_choices"]

_NAMES = {
    "subject": ("subjid", "subject", "subject_id", "subjectid", "participant", "participant_id", "id"),
    "amount_sooner": ("amount_sooner", "sooner_amount", "ss_amount", "amount_ss", "a_sooner", "ssa"),
    "delay_sooner": ("delay_sooner", "sooner_delay", "ss_delay", "delay_ss", "t_sooner", "ssd"),
    "amount_later": ("amount_later", "later_amount", "ll_amount", "amount_ll", "a_later", "lla"),
    "delay_later": ("delay_later", "later_delay", "ll_delay", "delay_ll", "t_later", "lld"),
    "choice": ("choice", "chose_later", "chosen", "response"),
}
_OPTIONAL = ("subject", "delay_sooner")
_LATER = {"1": 1, "1.0": 1, "later": 1, "ll": 1, "true": 1, "yes": 1}
_SOONER = {"0": 0, "0.0": 0, "sooner": 0, "ss": 0, "false": 0, "no": 0}
_WORDS = _LATER | _SOONER
_MAX_NAMED = 5

_BINARY = {b"PAR1": "Parquet", b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip or Excel"}
"""Formats of files that are not delimited text, by their first bytes."""
_LARGEST = 1e30  # amount or delay; far larger and far smaller ones would overflow in fits


@dataclass(frozen=True, eq=False)
class ChoiceData:
    """Choices between a sooner and a later reward, one row per choice.

    Attributes:
        subject: Number of the subject of each choice, from 0, `(n,)`.
        amount_sooner: `(n,)`.
        delay_sooner: `(n,)`.
        amount_later: `(n,)`.
        delay_later: `(n,)`.
        chose_later: 1 where the later reward was chosen, else 0, `(n,)`.
        subjects: Names of the subjects.
        account: How many rows were used and rejected.
        name: Name of the source.
    """

    subject: IntArray
    amount_sooner: FloatArray
    delay_sooner: FloatArray
    amount_later: FloatArray
    delay_later: FloatArray
    chose_later: FloatArray
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
        return f"ChoiceData({self.name!r}, {len(self):,} choices of {self.n_subjects:,} subjects)"


def read_choices(source: Any) -> ChoiceData:
    """Read choices between a sooner and a later reward.

    The columns are those of hBayesDM's delay discounting tasks: subjID, delay_later, amount_later,
    delay_sooner, amount_sooner, choice (1 for later, 0 for sooner). Common other names are known too
    ("ss_amount", "subject", …). Without a column of subjects all choices are one person's; without
    delay_sooner, sooner rewards are immediate. Delays may be in any unit, the same everywhere.

    Args:
        source: A delimited text file with a header row, a data frame, or a mapping from names to columns.

    Raises:
        ValueError: If a column is missing, no row can be used, or choices are coded as 1 and 2. Rows that
            cannot be used are left out and counted in `account`.

    Example:
        >>> read_choices({"amount_sooner": [5, 8], "amount_later": [10, 10], "delay_later": [7, 7],
        ...               "choice": [1, 0]})
        ChoiceData('data', 2 choices of 1 subjects)
    """
    if isinstance(source, ChoiceData):
        return source
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if not path.is_file():
            raise ValueError(f"data must be a file that exists; got {os.fspath(source)!r}.")
        _check_is_text(path)
        header, *rows = read_rows(path, row="choice")
        columns = _find_columns([name.strip() for name in header.cells], path.name)
        return _build(_file_cells(rows, columns, len(header.cells)), path.name)
    names = list(source) if isinstance(source, Mapping) else list(getattr(source, "columns", ()))
    if not names:
        raise TypeError(f"data must be a file, a data frame or a mapping of columns; got {source!r}.")
    found = _find_columns([str(name) for name in names], "data")
    values = {what: list(source[names[at]]) for what, at in found.items()}
    sizes = {what: len(column) for what, column in values.items()}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{what} {size:,}" for what, size in sizes.items())
        raise ValueError(f"data must have columns of the same length; got {listed}.")
    cells = [
        (i + 1, {what: str(column[i]).strip() for what, column in values.items()}, "")
        for i in range(next(iter(sizes.values())))
    ]
    return _build(cells, "data")


def _check_is_text(path: Path) -> None:
    """Raise an error that names the format of a file that is not delimited text."""
    with path.open("rb") as file:
        begin = file.read(4)
    for mark, what in _BINARY.items():
        if begin.startswith(mark):
            raise ValueError(
                f"{path.name} must be delimited text; it is a {what} file. Read it with another library and "
                "pass the data frame, or write it as CSV."
            )


def _file_cells(
    rows: Iterable[Any], columns: Mapping[str, int], n: int
) -> Iterable[tuple[int, dict[str, str], str]]:
    for row in rows:
        rule = row.wrong or ("" if len(row.cells) == n else f"a row must have {n} cells")
        cells = {} if rule else {what: row.cells[at].strip() for what, at in columns.items()}
        yield row.line, cells, rule


def _find_columns(names: Sequence[str], source: str) -> dict[str, int]:
    """Return the index of each column, or raise an error that names the missing one."""
    normal = [name.strip().lower().replace(" ", "_").replace("-", "_").replace(".", "_") for name in names]
    found = {}
    for what, known in _NAMES.items():
        at = [i for i, name in enumerate(normal) if name in known]
        if len(at) > 1:
            raise ValueError(
                f"{source} must have one column {what!r}; got {names[at[0]]!r} and {names[at[1]]!r}."
            )
        if at:
            found[what] = at[0]
        elif what not in _OPTIONAL:
            hint = did_you_mean(what, normal) or f" It has {', '.join(names[:8])}."
            raise ValueError(f"{source} must have a column {what!r}.{hint}")
    return found


def _build(cells: Iterable[tuple[int, dict[str, str], str]], name: str) -> ChoiceData:
    subjects: dict[str, int] = {}
    used: list[tuple[float, ...]] = []
    rejected: list[Rejection] = []
    n_rows = n_rejected = 0
    codes: set[str] = set()
    for row, found, broken in cells:
        n_rows += 1
        codes.add(found.get("choice", "").removesuffix(".0"))
        if {"1", "2"} <= codes:
            raise ValueError(
                f"{name} must have 1 for later and 0 for sooner in the column of choices; got 1 and 2. "
                "Recode them, or write 'later' and 'sooner'."
            )
        rule, got = (broken, "") if broken else _broken_rule(found)
        if rule:
            n_rejected += 1
            if len(rejected) < _MAX_NAMED:
                rejected.append(Rejection(row, rule, got))
            continue
        who = subjects.setdefault(found.get("subject", "all"), len(subjects))
        numbers = [float(found.get(what, "0")) for what in list(_NAMES)[1:5]]
        used.append((who, *numbers, _WORDS[found["choice"].lower()]))
    if not used:
        why = f"all {n_rows:,} are rejected, {rejected[0]}" if rejected else "it has none."
        raise ValueError(f"{name} must have a row that can be used: {why}")
    table = np.array(used)
    amount_sooner, delay_sooner, amount_later, delay_later, chose_later = table.T[1:].copy()
    return ChoiceData(
        subject=table[:, 0].astype(np.int64),
        amount_sooner=amount_sooner,
        delay_sooner=delay_sooner,
        amount_later=amount_later,
        delay_later=delay_later,
        chose_later=chose_later,
        subjects=tuple(subjects),
        account=Account(n_rows, len(used), n_rejected, tuple(rejected)),
        name=name,
    )


def _broken_rule(cells: Mapping[str, str]) -> tuple[str, str]:
    """Return the rule that a row breaks and what it has instead; empty texts if none."""
    numbers = {}
    for what in list(_NAMES)[1:5]:
        text = cells.get(what, "0")
        try:
            numbers[what] = float(text)
        except ValueError:
            numbers[what] = math.nan
        least = "> 0" if what.startswith("amount") else "≥ 0"
        good = numbers[what] > 0.0 if what.startswith("amount") else numbers[what] >= 0.0
        if not (good and math.isfinite(numbers[what])):
            return f"{what} must be a number {least}", repr(text[:40])
        if numbers[what] and not 1.0 / _LARGEST <= numbers[what] <= _LARGEST:
            return f"{what} must be between {1.0 / _LARGEST:g} and {_LARGEST:g}", repr(text[:40])
    if not numbers["delay_later"] > numbers["delay_sooner"]:
        return "delay_later must be larger than delay_sooner", f"{numbers['delay_later']:g}"
    if cells["choice"].lower() not in _WORDS:
        return "choice must be 1 or 'later', 0 or 'sooner'", repr(cells["choice"][:40])
    return "", ""
