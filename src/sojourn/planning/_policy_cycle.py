"""The Markov chain of a policy: one step of it, and one whole round of a policy that starts again.

From the first row on, a round of N steps is one step of a chain on the states alone, P₁ P₂ … P_N, which pays
the round's reward. If j rounds earn at most j·G + B, then n = jN + i steps earn at most that and the most
that i steps of a round can earn, R_i: n·G/N + B + max_i (R_i − i·G/N). The lower end alike.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sojourn._kernels import follow_policy_cycle
from sojourn._typing import FloatArray, PolicyArray
from sojourn.laws import LengthLaw
from sojourn.planning._certificate import Certificate, certificates
from sojourn.planning._problem import Problem
from sojourn.planning._tail import best_certificate

__all__ = ["find_round_certificate", "one_step"]

_DENSE_STATES = 600  # up to here a round is followed on a full table
_MOST_ENTRIES = 20_000_000  # of a whole round's transitions


def one_step(problem: Problem, row: PolicyArray) -> Problem:
    """Return the chain of one row of a policy: `(S,)` actions or `(S, A)` probabilities."""
    pick = _choice(row, problem.n_states, problem.n_actions)
    table = sparse.csr_array(pick @ problem.table)
    rewards = np.asarray(pick @ problem.rewards, dtype=np.float64)
    mixed = problem.n_actions * 2.0**-53 if row.ndim == 2 else 0.0
    return Problem(table.indptr, table.indices, table.data, rewards, n_actions=1, inexact=mixed)


def find_round_certificate(
    problem: Problem, law: LengthLaw, rows: PolicyArray, width: float, most_layers: int
) -> Certificate | None:
    """Return bounds from the first row on of a policy that starts again, or None if a round is too large."""
    followed = _follow(problem, rows)
    if followed is None:
        return None
    rounds, most, least = followed
    rounding = rounds.inexact * len(rows) * problem.largest_reward  # of what a part of a round earns
    spread = ((n, _spread(found, most + rounding, least - rounding)) for n, found in certificates(rounds))
    return best_certificate(spread, law, width, most_layers, n_entries=rounds.data.size)[0]


def _follow(problem: Problem, rows: PolicyArray) -> tuple[Problem, FloatArray, FloatArray] | None:
    """Return the chain of whole rounds, and the most and least that 0 … N − 1 steps of one earn."""
    n_rows, n_states = len(rows), problem.n_states
    if rows.ndim == 2 and n_states <= _DENSE_STATES:
        reached, earned, most, least = follow_policy_cycle(problem.rows, problem.rewards, rows)
        return _as_chain(problem, sparse.csr_array(reached), earned, n_rows), most, least
    table = sparse.eye_array(n_states, format="csr")  # P₁ … P_i
    earned = np.zeros(n_states)  # R_i
    most, least = np.empty(n_rows), np.empty(n_rows)
    for i, row in enumerate(rows):
        most[i], least[i] = earned.max(), earned.min()
        step = one_step(problem, row)
        earned = earned + table @ step.rewards
        table = sparse.csr_array(table @ step.table)
        if table.nnz > _MOST_ENTRIES:
            return None
    return _as_chain(problem, table, earned, n_rows), most, least


def _as_chain(
    problem: Problem, table: sparse.csr_array[np.float64], rewards: FloatArray, n_rows: int
) -> Problem:
    """Return the chain of rounds; every step of one has added the rounding of a step to its entries.

    Rows are products of rows that sum to 1 up to rounding, and what is left of it is taken out.
    """
    sums = np.add.reduceat(table.data, table.indptr[:-1])
    data = table.data / np.repeat(sums, np.diff(table.indptr))
    inexact = n_rows * (problem.unit + problem.n_actions * 2.0**-53)
    return Problem(table.indptr, table.indices, data, rewards, n_actions=1, inexact=inexact)


def _spread(found: Certificate, most: FloatArray, least: FloatArray) -> Certificate:
    """Turn bounds over rounds into bounds over steps."""
    n_rows = most.size
    i = np.arange(n_rows)
    lower_gain, upper_gain = found.lower_gain / n_rows, found.upper_gain / n_rows
    return Certificate(
        lower_gain=lower_gain,
        lower_bias=found.lower_bias + (least - np.multiply.outer(lower_gain, i)).min(axis=1),
        upper_gain=upper_gain,
        upper_bias=found.upper_bias + (most - np.multiply.outer(upper_gain, i)).max(axis=1),
        actions=found.actions,
    )


def _choice(row: PolicyArray, n_states: int, n_actions: int) -> sparse.csr_array[np.float64]:
    """Return the `(S, S·A)` matrix that takes pairs to states under one row of a policy."""
    shape = (n_states, n_states * n_actions)
    if row.ndim == 1:
        columns = np.arange(n_states) * n_actions + row
        return sparse.csr_array((np.ones(n_states), columns, np.arange(n_states + 1)), shape=shape)
    indptr = np.arange(n_states + 1) * n_actions
    return sparse.csr_array((row.reshape(-1), np.arange(n_states * n_actions), indptr), shape=shape)
