"""Chooses the episodes whose regret is computed, and estimates cumulative regret from them.

The episodes of a trial are cut into strata, runs of successive episodes. Two episodes of each are drawn at
random without replacement. An episode drawn from a stratum of N stands for N/2 episodes. So the sum of
weights times regrets is an unbiased estimate of the regret up to any episode. Two draws per stratum are the
fewest with an unbiased estimate of its variance: N(N − 2)/4 times the squared difference of the two.

Regret changes fastest at the beginning, and its noise lasts to the end. So one half of the strata divides the
episodes evenly, and the other half divides their logarithm evenly; strata of two episodes have no error.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from sojourn._typing import ArrayLike, BoolArray, FloatArray, IntArray
from sojourn._validation import check_whole
from sojourn.laws import LengthLaw
from sojourn.mdps import TabularMDP

__all__ = [
    "RegretEstimate",
    "check_regret_episodes",
    "default_regret_episodes",
    "draw_valued_episodes",
    "estimate_regret",
    "fits_strata",
]

_MOST_WORK = 2 * 10**10
"""Episodes are all valued by default if states × steps × episodes is at most this."""

_FEWEST = 100
"""Fewest episodes that are valued by default."""

_LIGHT = 1e-9
"""Steps count until the expected number of steps after them is at most this share of the mean length …"""

_MOST_STEPS = 2_000
"""… and at most this many: under heavy tails, policies are followed only until they repeat."""

_PER_STRATUM = 2
_BISECTIONS = 60


class RegretEstimate(NamedTuple):
    """Estimated cumulative regret; both arrays have one entry per checkpoint."""

    cumulative: FloatArray
    """Unbiased estimate of the sum over all episodes up to the checkpoint."""

    error: FloatArray
    """Its standard error, the root of an unbiased estimate of its variance; 0 if all episodes were valued."""


def default_regret_episodes(mdp: TabularMDP, law: LengthLaw, episodes: int) -> int:
    """Return how many episodes of a trial are valued by default; it depends on the arguments alone.

    One valuation visits up to S states in each of M steps. M is the number of steps after which less than
    10⁻⁹ of the mean length is expected to remain, but at most 2,000. All episodes are valued if S·M·episodes
    is at most 2·10¹⁰, and otherwise as many as that allows, but at least 100.

    Example:
        >>> from sojourn.laws import Geometric
        >>> from sojourn.mdps import garnet, river_swim
        >>> default_regret_episodes(river_swim(6), Geometric(0.9), 1_000_000)
        1000000
        >>> default_regret_episodes(garnet(4000, 3, 3, seed=0), Geometric(0.95), 1_000_000)
        12315
    """
    work = mdp.n_states * _steps(law)
    return episodes if work * episodes <= _MOST_WORK else min(episodes, max(_FEWEST, _MOST_WORK // work))


def _steps(law: LengthLaw) -> int:
    """Return M of `default_regret_episodes`."""
    truncation = _LIGHT * law.mean
    if float(law.tail(_MOST_STEPS)) > truncation:
        return _MOST_STEPS
    return law.effective_horizon(truncation)


def check_regret_episodes(regret_episodes: int | None, mdp: TabularMDP, law: LengthLaw, episodes: int) -> int:
    """Return the number of episodes to value: as given, at most all, or by default."""
    if regret_episodes is None:
        return default_regret_episodes(mdp, law, episodes)
    return min(check_whole("regret_episodes", regret_episodes, least=min(_PER_STRATUM, episodes)), episodes)


def draw_valued_episodes(episodes: int, n: int, rng: np.random.Generator) -> IntArray:
    """Draw the n episodes that are valued, counted from 0 and in order.

    Args:
        episodes: Number of episodes of the trial.
        n: Number of episodes to draw, from 2 to `episodes`. If it is odd, the last stratum has three.
        rng: Random numbers.

    Example:
        >>> drawn = draw_valued_episodes(10_000, 1_000, np.random.default_rng(0))
        >>> drawn.size, drawn[:5]  # the first episodes are all valued
        (1000, array([0, 1, 2, 3, 4]))
    """
    edges = _edges(episodes, n)
    sizes = np.diff(edges)
    first = rng.integers(sizes)
    second = rng.integers(sizes - 1)
    second += second >= first
    pairs = np.stack([np.minimum(first, second), np.maximum(first, second)], axis=1) + edges[:-1, np.newaxis]
    chosen = pairs.ravel()
    if n % _PER_STRATUM:
        last = edges[-2] + np.sort(rng.choice(int(sizes[-1]), size=3, replace=False))
        chosen = np.concatenate([chosen[:-2], last])
    return np.asarray(chosen, dtype=np.int64)


@functools.lru_cache(maxsize=8)
def _edges(episodes: int, n: int) -> IntArray:
    """Return the first episode of each stratum, counted from 0, and at the end the number of episodes.

    Edge i is where ½·k/T + ½·ln(1 + k)/ln(1 + T) is i out of the number of strata; edges are then moved so
    that every stratum has at least two episodes.
    """
    n_strata = n // _PER_STRATUM
    i = np.arange(n_strata + 1)
    low, high = np.zeros(i.size), np.full(i.size, float(episodes))
    for _ in range(_BISECTIONS):
        k = (low + high) / 2.0
        is_below = k / episodes + np.log1p(k) / math.log1p(episodes) < 2.0 * i / n_strata
        low, high = np.where(is_below, k, low), np.where(is_below, high, k)
    wanted = high.round().astype(np.int64)
    edges = np.maximum.accumulate(wanted - _PER_STRATUM * i) + _PER_STRATUM * i
    latest = episodes - _PER_STRATUM * (n_strata - i) - n % _PER_STRATUM
    edges = np.minimum(edges, latest)
    edges[0], edges[-1] = 0, episodes
    edges.flags.writeable = False  # it is cached
    return edges


def fits_strata(valued: IntArray, episodes: int) -> bool:
    """Return whether valued episodes can have been drawn by `draw_valued_episodes`."""
    edges = _edges(episodes, valued.size)
    stratum = np.searchsorted(edges, valued, side="right") - 1
    expected = np.minimum(np.arange(valued.size) // _PER_STRATUM, edges.size - 2)
    return bool((np.diff(valued) > 0).all() and np.array_equal(stratum, expected))


def estimate_regret(
    values: ArrayLike, valued: IntArray, episodes: int, checkpoints: IntArray | None = None
) -> RegretEstimate:
    """Estimate the regret summed up to each checkpoint from the episodes that were valued.

    Args:
        values: `(n,)` regret of each valued episode, or any other number per episode.
        valued: `(n,)` the episodes, from `draw_valued_episodes`.
        episodes: Number of episodes of the trial.
        checkpoints: `(m,)` numbers of episodes; after every episode by default.

    Example:
        >>> regret = 1.0 / np.sqrt(np.arange(1, 10_001))
        >>> valued = draw_valued_episodes(10_000, 200, np.random.default_rng(0))
        >>> found = estimate_regret(regret[valued], valued, 10_000)
        >>> print(f"{found.cumulative[-1]:.2f} ± {found.error[-1]:.2f}, exactly {regret.sum():.2f}")
        198.54 ± 0.19, exactly 198.54
    """
    regret, n = np.asarray(values, dtype=np.float64), valued.size
    stops = np.arange(1, episodes + 1) if checkpoints is None else checkpoints
    edges = _edges(episodes, n)
    sizes = np.diff(edges).astype(np.float64)
    stratum = np.minimum(np.arange(n) // _PER_STRATUM, sizes.size - 1)
    n_drawn = np.bincount(stratum).astype(np.float64)
    # In each stratum: sums over the first draws, as episodes after a checkpoint count as 0.
    is_drawn = _table_mask(n_drawn)
    table = np.zeros(is_drawn.shape)
    table[is_drawn] = regret
    sums, squares = np.cumsum(table, axis=1), np.cumsum(table**2, axis=1)
    spread = np.maximum(squares - sums**2 / n_drawn[:, np.newaxis], 0.0) / (n_drawn - 1.0)[:, np.newaxis]
    variance = (sizes * (sizes - n_drawn) / n_drawn)[:, np.newaxis] * spread
    last = np.arange(sizes.size), n_drawn.astype(np.int64) - 1
    before = np.concatenate([[0.0], np.cumsum(variance[last])[:-1]])
    n_before = np.searchsorted(valued, stops)
    cumulative = np.concatenate([[0.0], np.cumsum((sizes / n_drawn)[stratum] * regret)])
    variances = np.concatenate([[0.0], (before[:, np.newaxis] + variance)[is_drawn]])
    return RegretEstimate(cumulative[n_before], np.sqrt(variances[n_before]))


def _table_mask(n_drawn: FloatArray) -> BoolArray:
    """Return `(strata, most draws)` where True marks the draws of each stratum."""
    return np.asarray(np.arange(int(n_drawn.max())) < n_drawn[:, np.newaxis])
