"""The greedy policy of a learner's tables, one step or a whole table at a time."""

from __future__ import annotations

import numpy as np

from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels._tables import Tables, find_state
from sojourn._kernels._ties import priority
from sojourn._typing import FloatArray, PolicyArray

__all__ = ["choose", "fill_policy"]


@inlined
def choose(
    tables: Tables, caps: FloatArray, name: int, h: int, episode: int, key: np.uint64, is_random: bool
) -> int:
    """Return the greedy action in a state (by the environment's name) at layer h, counted from 0.

    Ties of equal floats go to the highest priority, or to the lowest action. Actions that were never played
    are at their cap.
    """
    n_actions = tables.pair_of.shape[1]
    state = find_state(tables, name)
    best, action, n_tied = -np.inf, 0, 0
    for a in range(n_actions):
        pair = tables.pair_of[state, a] if state >= 0 else -1
        q = tables.q[pair, h] if pair >= 0 else caps[h]
        if q > best:
            best, action, n_tied = q, a, 1
        elif q == best:
            n_tied += 1
    if is_random and n_tied > 1:
        highest = np.uint64(0)
        for a in range(n_actions):
            pair = tables.pair_of[state, a] if state >= 0 else -1
            q = tables.q[pair, h] if pair >= 0 else caps[h]
            if q == best:
                rank = priority(key, episode, h, name, a)
                if rank >= highest:
                    highest, action = rank, a
    return action


@kernel
def fill_policy(
    tables: Tables, caps: FloatArray, episode: int, key: np.uint64, is_random: bool, policy: PolicyArray
) -> None:
    """Fill `policy` `(N, S)` for states named 0 … S − 1."""
    for h in range(policy.shape[0]):
        for name in range(policy.shape[1]):
            policy[h, name] = choose(tables, caps, name, h, episode, key, is_random)
