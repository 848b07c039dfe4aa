"""Random problems of any size (GARNET)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sojourn._memory import check_fits
from sojourn._typing import FloatArray
from sojourn._validation import check_whole
from sojourn.mdps._tabular import TabularMDP
from sojourn.mdps._transitions import freeze, table_bytes

__all__ = ["garnet"]


def garnet(n_states: int, n_actions: int, n_successors: int, seed: int = 0) -> TabularMDP:
    """Draw a random problem: a GARNET, after Archibald et al. (1995).

    Every (state, action) pair has `n_successors` different successors, drawn uniformly. Their probabilities
    are the lengths of the pieces into which uniform random cuts split [0, 1], and the reward is uniform in
    [0, 1). Episodes start in state 0. The same arguments give the same problem.

    Args:
        n_states: Number of states.
        n_actions: Number of actions.
        n_successors: Number of different successors per pair, at most `n_states`.
        seed: Whole number.

    Example:
        >>> mdp = garnet(50, 4, 3, seed=0)
        >>> mdp
        TabularMDP('Garnet(50, 4, 3, seed=0)', n_states=50, n_actions=4)
        >>> len(mdp.successors(7, 2)[0])
        3
    """
    n_states = check_whole("n_states", n_states, least=1)
    n_actions = check_whole("n_actions", n_actions, least=1)
    n_successors = check_whole("n_successors", n_successors, least=1)
    if n_successors > n_states:
        raise ValueError(f"n_successors must be at most n_states = {n_states}; got {n_successors}.")
    seed = check_whole("seed", seed, least=0)
    check_fits(
        2 * table_bytes(n_states * n_actions, n_successors),  # the table and its checked copy
        f"garnet({n_states}, {n_actions}, {n_successors})",
        "choose fewer states, actions or successors",
    )
    rng = np.random.default_rng(seed)
    n_pairs = n_states * n_actions
    columns = _distinct(rng, n_pairs, n_successors, n_states).reshape(-1)
    shares = _shares(rng, n_pairs, n_successors).reshape(-1)
    offsets = np.arange(n_pairs + 1) * n_successors
    table: Any = freeze(shares, columns, offsets, (n_pairs, n_states))
    if not shares.all():
        # Two cuts coincide: the successor between them has probability 0 and must be removed.
        table = csr_array(table)
    rewards = rng.random((n_states, n_actions))
    return TabularMDP(table, rewards, name=f"Garnet({n_states}, {n_actions}, {n_successors}, seed={seed})")


def _distinct(rng: np.random.Generator, n_rows: int, count: int, below: int) -> Any:
    """Return `(n_rows, count)` numbers in 0 … below − 1, distinct and sorted in each row, drawn uniformly."""
    drawn = np.empty((n_rows, count), dtype=np.int32 if below < 2**31 else np.int64)
    if count * count > 16 * below:
        keys_at_once = max(1, 2**22 // below)
        for row in range(0, n_rows, keys_at_once):
            keys = rng.random((min(keys_at_once, n_rows - row), below))
            drawn[row : row + keys_at_once] = np.argpartition(keys, count - 1, axis=1)[:, :count]
    else:
        # Floyd's algorithm, all rows at once: a number that is already in the set is replaced by `top`.
        for i in range(count):
            top = below - count + i
            new = rng.integers(0, top, size=n_rows, dtype=drawn.dtype, endpoint=True)
            new[(drawn[:, :i] == new[:, None]).any(axis=1)] = top
            drawn[:, i] = new
    drawn.sort(axis=1)
    return drawn


def _shares(rng: np.random.Generator, n_rows: int, count: int) -> FloatArray:
    """Return `(n_rows, count)` probabilities, uniformly distributed over the simplex."""
    shares = np.empty((n_rows, count))
    cuts = np.sort(rng.random((n_rows, count - 1)), axis=1)
    if count == 1:
        shares[:] = 1.0
        return shares
    shares[:, 0] = cuts[:, 0]
    np.subtract(cuts[:, 1:], cuts[:, :-1], out=shares[:, 1:-1])
    np.subtract(1.0, cuts[:, -1], out=shares[:, -1])
    return shares
