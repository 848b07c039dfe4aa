"""Facts about problems, compared with brute force over all policies and with the planner."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import sojourn as sj
from sojourn.mdps import describe


def brute_force_diameter(mdp: sj.TabularMDP) -> float:
    """Return the largest over pairs of the least expected travel time over all deterministic policies."""
    n, table = mdp.n_states, mdp.transitions.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)
    best = np.full((n, n), np.inf)
    np.fill_diagonal(best, 0.0)
    for policy in itertools.product(range(mdp.n_actions), repeat=n):
        chain = table[np.arange(n), policy]
        for goal in range(n):
            others = [state for state in range(n) if state != goal]
            matrix = np.eye(n - 1) - chain[np.ix_(others, others)]
            if np.linalg.cond(matrix) < 1e12:
                times = np.linalg.solve(matrix, np.ones(n - 1))
                if (times >= 1.0 - 1e-9).all():
                    best[others, goal] = np.minimum(best[others, goal], times)
    return float(best.max())


@pytest.mark.parametrize(
    "mdp", [sj.mdps.river_swim(5), sj.mdps.chain(4, slip=0.2), sj.mdps.garnet(6, 2, 3, seed=1)], ids=str
)
def test_the_diameter_is_that_of_brute_force(mdp: sj.TabularMDP) -> None:
    assert describe(mdp).diameter == pytest.approx(brute_force_diameter(mdp), rel=1e-9)


def test_the_smallest_gap_is_that_of_the_planner() -> None:
    mdp, gamma = sj.mdps.garnet(8, 3, 2, seed=5), 0.9
    value = sj.plan(mdp, sj.Geometric(gamma), tolerance=1e-10).value
    quality = mdp.rewards + gamma * (mdp.transitions @ value).reshape(mdp.rewards.shape)
    gaps = quality.max(axis=1, keepdims=True) - quality
    facts = describe(mdp, gamma=gamma)
    assert facts.smallest_gap == pytest.approx(gaps[gaps > 1e-8].min(), abs=1e-8)
    assert facts.n_ties == 0


def test_problems_that_end_have_no_diameter() -> None:
    facts = describe(sj.mdps.deep_sea(4))
    assert facts.diameter == math.inf
    assert facts.n_reachable == 11  # 1 + 2 + 3 + 4 cells, and the end
    assert "infinite" in repr(facts)
    assert "DeepSea(4)" in facts._repr_html_()


def test_equal_actions_have_no_gap() -> None:
    facts = describe(sj.TabularMDP([[[1.0], [1.0]]], [[0.5, 0.5]]))
    assert facts.smallest_gap is None
    assert (facts.n_ties, facts.diameter) == (1, 0.0)


def test_a_large_problem_is_described_without_its_diameter() -> None:
    assert describe(sj.mdps.river_swim(400)).diameter is None
