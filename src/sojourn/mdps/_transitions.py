"""Transition tables: conversion of all accepted forms to one canonical, checked, read-only sparse table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from sojourn._typing import FloatArray
from sojourn.mdps._checks import float_array

if TYPE_CHECKING:
    Table: TypeAlias = csr_array[np.float64, tuple[int, int]]

__all__ = ["ReadOnlyCSR", "canonical", "check_probabilities", "freeze", "pair_of_entry", "table_bytes"]

TOLERANCE = 1e-12
"""Largest deviation from 1 of the sum of a row's probabilities."""

_ROUNDED = 1e-4
_FORMS = "an (S, A, S) array, a sparse (S·A, S) array or a sequence of A sparse (S, S) arrays"


class ReadOnlyCSR(csr_array):
    """A read-only sparse array in CSR form.

    Row offsets are int64 and column indices int32, as the compiled loops require. SciPy accepts that in sums
    and products but needs equal types elsewhere, so conversions and copies use one index type.
    """

    def tocsr(self, copy: bool = False) -> Any:
        """Return the same table as a plain `csr_array`, both index arrays of one type."""
        return csr_array((self.data, self.indices, self.indptr), shape=self.shape, copy=copy)

    def tocoo(self, copy: bool = True) -> Any:
        """Return the same table as a `coo_array`."""
        return self.tocsr().tocoo(copy=copy)

    def copy(self) -> Any:
        """Return a writable plain `csr_array`."""
        return self.tocsr(copy=True)

    def asformat(self, format: Any, copy: bool = False) -> Any:  # noqa: A002 (SciPy's name)
        """Return the same table in another format; "csr" is a plain `csr_array`."""
        return self.tocsr(copy) if format == "csr" else super().asformat(format, copy)

    def resize(self, *shape: Any) -> None:
        """Raise an error: a checked table keeps its shape."""
        raise ValueError("transitions must stay as they are; resize transitions.copy().")

    def __setattr__(self, name: str, value: Any) -> None:
        data = self.__dict__.get("data")
        if name in {"data", "indices", "indptr"} and data is not None and not data.flags.writeable:
            raise AttributeError(f"transitions must stay as they are; set {name} of transitions.copy().")
        super().__setattr__(name, value)

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self.data.flags.writeable:
            raise ValueError("transitions must stay as they are; write to transitions.copy().")
        super().__setitem__(key, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        _lock(self)


def freeze(data: FloatArray, indices: Any, indptr: Any, shape: tuple[int, int]) -> ReadOnlyCSR:
    """Return a read-only table that takes over the arrays of a canonical table without copying."""
    frozen = ReadOnlyCSR(shape, dtype=np.float64)
    frozen.data = data
    frozen.indices = indices.astype(np.int32 if shape[1] < 2**31 else np.int64, copy=False)
    frozen.indptr = indptr.astype(np.int64, copy=False)
    frozen.has_sorted_indices = True
    frozen.has_canonical_format = True
    return _lock(frozen)


def canonical(transitions: Any) -> tuple[ReadOnlyCSR, int]:
    """Return the `(S·A, S)` table, sorted, merged and without zeros, and A; probabilities are not checked.

    A table that is already read-only is shared; anything else is copied.
    """
    if isinstance(transitions, ReadOnlyCSR) and not transitions.data.flags.writeable:
        return transitions, _count_actions(transitions.shape)
    if issparse(transitions):
        table = _own(transitions, "transitions")
        n_actions = _count_actions(table.shape)
    elif isinstance(transitions, (list, tuple)) and any(issparse(part) for part in transitions):
        table, n_actions = _interleave(transitions), len(transitions)
    else:
        table, n_actions = _from_dense(transitions)
    try:
        table.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"transitions must be a valid sparse array; {error}.") from error
    table.sum_duplicates()
    table.eliminate_zeros()
    return freeze(table.data, table.indices, table.indptr, table.shape), n_actions


