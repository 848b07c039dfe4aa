"""One tidy table of all results: a row for each trial and checkpoint."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from sojourn._files import write_atomically
from sojourn.experiments._results import Results
from sojourn.experiments.trials._result import TrialResult

__all__ = ["export_csv", "export_parquet"]

_SUMS = {
    "cumulative_regret": "regret",
    "cumulative_regret_width": "regret_width",
    "cumulative_price": "price",
    "cumulative_reward": "rewards",
    "cumulative_steps": "lengths",
    "cumulative_observed": "observed",
}
"""Columns of what is summed up to an episode, and what they sum."""

_WHOLE = ("cumulative_steps", "cumulative_observed")
_TEXTS = ("experiment", "problem", "law", "learner")
_GRID = "learner."
"""What the columns of grids begin with: no other column does, and a learner's `law` is not the true one."""

_AT_ONCE = 1 << 20  # rows of a group


def _grids(results: Results) -> list[str]:
    """Return the paths of all grids, in the order in which they come up."""
    return list(dict.fromkeys(path for trial in results for path in trial.varied))


def _columns(trial: TrialResult) -> dict[str, Any]:
    """Return the columns that change from row to row."""
    columns: dict[str, Any] = {"episode": trial.checkpoints}
    for column, name in _SUMS.items():
        found = trial.cumulative(name)
        if found is not None:
            columns[column] = found.astype(np.int64 if column in _WHOLE else np.float64)
    return columns


def export_csv(results: Results, path: str | Path, progress: Callable[[float], object] | None = None) -> int:
    """Write the table as CSV in one step, numbers to their last digit; return the number of rows."""
    n_rows = 0

    def write(file: IO[bytes]) -> None:
        nonlocal n_rows
        grids = _grids(results)
        header = [*_TEXTS, *(_GRID + grid for grid in grids), "seed", "episode", *_SUMS, "trial"]
        file.write((",".join(map(_quoted, header)) + "\n").encode())
        for i, trial in enumerate(each.passing() for each in results):
            columns, size = _columns(trial), trial.checkpoints.size
            before = [*(getattr(trial, name) for name in _TEXTS), *(trial.varied.get(g, "") for g in grids)]
            start = ",".join(_quoted(value) for value in (*before, trial.seed))
            texts = (_digits(columns.get(name), size) for name in ("episode", *_SUMS))
            lines = (f"{start},{','.join(row)},{trial.key}\n" for row in zip(*texts, strict=True))
            file.write("".join(lines).encode())
            n_rows += size
            if progress is not None:
                progress((i + 1) / len(results))

    write_atomically(Path(path), write)
    return n_rows


def _digits(column: Any, size: int) -> list[str]:
    """Return numbers to their last digit, and nothing for what is not known."""
    if column is None:
        return [""] * size
    return ["" if math.isnan(value) else repr(value) for value in column.tolist()]


def _quoted(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    if any(mark in text for mark in ',"\n\r'):
        return '"' + text.replace('"', '""') + '"'
    return text


def export_parquet(
    results: Results, path: str | Path, progress: Callable[[float], object] | None = None
) -> int:
    """Write the table as Parquet in one step; return the number of rows.

    Raises:
        ValueError: If pyarrow is not installed.
    """
    try:
        import pyarrow  # noqa: PLC0415
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        raise ValueError("Parquet needs pyarrow; install it with: pip install 'sojourn[parquet]'.") from error
    grids = {grid: _kind_of_grid(results, grid, pyarrow) for grid in _grids(results)}
    words = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    kinds = dict.fromkeys(_TEXTS, words) | {_GRID + grid: kind for grid, kind in grids.items()}
    kinds |= {"seed": pyarrow.int64(), "episode": pyarrow.int64()}
    kinds |= {name: pyarrow.int64() if name in _WHOLE else pyarrow.float64() for name in _SUMS}
    schema = pyarrow.schema(list((kinds | {"trial": words}).items()))
    n_rows = 0

    def write(file: IO[bytes]) -> None:
        nonlocal n_rows
        with parquet.ParquetWriter(file, schema) as writer:
            for i, group in enumerate(_groups(results)):
                table = _table(group, grids, schema, pyarrow)
                writer.write_table(table)
                n_rows += table.num_rows
                if progress is not None:
                    progress(min(1.0, (i + 1) * _AT_ONCE / max(1, n_rows)))

    write_atomically(Path(path), write)
    return n_rows


def _groups(results: Results) -> Iterator[list[TrialResult]]:
    """Yield trials in groups of about as many rows as a group of Parquet should have."""
    group: list[TrialResult] = []
    n_rows = 0
    for each in results:
        trial = each.passing()
        group.append(trial)
        n_rows += trial.checkpoints.size
        if n_rows >= _AT_ONCE:
            yield group
            group, n_rows = [], 0
    if group:
        yield group


def _kind_of_grid(results: Results, grid: str, pyarrow: Any) -> Any:
    values = [trial.varied[grid] for trial in results if grid in trial.varied]
    are_numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    return pyarrow.float64() if are_numbers else pyarrow.string()


def _table(trials: list[TrialResult], grids: dict[str, Any], schema: Any, pyarrow: Any) -> Any:
    """Return the rows of some trials."""
    columns = [_columns(trial) for trial in trials]
    fixed = [_fixed(trial, grids, pyarrow) for trial in trials]
    sizes = [trial.checkpoints.size for trial in trials]
    rows = np.repeat(np.arange(len(trials)), sizes)
    arrays = []
    for field in schema:
        if field.name in fixed[0]:
            values = [known[field.name] for known in fixed]
            is_word = pyarrow.types.is_dictionary(field.type)
            array = pyarrow.array(values, field.type.value_type if is_word else field.type)
            arrays.append((array.dictionary_encode() if is_word else array).take(pyarrow.array(rows)))
        else:
            found = [column.get(field.name) for column in columns]
            gaps = np.repeat([part is None for part in found], sizes)
            filled = [np.zeros(n) if part is None else part for part, n in zip(found, sizes, strict=True)]
            arrays.append(pyarrow.array(np.concatenate(filled), field.type, mask=gaps))
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def _fixed(trial: TrialResult, grids: dict[str, Any], pyarrow: Any) -> dict[str, Any]:
    """Return the columns that are the same in all rows of a trial."""
    fixed: dict[str, Any] = {name: getattr(trial, name) for name in _TEXTS}
    fixed |= {"seed": trial.seed, "trial": trial.key}
    for grid, kind in grids.items():
        value = trial.varied.get(grid)
        is_text = kind == pyarrow.string() and value is not None and not isinstance(value, str)
        fixed[_GRID + grid] = repr(value) if is_text else value
    return fixed
