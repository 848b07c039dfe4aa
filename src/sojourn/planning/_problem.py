"""A problem as the kernels see it, with the figures that its brackets need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sojourn._kernels import sweep
from sojourn._typing import FloatArray, IndexArray, IntArray
from sojourn.mdps import TabularMDP

__all__ = ["Problem"]


@dataclass(frozen=True, eq=False)
class Problem:
    """Transitions as compressed sparse rows (row s·A + a), flat rewards, and the number of actions.

    A Markov chain is a problem with one action. Rows stand for their probabilities divided by their exact sum
    (which is 1 up to rounding).
    """

    indptr: IndexArray
    indices: IndexArray
    data: FloatArray
    rewards: FloatArray
    n_actions: int

    @classmethod
    def of(cls, mdp: TabularMDP) -> Problem:
        """Return the arrays of `mdp`, without copying them."""
        rows = mdp.transitions
        return cls(rows.indptr, rows.indices, rows.data, mdp.rewards.reshape(-1), mdp.n_actions)

    @property
    def arrays(self) -> tuple[IndexArray, IndexArray, FloatArray, FloatArray, int]:
        """What every kernel takes first."""
        return self.indptr, self.indices, self.data, self.rewards, self.n_actions

    @property
    def table(self) -> sparse.csr_array[np.float64]:
        """The transitions as a sparse `(S·A, S)` array that shares this problem's memory."""
        return sparse.csr_array(
            (self.data, self.indices, self.indptr), shape=(self.rewards.size, self.n_states)
        )

    @property
    def n_states(self) -> int:
        """Number of states S."""
        return self.rewards.size // self.n_actions

    @property
    def largest_reward(self) -> float:
        """Largest |r(s, a)|."""
        return float(max(self.rewards.max(), -self.rewards.min()))

    @property
    def unit(self) -> float:
        """Bound on the relative error of one backup: its rounding, and rows that do not sum to 1 exactly."""
        longest_row = int(np.diff(self.indptr).max())
        sums = np.add.reduceat(self.data, self.indptr[:-1])
        return (longest_row + 8) * 2.0**-53 + float(np.abs(sums - 1.0).max())

    def iterate(
        self, value: FloatArray, n_sweeps: int, *, ratio: float = 1.0, damping: float = 1.0
    ) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return V after some sweeps of value iteration, TV, and the actions greedy in V."""
        return sweep(*self.arrays, ratio, damping, value, n_sweeps)
