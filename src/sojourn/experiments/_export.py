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
_LONGEST_TEXT = 200  # characters of other texts up to which CSV files have them in full, row by row
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


class _Table:
    """The columns of a table that are the same in all rows of a trial.

    Laws with long data have short names. CSV files, which repeat texts in every row, have no formulas and no
    long texts. Different texts of a column stay different: names that would be equal are numbered.
    """

    def __init__(self, results: Results, *, is_csv: bool = False) -> None:
        self._is_csv = is_csv
        self.grids = _grids(results)
        self.numeric = {
            grid
            for grid in self.grids
            if all(_is_number(trial.varied[grid]) for trial in results if grid in trial.varied)
        }
        """Grids whose values are all numbers; those of the others are texts."""
        self._names: dict[str, UniqueNames] = {}
        self._laws: dict[str, str] = {}

    def fixed(self, trial: TrialResult) -> dict[str, Any]:
        """Return texts, values of grids (None if the trial has none) and the seed of a trial."""
        columns: dict[str, Any] = {name: self._name(name, getattr(trial, name)) for name in _TEXTS}
        columns |= {_GRID_PREFIX + grid: self._value(trial, grid) for grid in self.grids}
        return columns | {"seed": trial.seed}

    def _value(self, trial: TrialResult, grid: str) -> Any:
        if grid not in trial.varied or grid in self.numeric:
            return trial.varied.get(grid)
        return self._name(_GRID_PREFIX + grid, trial.varied[grid])

    def _name(self, column: str, value: Any) -> str:
        text = value if isinstance(value, str) else repr(value)
        if column == "law":
            if text not in self._laws:
                self._laws[text] = text if len(text) <= _LONGEST_LAW else label(read_stored_law(text))
            text = self._laws[text]
        if self._is_csv and not _is_number(value):
            text = without_formula(text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…")
        names = self._names.setdefault(column, UniqueNames())
        return names.name(text, value if isinstance(value, str) else f"{type(value)} {value!r}")


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
    table = _Table(results)
    n_rows = sum(layout_of(trial.settings).most for trial in results)
    n_columns = len(_TEXTS) + len(table.grids) + len(_SUMS) + 3
    check_fits(_CELL_BYTES * n_rows * n_columns, "The table of all results", "select one experiment")
    parts: dict[str, list[Any]] = {}
    for trial in (each.uncached() for each in results):
        columns, size = _columns(trial), trial.checkpoints.size
        for name, value in table.fixed(trial).items():
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
        table = _Table(results, is_csv=True)
        names = UniqueNames()
        header = [*_TEXTS, *(_GRID_PREFIX + grid for grid in table.grids), "seed", "episode", *_SUMS, "trial"]
        header = [names.name(without_formula(name), name) for name in header]
        file.write((",".join(map(_cell, header)) + "\n").encode())
        for i, trial in enumerate(each.uncached() for each in results):
            columns, size = _columns(trial), trial.checkpoints.size
            start = ",".join(map(_cell, table.fixed(trial).values()))
            n_together = max(1, min(_PIECE_ROWS, _PIECE_NAMES // len(start)))
            for first in range(0, size, n_together):
                part = slice(first, min(first + n_together, size))
                digits = (_digits(columns.get(name), part) for name in ("episode", *_SUMS))
                lines = (f"{start},{','.join(row)},{trial.key}\n" for row in zip(*digits, strict=True))
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
    """Return a value as a cell of a CSV file, empty for None."""
    text = "" if value is None else str(value)
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
    fixed = _Table(results)
    words = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    kinds = dict.fromkeys(_TEXTS, words)
    for grid in fixed.grids:
        kinds[_GRID_PREFIX + grid] = pyarrow.float64() if grid in fixed.numeric else words
    kinds |= {"seed": pyarrow.int64(), "episode": pyarrow.int64()}
    kinds |= {name: pyarrow.int64() if name in _WHOLE else pyarrow.float64() for name in _SUMS}
    schema = pyarrow.schema(list((kinds | {"trial": words}).items()))
    n_rows, n_trials = 0, 0

    def write(file: IO[bytes]) -> None:
        nonlocal n_rows, n_trials
        with parquet.ParquetWriter(file, schema) as writer:
            for group in _groups(results, len(schema)):
                for table in _tables(group, fixed, schema, pyarrow):
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


def _is_number(value: Any) -> bool:
    """Whether a value of a grid is a number; larger ones than specs allow count as text."""
    return type(value) is float or (type(value) is int and abs(value) <= _LARGEST)


def _tables(trials: list[TrialResult], table: _Table, schema: Any, pyarrow: Any) -> Iterator[Any]:
    """Yield the rows of these trials as one table, or as several if there are many columns."""
    columns = [_columns(trial) for trial in trials]
    sizes = [trial.checkpoints.size for trial in trials]
    fixed = [table.fixed(trial) | {"trial": trial.key} for trial in trials]
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
                values = [one[field.name] for one in fixed]
                array = pyarrow.array(values, field.type.value_type if is_word else field.type)
                arrays.append(
                    (array.dictionary_encode() if is_word else array).take(pyarrow.array(rows[part]))
                )
        yield pyarrow.Table.from_arrays(arrays, schema=schema)
