"""Problems estimated from logs are the relative frequencies and means of what was logged."""

import re
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn.mdps import TabularMDP, river_swim

COLUMNS = ("state", "action", "reward", "next_state", "terminated")
LOG = [(0, 0, 1.0, 1, False), (0, 0, 2.0, 0, False), (1, 0, -1.0, 0, True), (0, 0, 3.0, 1, False)]


def estimate(log, **arguments):
    return TabularMDP.from_transitions(log, **arguments)


def by_loops(log, n_states, n_actions):
    """Dense estimates by counting in dictionaries; unvisited pairs stay and pay the lowest reward."""
    seen = defaultdict(list)
    for state, action, reward, next_state, terminated in log:
        seen[state, action].append((n_states if terminated else next_state, reward))
    ends = any(row[4] for row in log)
    size = n_states + ends
    transitions, rewards = np.zeros((size, n_actions, size)), np.zeros((size, n_actions))
    lowest = min(row[2] for row in log)
    for state in range(n_states):
        for action in range(n_actions):
            steps = seen.get((state, action), [(state, lowest)])
            for next_state, reward in steps:
                transitions[state, action, next_state] += 1.0 / len(steps)
                rewards[state, action] += reward / len(steps)
    transitions[n_states:, :, n_states:] = 1.0
    return transitions, rewards


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 3), st.integers(0, 2), st.floats(-9.0, 9.0), st.integers(0, 3), st.booleans()
        ),
        min_size=1,
        max_size=60,
    )
)
def test_estimates_are_relative_frequencies_and_means(log):
    mdp = estimate(log, n_states=4, n_actions=3, unvisited="stay")
    transitions, rewards = by_loops(log, 4, 3)
    assert mdp.transitions.toarray().reshape(transitions.shape) == pytest.approx(transitions, abs=1e-14)
    assert mdp.rewards == pytest.approx(rewards, rel=1e-12, abs=1e-12)
    assert mdp.terminal == ((4,) if len(rewards) == 5 else ())


def test_a_log_by_hand():
    mdp = estimate(LOG)
    assert (mdp.n_states, mdp.n_actions, mdp.terminal) == (3, 1, (2,))
    assert mdp.transitions.toarray() == pytest.approx(np.array([[1 / 3, 2 / 3, 0], [0, 0, 1], [0, 0, 1]]))
    assert mdp.rewards[:, 0].tolist() == [2.0, -1.0, 0.0]
    assert mdp.start.tolist() == [1.0, 0.0, 0.0]


class Frame:
    """The part of a data frame that is used."""

    def __init__(self, log):
        self.columns = [*COLUMNS, "user"]
        self.log = log

    def __getitem__(self, name):
        return [row[COLUMNS.index(name)] for row in self.log]


def test_every_form_of_a_log_gives_the_same_problem():
    by_column = {name: [row[i] for row in LOG] for i, name in enumerate(COLUMNS)}
    kinds = [("state", "i4"), ("action", "u1"), ("reward", "f4"), ("next_state", "i8"), ("terminated", "?")]
    forms = [
        iter(LOG),
        [list(row) for row in LOG],
        np.array(LOG, dtype=float),
        by_column,
        {name: np.array(column) for name, column in by_column.items()} | {"episode": [1] * 4},
        np.array(LOG, dtype=kinds),
        np.array(LOG, dtype=kinds).view(np.recarray),
        Frame(LOG),
    ]
    for form in forms:
        assert estimate(form) == estimate(LOG)


def test_pandas_frames_are_read():
    import pandas

    assert estimate(pandas.DataFrame(LOG, columns=COLUMNS)) == estimate(LOG)


@pytest.mark.parametrize("missing", [None, float("nan"), -1, 0.5, 99])
def test_the_next_state_of_a_terminated_step_is_ignored(missing):
    log = [*LOG[:2], (1, 0, -1.0, missing, True), LOG[3]]
    assert estimate(log) == estimate(LOG)
    assert estimate({name: [row[i] for row in log] for i, name in enumerate(COLUMNS)}) == estimate(LOG)


def test_a_million_steps_recover_the_river():
    mdp = river_swim(5)
    rng = np.random.default_rng(0)
    n = 1_000_000
    states, actions = rng.integers(0, 5, n), rng.integers(0, 2, n)
    cumulated = np.cumsum(mdp.transitions.toarray(), axis=1)[states * 2 + actions]
    next_states = (rng.random(n)[:, None] > cumulated[:, :-1]).sum(axis=1)
    rewards = mdp.rewards[states, actions]
    log = dict(zip(COLUMNS, (states, actions, rewards, next_states, np.zeros(n, dtype=bool)), strict=True))
    found = estimate(log)
    # A hundred thousand draws per pair: five standard deviations of a frequency are at most 0.0079.
    assert found.transitions.toarray() == pytest.approx(mdp.transitions.toarray(), abs=0.008)
    assert np.array_equal(found.rewards, mdp.rewards), "constant rewards are kept to the bit"


def test_unvisited_pairs_are_refused_by_default():
    log = [(0, 0, 1.0, 1, False), (0, 1, 0.0, 2, False), (2, 0, 0.0, 0, False)]
    with pytest.raises(ValueError, match=re.escape("got none of (1, 0) and 2 others. Use unvisited='stay'")):
        estimate(log)
    with pytest.raises(
        ValueError, match=re.escape("got none of (2, 1). Use unvisited='stay' to let it stay")
    ):
        estimate([*log, (1, 0, 0.0, 0, False), (1, 1, 0.0, 0, False)])


