"""Reads Parquet files, and tables in memory with Arrow's PyCapsule interface."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from sojourn.sessions.reading._tables import Batch, Locate, Table, arrow_column, text_of
from sojourn.sessions.reading.sources._records import FIRST_ROWS, emptied, numbered

__all__ = ["open_parquet", "table_of_arrow_stream"]

_ARROW_BATCH_ROWS, _ARROW_BUFFER_BYTES = 1 << 17, 1 << 18
"""Rows per batch and bytes per read; with its defaults pyarrow holds all columns of a million rows."""

_MOST_ARROW_BYTES = 1 << 27  # of rows that are read at a time; Python objects take ten times as much

_ARROW_TEXTS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")

_SHORT_CELL = 1 << 10  # bytes


@contextmanager
def open_parquet(path: Path) -> Iterator[Table]:
    source = path.name
    try:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise ValueError(
            f"{source} is a Parquet file, which needs pyarrow: pip install 'sojourn[parquet]'."
        ) from error
    try:
        # An absolute path: pyarrow takes a relative one such as "s3:/log.parquet" for an address.
        schema = pq.read_schema(path.absolute())
        with pq.ParquetFile(
            path.absolute(),
            pre_buffer=False,
            buffer_size=_ARROW_BUFFER_BYTES,
            # A long text that is repeated in every row then takes memory only once.
            read_dictionary=[one.name for one in schema if str(one.type) in _ARROW_TEXTS],
        ) as file:

            def chunks(wanted: Iterable[int]) -> Iterator[Any]:
                used = [schema.names[at] for at in wanted]
                for name in used:
                    kind = schema.field(name).type
                    if not (_is_plain(pa, kind) or pa.types.is_dictionary(kind) or pa.types.is_decimal(kind)):
                        raise ValueError(
                            f"{source} must have numbers, flags, times or text in {name!r}; it has {kind}."
                        )
                return _short_rows(file.iter_batches(batch_size=_ARROW_BATCH_ROWS, columns=used), source)

            head = _parquet_head(pa, file, schema, source)
            yield _table_of_arrow(schema.names, head, chunks, source)
    except (pa.ArrowException, KeyError, OSError, OverflowError, UnicodeDecodeError) as error:
        # A KeyError is that of an unknown time zone.
        lines = str(error).strip().splitlines() or [type(error).__name__]
        reason = lines[0][:200].rstrip(".")
        raise ValueError(f"{source} cannot be read as Parquet: {reason}.") from error


def _parquet_head(pa: Any, file: Any, schema: Any, source: str) -> Any:
    """Return the first rows of a Parquet file as a record batch; None if it has none.

    Columns of lists, structures and other long cells are null in it: a cell that is written once may be
    repeated in every row. The columns that are needed are checked as they are read.
    """
    is_plain = [_is_plain(pa, one.type) for one in schema]
    names = [name for name, plain in zip(schema.names, is_plain, strict=True) if plain]
    first = next(_short_rows(file.iter_batches(batch_size=FIRST_ROWS, columns=names), source), None)
    if first is None or all(is_plain):
        return first
    columns = [
        first.column(first.schema.get_field_index(name)) if plain else pa.nulls(len(first))
        for name, plain in zip(schema.names, is_plain, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=schema.names)


def _is_plain(pa: Any, kind: Any) -> bool:
    """Whether cells of an Arrow type are single numbers, flags, times or texts."""
    is_short = pa.types.is_fixed_size_binary(kind) and kind.byte_width <= _SHORT_CELL
    return (
        bool(is_short or pa.types.is_primitive(kind) or pa.types.is_null(kind)) or str(kind) in _ARROW_TEXTS
    )


def _short_rows(batches: Iterable[Any], source: str) -> Iterator[Any]:
    """Yield Arrow's record batches; raise `ValueError` for cells so long that they would fill the memory."""
    for batch in batches:
        if batch.nbytes > _MOST_ARROW_BYTES:
            size = f"{batch.nbytes >> 20:,} MB for {len(batch):,} rows"
            raise ValueError(f"{source} must have short rows; got {size}.")
        yield batch


def table_of_arrow_stream(table: Any, source: str) -> Table:
    """Return an object with Arrow's PyCapsule interface, such as a polars data frame."""
    try:
        import pyarrow as pa  # noqa: PLC0415
    except ImportError as error:
        raise ValueError(f"{source} is an Arrow table, which needs pyarrow: pip install pyarrow.") from error
    stream = pa.RecordBatchReader.from_stream(table)
    pending = list(islice(stream, 1))
    head = pending[0] if pending else None
    return _table_of_arrow(stream.schema.names, head, lambda _: emptied(pending, stream), source)


def _table_of_arrow(
    names: list[str], head: Any, chunks: Callable[[Iterable[int]], Iterable[Any]], source: str
) -> Table:
    """Return a table of Arrow's record batches, given the first one and a function that yields them all."""
    columns = [] if head is None else [_arrow_cells(one.slice(0, FIRST_ROWS)) for one in head.columns]
    first_rows = [[text_of(cell) for cell in row] for row in zip(*columns, strict=True)]

    def batches(locate: Locate) -> Iterator[Batch]:
        wanted = locate(names)
        return numbered(
            chunks(wanted.values()), wanted, lambda chunk, at: arrow_column(chunk.column(names[at]))
        )

    return Table(source, names, first_rows, batches)


def _arrow_cells(column: Any) -> list[object]:
    """Return the cells of an Arrow column as Python objects; equal texts of a dictionary are one object."""
    if not hasattr(column, "dictionary"):
        return list(column.to_pylist())
    words = column.dictionary.to_pylist()
    return [None if at is None else words[at] for at in column.indices.to_pylist()]