def check_probabilities(table: ReadOnlyCSR, n_actions: int) -> None:
    """Raise an error for negative or NaN probabilities and rows that do not sum to 1; it names (s, a)."""
    bad = ~(table.data >= 0.0)
    if bad.any():
        entry = int(np.argmax(bad))
        pair = int(np.searchsorted(table.indptr, entry, side="right")) - 1
        place = f"{pair // n_actions}, {pair % n_actions}, {table.indices[entry]}"
        raise ValueError(f"transitions[{place}] must be a probability ≥ 0; got {float(table.data[entry])!r}.")
    empty = np.diff(table.indptr) == 0
    if empty.any():
        pair = int(np.argmax(empty))
        raise ValueError(
            f"transitions[{pair // n_actions}, {pair % n_actions}] must sum to 1; got 0.0. "
            "A state that ends the episode stays in itself with probability 1."
        )
    sums = np.add.reduceat(table.data, table.indptr[:-1])
    for pair in np.flatnonzero(~(np.abs(sums - 1.0) <= TOLERANCE)).tolist():
        total = math.fsum(table.data[table.indptr[pair] : table.indptr[pair + 1]])
        if not abs(total - 1.0) <= TOLERANCE:
            remedy = " Rounded or float32? Divide each row by its sum, in float64."
            raise ValueError(
                f"transitions[{pair // n_actions}, {pair % n_actions}] must sum to 1; got {total!r}."
                + (remedy if abs(total - 1.0) < _ROUNDED else "")
            )


def table_bytes(n_pairs: int, n_successors: int) -> int:
    """Return the size in bytes of a problem's tables: probabilities, columns, row offsets and rewards."""
    return n_pairs * (n_successors * (8 + 4) + 8 + 8)


def pair_of_entry(table: ReadOnlyCSR) -> Any:
    """Return the row s·A + a of every stored entry."""
    return np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))


def _lock(table: ReadOnlyCSR) -> ReadOnlyCSR:
    for array in (table.data, table.indices, table.indptr):
        array.flags.writeable = False
    return table


def _count_actions(shape: tuple[int, ...]) -> int:
    n_rows, n_states = shape if len(shape) == 2 else (0, 0)
    if n_states == 0 or n_rows == 0 or n_rows % n_states:
        raise ValueError(f"sparse transitions must have shape (S·A, S), row s·A + a; got {shape}.")
    return n_rows // n_states


def _own(part: Any, name: str) -> Table:
    if part.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers; got dtype {part.dtype}.")
    return csr_array(part, dtype=np.float64, copy=True)


def _interleave(parts: list[Any] | tuple[Any, ...]) -> Table:
    shapes = [getattr(part, "shape", ()) if issparse(part) else () for part in parts]
    n_states = shapes[0][-1] if shapes[0] else 0
    for action, shape in enumerate(shapes):
        if shape != (n_states, n_states) or n_states == 0:
            got = f"shape {shape}" if shape else type(parts[action]).__name__
            raise ValueError(
                f"transitions[{action}] must be a sparse (S, S) array, one for each action; got {got}."
            )
    stacked = vstack([_own(part, f"transitions[{a}]") for a, part in enumerate(parts)], format="csr")
    by_state = np.arange(n_states * len(parts)).reshape(len(parts), n_states).T.ravel()
    return stacked[by_state]


def _from_dense(transitions: Any) -> tuple[Table, int]:
    array = float_array("transitions", transitions, _FORMS)
    shape = array.shape
    if len(shape) != 3 or shape[0] != shape[2] or 0 in shape:
        remedy = ""
        if len(shape) == 3 and shape[1] == shape[2] and 0 not in shape:
            remedy = " From (A, S, S): np.moveaxis(transitions, 0, 1)."
        raise ValueError(f"transitions must be {_FORMS}; got shape {shape}.{remedy}")
    return csr_array(array.reshape(-1, shape[2])), shape[1]
