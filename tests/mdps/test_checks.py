"""Rewards, starts and terminal states are checked at construction, and errors name the place."""

import re

import numpy as np
import pytest

from sojourn.mdps import TabularMDP

# Three states, two actions: action 0 moves on, action 1 stays; state 2 is absorbing.
MOVES = np.zeros((3, 2, 3))
MOVES[[0, 1, 2], 0, [1, 2, 2]] = 1.0
MOVES[[0, 1, 2], 1, [0, 1, 2]] = 1.0
ZERO = np.zeros((3, 2))


def changed(array, place, value):
    result = np.array(array, dtype=float)
    result[place] = value
    return result


@pytest.mark.parametrize(
    ("rewards", "message"),
    [
        (changed(ZERO, (1, 0), np.nan), "rewards[1, 0] must be finite; got nan."),
        (changed(ZERO, (2, 1), -np.inf), "rewards[2, 1] must be finite; got -inf."),
        (changed(np.zeros((3, 2, 3)), (0, 1, 2), np.nan), "rewards[0, 1, 2] must be finite; got nan."),
        (np.zeros((2, 3)), "rewards must be an (S, A) = (3, 2) or (S, A, S) array; got shape (2, 3)."),
        (0.0, "got shape ()."),
    ],
)
def test_wrong_rewards_are_refused(rewards, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        TabularMDP(MOVES, rewards)


@pytest.mark.parametrize("rewards", [[["a", "b"]] * 3, None, [[1j, 0]] * 3, [[0], [0, 1], [0, 1]]])
def test_non_numeric_rewards_raise_a_type_error(rewards):
    with pytest.raises(TypeError, match=r"^rewards must be .*; got .*\.$"):
        TabularMDP(MOVES, rewards)


def test_rewards_by_successor_are_averaged():
    transitions = np.array([[[0.25, 0.75]], [[0.0, 1.0]]])
    rewards = np.array([[[8.0, 4.0]], [[99.0, 2.0]]])
    # By hand: 0.25 · 8 + 0.75 · 4 = 5; the impossible 99 does not count.
    assert TabularMDP(transitions, rewards).rewards.tolist() == [[5.0], [2.0]]


def test_equal_rewards_of_all_successors_are_kept_exactly():
    third = np.full((3, 1, 3), 1 / 3)
    rewards = np.full((3, 1, 3), -0.1)
    assert TabularMDP(third, rewards).rewards.tolist() == [[-0.1]] * 3


def test_rewards_are_contiguous_float64():
    rewards = TabularMDP(MOVES, np.asfortranarray(ZERO.astype(np.int8))).rewards
    assert rewards.dtype == np.float64
    assert rewards.flags.c_contiguous


@pytest.mark.parametrize("start", [1, np.int32(1), 1.0, np.array(1), [0, 1, 0], (0.0, 1.0, 0.0)])
def test_a_start_is_a_state_or_a_distribution(start):
    assert TabularMDP(MOVES, ZERO, start=start).start.tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (3, "start must be a state in 0 … 2; got 3."),
        (-1, "start must be a state in 0 … 2; got -1."),
        (0.5, "start must be a state in 0 … 2; got 0.5."),
        (float("nan"), "start must be a state in 0 … 2; got nan."),
        ([0.5, 0.4, 0.0], "start must sum to 1; got 0.9."),
        ([1.5, -0.5, 0.0], "start[1] must be a probability ≥ 0; got -0.5."),
        ([np.nan, 1.0, 0.0], "start[0] must be a probability ≥ 0; got nan."),
        ([0.5, 0.5], "start must be a state or a distribution of shape (3,); got shape (2,)."),
        ([], "got shape (0,)."),
    ],
)
def test_a_wrong_start_is_refused(start, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        TabularMDP(MOVES, ZERO, start=start)


@pytest.mark.parametrize("start", ["0", None, True, ["a", "b", "c"], {0: 1.0}])
def test_a_start_of_the_wrong_type_is_refused(start):
    with pytest.raises(TypeError, match=r"^start must be "):
        TabularMDP(MOVES, ZERO, start=start)


@pytest.mark.parametrize(
    "terminal", [2, np.int64(2), [2], (2, 2), {2}, np.array([2]), np.array(2), range(2, 3), iter([2])]
)
def test_terminal_may_be_one_state_or_several(terminal):
    assert TabularMDP(MOVES, ZERO, terminal=terminal).terminal == (2,)


def test_no_terminal_state_is_the_default():
    assert TabularMDP(MOVES, ZERO).terminal == TabularMDP(MOVES, ZERO, terminal=[]).terminal == ()
    assert TabularMDP(MOVES, ZERO + 1.0).terminal_reward == 0.0


def test_terminal_states_are_sorted_and_pay_one_reward():
    rewards = changed(ZERO, [0, 2], 0.5)
    moves = changed(MOVES, (0, 0), [1.0, 0.0, 0.0])
    mdp = TabularMDP(moves, rewards, terminal=[2, 0])
    assert mdp.terminal == (0, 2)
    assert mdp.terminal_reward == 0.5
    assert all(type(state) is int for state in mdp.terminal)


@pytest.mark.parametrize(
    ("terminal", "message"),
    [
        (1, "transitions[1, 0] must stay in the terminal state 1 with probability 1; got 0.0."),
        ([2, 0], "transitions[0, 0] must stay in the terminal state 0 with probability 1; got 0.0."),
        (3, "terminal must be a state in 0 … 2; got 3."),
        ([2, -1], "terminal[1] must be a state in 0 … 2; got -1."),
    ],
)
def test_a_wrong_terminal_state_is_refused(terminal, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        TabularMDP(MOVES, ZERO, terminal=terminal)


def test_a_terminal_state_that_sometimes_leaves_is_refused():
    moves = changed(MOVES, (2, 1), [0.25, 0.0, 0.75])
    with pytest.raises(ValueError, match=r"transitions\[2, 1\] must stay .* got 0.75\."):
        TabularMDP(moves, ZERO, terminal=2)


def test_terminal_rewards_that_differ_are_refused():
    with pytest.raises(ValueError, match=re.escape("rewards[2, 1] must be 0.0, as rewards[2, 0] is")):
        TabularMDP(MOVES, changed(ZERO, (2, 1), 2.0), terminal=2)


@pytest.mark.parametrize("terminal", ["2", True, 2j, ["2"], [None], object()])
def test_a_terminal_state_of_the_wrong_type_is_refused(terminal):
    with pytest.raises(TypeError, match=r"^terminal.* must be "):
        TabularMDP(MOVES, ZERO, terminal=terminal)


def test_a_mask_of_terminal_states_is_refused_with_its_remedy():
    with pytest.raises(TypeError, match=r"use np\.flatnonzero"):
        TabularMDP(MOVES, ZERO, terminal=np.array([False, False, True]))
