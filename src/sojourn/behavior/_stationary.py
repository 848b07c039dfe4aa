"""Stationary policies of a small table from which no self gains by another action."""

from __future__ import annotations

import itertools
import math

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.behavior._selves import TIE, Table, find_heads
from sojourn.behavior._settle import respond_to_cycle
from sojourn.laws import LengthLaw
from sojourn.mdps import TabularMDP

__all__ = ["count_equilibria", "count_policies", "find_equilibria"]

_FEW_POLICIES = 1_024
"""Largest number of policies that are tried to count equilibria."""


def count_policies(table: Table) -> int:
    """Return the number of deterministic stationary policies, without copies of actions."""
    return math.prod(int(n) for n in table.is_distinct.sum(axis=1))


def count_equilibria(table: Table, law: LengthLaw, tolerance: float) -> int | None:
    """Return the number of stationary equilibria, or None if that would take long."""
    if count_policies(table) > _FEW_POLICIES or find_heads(law, law, None, error=0.0) is None:
        return None
    return len(find_equilibria(table, law, tolerance))


def find_equilibria(table: Table, law: LengthLaw, tolerance: float) -> list[tuple[IntArray, float]]:
    """Return all stationary equilibria as policies `(1, S)`, with the largest gain from a deviation."""
    heads, found = find_heads(law, law, None, error=0.0), []
    for actions in itertools.product(*(np.flatnonzero(row).tolist() for row in table.is_distinct)):
        policy = np.array([actions], dtype=np.int64)
        if heads is not None:
            gains = _gains_by_heads(table.mdp, policy[0], heads.factors, heads.own)
        else:
            gains = respond_to_cycle(table, law, policy, tolerance).gains
        if gains.max() <= max(tolerance, TIE):
            found.append((policy, float(gains.max())))
    return found


def _gains_by_heads(
    mdp: TabularMDP, actions: IntArray, factors: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return the gains from the best deviation in each state, for a law Σ_k weight_k factor_k^j."""
    states = np.arange(mdp.n_states)
    chain = mdp.transitions.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)[states, actions]
    paid = mdp.rewards[states, actions]
    following = sum(
        weight * factor * np.linalg.solve(np.eye(mdp.n_states) - factor * chain, paid)
        for factor, weight in zip(factors.tolist(), weights.tolist(), strict=True)
    )
    utility = mdp.rewards + (mdp.transitions @ following).reshape(mdp.rewards.shape)
    return np.asarray(utility.max(axis=1) - utility[states, actions])
