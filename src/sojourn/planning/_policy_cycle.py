"""Markov chains of a policy: of one of its rows, and of one whole cycle of a policy that restarts.

A cycle is the N steps from the first row to the last. It is one step of a Markov chain with transitions
P₁ P₂ … P_N that pays the reward of the whole cycle. If j cycles earn at most j·G + B, and i steps of a cycle
at most R_i, then n = jN + i steps earn at most n·G/N + B + max_i (R_i − i·G/N). The lower bound is analogous.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sojourn._kernels import follow_policy_cycle
from sojourn._typing import FloatArray, PolicyArray
from sojourn.laws import LengthLaw
from sojourn.planning._certificate import Certificate, certificates
from sojourn.planning._sparse_problem import SparseProblem
from sojourn.planning._tail import best_certificate
from sojourn.planning._threads import layers_per_call

__all__ = ["find_cycle_certificate", "policy_chain"]

_DENSE_STATES = 600  # up to this many states, the product of a cycle is a dense matrix
_MAX_ENTRIES = 20_000_000  # largest number of transitions of a whole cycle


def policy_chain(problem: SparseProblem, row: PolicyArray) -> SparseProblem:
    """Return the Markov chain of one row of a policy: `(S,)` actions or `(S, A)` probabilities."""
    choice = _choice_matrix(row, problem.n_states, problem.n_actions)
    table = sparse.csr_array(choice @ problem.table)
    rewards = np.asarray(choice @ problem.rewards, dtype=np.float64)
    mixed = problem.n_actions * 2.0**-53 if row.ndim == 2 else 0.0
    return SparseProblem(table.indptr, table.indices, table.data, rewards, n_actions=1, inexact=mixed)


def find_cycle_certificate(
    problem: SparseProblem, law: LengthLaw, rows: PolicyArray, width: float, max_layers: int
) -> Certificate | None:
    """Return bounds for a policy that restarts, from its first row on, or None if a cycle is too large."""
    cycle = _multiply_out(problem, rows)
    if cycle is None:
        return None
    chain, most, least = cycle
    rounding = chain.inexact * len(rows) * problem.largest_reward  # in the reward of part of a cycle
    per_step = ((n, _per_step(found, most + rounding, least - rounding)) for n, found in certificates(chain))
    return best_certificate(per_step, law, width, max_layers, n_entries=chain.data.size)[0]


def _multiply_out(
    problem: SparseProblem, rows: PolicyArray
) -> tuple[SparseProblem, FloatArray, FloatArray] | None:
    """Return the chain of whole cycles, and the largest and least rewards of its first 0 … N − 1 steps."""
    n_rows, n_states = len(rows), problem.n_states
    if rows.ndim == 2 and n_states <= _DENSE_STATES:
        reached, earned, most, least = _follow_cycle(problem, rows)
        return _as_chain(problem, sparse.csr_array(reached), earned, n_rows), most, least
    table = sparse.eye_array(n_states, format="csr")  # P₁ … P_i
    earned = np.zeros(n_states)  # R_i
    most, least = np.empty(n_rows), np.empty(n_rows)
    for i, row in enumerate(rows):
        most[i], least[i] = earned.max(), earned.min()
        step = policy_chain(problem, row)
        earned = earned + table @ step.rewards
        table = sparse.csr_array(table @ step.table)
        if table.nnz > _MAX_ENTRIES:
            return None
    return _as_chain(problem, table, earned, n_rows), most, least


def _follow_cycle(
    problem: SparseProblem, rows: PolicyArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return what `follow_policy_cycle` does for a whole cycle, some layers at a time."""
    n_rows, n_states = len(rows), problem.n_states
    reached, earned = np.eye(n_states), np.zeros(n_states)
    most, least = np.empty(n_rows), np.empty(n_rows)
    at_once = layers_per_call(n_states * problem.data.size // problem.n_actions)
    for first in range(0, n_rows, at_once):
        part = slice(first, first + at_once)
        found = follow_policy_cycle(problem.rows, problem.rewards, rows[part], reached, earned)
        reached, earned, most[part], least[part] = found
    return reached, earned, most, least


def _as_chain(
    problem: SparseProblem, table: sparse.csr_array[np.float64], rewards: FloatArray, n_rows: int
) -> SparseProblem:
    """Return the chain of whole cycles, with a bound on the rounding error of its entries.

    Each step of a cycle adds the rounding error of one step. Rows sum to 1 up to rounding and are normalized.
    """
    sums = np.add.reduceat(table.data, table.indptr[:-1])
    data = table.data / np.repeat(sums, np.diff(table.indptr))
    inexact = n_rows * (problem.unit + problem.n_actions * 2.0**-53)
    return SparseProblem(table.indptr, table.indices, data, rewards, n_actions=1, inexact=inexact)


def _per_step(found: Certificate, most: FloatArray, least: FloatArray) -> Certificate:
    """Turn bounds per cycle into bounds per step."""
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


def _choice_matrix(row: PolicyArray, n_states: int, n_actions: int) -> sparse.csr_array[np.float64]:
    """Return the `(S, S·A)` matrix of the probabilities with which a policy row chooses each action."""
    shape = (n_states, n_states * n_actions)
    if row.ndim == 1:
        columns = np.arange(n_states) * n_actions + row
        return sparse.csr_array((np.ones(n_states), columns, np.arange(n_states + 1)), shape=shape)
    indptr = np.arange(n_states + 1) * n_actions
    return sparse.csr_array((row.reshape(-1), np.arange(n_states * n_actions), indptr), shape=shape)
