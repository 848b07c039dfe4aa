"""A problem as the arrays that the kernels take, with bounds on its rounding errors."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from sojourn._kernels import BlockedRows, TransitionRows, fill_slices, measure_slices
from sojourn._typing import FloatArray, IndexArray, IntArray
from sojourn.mdps import TabularMDP
from sojourn.planning._threads import Sweeps

__all__ = ["SparseProblem"]

_MOST_KEPT = 1 << 18
"""Largest number of transitions of a problem whose arrays are kept for its next plan."""


@dataclass(frozen=True, eq=False)
class SparseProblem:
    """Transitions in compressed sparse rows, one row per (state, action) pair, and flat rewards.

    A Markov chain is a problem with one action. Each row represents its probabilities divided by their exact
    sum, which is 1 up to rounding.

    Attributes:
        indptr: Offsets of the rows, `(S·A + 1,)`; row s·A + a belongs to action a in state s.
        indices: Successor of each entry.
        data: Probability of each entry.
        rewards: Expected reward of each row, `(S·A,)`.
        n_actions: A.
        inexact: Bound on the relative error of the entries; 0 if they were given and not computed.
        sweeps: How the states are swept: on one thread or on several.
    """

    indptr: IndexArray
    indices: IndexArray
    data: FloatArray
    rewards: FloatArray
    n_actions: int
    inexact: float = 0.0
    sweeps: Sweeps = field(default_factory=Sweeps)

    def __post_init__(self) -> None:
        # Kernels are compiled once per combination of array types, so all problems use the same ones.
        index = np.int32 if self.n_states < 2**31 else np.int64
        kinds = {"indptr": np.int64, "indices": index, "data": np.float64, "rewards": np.float64}
        for name, kind in kinds.items():
            view = getattr(self, name).astype(kind, copy=False).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    @classmethod
    def of(cls, mdp: TabularMDP, sweeps: Sweeps | None = None) -> SparseProblem:
        """Return the arrays of `mdp`, without copying them.

        A small problem keeps its result, and what is derived from it, as long as it lives.
        """
        if not isinstance(mdp, TabularMDP):
            raise TypeError(f"mdp must be a TabularMDP; got {mdp!r}.")
        if sweeps is not None:
            return replace(cls.of(mdp), sweeps=sweeps)
        known = _KNOWN.get(id(mdp))
        if known is not None:
            return known
        rows = mdp.transitions
        found = cls(rows.indptr, rows.indices, rows.data, mdp.rewards.reshape(-1), mdp.n_actions)
        if found.data.size <= _MOST_KEPT:
            _KNOWN[id(mdp)] = found
            weakref.finalize(mdp, _KNOWN.pop, id(mdp), None)
        return found

    @property
    def rows(self) -> TransitionRows:
        """The transitions in the form that the kernels take."""
        return TransitionRows(self.indptr, self.indices, self.data, self.n_actions)

    @cached_property
    def blocks(self) -> BlockedRows:
        """Transitions and rewards in blocks of states, for fast backups of all actions; made on first use."""
        starts, widths = measure_slices(self.rows)
        columns, weights = np.zeros(starts[-1], dtype=np.uint32), np.zeros(starts[-1])
        blocks = BlockedRows(starts, widths, columns, weights, np.empty_like(self.rewards))
        fill_slices(self.rows, self.rewards, blocks)
        return blocks

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

    @cached_property
    def largest_reward(self) -> float:
        """Largest |r(s, a)|."""
        return float(max(self.rewards.max(), -self.rewards.min()))

    @cached_property
    def unit(self) -> float:
        """Bound on the relative error of one backup: rounding, rows that do not sum to 1, inexact entries."""
        longest_row = int(np.diff(self.indptr).max())
        sums = np.add.reduceat(self.data, self.indptr[:-1])
        return (longest_row + 8) * 2.0**-53 + float(np.abs(sums - 1.0).max()) + self.inexact

    def chain(self, actions: IntArray) -> SparseProblem:
        """Return the Markov chain of a stationary policy, `(S,)` actions."""
        rows = np.arange(self.n_states) * self.n_actions + actions
        table = self.table[rows]
        return SparseProblem(
            table.indptr,
            table.indices,
            table.data,
            self.rewards[rows],
            n_actions=1,
            inexact=self.inexact,
            sweeps=self.sweeps,
        )

    def iterate(
        self, value: FloatArray, n_sweeps: int, *, ratio: float = 1.0, damping: float = 1.0
    ) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return V after `n_sweeps` sweeps of value iteration, TV, and the actions that are greedy in V."""
        return self.sweeps.iterate(
            self.rows, self.blocks, ratio=ratio, damping=damping, value=value, n_sweeps=n_sweeps
        )


_KNOWN: dict[int, SparseProblem] = {}
"""Arrays of small problems that are in use, by the identity of the problem."""
