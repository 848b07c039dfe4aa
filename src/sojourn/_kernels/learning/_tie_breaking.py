"""Tie-breaking by a hash: one priority per (episode, layer, state, action), no table of random draws.

The hash is SplitMix64's output function, applied once per number hashed in. Equal inputs always give equal
priorities, so a policy is one fixed table within an episode and need not be stored.
"""

from __future__ import annotations

import numpy as np

from sojourn._kernels._jit import inlined

__all__ = ["hash_in", "priority"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@inlined
def hash_in(z: np.uint64, number: int) -> np.uint64:
    """Return the hash of a previous hash and one more number."""
    z = z + _GOLDEN * np.uint64(number)
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@inlined
def priority(key: np.uint64, episode: int, h: int, state: int, action: int) -> np.uint64:
    """Return the pseudo-random 64-bit priority of an action; of tied actions the highest priority wins."""
    return hash_in(hash_in(hash_in(hash_in(key, episode), h), state), action)
