"""Converts lists of outcomes to the tables of a problem, with one added absorbing state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.mdps._checks import as_start, expected_rewards

__all__ = ["Outcomes"]


@dataclass(frozen=True)
class Outcomes:
    """Possible or logged outcomes of actions, one entry per outcome.

    Outcomes that terminated lead to an added state S, which is absorbing and pays 0; their `next_states` are
    ignored. If there are none, no state is added.

    Attributes:
        n_states: S, without the added state.
        n_actions: A.
        pairs: Index s·A + a of the state and action, `(n,)`.
        weights: Probability or count of each outcome, `(n,)`.
        next_states: Successor of each outcome, `(n,)`.
        rewards: Reward of each outcome, `(n,)`.
        terminated: Whether the outcome ended the episode, `(n,)`.
    """

    n_states: int
    n_actions: int
    pairs: IntArray
    weights: FloatArray
    next_states: IntArray
    rewards: FloatArray
    terminated: BoolArray

    def tables(
        self, start: Any, *, divide: bool, state_names: Iterable[str] | None = None, **labels: Any
    ) -> dict[str, Any]:
        """Return the constructor arguments of a `TabularMDP`.

        Args:
            start: The state, or distribution over the S states, in which episodes begin.
            divide: Whether to turn counts into frequencies.
            state_names: Names of the S states; the added state is called "end".
            **labels: Further names, passed on as they are.
        """
        n_pairs = self.n_states * self.n_actions
        totals = np.bincount(self.pairs, weights=self.weights, minlength=n_pairs)
        shares = self.weights / totals[self.pairs] if divide else self.weights
        paid = expected_rewards(self.pairs, shares, self.rewards, n_pairs)
        table = self._merged()
        if divide:
            # Counts are merged before the division, because their sums are exact.
            owners = np.repeat(np.arange(n_pairs), np.diff(table.indptr)[:n_pairs])
            table.data[: len(owners)] /= totals[owners]
        begin = as_start(start, self.n_states)
        ends = int(self.terminated.any())
        if state_names is not None:
            listed = list(state_names)
            labels["state_names"] = [*listed, _unused("end", listed)] if ends else listed
        return labels | {
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


def _unused(word: str, names: list[str]) -> str:
    """Return the word, with apostrophes until it differs from all names."""
    while word in names:
        word += "'"
    return word
