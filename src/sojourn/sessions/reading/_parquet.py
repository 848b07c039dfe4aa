"""Logs from Parquet files, a batch of rows at a time; needs pyarrow."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from sojourn._typing import BoolArray, IntArray
from sojourn.laws import MAX_STEP
from sojourn.sessions._log import SessionLog
from sojourn.sessions.reading._cells import flag_rule, read_flag, read_whole, shown, whole_rule
from sojourn.sessions.reading._columns import Columns, Wanted, find_columns
from sojourn.sessions.reading._ingest import Ledger

__all__ = ["read_parquet"]

_BATCH, _BUFFER = 1 << 17, 1 << 18
"""Rows that are read at once, and bytes: by default pyarrow keeps all columns of a million rows."""


def read_parquet(path: Path, wanted: Wanted, source: str) -> SessionLog:
    """Return the log in a Parquet file; see `sojourn.sessions.read_sessions`."""
    try:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise ValueError(
            f"{source} is a Parquet file, which needs pyarrow: pip install 'sojourn[parquet]'."
        ) from error
    try:
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as file:
            columns = find_columns(file.schema_arrow.names, wanted, source)
            places = (columns.length, columns.observed, columns.entry, columns.group)
            names = [columns.names[place] for place in places if place is not None]
            rows = _Rows(columns)
            for batch in file.iter_batches(batch_size=_BATCH, columns=names):
                rows.take({name: batch.column(name) for name in names})
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{source} cannot be read as Parquet: {_first_line(error)}") from error
    return rows.ledger.log(source)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(".") + "."


class _Rows:
    """Rows as they come."""

    def __init__(self, columns: Columns) -> None:
        self._columns, self.ledger = columns, Ledger(columns)
        self._passed = 0

    def take(self, batch: dict[str, Any]) -> None:
        """Read a batch of rows."""
        columns = self._columns
        lengths_of = batch[columns.name(columns.length)]
        good, ones = np.ones(len(lengths_of), dtype=bool), np.ones(len(lengths_of), dtype=np.int64)
        lengths = self._wholes(lengths_of, columns.name(columns.length), good)
        observed, entry, group = ones > 0, ones, ones - 1
        if columns.observed is not None:
            name = columns.name(columns.observed)
            observed = self._flags(batch[name], name, good) != columns.is_open
        if columns.entry is not None:
            name = columns.name(columns.entry)
            entry = self._wholes(batch[name], name, good)
            self.ledger.refuse_late(entry, lengths, self._passed + np.cumsum(ones), good)
        if columns.group is not None:
            group = self._codes(batch[columns.name(columns.group)], good)
        self.ledger.add(lengths, observed, entry, group, good=good)
        self._passed += good.size

    def _reject(self, good: BoolArray, i: int, rule: str, got: str) -> None:
        good[i] = False
        self.ledger.reject(self._passed + i + 1, rule, got)

    def _wholes(self, column: Any, name: str, good: BoolArray) -> IntArray:
        numbers = _numbers(column, flags=False)
        values = np.ones(good.size, dtype=np.int64)
        if numbers is None:
            for i, cell in enumerate(column.to_pylist()):
                value = read_whole(str(cell)) if isinstance(cell, (str, Decimal)) else None
                if value is None and good[i]:
                    self._reject(good, i, whole_rule(name), shown(str(cell)))
                values[i] = value or 1
            return values
        plain = (numbers >= 1) & (numbers <= MAX_STEP) & (np.floor(numbers) == numbers)
        values[plain] = numbers[plain].astype(np.int64)
        for i in np.flatnonzero(~plain & good).tolist():
            self._reject(good, i, whole_rule(name), shown(str(column[i].as_py())))
        return values

    def _flags(self, column: Any, name: str, good: BoolArray) -> BoolArray:
        numbers = _numbers(column, flags=True)
        if numbers is None:
            found = [_flag(cell) for cell in column.to_pylist()]
            plain = np.array([flag is not None for flag in found], dtype=bool)
            flags = np.array([flag is True for flag in found], dtype=bool)
        else:
            plain, flags = (numbers == 0) | (numbers == 1), numbers == 1
        for i in np.flatnonzero(~plain & good).tolist():
            self._reject(good, i, flag_rule(name), shown(str(column[i].as_py())))
        return flags

    def _codes(self, column: Any, good: BoolArray) -> IntArray:
        encoded = column.dictionary_encode() if hasattr(column, "dictionary_encode") else column
        words = [str(word) for word in encoded.dictionary.to_pylist()]
        raw = encoded.indices.to_numpy(zero_copy_only=False)
        places = np.where(np.isnan(raw), len(words), raw) if raw.dtype.kind == "f" else raw
        places = places.astype(np.int64)
        used = np.unique(places[good]).tolist()
        codes = np.zeros(len(words) + 1, dtype=np.int64)
        for i in used:
            codes[i] = self.ledger.code(words[i] if i < len(words) else "")
        return np.asarray(codes[places])


def _flag(cell: object) -> bool | None:
    """Return what a cell says that is no number of the machine's own."""
    if isinstance(cell, Decimal):
        return {0: False, 1: True}.get(int(cell)) if cell in (0, 1) else None
    return read_flag(cell) if isinstance(cell, str) else None


def _numbers(column: Any, *, flags: bool) -> Any:
    """Return a column of numbers, or of flags where they will do, NaN where there is none; else None."""
    import pyarrow.types as kinds  # noqa: PLC0415

    if flags and kinds.is_boolean(column.type):
        column = column.cast("int8")
    elif not (kinds.is_integer(column.type) or kinds.is_floating(column.type)):
        return None
    numbers = column.to_numpy(zero_copy_only=False)
    return numbers.astype(np.float64) if numbers.dtype == np.float16 else numbers  # that ends at 65,504
