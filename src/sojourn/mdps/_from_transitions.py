"""Problems estimated from logged steps: relative frequencies and mean rewards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn._validation import check_choice, check_not_masked, check_whole, did_you_mean
from sojourn.mdps._outcomes import Outcomes

__all__ = ["read_log"]

COLUMNS = ("state", "action", "reward", "next_state", "terminated")


def read_log(
    log: Any, n_states: int | None, n_actions: int | None, start: Any, unvisited: str, **names: Any
) -> dict[str, Any]:
    """Return the constructor arguments of the `TabularMDP` estimated from the log."""
    check_choice("unvisited", unvisited, ("refuse", "stay"))
    if n_states is not None:
        n_states = check_whole("n_states", n_states, least=1)
    if n_actions is not None:
        n_actions = check_whole("n_actions", n_actions, least=1)
    columns = _columns(log)
    if len(columns["state"]) == 0:
        raise ValueError("log must have at least one row; got none.")
    counts = columns.get("count", np.ones(len(columns["state"])))
    terminated = _flags(columns["terminated"])
    rewards = _finite(columns["reward"])
    states = _numbers("state", columns["state"], n_states)
    actions = _numbers("action", columns["action"], n_actions)
    # If the episode terminated, the next state is ignored and may be missing.
    columns["next_state"][terminated] = 0.0
    next_states = _numbers("next_state", columns["next_state"], n_states)
    weights = _numbers("count", counts, None)
    if n_states is None:
        n_states = 1 + int(max(states.max(), next_states.max()))
    if n_actions is None:
        n_actions = 1 + int(actions.max())
    pairs = states * n_actions + actions
    missing = _untried(pairs, n_states, n_actions, unvisited)
    none = np.zeros(len(missing))
    return Outcomes(
        n_states=n_states,
        n_actions=n_actions,
        pairs=np.append(pairs, missing),
        weights=np.append(weights, np.ones(len(missing))).astype(np.float64),
        next_states=np.append(next_states, missing // n_actions),
        rewards=np.append(rewards, none + rewards.min()),
        terminated=np.append(terminated, none.astype(bool)),
    ).tables(start, divide=True, **names)


def _untried(pairs: IntArray, n_states: int, n_actions: int, unvisited: str) -> IntArray:
    """Return the (state, action) pairs that are not in the log, or raise an error, as `unvisited` says."""
    tried = np.unique(pairs)
    n_pairs = n_states * n_actions
    if len(tried) < n_pairs and unvisited == "refuse":
        gaps = np.append(tried, n_pairs) != np.arange(len(tried) + 1)
        first, others = int(np.argmax(gaps)), n_pairs - len(tried) - 1
        more = f" and {others:,} other{'s' * (others > 1)}" if others else ""
        raise ValueError(
            f"log must try every (state, action); got none of ({first // n_actions}, {first % n_actions})"
            f"{more}. Use unvisited='stay' to let {'them' if others else 'it'} stay and pay the lowest "
            "logged reward."
        )
    return np.setdiff1d(np.arange(n_pairs), tried, assume_unique=True)


def _columns(log: Any) -> dict[str, Any]:
    """Return the five columns as new arrays of equal length: float64 if possible, otherwise objects."""
    names = _names(log)
    if names is None:
        return _from_rows(log)
    for name in COLUMNS:
        if name not in names:
            raise ValueError(
                f"log must have a column {name!r}; got {sorted(names)}.{did_you_mean(name, names)}"
            )
    present = COLUMNS + (("count",) if "count" in names else ())
    for name in present:
        check_not_masked(f"log column {name!r}", log[name])
    columns = {name: _as_column(np.asarray(log[name])) for name in present}
    for name, column in columns.items():
        if column.shape != columns["state"].shape or column.ndim != 1:
            raise ValueError(
                f"log column {name!r} must have one value per row {columns['state'].shape}; "
                f"got {column.shape}."
            )
    return columns


def _names(log: Any) -> list[str] | None:
    if isinstance(log, np.ndarray):
        return None if log.dtype.names is None else list(log.dtype.names)
    if isinstance(log, Mapping):
        return [str(name) for name in log]
    return [str(name) for name in log.columns] if hasattr(log, "columns") else None


def _from_rows(log: Any) -> dict[str, Any]:
    if isinstance(log, (str, bytes)) or not hasattr(log, "__iter__"):
        raise TypeError(f"log must be rows of ({', '.join(COLUMNS)}) or a table of them; got {log!r}.")
    check_not_masked("log", log)
    rows = log if isinstance(log, np.ndarray) else list(log)
    if len(rows) == 0:
        return dict.fromkeys(COLUMNS, np.zeros(0))
    try:
        table = np.asarray(rows)
    except ValueError:
        table = np.zeros(0)
    if table.ndim == 2 and table.shape[1] == len(COLUMNS) and table.dtype.kind in "biuf":
        return {name: table[:, i].astype(np.float64) for i, name in enumerate(COLUMNS)}
    for i, row in enumerate(rows):
        if isinstance(row, (str, bytes, Mapping)) or not hasattr(row, "__len__") or len(row) != len(COLUMNS):
            raise ValueError(f"log row {i}: must be ({', '.join(COLUMNS)}); got {row!r}.")
    by_column = zip(*rows, strict=True)
    return {name: _as_column(_objects(column)) for name, column in zip(COLUMNS, by_column, strict=True)}


def _objects(values: tuple[Any, ...]) -> Any:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _as_column(column: Any) -> Any:
    if column.dtype.kind == "O" and not any(isinstance(value, (str, bytes)) for value in column.flat):
        try:
            return column.astype(np.float64)
        except (TypeError, ValueError):
            return column.copy()
    return column.astype(np.float64 if column.dtype.kind in "biuf" else object)


def _refuse(name: str, rule: str, column: Any, bad: Any) -> None:
    """Raise an error that names the first bad row; rows count from 0."""
    row = int(np.argmax(bad))
    got = column[row]
    got = got.item() if isinstance(got, np.generic) else got
    if isinstance(got, float) and got.is_integer():
        got = int(got)
    raise ValueError(f"log row {row}: {name} must be {rule}; got {got!r}.")


def _checked(name: str, rule: str, column: Any, is_good: Any) -> FloatArray:
    """Return the column as floats, or raise an error if a value is invalid or not a number."""
    if column.dtype.kind == "f":
        bad = ~is_good(column)
    else:
        bad = np.array([not (_is_number(value) and bool(is_good(np.float64(value)))) for value in column])
    if bad.any():
        _refuse(name, rule, column, bad)
    return np.asarray(column, dtype=np.float64)


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating))


def _finite(column: Any) -> FloatArray:
    return _checked("reward", "a finite number", column, np.isfinite)


def _flags(column: Any) -> BoolArray:
    return _checked("terminated", "true or false", column, lambda x: (x == 0) | (x == 1)).astype(np.bool_)


def _numbers(name: str, column: Any, count: int | None) -> IntArray:
    rule = "a whole number ≥ 0" if count is None else f"a whole number in 0 … {count - 1}"
    most = float(2**53 if count is None else count)
    checked = _checked(name, rule, column, lambda x: (x >= 0) & (x < most) & (x == np.floor(x)))
    return checked.astype(np.int64)
