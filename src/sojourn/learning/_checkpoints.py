"""Chooses the episodes of a long trial that are stored or drawn."""

from __future__ import annotations

import numpy as np

from sojourn._typing import IntArray

__all__ = ["spread_by_ratios", "spread_episodes"]


def spread_by_ratios(episodes: int, most: int) -> IntArray:
    """Return at most `most` episode numbers from 1 to `episodes`, in nearly constant ratios.

    These are the checkpoints that trial files store.

    Example:
        >>> spread_by_ratios(1000, 4).tolist()
        [1, 10, 100, 1000]
    """
    if episodes <= most:
        return np.arange(1, episodes + 1)
    return np.unique(np.geomspace(1, episodes, most).round().astype(np.int64))


def spread_episodes(episodes: int, most: int) -> IntArray:
    """Return at most `most` episode numbers from 1 to `episodes`, half of them evenly spaced.

    The other half is in nearly constant ratios, so that curves are smooth on linear and on logarithmic axes.
    """
    if episodes <= most:
        return np.arange(1, episodes + 1)
    even = np.linspace(1, episodes, most // 2).round().astype(np.int64)
    return np.union1d(even, spread_by_ratios(episodes, most // 2))
