"""The greedy policy of a learner's tables, computed one action at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._play_options import PlayOptions, exploration_rate
from sojourn._kernels.learning._tables import MOST_MASKED, Tables, find_state
from sojourn._kernels.learning._tie_breaking import hash_in
from sojourn._typing import FloatArray, HashArray, IntArray, MaskArray, PolicyArray

__all__ = [
    "ActionScratch",
    "EpisodePolicy",
    "all_actions",
    "choose_action",
    "episode_policy",
    "fill_actions",
    "fill_policy",
    "greedy_action",
    "masked_action",
]

_UNIT = 2.0**-53  # turns the upper 53 bits of a hash into a number in [0, 1)
_ONE = np.uint64(1)
_ACTION_BITS = np.uint64(MOST_MASKED - 1)  # the lowest bits of a priority, which are replaced by the action
_LOWEST = np.array([-1] + [(mask & -mask).bit_length() - 1 for mask in range(1, 1 << MOST_MASKED)])
"""The lowest action of each bit set of actions."""


class EpisodePolicy(NamedTuple):
    """Everything that the greedy action of an episode depends on, except the state and the layer."""

    greedy_masks: MaskArray  # (states, N) bit set of greedy actions, 0 if unknown; (states, 0) if not kept
    pair_of: PolicyArray  # (states, A) pair of each action, or −1
    q: FloatArray  # (pairs, N) Q values
    caps: FloatArray  # (N + 1,) Q of pairs never played
    prior_rewards: FloatArray  # (S, A) added to `caps`, or (0, 0) for nothing
    is_random: bool  # break ties by a hash; otherwise take the lowest action
    epsilon: float  # probability of a uniformly random action
    episode_hash: np.uint64  # hash of the learner's key and the episode


class ActionScratch(NamedTuple):
    """Scratch arrays of `fill_actions`, one entry per layer."""

    layer_hashes: HashArray  # (N,) hash of the episode and each layer, filled by the caller
    state_hashes: HashArray  # (N,) hash of the episode, each layer and the state
    highest: HashArray  # (N,) highest priority of the tied actions
    best: FloatArray  # (N,) largest Q


@inlined
def episode_policy(tables: Tables, assumed: AssumedLaw, options: PlayOptions, episode: int) -> EpisodePolicy:
    """Return the policy of an episode, counted from 0."""
    return EpisodePolicy(
        tables.greedy_masks,
        tables.pair_of,
        tables.q,
        assumed.caps,
        assumed.prior_rewards,
        options.is_random,
        exploration_rate(options, episode),
        hash_in(options.key, episode),
    )


@inlined
def all_actions(n_actions: int) -> np.uint64:
    """Return the bit set of all actions."""
    return (_ONE << np.uint64(n_actions)) - _ONE


@inlined
def _find_greedy_mask(
    pair_of: PolicyArray, q: FloatArray, caps: FloatArray, number: int, h: int
) -> np.uint64:
    """Return the bit set of the actions with the largest Q."""
    mask, best = np.uint64(0), -np.inf
    for a in range(pair_of.shape[1]):
        pair = pair_of[number, a]
        here = q[pair, h] if pair >= 0 else caps[h]
        bit = _ONE << np.uint64(a)
        mask = bit if here > best else mask | (bit if here == best else np.uint64(0))
        best = max(here, best)
    return mask


@inlined
def _highest_priority(mask: np.uint64, n_actions: int, state_hash: np.uint64) -> int:
    """Return the action of a bit set with the highest priority.

    There is no branch in the loop: ties are random, so the processor would mispredict it.
    """
    highest = np.uint64(0)
    for a in range(n_actions):
        is_in = (mask >> np.uint64(a)) & _ONE
        highest = max(highest, ((hash_in(state_hash, a) & ~_ACTION_BITS) | np.uint64(a)) * is_in)
    return np.int64(highest & _ACTION_BITS)  # type: ignore[return-value]


@inlined
def masked_action(mask: np.uint64, is_random: bool, n_actions: int, layer_hash: np.uint64, name: int) -> int:
    """Return the action of `greedy_action` in a state whose set of greedy actions is known and not empty.

    It takes no arrays, so numba counts no references: called in the loop of `_follow_path` if the set is
    known, instead of `greedy_action`, it makes the valuation of UCBVI on Taxi take 0.4 of the time.
    """
    if not is_random or (mask & (mask - _ONE)) == np.uint64(0):
        return np.int64(_LOWEST[mask])  # type: ignore[return-value]
    return _highest_priority(mask, n_actions, hash_in(layer_hash, name))


@inlined
def _q_value(
    pair_of: PolicyArray,
    q: FloatArray,
    caps: FloatArray,
    prior: FloatArray,
    number: int,
    name: int,
    a: int,
    h: int,
) -> float:
    """Return Q of an action that may never have been played, in a state that may never have been seen."""
    pair = pair_of[number, a] if number > 0 else -1
    return q[pair, h] if pair >= 0 else caps[h] + (prior[name, a] if prior.size > 0 else 0.0)  # type: ignore[no-any-return]


@inlined
def greedy_action(
    masks: MaskArray,
    pair_of: PolicyArray,
    q: FloatArray,
    caps: FloatArray,
    prior: FloatArray,
    is_random: bool,
    epsilon: float,
    layer_hash: np.uint64,
    number: int,
    name: int,
    h: int,
) -> int:
    """Return the action of a policy in a state at layer h, counted from 0.

    Ties of equal floats go to the action with the highest priority, or to the lowest action. With probability
    `epsilon` the action is uniformly random instead; the coin is a hash, so that the policy is one fixed
    table within an episode. Where masks are kept, the set of greedy actions of a state is computed once until
    one of its Q changes.

    The fields of `EpisodePolicy` come one by one, unpacked outside of the caller's loop. If this function
    reads them from the struct, numba counts references to every array at every step: episodes of
    EpsilonGreedy on RiverSwim(6) then take 1.7 times as long, those of UCBVI on Taxi 1.25 times.

    Args:
        masks: See `EpisodePolicy.greedy_masks`.
        pair_of: See `EpisodePolicy`.
        q: See `EpisodePolicy`.
        caps: See `EpisodePolicy`.
        prior: See `EpisodePolicy.prior_rewards`.
        is_random: See `EpisodePolicy`.
        epsilon: See `EpisodePolicy`.
        layer_hash: Hash of `EpisodePolicy.episode_hash` and the layer.
        number: The learner's number of the state, 0 if it was never seen.
        name: The environment's number of the state.
        h: The layer.
    """
    n_actions = pair_of.shape[1]
    if epsilon > 0.0:
        coin = hash_in(hash_in(layer_hash, name), n_actions)
        if np.float64(coin >> np.uint64(11)) * _UNIT < epsilon:
            return np.int64(hash_in(coin, 0) % np.uint64(n_actions))  # type: ignore[return-value]
    if masks.shape[1] > 0:
        mask = np.uint64(masks[number, h]) if number > 0 else all_actions(n_actions)
        if mask == np.uint64(0):
            mask = _find_greedy_mask(pair_of, q, caps, number, h)
            masks[number, h] = mask
        return masked_action(mask, is_random, n_actions, layer_hash, name)
    h = min(h, q.shape[1] - 1)
    best, action, n_tied = -np.inf, 0, 0
    for a in range(n_actions):
        here = _q_value(pair_of, q, caps, prior, number, name, a, h)
        if here > best:
            best, action, n_tied = here, a, 1
        elif here == best:
            n_tied += 1
    if is_random and n_tied > 1:
        state_hash, highest = hash_in(layer_hash, name), np.uint64(0)
        for a in range(n_actions):
            if _q_value(pair_of, q, caps, prior, number, name, a, h) == best:
                rank = hash_in(state_hash, a)
                if rank >= highest:
                    highest, action = rank, a
    return action


@inlined
def fill_actions(
    masks: MaskArray,
    pair_of: PolicyArray,
    q: FloatArray,
    caps: FloatArray,
    prior: FloatArray,
    is_random: bool,
    epsilon: float,
    number: int,
    name: int,
    actions: IntArray,
    scratch: ActionScratch,
) -> None:
    """Fill `actions` with the actions in one state at its first layers: those of `greedy_action`, but faster.

    Where masks are kept, all loops are over layers and without branches, so the processor computes several
    layers at a time. `scratch.layer_hashes` must be filled; the other arguments are those of `greedy_action`.
    """
    n_actions, layer_hashes = pair_of.shape[1], scratch.layer_hashes
    if masks.shape[1] == 0 or epsilon > 0.0:
        for h in range(actions.size):
            actions[h] = greedy_action(
                masks, pair_of, q, caps, prior, is_random, epsilon, layer_hashes[h], number, name, h
            )
        return
    tied, is_known = np.uint64(0), True
    for h in range(actions.size):
        mask = np.uint64(masks[number, h]) if number > 0 else all_actions(n_actions)
        is_known &= mask != np.uint64(0)
        tied |= mask & (mask - _ONE)
        actions[h] = mask
    if not is_known:
        tied = _find_greedy_masks(pair_of, q, caps, number, actions, scratch.best)
        for h in range(actions.size):
            masks[number, h] = actions[h]
    if is_random and tied != np.uint64(0):
        _break_ties(name, n_actions, actions, layer_hashes, scratch.state_hashes, scratch.highest)
    else:
        for h in range(actions.size):
            actions[h] = _LOWEST[actions[h]]


@inlined
def _find_greedy_masks(
    pair_of: PolicyArray, q: FloatArray, caps: FloatArray, number: int, masks: IntArray, best: FloatArray
) -> np.uint64:
    """Fill `masks` with those of `_find_greedy_mask` for a state's first layers; return the tied actions."""
    best[: masks.size] = -np.inf
    masks[:] = 0
    for a in range(pair_of.shape[1]):
        pair = pair_of[number, a]
        row = q[pair] if pair >= 0 else caps
        for h in range(masks.size):
            best[h] = row[h] if row[h] > best[h] else best[h]
    for a in range(pair_of.shape[1]):
        pair = pair_of[number, a]
        row = q[pair] if pair >= 0 else caps
        for h in range(masks.size):
            masks[h] |= np.int64(row[h] == best[h]) << a
    tied = np.uint64(0)
    for h in range(masks.size):
        mask = np.uint64(masks[h])
        tied |= mask & (mask - _ONE)
    return tied


