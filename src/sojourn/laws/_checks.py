"""Validation of lengths and of columns of lengths, with one-line error messages."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn._typing import ArrayLike, BoolArray, IntArray
from sojourn._validation import check_not_masked, check_whole
from sojourn.laws._base import MAX_STEP

__all__ = ["check_column", "check_flags", "check_length"]


def check_length(name: str, value: Any, *, least: int = 1) -> int:
    """Return `value` as an int from `least` to 2**53."""
    number = check_whole(name, value, least=least)
    if number > MAX_STEP:
        raise ValueError(f"{name} must be at most 2**53; got {value!r}.")
    return number


def check_column(name: str, values: ArrayLike, *, least: int) -> IntArray:
    """Return a column of whole numbers from `least` to 2**53; the error names the first wrong entry."""
    rule = f"a whole number from {least} to 2**53"
    column = _column(name, values, rule)
    if column.dtype.kind not in "iuf":
        raise TypeError(f"{name}[0] must be {rule}; got {column.ravel()[0]!r}.")
    wrong = ~((column >= least) & (column <= MAX_STEP))
    if column.dtype.kind == "f":
        wrong |= np.floor(column) != column
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(f"{name}[{at}] must be {rule}; got {column[at]}.")
    return column.astype(np.int64)


def check_flags(name: str, values: ArrayLike) -> BoolArray:
    """Return a column of booleans (1 and 0 are accepted); the error names the first wrong entry."""
    rule = "True or False"
    column = _column(name, values, rule)
    if column.dtype.kind == "b":
        return column
    if column.dtype.kind not in "iuf":
        raise TypeError(f"{name}[0] must be {rule}; got {column.ravel()[0]!r}.")
    wrong = (column != 0) & (column != 1)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(f"{name}[{at}] must be {rule}; got {column[at]}.")
    return np.asarray(column == 1)


def _column(name: str, values: ArrayLike, rule: str) -> NDArray[Any]:
    check_not_masked(name, values)
    try:
        column = np.asarray(values)
    except ValueError as error:
        raise TypeError(f"{name} must be one column, each {rule}.") from error
    if column.ndim != 1:
        raise ValueError(f"{name} must be one column; got an array of shape {column.shape}.")
    if not column.size:
        raise ValueError(f"{name} must not be empty.")
    return column
