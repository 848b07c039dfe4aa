"""Validation of rewards, start and terminal states; error messages name the wrong entry."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn._validation import check_not_masked, check_whole

if TYPE_CHECKING:
    from sojourn.mdps._transitions import ReadOnlyCSR

__all__ = [
    "as_grid",
    "as_names",
    "as_start",
    "as_terminal",
    "check_index",
    "check_terminal",
    "expected_rewards",
    "float_array",
]


def float_array(name: str, value: Any, rule: str) -> FloatArray:
    """Return `value` as a float64 array, without a copy if possible; it must be a table of real numbers."""
    check_not_masked(name, value)
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O" and all(isinstance(entry, numbers.Real) for entry in array.flat):
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{name} must be {rule}; got {type(value).__name__} that is not a table of numbers."
        ) from error
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be {rule}; got dtype {array.dtype}.")
    return np.asarray(array, dtype=np.float64)


def check_index(name: str, value: Any, count: int, kind: str = "a state") -> int:
    """Return `value` as an index in 0 … count − 1; `kind` names what it counts in the error message."""
    rule = f"{kind} in 0 … {count - 1}"
    try:
        index = check_whole(name, value, least=0)
    except TypeError:
        raise TypeError(f"{name} must be {rule}; got {value!r}.") from None
    except ValueError:
        raise ValueError(f"{name} must be {rule}; got {value!r}.") from None
    if index >= count:
        raise ValueError(f"{name} must be {rule}; got {value!r}.")
    return index


def as_names(name: str, names: Any, count: int, what: str) -> tuple[str, ...] | None:
    """Return the names of states or actions, or None if there are none; `what` is the plural in messages."""
    if names is None:
        return None
    rule = f"one text for each of the {count:,} {what}"
    if isinstance(names, (str, bytes)) or not hasattr(names, "__iter__"):
        raise TypeError(f"{name} must be {rule}; got {names!r}.")
    listed = [str(one) if isinstance(one, str) else one for one in names]
    if len(listed) != count:
        raise ValueError(f"{name} must be {rule}; got {len(listed):,}.")
    seen: dict[str, int] = {}
    for i, one in enumerate(listed):
        if not isinstance(one, str) or not one.strip():
            raise TypeError(f"{name}[{i}] must be text that is not empty; got {one!r}.")
        if one in seen:
            raise ValueError(f"{name} must all be different; got {one!r} at {seen[one]} and {i}.")
        seen[one] = i
    return tuple(listed)


def as_grid(grid: Any, n_states: int) -> tuple[int, int] | None:
    """Return the rows and columns of a map of the states, or None if there is no map."""
    if grid is None:
        return None
    try:
        rows, columns = (check_whole("grid", side, least=1) for side in grid)
    except (TypeError, ValueError):
        raise TypeError(f"grid must be the numbers of rows and columns of a map; got {grid!r}.") from None
    if rows * columns > n_states:
        raise ValueError(f"grid must have at most {n_states:,} cells, one or more states each; got {grid!r}.")
    return rows, columns


def as_start(start: Any, n_states: int) -> FloatArray:
    """Return the start, a state or a distribution, as a new `(S,)` distribution."""
    if isinstance(start, (str, bytes)) or np.ndim(start) == 0:
        distribution = np.zeros(n_states)
        distribution[check_index("start", start, n_states)] = 1.0
        return distribution
    rule = f"a state or a distribution of shape ({n_states},)"
    distribution = float_array("start", start, rule).copy()
    if distribution.shape != (n_states,):
        raise ValueError(f"start must be {rule}; got shape {distribution.shape}.")
    bad = ~(distribution >= 0.0)
    if bad.any():
        state = int(np.argmax(bad))
        raise ValueError(f"start[{state}] must be a probability ≥ 0; got {float(distribution[state])!r}.")
    total = math.fsum(distribution)
    if not abs(total - 1.0) <= 1e-12:
        raise ValueError(f"start must sum to 1; got {total!r}.")
    return distribution


def as_terminal(terminal: Any, n_states: int) -> tuple[int, ...]:
    """Return the terminal states, sorted and without duplicates; `terminal` is None, a state or several."""
    if terminal is None:
        return ()
    if (
        isinstance(terminal, (str, bytes))
        or not hasattr(terminal, "__iter__")
        or getattr(terminal, "ndim", 1) == 0
    ):
        return (check_index("terminal", terminal, n_states),)
    states = list(terminal)
    if any(isinstance(state, (bool, np.bool_)) for state in states):
        raise TypeError("terminal must be states; got booleans: use np.flatnonzero(terminal).")
    return tuple(sorted({check_index(f"terminal[{i}]", state, n_states) for i, state in enumerate(states)}))


def check_terminal(terminal: tuple[int, ...], table: ReadOnlyCSR, rewards: FloatArray) -> float:
    """Check that terminal states are absorbing and all pay the same reward; return that reward."""
    if not terminal:
        return 0.0
    states = np.asarray(terminal)
    n_actions = rewards.shape[1]
    pairs = (states[:, None] * n_actions + np.arange(n_actions)).ravel()
    homes = np.repeat(states, n_actions)
    first = table.indptr[pairs]
    leaves = (table.indptr[pairs + 1] - first != 1) | (table.indices[first] != homes)
    if leaves.any():
        pair, home = int(pairs[np.argmax(leaves)]), int(homes[np.argmax(leaves)])
        row = slice(table.indptr[pair], table.indptr[pair + 1])
        stays = float(table.data[row][table.indices[row] == home].sum())
        raise ValueError(
            f"transitions[{home}, {pair % n_actions}] must stay in the terminal state {home} "
            f"with probability 1; got {stays!r}."
        )
    paid = rewards[states]
    differs = paid != paid[0, 0]
    if differs.any():
        row_, action = (int(i) for i in np.argwhere(differs)[0])
        raise ValueError(
            f"rewards[{terminal[row_]}, {action}] must be {paid[0, 0]}, as rewards[{terminal[0]}, 0] "
            f"is: terminal states all pay the same; got {paid[row_, action]}."
        )
    return float(paid[0, 0])


def expected_rewards(
    pairs: IntArray, probabilities: FloatArray, rewards: FloatArray, n_pairs: int
) -> FloatArray:
    """Return the expected reward Σ p·r of each (state, action) pair.

    If all rewards of a pair are equal, the result is exactly that reward. A pair without entries gets
    infinity.
    """
    lowest = np.full(n_pairs, np.inf)
    np.minimum.at(lowest, pairs, rewards)
    above = np.bincount(pairs, weights=probabilities * (rewards - lowest[pairs]), minlength=n_pairs)
    return np.asarray(lowest + above, dtype=np.float64)
