"""The greedy policy of a learner's tables, one step or a whole table at a time."""

from __future__ import annotations

import numpy as np

from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._play_options import PlayOptions, exploration_rate
from sojourn._kernels.learning._tables import MOST_MASKED, Tables, find_state
from sojourn._kernels.learning._tie_breaking import hash_in
from sojourn._typing import FloatArray, MaskArray, PolicyArray

__all__ = ["choose_action", "fill_policy", "greedy_action"]

_UNIT = 2.0**-53
_ONE = np.uint64(1)
_ACTION = np.uint64(MOST_MASKED - 1)  # the bits of a priority that give way to an action
_LOWEST = np.array([-1] + [(mask & -mask).bit_length() - 1 for mask in range(1, 1 << MOST_MASKED)])


@inlined
def _first_by_priority(mask: np.uint64, n_actions: int, root: np.uint64) -> int:
    """Return the action of a set with the highest priority; no branches, which would be guessed wrong."""
    highest = np.uint64(0)
    for a in range(n_actions):
        is_in = (mask >> np.uint64(a)) & _ONE
        highest = max(highest, ((hash_in(root, a) & ~_ACTION) | np.uint64(a)) * is_in)
    return np.int64(highest & _ACTION)  # type: ignore[return-value]


@inlined
def greedy_action(
    masks: MaskArray,
    pair_of: PolicyArray,
    q: FloatArray,
    caps: FloatArray,
    prior: FloatArray,
    number: int,
    name: int,
    h: int,
    layer_hash: np.uint64,
    is_random: bool,
    epsilon: float,
) -> int:
    """Return the greedy action at layer h, counted from 0, in a state by its number (0 if it has none).

    Ties of equal floats go to the highest priority, or to the lowest action; `layer_hash` is the hash of the
    key, the episode and the layer. Actions that were never played are at their cap. With a chance of
    `epsilon` it is any action: a hash tosses the coin, so that it is the same one all through an episode.
    Where `masks` are kept, the best actions of a state are looked for once until one of its Q values moves.
    """
    n_actions = pair_of.shape[1]
    if epsilon > 0.0:
        coin = hash_in(hash_in(layer_hash, name), n_actions)
        if np.float64(coin >> np.uint64(11)) * _UNIT < epsilon:
            return np.int64(hash_in(coin, 0) % np.uint64(n_actions))  # type: ignore[return-value]
    if masks.shape[1] > 0:
        mask = np.uint64(masks[number, h]) if number > 0 else (_ONE << np.uint64(n_actions)) - _ONE
        if mask == np.uint64(0):
            best = -np.inf
            for a in range(n_actions):
                pair = pair_of[number, a]
                here = q[pair, h] if pair >= 0 else caps[h]
                bit = _ONE << np.uint64(a)
                mask = bit if here > best else mask | (bit if here == best else np.uint64(0))
                best = max(here, best)
            masks[number, h] = mask
        if not is_random or (mask & (mask - _ONE)) == np.uint64(0):
            return np.int64(_LOWEST[mask])  # type: ignore[return-value]
        return _first_by_priority(mask, n_actions, hash_in(layer_hash, name))
    h = min(h, q.shape[1] - 1)
    best, action, n_tied = -np.inf, 0, 0
    for a in range(n_actions):
        pair = pair_of[number, a] if number > 0 else -1
        here = q[pair, h] if pair >= 0 else caps[h] + (prior[name, a] if prior.size > 0 else 0.0)
        if here > best:
            best, action, n_tied = here, a, 1
        elif here == best:
            n_tied += 1
    if is_random and n_tied > 1:
        root, highest = hash_in(layer_hash, name), np.uint64(0)
        for a in range(n_actions):
            pair = pair_of[number, a] if number > 0 else -1
            here = q[pair, h] if pair >= 0 else caps[h] + (prior[name, a] if prior.size > 0 else 0.0)
            if here == best:
                rank = hash_in(root, a)
                if rank >= highest:
                    highest, action = rank, a
    return action


@kernel
def choose_action(
    tables: Tables, assumed: AssumedLaw, options: PlayOptions, episode: int, name: int, h: int
) -> int:
    """Return the action in a state, by what the environment calls it, at layer h, counted from 0."""
    number = max(find_state(tables, name), 0)
    layer_hash = hash_in(hash_in(options.key, episode), h)
    epsilon = exploration_rate(options, episode)
    action: int = greedy_action(
        tables.greedy_masks,
        tables.pair_of,
        tables.q,
        assumed.caps,
        assumed.prior_rewards,
        number,
        name,
        h,
        layer_hash,
        options.is_random,
        epsilon,
    )
    return action


@kernel
def fill_policy(
    tables: Tables, assumed: AssumedLaw, options: PlayOptions, episode: int, policy: PolicyArray
) -> None:
    """Fill `policy` `(N, S)` for states named 0 … S − 1."""
    for h in range(policy.shape[0]):
        for name in range(policy.shape[1]):
            policy[h, name] = choose_action(tables, assumed, options, episode, name, h)
