"""The empirical law of lengths that were all observed to the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sojourn._typing import ArrayLike, IntArray
from sojourn.laws._checks import check_column
from sojourn.laws._staircase import Staircase, StaircaseLaw

__all__ = ["Empirical", "add_up", "tally"]


@dataclass(frozen=True, init=False, repr=False)
class Empirical(StaircaseLaw):
    """The empirical distribution of episode lengths: P(H ≥ h) is the share of lengths ≥ h.

    Use it only if all lengths were observed to the end, and `KaplanMeier` if some are censored. The data are
    stored as distinct lengths with counts, so their order does not matter.

    Args:
        lengths: Whole numbers ≥ 1, `(n,)`.
        observed: Ignored: every length is treated as observed, as in the paper. The argument exists so that
            this class can be used wherever an estimator of laws is expected.
        counts: Number of times that each length occurs, whole numbers ≥ 0, `(n,)`; 1 by default.

    Example:
        >>> law = Empirical([3, 1, 3, 2])
        >>> law
        Empirical(lengths=(1, 2, 3), counts=(1, 1, 2))
        >>> law.survival([1, 2, 3, 4])
        array([1.  , 0.75, 0.5 , 0.  ])
    """

    lengths: tuple[int, ...]
    counts: tuple[int, ...] = field(kw_only=True)

    def __init__(
        self, lengths: ArrayLike, observed: ArrayLike | None = None, *, counts: ArrayLike | None = None
    ) -> None:
        ends, totals = tally(check_column("lengths", lengths, least=1), counts)
        self._set(lengths=tuple(ends.tolist()), counts=tuple(totals.tolist()))

    def _details(self) -> list[tuple[str, object]]:
        return [("lengths", f"{sum(self.counts):,}"), ("distinct lengths", f"{len(self.lengths):,}")]

    @cached_property
    def _stairs(self) -> Staircase:
        counts = np.array(self.counts)
        at_least = np.cumsum(counts[::-1])[::-1]
        after = at_least - counts
        return Staircase(np.array(self.lengths), at_least / at_least[0], counts / at_least, after / at_least)


def tally(keys: IntArray, counts: ArrayLike | None) -> tuple[IntArray, IntArray]:
    """Return the distinct keys in increasing order and their counts; keys with count 0 are left out."""
    if counts is None:
        if keys.max() < 4 * keys.size + 1024:
            seen = np.bincount(keys)
            distinct = np.flatnonzero(seen)
            return distinct, seen[distinct]
        return add_up(keys)
    weights = check_column("counts", counts, least=0)
    if weights.size != keys.size:
        raise ValueError(
            f"counts must be as many as lengths; got {weights.size} counts for {keys.size} lengths."
        )
    if not weights.any():
        raise ValueError("counts must not all be 0.")
    return add_up(keys, weights)


def add_up(keys: IntArray, counts: IntArray | None = None) -> tuple[IntArray, IntArray]:
    """Return the distinct keys in increasing order and their summed counts; counts of 0 are left out.

    Copies are avoided where possible, because there may be many millions of keys.
    """
    if (keys[1:] < keys[:-1]).any():
        if counts is None:
            keys = np.sort(keys)
        else:
            order = np.argsort(keys)
            keys, counts = keys[order], counts[order]
            del order
    differs = np.append(True, keys[1:] != keys[:-1])
    if counts is None and differs.all():
        return keys, np.broadcast_to(np.int64(1), keys.size)
    begins = np.flatnonzero(differs)
    totals = np.diff(begins, append=keys.size) if counts is None else np.add.reduceat(counts, begins)
    keys, some = keys[begins], totals > 0
    return (keys, totals) if some.all() else (keys[some], totals[some])
