"""Read-only views of a tabular learner's counts and Q values."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sojourn._kernels import AssumedLaw, Tables, find_state
from sojourn._typing import FloatArray, IntArray

__all__ = ["TableViews"]


class TableViews:
    """Shows counts and Q values by the environment's own state numbers."""

    n_states: int | None
    n_actions: int
    _assumed: AssumedLaw
    _tables: Tables

    def q_values(self, states: IntArray | None = None) -> FloatArray:
        """Return Q of the coming episode, `(N, len(states), A)`, with rewards mapped to [0, 1]."""
        names = self.states if states is None else np.asarray(states, dtype=np.int64)
        found = np.repeat(self._assumed.caps[:-1, np.newaxis, np.newaxis], len(names), axis=1)
        found = np.repeat(found, self.n_actions, axis=2)
        if self._assumed.prior_rewards.size > 0:
            found += self._assumed.prior_rewards[names]
        for i, name in enumerate(names):
            number = find_state(self._tables, int(name))
            if number >= 0:
                for action in np.flatnonzero(self._tables.pair_of[number] >= 0):
                    found[:, i, action] = self._tables.q[self._tables.pair_of[number, action]]
        return found

    @property
    def states(self) -> IntArray:
        """The states that have entries in the tables, in the order in which they were added.

        These are the states seen so far. Posterior sampling that draws unseen states one by one has them all.
        """
        return self._tables.names[1 : self._tables.sizes[0]].copy()

    @property
    def visits(self) -> sparse.coo_array:
        """Sparse array of how often each (state, action) was played; rows are the environment's states."""
        tables = self._tables
        pairs = np.flatnonzero(tables.visits[: tables.sizes[1]])
        rows = tables.names[tables.state_of[pairs]]
        shape = (self.n_states or int(rows.max(initial=-1)) + 1, self.n_actions)
        return sparse.coo_array((tables.visits[pairs], (rows, tables.action_of[pairs])), shape=shape)

    @property
    def transition_counts(self) -> list[tuple[int, int, int, int]]:
        """Every (state, action, next state, count) seen; next state −1 is the end of an episode."""
        tables, n_arcs = self._tables, int(self._tables.sizes[2])
        pairs = tables.arc_from[:n_arcs]
        return [
            (int(tables.names[tables.state_of[p]]), int(tables.action_of[p]), int(tables.names[y]), int(n))
            for p, y, n in zip(pairs, tables.arc_to[:n_arcs], tables.arc_count[:n_arcs], strict=True)
            if n > 0
        ]
