"""All forms of a transition table lead to one canonical, read-only form."""

import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn.mdps import TabularMDP

STAY = [[[1.0, 0.0]], [[0.0, 1.0]]]
ZERO = [[0.0], [0.0]]


@st.composite
def tables(draw):
    """Dense (S, A, S) probabilities, many of them zero, from whole-number weights."""
    n_states, n_actions = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, (n_states, n_actions, n_states)).astype(float)
    weights[..., 0] += weights.sum(axis=2) == 0
    return weights / weights.sum(axis=2, keepdims=True)


@settings(max_examples=60, deadline=None)
@given(tables())
def test_every_form_gives_the_same_problem(dense):
    n_states, n_actions, _ = dense.shape
    rewards = np.arange(n_states * n_actions, dtype=float).reshape(n_states, n_actions)
    stacked = dense.reshape(-1, n_states)
    expected = TabularMDP(dense, rewards)
    assert np.array_equal(expected.transitions.toarray(), stacked)
    forms = [dense.tolist(), np.asfortranarray(dense), [sp.csr_array(dense[:, a]) for a in range(n_actions)]]
    forms += [tuple(sp.coo_matrix(dense[:, a]) for a in range(n_actions))]
    forms += [getattr(sp.coo_array(stacked), f"to{form}")() for form in ("csr", "csc", "coo", "lil", "dok")]
    for form in forms:
        assert TabularMDP(form, rewards) == expected


def test_the_row_of_a_pair_is_state_times_actions_plus_action():
    dense = np.zeros((2, 3, 2))
    dense[..., 0] = 1.0
    dense[1, 2] = 0.25, 0.75
    table = TabularMDP(dense, np.zeros((2, 3))).transitions.toarray()
    assert table[1 * 3 + 2].tolist() == [0.25, 0.75]


def test_the_table_is_canonical_and_typed_for_compiled_loops():
    data, columns = [0.5, 0.0, 0.25, 0.25, 1.0], [1, 0, 0, 0, 1]
    messy = sp.csr_array((data, columns, [0, 4, 5]), shape=(2, 2))
    table = TabularMDP(messy, ZERO).transitions
    assert isinstance(table, sp.csr_array)
    assert table.indptr.tolist() == [0, 2, 3]
    assert table.indices.tolist() == [0, 1, 1]
    assert table.data.tolist() == [0.5, 0.5, 1.0]
    assert (table.indptr.dtype, table.indices.dtype, table.data.dtype) == (np.int64, np.int32, np.float64)
    assert messy.nnz == 5, "the caller's table is left as it was"


def test_nothing_can_be_written():
    mdp = TabularMDP(STAY, ZERO)
    table = mdp.transitions
    for array in (table.data, table.indices, table.indptr, mdp.rewards, mdp.start):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(ValueError, match=r"write to transitions\.copy"):
        table[0, 1] = 1.0
    writable = table.copy()
    writable[0, 0] = 7.0
    assert table[0, 0] == 1.0


def test_changing_the_input_afterwards_changes_nothing():
    dense, sparse, rewards = np.array(STAY), sp.csr_array(np.eye(2)), np.array(ZERO)
    problems = [TabularMDP(dense, rewards), TabularMDP(sparse, rewards)]
    dense[0, 0] = 0.0, 1.0
    sparse.data[:] = 7.0
    rewards[:] = 7.0
    assert all(mdp == TabularMDP(STAY, ZERO) for mdp in problems)


def test_scipy_converts_multiplies_and_shows_the_table():
    dense = np.array([[[0.5, 0.5], [0.0, 1.0]], [[1.0, 0.0], [0.25, 0.75]]])
    table, rows = TabularMDP(dense, np.zeros((2, 2))).transitions, dense.reshape(-1, 2)
    for form in ("csr", "csc", "coo", "lil", "dok", "bsr"):
        assert np.array_equal(table.asformat(form).toarray(), rows)
    assert np.array_equal(sp.csr_matrix(table).tocoo().toarray(), rows)
    assert np.array_equal(table @ np.array([1.0, 2.0]), rows @ np.array([1.0, 2.0]))
    assert np.array_equal(table[[3, 0]].toarray(), rows[[3, 0]])
    assert np.array_equal((2 * table).tocoo().toarray(), 2 * rows)
    assert [part.tolist() for part in table.nonzero()] == [part.tolist() for part in rows.nonzero()]
    assert "0.75" in str(table)


