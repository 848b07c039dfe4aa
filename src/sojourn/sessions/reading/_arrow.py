"""Reads session logs from Parquet files and Arrow tables in batches of rows; needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sojourn._typing import IntArray
from sojourn.sessions._log import SessionLog
from sojourn.sessions.reading._columns import ColumnNames, find_columns
from sojourn.sessions.reading._tables import TableParser

__all__ = ["read_arrow_stream", "read_parquet"]

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
        # An absolute path: pyarrow takes a relative one such as "s3:/log.parquet" for an address.
        with pq.ParquetFile(path.absolute(), pre_buffer=False, buffer_size=_BUFFER_BYTES) as file:
            parser = TableParser(find_columns(file.schema_arrow.names, wanted, source))
            _feed(parser, file.iter_batches(batch_size=_BATCH_ROWS, columns=parser.names))
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        raise ValueError(f"{source} cannot be read as Parquet: {_first_line(error)}") from error
    return parser.builder.build(source)


def read_arrow_stream(table: Any, wanted: ColumnNames, source: str) -> SessionLog:
    """Read a session log from an object with Arrow's PyCapsule interface, such as a polars data frame."""
    try:
        import pyarrow as pa  # noqa: PLC0415
    except ImportError as error:
        raise ValueError(f"{source} is an Arrow table, which needs pyarrow: pip install pyarrow.") from error
    reader = pa.RecordBatchReader.from_stream(table)
    parser = TableParser(find_columns(reader.schema.names, wanted, source))
    _feed(parser, reader)
    return parser.builder.build(source)


def _feed(parser: TableParser, batches: Iterable[Any]) -> None:
    for batch in batches:
        parser.feed({name: ArrowColumn(batch.column(name)) for name in parser.names}, batch.num_rows)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(".") + "."


class ArrowColumn:
    """A column of an Arrow table."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def numbers(self, *, flags: bool) -> Any:
        """Return the values if they are numbers; see `TableColumn`."""
        return _numeric_column(self._column, flags=flags)

    def cells(self) -> Sequence[object]:
        """Return the values as Python objects."""
        found: list[object] = self._column.to_pylist()
        return found

    def words(self) -> tuple[list[str], IntArray]:
        """Return distinct words and the index of each; see `TableColumn`."""
        column = self._column
        encoded = column.dictionary_encode() if hasattr(column, "dictionary_encode") else column
        words = [str(word) for word in encoded.dictionary.to_pylist()]
        raw = encoded.indices.to_numpy(zero_copy_only=False)
        indices = np.where(np.isnan(raw), len(words), raw) if raw.dtype.kind == "f" else raw
        return words, indices.astype(np.int64)


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
