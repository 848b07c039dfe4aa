"""From lists of outcomes to the tables of a problem, with one added absorbing state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.mdps._checks import as_start, expected_rewards

__all__ = ["Outcomes"]


@dataclass(frozen=True)
class Outcomes:
    """What can happen, or did happen, one entry an outcome: `pairs` are s·A + a, `weights` of any total.

    Outcomes that terminated lead to an added state S, absorbing and paying 0, whatever `next_states` says of
    them; without any, no state is added.
    """

    n_states: int
    n_actions: int
    pairs: IntArray
    weights: FloatArray
    next_states: IntArray
    rewards: FloatArray
    terminated: BoolArray

    def tables(self, start: Any, *, divide: bool) -> dict[str, Any]:
        """Return the arguments of a `TabularMDP`; `divide` turns counts into shares of their pair."""
        n_pairs = self.n_states * self.n_actions
        totals = np.bincount(self.pairs, weights=self.weights, minlength=n_pairs)
        shares = self.weights / totals[self.pairs] if divide else self.weights
        paid = expected_rewards(self.pairs, shares, self.rewards, n_pairs)
        table = self._merged()
        if divide:
            # Counts are merged first: they add up exactly, their shares would not.
            owners = np.repeat(np.arange(n_pairs), np.diff(table.indptr)[:n_pairs])
            table.data[: len(owners)] /= totals[owners]
        begin = as_start(start, self.n_states)
        ends = int(self.terminated.any())
        return {
            "transitions": table,
            "rewards": np.append(paid, np.zeros(ends * self.n_actions)).reshape(-1, self.n_actions),
            "start": np.append(begin, np.zeros(ends)),
            "terminal": self.n_states if ends else None,
        }

    def _merged(self) -> csr_array[np.float64, tuple[int, int]]:
        ends = int(self.terminated.any())
        size, added = self.n_states + ends, ends * self.n_actions
        rows = np.append(self.pairs, self.n_states * self.n_actions + np.arange(added))
        columns = np.append(
            np.where(self.terminated, self.n_states, self.next_states), [self.n_states] * added
        )
        weights = np.append(self.weights, np.ones(added))
        merged = coo_array((weights, (rows, columns)), shape=(size * self.n_actions, size)).tocsr()
        merged.sum_duplicates()
        return merged
