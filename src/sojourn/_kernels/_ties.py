"""Ties broken by a hash: a priority for each (episode, layer, state, action), no table of draws.

The hash is SplitMix64's output function, applied once for each number that goes in; equal inputs always give
equal priorities, so that a policy is one fixed table within an episode and need not be stored.
"""

from __future__ import annotations

import numpy as np

from sojourn._kernels._jit import inlined

__all__ = ["priority"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@inlined
def _mix(z: np.uint64) -> np.uint64:
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@inlined
def priority(key: np.uint64, episode: int, h: int, state: int, action: int) -> np.uint64:
    """Return a 64-bit number that looks random in each of its arguments."""
    z = _mix(key + _GOLDEN * np.uint64(episode))
    z = _mix(z + _GOLDEN * np.uint64(h))
    z = _mix(z + _GOLDEN * np.uint64(state))
    return _mix(z + _GOLDEN * np.uint64(action))