@inlined
def _break_ties(
    name: int,
    n_actions: int,
    actions: IntArray,
    layer_hashes: HashArray,
    state_hashes: HashArray,
    highest: HashArray,
) -> None:
    """Replace the sets of actions in `actions`, one per layer, by their actions with the highest priority.

    Takes 0.3 of the time of `_highest_priority` for one layer after the other with AVX-512, 0.6 with AVX2.
    """
    for h in range(actions.size):
        state_hashes[h] = hash_in(layer_hashes[h], name)
        highest[h] = np.uint64(0)
    for a in range(n_actions):
        action = np.uint64(a)
        for h in range(actions.size):
            is_in = (np.uint64(actions[h]) >> action) & _ONE
            rank = (hash_in(state_hashes[h], a) & ~_ACTION_BITS) | action
            highest[h] = max(highest[h], rank & (np.uint64(0) - is_in))
    for h in range(actions.size):
        actions[h] = np.int64(highest[h] & _ACTION_BITS)


@kernel
def choose_action(
    tables: Tables, assumed: AssumedLaw, options: PlayOptions, episode: int, name: int, h: int
) -> int:
    """Return the action in a state, by the environment's number, at layer h, counted from 0."""
    policy = episode_policy(tables, assumed, options, episode)
    masks, pair_of, q, caps, prior, is_random, epsilon, episode_hash = policy
    layer_hash, number = hash_in(episode_hash, h), max(find_state(tables, name), 0)
    action: int = greedy_action(
        masks, pair_of, q, caps, prior, is_random, epsilon, layer_hash, number, name, h
    )
    return action


@kernel
def fill_policy(
    tables: Tables, assumed: AssumedLaw, options: PlayOptions, episode: int, policy: PolicyArray
) -> None:
    """Fill `policy` `(N, S)` with the actions in states 0 … S − 1."""
    for h in range(policy.shape[0]):
        for name in range(policy.shape[1]):
            policy[h, name] = choose_action(tables, assumed, options, episode, name, h)
