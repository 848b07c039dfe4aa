"""Kernels equal their plain references bit for bit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import planning as reference

import sojourn as sj
from sojourn._kernels import (
    NO_PREFERENCE,
    backward_induction,
    evaluate_deterministic,
    evaluate_stochastic,
    lower_gain,
    modified_policy_iteration,
    raise_gain,
    value_iteration,
)
from sojourn._kernels.planning._blocked_rows import BLOCK
from sojourn.planning._sparse_problem import SparseProblem
from sojourn.planning._tail import _start_policy_iteration


def plain_q(problem, ratio, following):
    """Return q `(S, A)` by plain loops over the compressed rows, summed from left to right."""
    q = np.empty(problem.rewards.size)
    for row in range(q.size):
        total = 0.0
        for i in range(problem.indptr[row], problem.indptr[row + 1]):
            total += problem.data[i] * following[problem.indices[i]]
        q[row] = problem.rewards[row] + ratio * total
    return q.reshape(-1, problem.n_actions)


def uneven_problem(seed, n_states):
    """Rows of very different lengths, so that some slices are padded and others are read row by row."""
    rng = np.random.default_rng(seed)
    transitions = np.zeros((n_states, 3, n_states))
    for s in range(n_states):
        for a in range(3):
            size = int(rng.integers(1, 4)) if rng.random() < 0.97 or a == 2 else n_states
            chosen = rng.choice(n_states, size=min(size, n_states), replace=False)
            weights = rng.dirichlet(np.ones(chosen.size))
            transitions[s, a, chosen] = weights / weights.sum()
    return SparseProblem.of(sj.TabularMDP(transitions, rng.uniform(-1, 1, size=(n_states, 3))))


@pytest.mark.parametrize("n_states", [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 17])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int64])
def test_induction_is_the_plain_loop(n_states, kind):
    problem = uneven_problem(n_states, n_states)
    rng = np.random.default_rng(n_states)
    ratios, value = rng.uniform(0.5, 1.0, size=4), rng.normal(size=n_states)
    policy = np.empty((4, n_states), dtype=kind)
    unused = np.zeros(n_states, dtype=kind)
    found = backward_induction(problem.rows, problem.blocks, ratios, value, policy, unused, NO_PREFERENCE)
    for h in reversed(range(4)):
        q = plain_q(problem, ratios[h], value)
        np.testing.assert_array_equal(policy[h], q.argmax(axis=1))
        value = q.max(axis=1)
    np.testing.assert_array_equal(found, value)


def test_a_preferred_action_is_taken_if_it_is_nearly_best():
    problem = uneven_problem(3, 50)
    value = np.random.default_rng(3).normal(size=50)
    q = plain_q(problem, 0.9, value)
    wanted = np.random.default_rng(4).integers(0, 3, size=50).astype(np.uint8)
    for slack in (0.0, 0.1, 10.0):
        policy = np.empty((1, 50), dtype=np.uint8)
        found = backward_induction(
            problem.rows, problem.blocks, np.array([0.9]), value, policy, wanted, slack
        )
        best, own = q.max(axis=1), q[np.arange(50), wanted]
        is_near = own >= best - slack * np.abs(best)
        np.testing.assert_array_equal(policy[0], np.where(is_near, wanted, q.argmax(axis=1)))
        np.testing.assert_array_equal(found, np.where(is_near, own, best))


def test_both_ways_of_storing_a_slice_are_used():
    problem = uneven_problem(0, 3 * BLOCK)
    widths = problem.blocks.widths
    assert (widths == 0).any()
    assert (widths > 0).any()


def test_padding_is_bounded_by_the_transitions():
    problem = uneven_problem(1, 3 * BLOCK)
    assert problem.blocks.columns.size <= 2 * problem.data.size


def test_a_sweep_is_the_plain_damped_step():
    problem = uneven_problem(5, 40)
    value = np.random.default_rng(5).normal(size=40)
    found, image, actions = value_iteration(problem.rows, problem.blocks, 0.9, 0.75, value, 3)
    for _ in range(3):
        value = value + 0.75 * (plain_q(problem, 0.9, value).max(axis=1) - value)
    np.testing.assert_array_equal(found, value)
    np.testing.assert_array_equal(image, plain_q(problem, 0.9, value).max(axis=1))
    np.testing.assert_array_equal(actions, plain_q(problem, 0.9, value).argmax(axis=1))


@pytest.mark.parametrize(("ratio", "max_sweeps"), [(0.0, 100), (0.9, 10_000), (0.99, 40), (0.999, 10_000)])
def test_modified_policy_iteration_is_the_plain_loop(ratio, max_sweeps):
    problem = uneven_problem(7, 25)
    state = _start_policy_iteration(problem)
    low, high, _, n_sweeps = modified_policy_iteration(
        problem.rows,
        problem.rewards,
        ratio,
        1e-12,
        problem.unit,
        problem.largest_reward,
        state,
        max_sweeps,
    )
    value, image, actions = state[:3]
    expected = reference.modified_policy_iteration(problem, ratio, 1e-12, np.zeros(25), max_sweeps)
    for found, plain in zip((value, image, actions, n_sweeps), expected, strict=True):
        np.testing.assert_array_equal(found, plain)
    assert (low, high) == ((image - value).min(), (image - value).max())
    assert high - low <= 1e-12 or n_sweeps >= max_sweeps


@pytest.mark.parametrize("kind", [np.uint8, np.int64])
def test_policy_evaluation_is_the_plain_loop(kind):
    problem = uneven_problem(9, 30)
    rng = np.random.default_rng(9)
    ratios, last = rng.uniform(0.5, 1.0, size=5), rng.normal(size=30)
    policy = rng.integers(0, 3, size=(2, 30)).astype(kind)
    layers = np.array([0, 1, 1, 0, 1])
    found = evaluate_deterministic(problem.rows, problem.rewards, ratios, last, policy, layers)
    chances = np.eye(3)[policy]
    by_chance = evaluate_stochastic(problem.rows, problem.rewards, ratios, last, chances, layers)
    value = last
    for h in reversed(range(5)):
        value = plain_q(problem, ratios[h], value)[np.arange(30), policy[layers[h]]]
    np.testing.assert_array_equal(found, value)
    np.testing.assert_array_equal(by_chance, value)


def exact_average(problem, row, gain):
    """Return Σ p g / Σ p in exact arithmetic."""
    part = slice(problem.indptr[row], problem.indptr[row + 1])
    weights = [Fraction(float(p)) for p in problem.data[part]]
    values = [int(gain[y]) for y in problem.indices[part]]
    return sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1), n_successors=st.integers(1, 3), reach=st.sampled_from([3, 10**6, 10**12])
)
def test_gains_are_superharmonic_in_exact_arithmetic(seed, n_successors, reach):
    rng = np.random.default_rng(seed)
    transitions, rewards = reference.random_problem(rng, 6, 2, n_successors=n_successors)
    problem = SparseProblem.of(sj.TabularMDP(transitions, rewards))
    start = rng.integers(-reach, reach, size=6)
    above, below = start.copy(), start.copy()
    rows = np.arange(6) * 2 + rng.integers(0, 2, size=6)
    assert raise_gain(problem.rows, above, 10**6)
    assert lower_gain(problem.rows, rows, below, 10**6)
    assert (above >= start).all()
    assert (below <= start).all()
    assert above.max() == start.max()
    assert below.min() == start.min()
    for s in range(6):
        assert exact_average(problem, rows[s], below) >= int(below[s])
        for a in range(2):
            assert exact_average(problem, 2 * s + a, above) <= int(above[s])
