"""All stationary equilibria of a small table."""

from __future__ import annotations

import itertools
import math

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.behavior._agents import Task
from sojourn.behavior._decisions import Decisions
from sojourn.behavior._selves import TIE, Choices, find_heads
from sojourn.behavior._settle import respond_to_cycle
from sojourn.laws import LengthLaw
from sojourn.mdps import TabularMDP

__all__ = ["all_equilibria"]


def all_equilibria(
    mdp: TabularMDP, law: LengthLaw, *, tolerance: float = 1e-6, max_policies: int = 10_000
) -> tuple[Decisions, ...]:
    """Return every stationary equilibrium of sophisticated selves without a deadline, best first.

    A policy is an equilibrium if no self gains by another action, given that all later selves follow the
    policy. There may be none, in which case backward induction cycles, or several. All deterministic policies
    are checked; actions that are copies of a lower one are left out. Best means the value from the start
    states, in the committed view.

    Args:
        mdp: The problem, a small one.
        law: The discount function.
        tolerance: Largest gain from another action that counts as none.
        max_policies: Largest number of policies that are checked.

    Raises:
        ValueError: If there are more policies than `max_policies`.

    Example:
        >>> from sojourn import behavior
        >>> import sojourn as sj
        >>> found = behavior.all_equilibria(sj.mdps.cash_or_invest(2), sj.QuasiHyperbolic(0.6, 0.9))
        >>> [one.policy[0].tolist() for one in found]
        [[1, 0, 0]]
    """
    task = Task.of(mdp, law, None, tolerance=tolerance)
    options = [np.flatnonzero(row).tolist() for row in task.table.is_distinct]
    n_policies = math.prod(len(one) for one in options)
    if n_policies > max_policies:
        raise ValueError(
            f"max_policies must be at least {n_policies:,} for {mdp.label}; got {max_policies:,}."
        )
    heads = find_heads(law, law, None, error=0.0)
    found = []
    for actions in itertools.product(*options):
        policy = np.array([actions], dtype=np.int64)
        if heads is not None:
            gains = _gains_by_heads(mdp, policy[0], heads.factors, heads.own)
        else:
            gains = respond_to_cycle(task.table, law, policy, tolerance).gains
        if gains.max() <= max(tolerance, TIE):
            found.append((policy, float(gains.max())))
    solved = []
    for policy, gain in found:
        is_tie = respond_to_cycle(task.table, law, policy, tolerance).choices.is_tie
        solved.append(task.decisions("sophisticated", Choices(policy, None, is_tie), "stationary", gain=gain))
    return tuple(sorted(solved, key=lambda one: -float(mdp.start @ one.value)))


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
