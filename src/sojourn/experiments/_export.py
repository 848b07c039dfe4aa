"""Exports all results as one tidy table with a row per trial and checkpoint."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from sojourn._files import read_at_most, write_atomically
from sojourn._memory import check_fits
from sojourn._text import UniqueNames, without_formula
from sojourn.experiments._results import Results
from sojourn.experiments.trials._content_checks import layout_of
from sojourn.experiments.trials._result import TrialResult
from sojourn.laws import label, read_stored_law

__all__ = ["export_csv", "export_parquet", "is_export", "table_columns"]

_SUMS = {
    "cumulative_regret": "regret",
    "cumulative_regret_width": "regret_width",
    "cumulative_regret_error": "regret_error",
    "cumulative_price": "price",
    "cumulative_reward": "rewards",
    "cumulative_steps": "lengths",
    "cumulative_observed": "observed",
}
"""Columns with sums up to an episode, and the array that each sums up.

`cumulative_regret_error` is the standard error of an estimated `cumulative_regret`, and empty if it is exact.
"""

_WHOLE = ("cumulative_steps", "cumulative_observed")
_TEXTS = ("experiment", "problem", "law", "agent")
_GRID_PREFIX = "agent."
"""Prefix of the columns of grids; `agent.law` is the agent's law, and `law` the true one."""

_LONGEST_LAW = 60  # characters of a law up to which it is written out
_LARGEST = 2**53  # largest number of a spec
_MOST_GRIDS = 1_000  # columns of grids in one table
_GROUP_ROWS = 1 << 20  # rows per Parquet row group, about
_GROUP_COLUMNS = 64  # with more columns, row groups have fewer rows: about 0.5 GB are in memory at a time
_CELL_BYTES = 16  # least memory per cell while a table of pandas is made
_PIECE_ROWS = 1 << 16  # most rows of a CSV file that are in memory as text at a time: about 40 MB
_PIECE_NAMES = 1 << 24  # characters of names that are in memory with them, if names are long


def _grids(results: Results) -> list[str]:
    """Return the paths of all grids, in order of first appearance.

    Raises:
        ValueError: If there are too many for one table.
    """
    grids = list(dict.fromkeys(path for trial in results for path in trial.varied))
    if len(grids) > _MOST_GRIDS:
        raise ValueError(
            f"A table must have at most {_MOST_GRIDS:,} columns of grids; got {len(grids):,}. "
            "Choose one experiment."
        )
    return grids


def _law_names(results: Results) -> dict[str, str]:
    """Return a name for the text of each law: itself, or a short one for laws with long data.

    Different laws have different names, which are numbered if their short names are equal.
    """
    names = UniqueNames()
    return {
        text: names.name(text if len(text) <= _LONGEST_LAW else label(read_stored_law(text)), text)
        for text in dict.fromkeys(trial.law for trial in results)
    }


def _texts(trial: TrialResult, laws: dict[str, str]) -> dict[str, str]:
    """Return the columns of `_TEXTS`."""
    return {name: getattr(trial, name) for name in _TEXTS} | {"law": laws[trial.law]}


def _columns(trial: TrialResult) -> dict[str, Any]:
    """Return the columns that differ between the rows of a trial."""
    columns: dict[str, Any] = {"episode": trial.checkpoints}
    for column, name in _SUMS.items():
        found = trial.cumulative(name)
        if found is not None:
            columns[column] = found.astype(np.int64 if column in _WHOLE else np.float64)
    return columns