def test_a_read_only_table_is_shared_and_survives_pickling():
    mdp = TabularMDP(STAY, ZERO)
    assert TabularMDP(mdp.transitions, ZERO).transitions is mdp.transitions
    again = pickle.loads(pickle.dumps(mdp))
    assert again == mdp
    assert not again.transitions.data.flags.writeable
    assert not again.rewards.flags.writeable


def test_results_of_arithmetic_are_checked_again():
    mdp = TabularMDP(STAY, ZERO)
    with pytest.raises(ValueError, match=r"transitions\[0, 0\] must sum to 1; got 2.0."):
        TabularMDP(mdp.transitions * 2, ZERO)


def at(place, row):
    """STAY for four states and two actions, with one row replaced."""
    dense = np.zeros((4, 2, 4))
    dense[np.arange(4), :, np.arange(4)] = 1.0
    dense[place] = row
    return dense


@pytest.mark.parametrize(
    ("transitions", "message"),
    [
        (at((3, 0), [0.5, 0.47, 0, 0]), "transitions[3, 0] must sum to 1; got 0.97."),
        (at((2, 1), [0, 0, 0, 0]), "transitions[2, 1] must sum to 1; got 0.0. A state that ends"),
        (at((1, 1), [1.5, -0.5, 0, 0]), "transitions[1, 1, 1] must be a probability ≥ 0; got -0.5."),
        (at((1, 0), [np.nan, 1, 0, 0]), "transitions[1, 0, 0] must be a probability ≥ 0; got nan."),
        (at((1, 0), [np.inf, 0, 0, 0]), "transitions[1, 0] must sum to 1; got inf."),
        (
            at((0, 1), [0.5, 0.5 + 2e-12, 0, 0]),
            "transitions[0, 1] must sum to 1; got 1.000000000002. Rounded or",
        ),
        (at((0, 1), np.float32([0.1, 0.2, 0.3, 0.4])), "Rounded or float32? Divide each row by its sum"),
        (np.ones((2, 3, 4)), "transitions must be an (S, A, S) array"),
        (np.ones((2, 2)), "got shape (2, 2)."),
        (np.zeros((0, 1, 0)), "got shape (0, 1, 0)."),
        (np.ones((2, 3, 3)) / 3, "From (A, S, S): np.moveaxis(transitions, 0, 1)."),
        (
            sp.csr_array(np.ones((3, 2))),
            "sparse transitions must have shape (S·A, S), row s·A + a; got (3, 2).",
        ),
        (sp.csr_array((0, 0)), "got (0, 0)."),
        ([sp.eye_array(2), sp.eye_array(3)], "transitions[1] must be a sparse (S, S) array"),
        (
            [sp.eye_array(2), np.eye(2)],
            "transitions[1] must be a sparse (S, S) array, one for each action; got nd",
        ),
    ],
)
def test_a_wrong_table_is_refused_by_name_and_place(transitions, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        TabularMDP(transitions, np.zeros((4, 2)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "transitions",
    ["taxi", None, 3j * np.ones((1, 1, 1)), [[[1.0], [1.0, 0.0]]], {}, sp.eye_array(2, dtype=complex)],
)
def test_non_numeric_tables_raise_a_type_error(transitions):
    with pytest.raises(TypeError, match=r"^transitions must .*; got .*\.$"):
        TabularMDP(transitions, ZERO)


def test_a_damaged_sparse_array_is_refused():
    damaged = sp.csr_array(np.eye(2))
    damaged.indices[1] = 5
    with pytest.raises(ValueError, match="transitions must be a valid sparse array"):
        TabularMDP(damaged, ZERO)


def test_long_rows_are_summed_accurately():
    # 1/n added n times drifts by more than 1e-12 in a naive loop; the exact sum is off by far less.
    n = 200_001
    row = sp.csr_array((np.full(n, 1.0 / n), np.arange(n), [0, n]), shape=(1, n))
    rest = sp.csr_array((np.ones(n - 1), np.zeros(n - 1, dtype=int), np.arange(n)), shape=(n - 1, n))
    assert TabularMDP(sp.vstack([row, rest]), np.zeros((n, 1))).n_states == n
