"""Facts about a problem that bounds on regret speak of: reachable states, diameter, gaps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import spsolve

from sojourn import _html
from sojourn._typing import FloatArray, IntArray
from sojourn._validation import check_open_unit
from sojourn.mdps._tabular import TabularMDP

__all__ = ["ProblemFacts", "describe"]

_MOST_STATES = 300
"""Number of states up to which the diameter is computed; its cost grows with the fourth power."""

_SAME = 1e-9
"""Gaps below this share of the largest value count as ties."""


@dataclass(frozen=True)
class ProblemFacts:
    """Facts about a problem; prints as a few lines.

    Attributes:
        problem: Name of the problem, or its size if it has no name.
        n_states: Number of states.
        n_actions: Number of actions.
        n_reachable: Number of states that can be reached from the start states.
        most_successors: Largest number of successors of a state and action.
        rewards: Smallest and largest expected reward.
        is_communicating: Whether every state can be reached from every other.
        diameter: Largest over pairs of states of the least expected number of steps from one to the other;
            infinite if the problem is not communicating, None if it has too many states to compute it.
        gamma: The discount factor of the gaps.
        smallest_gap: Smallest difference V(s) − Q(s, a) > 0 over reachable states and actions, under γ; None
            if all actions are equally good.
        n_ties: Number of reachable states in which several actions are best.
    """

    problem: str
    n_states: int
    n_actions: int
    n_reachable: int
    most_successors: int
    rewards: tuple[float, float]
    is_communicating: bool
    diameter: float | None
    gamma: float
    smallest_gap: float | None
    n_ties: int

    def rows(self) -> list[tuple[str, str]]:
        """Return the facts as labels and texts."""
        if self.diameter is None:
            diameter = f"not computed above {_MOST_STATES} states"
        elif math.isinf(self.diameter):
            diameter = "infinite: some states cannot be reached from some others"
        else:
            diameter = f"{self.diameter:,.6g} steps"
        gap = (
            "none: all actions are equally good" if self.smallest_gap is None else f"{self.smallest_gap:.4g}"
        )
        low, high = self.rewards
        return [
            ("states", f"{self.n_states:,}, {self.n_reachable:,} of them reachable"),
            ("actions", f"{self.n_actions:,}"),
            ("successors of a pair", f"at most {self.most_successors:,}"),
            ("rewards", f"{low:.6g} … {high:.6g}"),
            ("diameter", diameter),
            (f"smallest gap, γ = {self.gamma:g}", gap),
            ("states with several best actions", f"{self.n_ties:,}"),
        ]

    def __repr__(self) -> str:
        width = max(len(name) for name, _ in self.rows())
        return "\n".join([self.problem, *(f"{name.ljust(width)}  {text}" for name, text in self.rows())])

    def _repr_html_(self) -> str:
        return _html.table(self.problem, self.rows())


def describe(mdp: TabularMDP, *, gamma: float = 0.95) -> ProblemFacts:
    """Return facts about a problem that decide how hard it is to learn.

    Args:
        mdp: The problem.
        gamma: The discount factor under which gaps are computed, in (0, 1).

    Example:
        >>> import sojourn as sj
        >>> sj.mdps.describe(sj.mdps.river_swim(6))
        RiverSwim(6)
        states                            6, 6 of them reachable
        actions                           2
        successors of a pair              at most 3
        rewards                           0 … 1
        diameter                          14.7223 steps
        smallest gap, γ = 0.95            0.2285
        states with several best actions  0
    """
    gamma = check_open_unit("gamma", gamma)
    moves = _moves(mdp)
    reachable = _reachable(moves, np.flatnonzero(mdp.start))
    n_parts, _ = connected_components(moves, directed=True, connection="strong")
    gaps = _gaps(mdp, gamma)[reachable]
    positive = gaps[gaps > 0.0]
    return ProblemFacts(
        problem=mdp.label,
        n_states=mdp.n_states,
        n_actions=mdp.n_actions,
        n_reachable=int(reachable.size),
        most_successors=int(np.diff(mdp.transitions.indptr).max()),
        rewards=(float(mdp.rewards.min()), float(mdp.rewards.max())),
        is_communicating=n_parts == 1,
        diameter=_diameter(mdp, moves) if n_parts == 1 else math.inf,
        gamma=gamma,
        smallest_gap=float(positive.min()) if positive.size else None,
        n_ties=int(((gaps == 0.0).sum(axis=1) > 1).sum()),
    )


def _moves(mdp: TabularMDP) -> csr_array[np.float64, tuple[int, int]]:
    """Return which states can follow which under some action, `(S, S)`."""
    pairs = mdp.transitions
    states = np.repeat(np.arange(mdp.n_states), np.diff(pairs.indptr[:: mdp.n_actions]))
    moves = csr_array((np.ones(states.size), (states, pairs.indices)), shape=(mdp.n_states, mdp.n_states))
    moves.sum_duplicates()
    return moves


def _reachable(moves: csr_array[np.float64, tuple[int, int]], start: IntArray) -> IntArray:
    seen = np.zeros(moves.shape[0], dtype=bool)
    frontier = start
    while frontier.size:
        seen[frontier] = True
        following = np.unique(moves[frontier].indices).astype(np.int64)
        frontier = following[~seen[following]]
    return np.flatnonzero(seen)


def _gaps(mdp: TabularMDP, gamma: float) -> FloatArray:
    """Return V(s) − Q(s, a) under a discount factor, `(S, A)`, by policy iteration; ties are exactly 0."""
    states = np.arange(mdp.n_states)
    policy = mdp.rewards.argmax(axis=1)
    while True:
        pairs = states * mdp.n_actions + policy
        system = eye_array(mdp.n_states, format="csc") - gamma * mdp.transitions[pairs].tocsc()
        value = np.atleast_1d(spsolve(system, mdp.rewards[states, policy]))
        quality = mdp.rewards + gamma * (mdp.transitions @ value).reshape(mdp.rewards.shape)
        slack = _SAME * max(1.0, float(np.abs(value).max()))
        better = quality.max(axis=1) > quality[states, policy] + slack
        if not better.any():
            gaps = quality.max(axis=1, keepdims=True) - quality
            return np.asarray(np.where(gaps <= slack, 0.0, gaps), dtype=np.float64)
        policy = np.where(better, quality.argmax(axis=1), policy)


def _diameter(mdp: TabularMDP, moves: csr_array[np.float64, tuple[int, int]]) -> float | None:
    """Return the largest of the least expected travel times, or None if there are too many states."""
    if mdp.n_states > _MOST_STATES:
        return None
    table = mdp.transitions.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)
    return max((float(_travel_times(table, moves, goal).max()) for goal in range(mdp.n_states)), default=0.0)


def _travel_times(table: FloatArray, moves: csr_array[np.float64, tuple[int, int]], goal: int) -> FloatArray:
    """Return the least expected number of steps from each state to a goal, by policy iteration.

    The first policy moves one state closer to the goal with positive probability wherever it is, so it
    reaches the goal; every later policy is at least as fast.
    """
    n_states = len(table)
    others = np.flatnonzero(np.arange(n_states) != goal)
    if not others.size:
        return np.zeros(n_states)
    distance = np.full(n_states, n_states)
    frontier, steps = np.array([goal]), 0
    backwards = moves.tocsc()
    while frontier.size:
        distance[frontier] = steps
        before = np.unique(backwards[:, frontier].tocsc().indices)
        frontier, steps = before[distance[before] == n_states], steps + 1
        frontier = frontier[frontier != goal]
    closer = distance[np.newaxis, :] < distance[:, np.newaxis]
    policy = (table * closer[:, np.newaxis, :]).sum(axis=2).argmax(axis=1)
    while True:
        chosen = table[others, policy[others]][:, others]
        times = np.zeros(n_states)
        times[others] = np.linalg.solve(np.eye(others.size) - chosen, np.ones(others.size))
        waits = 1.0 + table @ times
        faster = waits.min(axis=1) < times - 1e-9 * (1.0 + times)
        faster[goal] = False
        if not faster.any():
            return times
        policy = np.where(faster, waits.argmin(axis=1), policy)