def table_columns(results: Results) -> dict[str, Any]:
    """Return the columns of the exported table as arrays; numbers that are not known are NaN."""
    grids, laws = _grids(results), _law_names(results)
    n_rows = sum(layout_of(trial.settings).most for trial in results)
    n_columns = len(_TEXTS) + len(grids) + len(_SUMS) + 3
    check_fits(_CELL_BYTES * n_rows * n_columns, "The table of all results", "select one experiment")
    parts: dict[str, list[Any]] = {}
    for trial in (each.uncached() for each in results):
        columns, size = _columns(trial), trial.checkpoints.size
        fixed = _texts(trial, laws) | {_GRID_PREFIX + grid: trial.varied.get(grid) for grid in grids}
        for name, value in (fixed | {"seed": trial.seed}).items():
            parts.setdefault(name, []).append([value] * size)
        for name in ("episode", *_SUMS):
            parts.setdefault(name, []).append(columns.get(name, np.full(size, np.nan)))
        parts.setdefault("trial", []).append([trial.key] * size)
    is_array = {"episode", *_SUMS}
    return {
        name: np.concatenate(found) if name in is_array else list(itertools.chain.from_iterable(found))
        for name, found in parts.items()
    }


def export_csv(results: Results, path: str | Path, progress: Callable[[float], object] | None = None) -> int:
    """Write the table as CSV, atomically and with all digits; return the number of rows.

    What a spreadsheet would take for the beginning of a formula gets a `'` in front of it.
    """
    n_rows = 0

    def write(file: IO[bytes]) -> None:
        nonlocal n_rows
        grids, laws = _grids(results), _law_names(results)
        header = [*_TEXTS, *(_GRID_PREFIX + grid for grid in grids), "seed", "episode", *_SUMS, "trial"]
        file.write((",".join(map(_cell, header)) + "\n").encode())
        for i, trial in enumerate(each.uncached() for each in results):
            columns, size = _columns(trial), trial.checkpoints.size
            before = [*_texts(trial, laws).values(), *(trial.varied.get(g, "") for g in grids)]
            start = ",".join(_cell(value) for value in (*before, trial.seed))
            n_together = max(1, min(_PIECE_ROWS, _PIECE_NAMES // len(start)))
            for first in range(0, size, n_together):
                part = slice(first, min(first + n_together, size))
                texts = (_digits(columns.get(name), part) for name in ("episode", *_SUMS))
                lines = (f"{start},{','.join(row)},{trial.key}\n" for row in zip(*texts, strict=True))
                file.write("".join(lines).encode())
            n_rows += size
            if progress is not None:
                progress((i + 1) / len(results))

    write_atomically(Path(path), write)
    return n_rows


def _digits(column: Any, part: slice) -> list[str]:
    """Return numbers of a part of a column with all digits, and empty texts for unknown ones."""
    if column is None:
        return [""] * (part.stop - part.start)
    return ["" if math.isnan(value) else repr(value) for value in column[part].tolist()]


def _cell(value: Any) -> str:
    """Return a value as a cell of a CSV file; text never begins a formula."""
    text = repr(value) if isinstance(value, (int, float)) else without_formula(str(value))
    if any(mark in text for mark in ',"\n\r'):
        return '"' + text.replace('"', '""') + '"'
    return text


def export_parquet(
    results: Results, path: str | Path, progress: Callable[[float], object] | None = None
) -> int:
    """Write the table as Parquet, atomically; return the number of rows.

    Raises:
        ValueError: If pyarrow is not installed.
    """
    try:
        import pyarrow  # noqa: PLC0415
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        raise ValueError("Parquet needs pyarrow; install it with: pip install 'sojourn[parquet]'.") from error
    laws = _law_names(results)
    grids = {_GRID_PREFIX + grid: _grid_type(results, grid, pyarrow) for grid in _grids(results)}
    words = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    kinds = dict.fromkeys(_TEXTS, words) | grids
    kinds |= {"seed": pyarrow.int64(), "episode": pyarrow.int64()}
    kinds |= {name: pyarrow.int64() if name in _WHOLE else pyarrow.float64() for name in _SUMS}
    schema = pyarrow.schema(list((kinds | {"trial": words}).items()))
    n_rows, n_trials = 0, 0

    def write(file: IO[bytes]) -> None:
        nonlocal n_rows, n_trials
        with parquet.ParquetWriter(file, schema) as writer:
            for group in _groups(results, len(schema)):
                for table in _tables(group, laws, schema, pyarrow):
                    writer.write_table(table)
                    n_rows += table.num_rows
                n_trials += len(group)
                if progress is not None:
                    progress(n_trials / len(results))

    write_atomically(Path(path), write)
    return n_rows


def is_export(path: Path) -> bool:
    """Whether a file has the first columns of an exported table: then nothing is lost if it is replaced."""
    if path.suffix.lower() == ".csv":
        start = (",".join(_TEXTS) + ",").encode()
        return read_at_most(path, len(start), follow=True)[: len(start)] == start
    if not path.is_file():  # opening a pipe would wait for its writer
        return False
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415
    except ImportError:
        return True  # `export_parquet` says what to install
    try:
        return tuple(parquet.read_schema(path.absolute()).names[: len(_TEXTS)]) == _TEXTS
    except (ArrowException, OSError):
        return False


def _groups(results: Results, n_columns: int) -> Iterator[list[TrialResult]]:
    """Yield trials in groups of about as many rows as a row group has."""
    group: list[TrialResult] = []
    n_rows = 0
    for each in results:
        trial = each.uncached()
        group.append(trial)
        n_rows += trial.checkpoints.size
        if n_rows >= _rows_per_group(n_columns):
            yield group
            group, n_rows = [], 0
    if group:
        yield group


def _rows_per_group(n_columns: int) -> int:
    return min(_GROUP_ROWS, _GROUP_ROWS * _GROUP_COLUMNS // n_columns)


def _grid_type(results: Results, grid: str, pyarrow: Any) -> Any:
    values = [trial.varied[grid] for trial in results if grid in trial.varied]
    if all(map(_is_number, values)):
        return pyarrow.float64()
    return pyarrow.dictionary(pyarrow.int32(), pyarrow.string())  # a law may have thousands of letters


def _is_number(value: Any) -> bool:
    """Whether a value of a grid is a number; larger ones than specs allow count as text."""
    return type(value) is float or (type(value) is int and abs(value) <= _LARGEST)


def _tables(trials: list[TrialResult], laws: dict[str, str], schema: Any, pyarrow: Any) -> Iterator[Any]:
    """Yield the rows of these trials as one table, or as several if there are many columns."""
    columns = [_columns(trial) for trial in trials]
    sizes = [trial.checkpoints.size for trial in trials]
    rows = np.repeat(np.arange(len(trials)), sizes)
    is_wide = len(schema) > _GROUP_COLUMNS
    step = _rows_per_group(len(schema)) if is_wide else max(1, rows.size)
    for first in range(0, rows.size, step):
        part = slice(first, first + step)
        arrays = []
        for field in schema:
            if field.name in ("episode", *_SUMS):
                found = [column.get(field.name) for column in columns]
                gaps = np.repeat([one is None for one in found], sizes)[part]
                filled = [np.zeros(n) if one is None else one for one, n in zip(found, sizes, strict=True)]
                arrays.append(pyarrow.array(np.concatenate(filled)[part], field.type, mask=gaps))
            else:
                is_word = pyarrow.types.is_dictionary(field.type)
                values = [_fixed(trial, field.name, laws, is_word=is_word) for trial in trials]
                array = pyarrow.array(values, field.type.value_type if is_word else field.type)
                arrays.append(
                    (array.dictionary_encode() if is_word else array).take(pyarrow.array(rows[part]))
                )
        yield pyarrow.Table.from_arrays(arrays, schema=schema)


def _fixed(trial: TrialResult, column: str, laws: dict[str, str], *, is_word: bool) -> Any:
    """Return what a column that is not in `_columns` has in every row of a trial."""
    if column in _TEXTS:
        return laws[trial.law] if column == "law" else getattr(trial, column)
    if not column.startswith(_GRID_PREFIX):
        return trial.seed if column == "seed" else trial.key
    value = trial.varied.get(column.removeprefix(_GRID_PREFIX))
    return value if value is None or isinstance(value, str) or not is_word else repr(value)
