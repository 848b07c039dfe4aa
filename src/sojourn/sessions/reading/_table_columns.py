"""Columns of tables in memory: NumPy arrays, Arrow columns and Python objects."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.laws import MAX_STEP

__all__ = ["ArrayColumn", "ObjectColumn", "arrow_cells", "arrow_column", "is_missing", "text_of"]


def is_missing(cell: object) -> bool:
    """Whether a cell has no value: None, NaN, or pandas' NA and NaT."""
    is_nan = isinstance(cell, float) and math.isnan(cell)
    return cell is None or is_nan or type(cell).__name__ in {"NAType", "NaTType"}


def text_of(cell: object) -> str:
    """Return a cell as text: empty without a value, and without a point for whole numbers."""
    if is_missing(cell):
        return ""
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    is_whole = isinstance(cell, float) and cell.is_integer() and abs(cell) <= MAX_STEP
    return str(int(cell)) if is_whole else str(cell)  # type: ignore[call-overload]


class ArrayColumn:
    """A column of values in memory: a NumPy array, or what can be converted to one; see `Column`."""

    def __init__(self, values: Any) -> None:
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(object), np.nan)
        array = np.asarray(values)
        exact = array.dtype.kind in "biufMm" and not _may_be_rounded(array, values)
        self.array = array if exact else np.asarray(values, dtype=object)
        if self.array.dtype == np.float16:  # ends at 65,504
            self.array = self.array.astype(np.float64)
        if self.array.ndim != 1:
            raise ValueError(f"columns must have one dimension; got shape {self.array.shape}.")

    def __len__(self) -> int:
        return self.array.size

    def cell(self, i: int) -> object:
        """Return a value as a Python object."""
        value = self.array[i]
        if self.array.dtype.kind in "Mm":  # as a text: `item` would return a number of nanoseconds
            return None if np.isnat(value) else str(value)
        return value.item() if isinstance(value, np.generic) else value

    number = cell

    def wholes(self) -> tuple[IntArray, BoolArray]:
        """Return the whole numbers of a numeric array, and which values these are."""
        if self.array.dtype.kind not in "iuf":
            return np.zeros(len(self), dtype=np.int64), np.zeros(len(self), dtype=bool)
        valid = (self.array >= 0) & (self.array <= MAX_STEP)
        if self.array.dtype.kind == "f":
            valid &= np.floor(self.array) == self.array
        return np.where(valid, self.array, 0).astype(np.int64), valid

    def decimals(self) -> tuple[FloatArray, BoolArray]:
        """Return the numbers of a numeric array, and which values these are."""
        if self.array.dtype.kind not in "iuf":
            return np.zeros(len(self)), np.zeros(len(self), dtype=bool)
        values = self.array.astype(np.float64)
        return values, np.isfinite(values)

    def words(self) -> tuple[list[str], IntArray]:
        """Return distinct words and the index of each cell's word."""
        if self.array.dtype.kind in "biuf":
            distinct, where = np.unique(self.array, return_inverse=True)
            return [text_of(value) for value in distinct.tolist()], where
        codes: dict[str, int] = {}
        cells = map(self.cell, range(len(self))) if self.array.dtype.kind in "Mm" else self.array.tolist()
        where = np.array([codes.setdefault(text_of(cell), len(codes)) for cell in cells])
        return list(codes), where.astype(np.int64)


def _may_be_rounded(array: NDArray[Any], values: Any) -> bool:
    """Whether values may be whole numbers that lost digits: some above 2**53 next to a missing value."""
    is_new = array.dtype.kind == "f" and not isinstance(values, np.ndarray)
    return is_new and bool((np.abs(array) >= MAX_STEP).any())


class ObjectColumn(ArrayColumn):
    """A column of Python objects of any kind, which are never converted to a common type."""

    def __init__(self, values: list[object]) -> None:
        self.array = np.empty(len(values), dtype=object)
        self.array[:] = values


def arrow_column(column: Any) -> ArrayColumn:
    """Return a column of an Arrow table."""
    import pyarrow.types as arrow_types  # noqa: PLC0415

    kind = column.type
    is_time = arrow_types.is_timestamp(kind) or arrow_types.is_duration(kind)
    is_number = arrow_types.is_boolean(kind) or arrow_types.is_integer(kind) or arrow_types.is_floating(kind)
    if is_time or is_number:
        array = column.to_numpy(zero_copy_only=False)
        if arrow_types.is_integer(kind) and _may_be_rounded(array, column):
            return ObjectColumn(column.to_pylist())
        return ArrayColumn(array)
    return _ArrowWords(column)


def arrow_cells(column: Any) -> list[object]:
    """Return the cells of an Arrow column as Python objects; equal texts of a dictionary are one object."""
    if not hasattr(column, "dictionary"):
        return list(column.to_pylist())
    words = column.dictionary.to_pylist()
    return [None if at is None else words[at] for at in column.indices.to_pylist()]


class _ArrowWords(ArrayColumn):
    """An Arrow column of texts or other objects, which become Python objects only where they are needed."""

    def __init__(self, column: Any) -> None:
        self._column = column
        self.array = np.broadcast_to(np.array(None, dtype=object), len(column))

    def cell(self, i: int) -> object:
        """Return a value as a Python object."""
        value: object = self._column[i].as_py()
        return value

    number = cell

    def words(self) -> tuple[list[str], IntArray]:
        """Return distinct words and the index of each cell's word."""
        column = self._column
        try:
            encoded = column.dictionary_encode() if hasattr(column, "dictionary_encode") else column
        except NotImplementedError:  # lists and other values that are not simple
            return ObjectColumn(column.to_pylist()).words()
        words = [text_of(word) for word in encoded.dictionary.to_pylist()]
        raw = encoded.indices.to_numpy(zero_copy_only=False)
        where = np.where(np.isnan(raw), len(words), raw) if raw.dtype.kind == "f" else raw
        return [*words, ""], where.astype(np.int64)
