"""A survival function given as a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn._typing import ArrayLike, FloatArray
from sojourn._validation import check_not_masked
from sojourn.laws._staircase import Staircase, StaircaseLaw

if TYPE_CHECKING:
    import os

__all__ = ["Tabulated"]


@dataclass(frozen=True, init=False, repr=False)
class Tabulated(StaircaseLaw):
    """Episode lengths given by a table of P(H ≥ 1), P(H ≥ 2), …; the survival is 0 past its end.

    Args:
        survival: γ(1) = 1, γ(2), …, in [0, 1] and non-increasing. Zeros at the end are dropped.

    Example:
        >>> law = Tabulated([1.0, 0.5, 0.5, 0.25, 0.0])
        >>> law
        Tabulated(survival=(1.0, 0.5, 0.5, 0.25))
        >>> law.pmf([1, 2, 3, 4, 5])
        array([0.5 , 0.  , 0.25, 0.25, 0.  ])
        >>> law.longest
        4
    """

    table: tuple[float, ...]

    def __init__(self, survival: ArrayLike) -> None:
        table = _check_table(survival)
        self._set(table=tuple(table[: int(np.count_nonzero(table))].tolist()))

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str]) -> Tabulated:
        """Read a table from a CSV file with one column, survival, or two columns, h and survival.

        Raises:
            ValueError: If the file cannot be read or a row is invalid; the message names both.
        """
        from sojourn.laws._survival_csv import read_survival  # noqa: PLC0415

        return cls(read_survival(path))

    def _parameters(self) -> dict[str, Any]:
        return {"survival": self.table}

    def _details(self) -> list[tuple[str, object]]:
        return [("steps in the table", f"{len(self.table):,}")]

    @cached_property
    def _stairs(self) -> Staircase:
        table = np.array(self.table)
        last = np.flatnonzero(np.append(table[1:] < table[:-1], True))
        levels = table[last]
        after = np.append(levels[1:], 0.0)
        return Staircase(last + 1, levels, (levels - after) / levels, after / levels)


def _check_table(values: ArrayLike) -> FloatArray:
    check_not_masked("survival", values)
    try:
        given = np.asarray(values)
    except ValueError as error:
        raise TypeError("survival must be one column of numbers in [0, 1].") from error
    if given.ndim != 1 or not given.size:
        raise ValueError(f"survival must be one column of numbers; got an array of shape {given.shape}.")
    if given.dtype.kind not in "iuf":
        raise TypeError(f"survival must be numbers in [0, 1]; got {given[0]!r}.")
    table = given.astype(np.float64)
    wrong = ~((table >= 0.0) & (table <= 1.0))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(f"survival[{at}] must be in [0, 1]; got {float(table[at])!r}.")
    if table[0] != 1.0:
        raise ValueError(
            f"survival[0] must be 1, because every episode has a first step; got {float(table[0])!r}."
        )
    rises = table[1:] > table[:-1]
    if rises.any():
        at = int(np.argmax(rises)) + 1
        before, here = float(table[at - 1]), float(table[at])
        raise ValueError(f"survival[{at}] must be at most survival[{at - 1}] = {before!r}; got {here!r}.")
    return table