def test_unvisited_pairs_can_stay_and_pay_the_least():
    mdp = estimate([(0, 0, 1.0, 0, False), (0, 0, -2.0, 0, True)], n_states=2, n_actions=2, unvisited="stay")
    assert mdp.rewards.tolist() == [[-0.5, -2.0], [-2.0, -2.0], [0.0, 0.0]]
    assert mdp.successors(1, 0)[0].tolist() == [1]
    assert mdp.successors(0, 1)[0].tolist() == [0]


def test_a_start_is_given_over_the_logged_states():
    assert estimate(LOG, start=1).start.tolist() == [0.0, 1.0, 0.0]
    assert estimate(LOG, start=[0.5, 0.5]).start.tolist() == [0.5, 0.5, 0.0]
    with pytest.raises(ValueError, match="start must be a state in 0 … 1; got 2"):
        estimate(LOG, start=2)


def with_row(row):
    return [*LOG[:2], row, LOG[3]]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((-1, 0, 0.0, 0, False), "log row 2: state must be a whole number ≥ 0; got -1."),
        ((0.5, 0, 0.0, 0, False), "log row 2: state must be a whole number ≥ 0; got 0.5."),
        (("0", 0, 0.0, 0, False), "log row 2: state must be a whole number ≥ 0; got '0'."),
        ((None, 0, 0.0, 0, False), "log row 2: state must be a whole number ≥ 0; got nan."),
        ((0, 1.5, 0.0, 0, False), "log row 2: action must be a whole number ≥ 0; got 1.5."),
        ((0, 0, float("nan"), 0, False), "log row 2: reward must be a finite number; got nan."),
        ((0, 0, "much", 0, False), "log row 2: reward must be a finite number; got 'much'."),
        ((0, 0, 0.0, -2, False), "log row 2: next_state must be a whole number ≥ 0; got -2."),
        ((0, 0, 0.0, None, False), "log row 2: next_state must be a whole number ≥ 0; got nan."),
        ((0, 0, 0.0, 0, 2), "log row 2: terminated must be true or false; got 2."),
        ((0, 0, 0.0, 0, "no"), "log row 2: terminated must be true or false; got 'no'."),
        ((0, 0, 0.0, 0), "log row 2: must be (state, action, reward, next_state, terminated); got (0, 0"),
        ("abcde", "log row 2: must be (state, action, reward, next_state, terminated); got 'abcde'."),
        (7, "log row 2: must be (state, action, reward, next_state, terminated); got 7."),
    ],
)
def test_a_wrong_row_is_named(row, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        estimate(with_row(row))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_states": 1}, "log row 2: state must be a whole number in 0 … 0; got 1."),
        ({"n_states": 0}, "n_states must be a whole number ≥ 1; got 0."),
        ({"n_actions": -1}, "n_actions must be a whole number ≥ 1; got -1."),
        ({"unvisited": "sty"}, "unvisited must be one of 'refuse', 'stay'; got 'sty'. Did you mean 'stay'?"),
    ],
)
def test_wrong_settings_are_refused(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        estimate(LOG, **arguments)


def test_whole_numbers_may_be_floats():
    assert estimate(LOG, n_states=2.0, n_actions=1.0) == estimate(LOG)


@pytest.mark.parametrize("log", [[], {name: [] for name in COLUMNS}, np.zeros((0, 5)), iter([])])
def test_an_empty_log_is_refused(log):
    with pytest.raises(ValueError, match=r"log must have at least one row; got none\."):
        estimate(log)


@pytest.mark.parametrize("log", [None, 3, "log.csv", b"log"])
def test_anything_but_a_log_raises_a_type_error(log):
    with pytest.raises(TypeError, match=r"^log must be rows of \(state"):
        estimate(log)


def test_a_missing_or_short_column_is_named():
    columns = {name: [0, 0] for name in COLUMNS}
    renamed = {("state_next" if name == "next_state" else name): [0, 0] for name in COLUMNS}
    with pytest.raises(ValueError, match="log must have a column 'next_state'"):
        estimate(renamed)
    with pytest.raises(ValueError, match="log column 'reward' must have one value per row"):
        estimate(columns | {"reward": [0]})
    with pytest.raises(ValueError, match="log column 'state' must have one value per row"):
        estimate({name: [[0, 0]] for name in COLUMNS})


def test_a_table_of_the_wrong_width_is_refused():
    with pytest.raises(ValueError, match="log row 0: must be"):
        estimate(np.zeros((3, 4)))


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_text_is_refused(name):
    columns = {column: [row[i] for row in LOG] for i, column in enumerate(COLUMNS)}
    text = np.array([str(value) for value in columns[name]])
    with pytest.raises(ValueError, match=rf"log row [01]: {name} must be .*; got '.*'"):
        estimate(columns | {name: text})


def test_the_callers_columns_are_left_as_they_were():
    columns = {column: np.array([float(row[i]) for row in LOG]) for i, column in enumerate(COLUMNS)}
    columns["next_state"][2] = 7.0
    estimate(columns)
    assert columns["next_state"].tolist() == [1.0, 0.0, 7.0, 1.0]


def test_masked_columns_are_refused():
    log = {name: np.array([row[i] for row in LOG]) for i, name in enumerate(COLUMNS)}
    log["reward"] = np.ma.array(log["reward"], mask=[False, True, False, False])
    with pytest.raises(ValueError, match=r"log column 'reward' must have no masked entries; fill it first"):
        estimate(log)
    with pytest.raises(ValueError, match=r"log must have no masked entries; fill it first"):
        estimate(np.ma.array(np.array(LOG, dtype=float), mask=np.eye(4, 5)))
