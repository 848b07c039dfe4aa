"""The greedy policy of a learner's tables, one step or a whole table at a time."""

from __future__ import annotations

import numpy as np

from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels._tables import Tables, find_state
from sojourn._kernels._ties import mix_in
from sojourn._typing import FloatArray, PolicyArray

__all__ = ["choose", "fill_policy", "greedy_action"]


@inlined
def greedy_action(
    pair_of: PolicyArray,
    q: FloatArray,
    caps: FloatArray,
    number: int,
    name: int,
    h: int,
    stem: np.uint64,
    is_random: bool,
) -> int:
    """Return the greedy action at layer h, counted from 0, in a state by its number (0 if it has none).

    Ties of equal floats go to the highest priority, or to the lowest action; `stem` is the hash of the
    key, the episode and the layer. Actions that were never played are at their cap.
    """
    n_actions = pair_of.shape[1]
    best, action, n_tied = -np.inf, 0, 0
    for a in range(n_actions):
        pair = pair_of[number, a] if number > 0 else -1
        here = q[pair, h] if pair >= 0 else caps[h]
        if here > best:
            best, action, n_tied = here, a, 1
        elif here == best:
            n_tied += 1
    if is_random and n_tied > 1:
        root, highest = mix_in(stem, name), np.uint64(0)
        for a in range(n_actions):
            pair = pair_of[number, a] if number > 0 else -1
            here = q[pair, h] if pair >= 0 else caps[h]
            if here == best:
                rank = mix_in(root, a)
                if rank >= highest:
                    highest, action = rank, a
    return action


@kernel
def choose(tables: Tables, caps: FloatArray, name: int, h: int, stem: np.uint64, is_random: bool) -> int:
    """Return the greedy action in a state, by what the environment calls it, at layer h, counted from 0.

    `stem` is the hash of the key and the episode.
    """
    number = max(find_state(tables, name), 0)
    stem = mix_in(stem, h)
    action: int = greedy_action(tables.pair_of, tables.q, caps, number, name, h, stem, is_random)
    return action


@kernel
def fill_policy(
    tables: Tables, caps: FloatArray, stem: np.uint64, is_random: bool, policy: PolicyArray
) -> None:
    """Fill `policy` `(N, S)` for states named 0 … S − 1."""
    for h in range(policy.shape[0]):
        for name in range(policy.shape[1]):
            policy[h, name] = choose(tables, caps, name, h, stem, is_random)
