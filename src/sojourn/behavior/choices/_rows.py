"""Reads rows with pairs of a sooner and a later reward, and perhaps a choice."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn._typing import FloatArray, IntArray
from sojourn._validation import check_choice, did_you_mean
from sojourn.sessions import CheckedRows, RowReader, Table

__all__ = ["ChoiceRows"]

_NAMES = {
    "subject": ("subjid", "subject", "subjectid", "participant", "participantid", "responseid", "id"),
    "amount_sooner": (
        *("amountsooner", "sooneramount", "ssamount", "amountss", "asooner", "ssa"),
        *("immediateamount", "amountimmediate", "amountnow"),
    ),
    "delay_sooner": ("delaysooner", "soonerdelay", "ssdelay", "delayss", "tsooner", "ssd"),
    "amount_later": (
        *("amountlater", "lateramount", "llamount", "amountll", "alater", "lla"),
        *("delayedamount", "amountdelayed"),
    ),
    "delay_later": (
        *("delaylater", "laterdelay", "lldelay", "delayll", "tlater", "lld"),
        *("delay", "delaydays"),
    ),
    "choice": ("choice", "choselater", "chosen", "response", "chosedelayed", "chosell"),
}
"""Usual names of columns, as lower-case letters and digits only."""

_OPTIONAL = ("subject", "delay_sooner")
_NUMBERS = ("amount_sooner", "delay_sooner", "amount_later", "delay_later")
_WORDS = {
    **dict.fromkeys(("1", "1.0", "later", "ll", "true", "yes"), 1.0),
    **dict.fromkeys(("0", "0.0", "sooner", "ss", "false", "no"), 0.0),
}
"""Words for the later and the sooner reward, in lower case."""

_READINGS = {
    "subject": "There is no column of subjects: all rows are read as one subject's.",
    "choice": "There is no column of choices: the rows are read as a design.",
}
"""How rows are read without a column."""

_LARGEST = 1e30  # amount or delay; far larger and far smaller ones would overflow in fits


class ChoiceRows(RowReader):
    """Receives rows with pairs of rewards, and perhaps choices between them.

    Args:
        needs_choices: Whether a missing column of choices is an error.
        columns: Names of columns by what they hold, where they are not the usual ones.
    """

    row = "choice"

    def __init__(self, *, needs_choices: bool, columns: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._asked = {check_choice("columns", what, _NAMES): name for what, name in (columns or {}).items()}
        self._needs_choices = needs_choices or "choice" in self._asked
        self._subjects: dict[tuple[int, str], int] = {}
        """Numbers of the subjects by name, and by file if the file has no column of subjects."""
        self._pieces: dict[str, list[NDArray[Any]]] = {}
        self._codes: set[str] = set()

    def begin(self, table: Table) -> None:
        """Note which columns are not used if choices or subjects are missing."""
        unused = ", ".join(repr(name) for name in _unused(table.names, self.indices)[:8])
        for what, reading in _READINGS.items():
            if what not in self.indices and unused and not (what == "subject" and self.many):
                note = f"{reading} Not used: {unused}. If one of them is, name it: --column {what}=…"
                self.notes[note] = None

    def locate(self, names: Sequence[str]) -> dict[str, int]:
        """Return the indices of the columns, by what they hold."""
        source = self.source
        normal = [re.sub("[^a-z0-9]", "", name.lower()) for name in names]
        needs_choices = self._needs_choices or "chose_later" in self._pieces
        found = {}
        for what, known in _NAMES.items():
            asked = self._asked.get(what)
            at = [i for i, name in enumerate(normal) if name in known]
            if asked is not None:
                at = [i for i, name in enumerate(names) if name.strip() == asked.strip()]
                if not at:
                    listed = did_you_mean(asked, names) or _listed(names)
                    raise ValueError(f"{source} has no column {asked!r}.{listed}")
            if len(at) > 1:
                raise ValueError(
                    f"{source} must have one column {what!r}; got {names[at[0]]!r} and {names[at[1]]!r}."
                )
            if at:
                found[what] = at[0]
            elif what not in _OPTIONAL:
                hint = did_you_mean(what, _unused(names, found))
                if hint or what != "choice" or needs_choices:
                    rest = (
                        f"{hint or _listed(names)} Name it with --column {what}=… (columns={{{what!r}: …}})."
                    )
                    raise ValueError(f"{source} must have a column {what!r}.{rest}")
        if "choice" in found and self._pieces and "chose_later" not in self._pieces:
            raise ValueError(f"{source} must have choices in all rows or in none; the rows before have none.")
        return found

    def take(self, rows: CheckedRows) -> None:
        """Read a batch of pairs."""
        found: dict[str, NDArray[Any]] = {what: np.zeros(len(rows)) for what in _NUMBERS}
        for what in _NUMBERS:
            if what in rows:
                found[what] = _in_range(rows, what)
        is_later = found["delay_later"] > found["delay_sooner"]
        rows.require(is_later, "delay_later must be larger than delay_sooner", "delay_later")
        if "choice" in rows:
            found["chose_later"] = self._choices(rows)
        found["subject"] = self._numbers_of(rows)
        for what, column in found.items():
            self._pieces.setdefault(what, []).append(column[rows.good])

    def _choices(self, rows: CheckedRows) -> FloatArray:
        """Return 1 for later and 0 for sooner."""
        words, where = rows.words("choice")
        words = [word.lower() for word in words]
        self._codes.update(word.removesuffix(".0") for word in words)
        if {"1", "2"} <= self._codes:
            raise ValueError(
                f"{self.source} must have 1 for later and 0 for sooner in the column of choices; got 1 and "
                "2. Recode them, or write 'later' and 'sooner'."
            )
        chosen = np.array([_WORDS.get(word, np.nan) for word in words])[where]
        rows.require(~np.isnan(chosen), "choice must be 1 or 'later', 0 or 'sooner'", "choice")
        return chosen

    def _numbers_of(self, rows: CheckedRows) -> IntArray:
        """Return the number of each row's subject."""
        if "subject" not in rows:
            key = (self.file, self.source) if self.many else (-1, "all")
            return np.full(len(rows), self._subjects.setdefault(key, len(self._subjects)))
        words, where = rows.words("subject")
        named = np.array([bool(word) for word in words])[where]
        rows.require(named, "subject must not be empty", "subject")
        numbers = np.zeros(len(words), dtype=np.int64)
        at, first = np.unique(where[rows.good], return_index=True)
        for k in at[np.argsort(first)].tolist():  # in the order in which they appear
            numbers[k] = self._subjects.setdefault((-1, words[k]), len(self._subjects))
        return np.asarray(numbers[where])

    def build(self, name: str) -> dict[str, Any]:
        """Return the columns, the names of the subjects, the numbers of rows and the name of the source."""
        table = {what: np.concatenate(pieces) for what, pieces in self._pieces.items()}
        account = self.account(name, table["subject"].size if table else 0)
        return {
            **table,
            "subjects": tuple(one for _, one in self._subjects),
            "account": account,
            "name": name,
        }


def _in_range(rows: CheckedRows, what: str) -> FloatArray:
    """Return amounts or delays that can be used."""
    values = rows.decimals(what)
    is_amount = what.startswith("amount")
    right = values > 0.0 if is_amount else values >= 0.0
    rows.require(right, f"{what} must be a number {'> 0' if is_amount else '≥ 0'}", what)
    fits = (values == 0.0) | (values >= 1.0 / _LARGEST) & (values <= _LARGEST)
    rows.require(fits, f"{what} must be between {1.0 / _LARGEST:g} and {_LARGEST:g}", what)
    return values


def _unused(names: Sequence[str], found: Mapping[str, int]) -> list[str]:
    return [name.strip()[:40] for i, name in enumerate(names) if i not in found.values()]


def _listed(names: Sequence[str]) -> str:
    return f" It has {', '.join(name.strip()[:40] for name in names[:8])}{', …' * (len(names) > 8)}."
