"""Reads session logs from Parquet files in batches of rows; needs pyarrow."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from sojourn._typing import BoolArray, IntArray
from sojourn.laws import MAX_STEP
from sojourn.sessions._log import SessionLog
from sojourn.sessions.reading._cells import (
    describe_cell,
    flag_rule,
    parse_flag,
    parse_whole,
    whole_number_rule,
)
from sojourn.sessions.reading._columns import ColumnMap, ColumnNames, find_columns
from sojourn.sessions.reading._ingest import LogBuilder

__all__ = ["read_parquet"]

_BATCH_ROWS, _BUFFER_BYTES = 1 << 17, 1 << 18
"""Rows per batch and bytes per read; with its defaults pyarrow holds all columns of a million rows."""


def read_parquet(path: Path, wanted: ColumnNames, source: str) -> SessionLog:
    """Read a session log from a Parquet file; see `sojourn.sessions.read_sessions`."""
    try:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise ValueError(
            f"{source} is a Parquet file, which needs pyarrow: pip install 'sojourn[parquet]'."
        ) from error
    try:
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER_BYTES) as file:
            columns = find_columns(file.schema_arrow.names, wanted, source)
            indices = (columns.length, columns.observed, columns.entry, columns.group)
            names = [columns.names[index] for index in indices if index is not None]
            parser = _ParquetParser(columns)
            for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=names):
                parser.feed({name: batch.column(name) for name in names})
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{source} cannot be read as Parquet: {_first_line(error)}") from error
    return parser.builder.build(source)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(".") + "."


class _ParquetParser:
    """Parses batches of rows and adds them to a `LogBuilder`."""

    def __init__(self, columns: ColumnMap) -> None:
        self._columns, self.builder = columns, LogBuilder(columns)
        self._n_rows = 0

    def feed(self, batch: dict[str, Any]) -> None:
        """Read a batch of rows, given as columns by name."""
        columns = self._columns
        lengths_of = batch[columns.name(columns.length)]
        good, ones = np.ones(len(lengths_of), dtype=bool), np.ones(len(lengths_of), dtype=np.int64)
        lengths = self._parse_wholes(lengths_of, columns.name(columns.length), good)
        observed, entry, group = ones > 0, ones, ones - 1
        if columns.observed is not None:
            name = columns.name(columns.observed)
            observed = self._parse_flags(batch[name], name, good) != columns.is_open
        if columns.entry is not None:
            name = columns.name(columns.entry)
            entry = self._parse_wholes(batch[name], name, good)
            self.builder.reject_late_entries(entry, lengths, self._n_rows + np.cumsum(ones), good)
        if columns.group is not None:
            group = self._parse_groups(batch[columns.name(columns.group)], good)
        self.builder.add(lengths, observed, entry, group, good=good)
        self._n_rows += good.size

    def _reject(self, good: BoolArray, i: int, rule: str, got: str) -> None:
        """Reject row i of the batch."""
        good[i] = False
        self.builder.reject(self._n_rows + i + 1, rule, got)

    def _parse_wholes(self, column: Any, name: str, good: BoolArray) -> IntArray:
        """Return the whole numbers in a column; rejects rows that have none."""
        numbers = _numeric_column(column, flags=False)
        values = np.ones(good.size, dtype=np.int64)
        if numbers is None:
            for i, cell in enumerate(column.to_pylist()):
                value = parse_whole(str(cell)) if isinstance(cell, (str, Decimal)) else None
                if value is None and good[i]:
                    self._reject(good, i, whole_number_rule(name), describe_cell(str(cell)))
                values[i] = value or 1
            return values
        valid = (numbers >= 1) & (numbers <= MAX_STEP) & (np.floor(numbers) == numbers)
        values[valid] = numbers[valid].astype(np.int64)
        for i in np.flatnonzero(~valid & good).tolist():
            self._reject(good, i, whole_number_rule(name), describe_cell(str(column[i].as_py())))
        return values

    def _parse_flags(self, column: Any, name: str, good: BoolArray) -> BoolArray:
        """Return the flags in a column; rejects rows that have none."""
        numbers = _numeric_column(column, flags=True)
        if numbers is None:
            found = [_parse_object_flag(cell) for cell in column.to_pylist()]
            valid = np.array([flag is not None for flag in found], dtype=bool)
            flags = np.array([flag is True for flag in found], dtype=bool)
        else:
            valid, flags = (numbers == 0) | (numbers == 1), numbers == 1
        for i in np.flatnonzero(~valid & good).tolist():
            self._reject(good, i, flag_rule(name), describe_cell(str(column[i].as_py())))
        return flags

    def _parse_groups(self, column: Any, good: BoolArray) -> IntArray:
        """Return the groups in a column as integer codes; the group of a missing cell is ""."""
        encoded = column.dictionary_encode() if hasattr(column, "dictionary_encode") else column
        words = [str(word) for word in encoded.dictionary.to_pylist()]
        raw = encoded.indices.to_numpy(zero_copy_only=False)
        indices = np.where(np.isnan(raw), len(words), raw) if raw.dtype.kind == "f" else raw
        indices = indices.astype(np.int64)
        used = np.unique(indices[good]).tolist()
        codes = np.zeros(len(words) + 1, dtype=np.int64)
        for i in used:
            codes[i] = self.builder.group_code(words[i] if i < len(words) else "")
        return np.asarray(codes[indices])


def _parse_object_flag(cell: object) -> bool | None:
    """Parse a flag from a string or decimal; None if it is neither true nor false."""
    if isinstance(cell, Decimal):
        return {0: False, 1: True}.get(int(cell)) if cell in (0, 1) else None
    return parse_flag(cell) if isinstance(cell, str) else None


def _numeric_column(column: Any, *, flags: bool) -> Any:
    """Return a numeric column as an array with NaN for missing cells; None if it is not numeric.

    Args:
        column: The Arrow column.
        flags: Whether a boolean column counts as numeric.
    """
    import pyarrow.types as arrow_types  # noqa: PLC0415

    if flags and arrow_types.is_boolean(column.type):
        column = column.cast("int8")
    elif not (arrow_types.is_integer(column.type) or arrow_types.is_floating(column.type)):
        return None
    numbers = column.to_numpy(zero_copy_only=False)
    return numbers.astype(np.float64) if numbers.dtype == np.float16 else numbers  # float16 ends at 65,504
