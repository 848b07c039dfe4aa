"""The problem as an object: frozen, equal by content, and equivalent after normalizing."""

import copy
import dataclasses
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn.mdps import TabularMDP, river_swim


def values(mdp, survival, *, pick):
    """V of every state by plain dense backward induction, over len(survival) steps; pick is max or min."""
    table = mdp.transitions.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)
    value = np.zeros(mdp.n_states)
    for h in range(len(survival) - 1, -1, -1):
        value = pick(survival[h] * mdp.rewards + table @ value, axis=1)
    return value


@st.composite
def problems(draw):
    """Random problems, with or without an absorbing terminal state that pays 0."""
    n_states, n_actions = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    transitions = rng.dirichlet(np.ones(n_states), (n_states, n_actions))
    rewards = rng.normal(
        draw(st.sampled_from([-30.0, 0.0, 5.0])), draw(st.sampled_from([0.1, 7.0])), (n_states, n_actions)
    )
    if not draw(st.booleans()):
        return TabularMDP(transitions, rewards)
    transitions[-1], rewards[-1] = np.eye(n_states)[-1], 0.0
    return TabularMDP(transitions, rewards, terminal=n_states - 1)


@settings(max_examples=80, deadline=None)
@given(problems(), st.integers(1, 6), st.floats(0.3, 1.0))
def test_values_of_the_normalized_problem_map_back(mdp, n_steps, gamma):
    survival = gamma ** np.arange(n_steps)
    normal = mdp.normalized()
    assert normal.rewards.min() >= 0.0
    assert normal.rewards.max() <= 1.0
    for pick in (np.max, np.min):
        back = (
            values(normal, survival, pick=pick) * normal.reward_scale + normal.reward_shift * survival.sum()
        )
        assert back == pytest.approx(values(mdp, survival, pick=pick), rel=1e-9, abs=1e-9)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=6))
def test_normalized_rewards_reach_0_and_1_and_never_leave(numbers):
    n = len(numbers)
    mdp = TabularMDP(np.eye(n)[:, None, :], np.array(numbers)[:, None])
    normal = mdp.normalized()
    if min(numbers) >= 0.0 and max(numbers) <= 1.0:
        assert normal is mdp
    elif min(numbers) == max(numbers):
        assert normal.rewards.tolist() == [[0.0]] * n
        assert (normal.reward_scale, normal.reward_shift) == (1.0, numbers[0])
    else:
        assert normal.rewards.min() == 0.0
        assert normal.rewards.max() == 1.0


def test_the_range_includes_the_terminal_reward():
    # CliffWalking's numbers: -100 … -1 and a terminal 0 are mapped as -100 … 0.
    transitions = np.zeros((3, 1, 3))
    transitions[[0, 1, 2], 0, [1, 2, 2]] = 1.0
    normal = TabularMDP(transitions, [[-100.0], [-1.0], [0.0]], terminal=2).normalized()
    assert normal.rewards[:, 0].tolist() == [0.0, 0.99, 1.0]
    assert (normal.reward_scale, normal.reward_shift, normal.terminal_reward) == (100.0, -100.0, 1.0)
    # Without a terminal state the range is that of the rewards alone.
    alone = TabularMDP(transitions[:2, :, :2] + [[[0, 0]], [[0, 1]]], [[-100.0], [-1.0]]).normalized()
    assert (alone.reward_scale, alone.reward_shift) == (99.0, -100.0)


def test_rewards_in_the_unit_interval_are_left_alone():
    mdp = river_swim(6)
    assert mdp.normalized() is mdp
    assert (mdp.reward_scale, mdp.reward_shift) == (1.0, 0.0)


def test_normalizing_again_changes_nothing():
    normal = TabularMDP([[[1.0]]], [[7.0]]).normalized()
    assert normal.normalized() is normal
    assert (normal.reward_scale, normal.reward_shift) == (1.0, 7.0)


def test_reward_scale_and_shift_compose():
    normal = TabularMDP(np.eye(2)[:, None, :], [[-10.0], [20.0]]).normalized()
    stretched = copy.copy(normal)
    # A problem in units that are rescaled already, but not yet in [0, 1]: original = r · 30 − 10.
    object.__setattr__(stretched, "rewards", normal.rewards * 4.0 - 2.0)
    again = stretched.normalized()
    assert again.rewards.tolist() == [[0.0], [1.0]]
    # By hand: r = 4 r' − 2, so original = 120 r' − 70.
    assert (again.reward_scale, again.reward_shift) == (120.0, -70.0)


def test_an_infinite_range_of_rewards_is_refused():
    with pytest.raises(ValueError, match="rewards must have a finite range"):
        TabularMDP(np.eye(2)[:, None, :], [[-1.7e308], [1.7e308]]).normalized()


def test_the_normalized_problem_keeps_everything_else():
    mdp = TabularMDP(np.eye(2)[:, None, :], [[3.0], [0.0]], start=[0.5, 0.5], terminal=1, name="x")
    normal = mdp.normalized()
    assert (normal.name, normal.terminal, normal.start.tolist()) == ("x", (1,), [0.5, 0.5])
    assert normal.transitions is mdp.transitions


def test_attributes_cannot_be_set():
    mdp = river_swim(3)
    for name in ("rewards", "n_states", "new"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(mdp, name, 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        del mdp.rewards


def test_problems_are_equal_by_content():
    def swim(**changes):
        mdp = river_swim(4)
        arguments = {"transitions": mdp.transitions, "rewards": mdp.rewards, "start": mdp.start}
        return TabularMDP(**(arguments | changes))

    mdp = swim()
    assert mdp == river_swim(4) == copy.deepcopy(mdp)
    assert hash(mdp) == hash(river_swim(4))
    assert mdp == swim(name="another label")
    assert mdp != swim(start=1)
    assert mdp != swim(rewards=mdp.rewards + 1.0)
    assert mdp != swim(rewards=mdp.rewards + 1.0).normalized()
    assert mdp != river_swim(5)
    assert mdp != 4
    absorbing = np.eye(2)[:, None, :]
    assert TabularMDP(absorbing, [[0], [0]]) != TabularMDP(absorbing, [[0], [0]], terminal=1)
    one, other = [[[0.5, 0.5]], [[0, 1]]], [[[0.25, 0.75]], [[0, 1]]]
    assert TabularMDP(one, [[0], [0]]) != TabularMDP(other, [[0], [0]])


def test_successors_are_those_of_the_table():
    states, probabilities = river_swim(6).successors(5, 1)
    assert states.tolist() == [4, 5]
    assert probabilities.tolist() == [0.4, 0.6]


@pytest.mark.parametrize(
    ("state", "action", "message"),
    [
        (6, 0, "state must be a state in 0 … 5; got 6."),
        (-1, 0, "state must be a state in 0 … 5; got -1."),
        (0, 2, "action must be an action in 0 … 1; got 2."),
        (0, -1, "action must be an action in 0 … 1; got -1."),
    ],
)
def test_successors_of_an_invalid_pair_are_refused(state, action, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        river_swim(6).successors(state, action)


def test_a_name_is_text():
    with pytest.raises(TypeError, match=r"name must be text or None; got 3\."):
        TabularMDP([[[1.0]]], [[0.0]], name=3)


def test_repr_is_short():
    assert repr(river_swim(6)) == "TabularMDP('RiverSwim(6)', n_states=6, n_actions=2)"
    unnamed = TabularMDP(np.eye(2)[:, None, :], [[-1.0], [1.0]])
    assert repr(unnamed) == "TabularMDP(n_states=2, n_actions=1)"
    assert (
        repr(unnamed.normalized())
        == "TabularMDP(n_states=2, n_actions=1, reward_scale=2.0, reward_shift=-1.0)"
    )


def test_notebooks_show_a_table_with_escaped_text():
    mdp = TabularMDP(np.eye(2)[:, None, :], [[-1.0], [0.0]], terminal=1, name="<b>")
    page = mdp._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "state 1" in page
    assert "original units" not in page
    assert "original units" in mdp.normalized()._repr_html_()


@pytest.mark.parametrize(("low", "units"), [(-10.0, "reward · 30 − 10"), (5.0, "reward · 15 + 5")])
def test_the_original_units_are_shown_with_one_sign(low, units):
    mdp = TabularMDP([[[1.0], [1.0]]], [[low, 20.0]])
    assert units in mdp.normalized()._repr_html_()


def test_the_table_cannot_be_resized_or_replaced():
    table = river_swim(4).transitions
    with pytest.raises(ValueError, match=r"transitions must stay as they are; resize transitions.copy\(\)."):
        table.resize((3, 3))
    for name in ("data", "indices", "indptr"):
        with pytest.raises(AttributeError, match=rf"set {name} of transitions.copy\(\)."):
            setattr(table, name, np.zeros(3))
    copy = table.copy()
    copy.data = copy.data * 1.0
    copy.resize((3, 3))


def masked(values, at):
    array = np.ma.array(values)
    array[at] = np.ma.masked
    return array


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("transitions", {"transitions": masked(np.ones((1, 1, 1)), (0, 0, 0))}),
        ("transitions", {"transitions": [[masked([1.0], 0)]]}),
        ("rewards", {"rewards": masked([[500.0]], (0, 0))}),
        ("start", {"start": masked([1.0], 0)}),
    ],
)
def test_masked_arrays_are_refused(name, arguments):
    with pytest.raises(ValueError) as caught:
        TabularMDP(**({"transitions": [[[1.0]]], "rewards": [[1.0]]} | arguments))
    assert str(caught.value) == f"{name} must have no masked entries; fill it first, as with filled(0)."


def test_masked_arrays_without_masked_entries_are_accepted():
    assert TabularMDP([[[1.0]]], np.ma.array([[2.0]])).rewards[0, 0] == 2.0


def test_names_are_kept_and_are_not_compared():
    mdp = TabularMDP(
        [[[0.0, 1.0]], [[0.0, 1.0]]],
        [[-2.0], [0.0]],
        terminal=1,
        state_names=("busy", "done"),
        action_names=["wait"],
    )
    assert (mdp.state_names, mdp.action_names) == (("busy", "done"), ("wait",))
    assert mdp.normalized().state_names == ("busy", "done")
    assert mdp.action_label(0) == "wait"
    assert "busy" in mdp._repr_html_()
    hostile = TabularMDP(mdp.transitions, mdp.rewards, state_names=("\x1b[31m", "b"), action_names=["a\nb"])
    assert (hostile.state_label(0), hostile.action_label(0)) == ("\\x1b[31m", "a\\nb")
    plain = TabularMDP(mdp.transitions, mdp.rewards, terminal=1)
    assert (plain.state_label(1), plain.action_label(0)) == ("state 1", "action 0")
    assert plain == mdp
    again = pickle.loads(pickle.dumps(mdp))
    assert again.state_names == mdp.state_names


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("ab", "state_names must be one text for each of the 2 states; got 'ab'."),
        (["a"], "state_names must be one text for each of the 2 states; got 1."),
        (["a", ""], "state_names[1] must be text that is not empty; got ''."),
        (["a", 3], "state_names[1] must be text that is not empty; got 3."),
        (["a", "a"], "state_names must all be different; got 'a' at 0 and 1."),
    ],
)
def test_wrong_names_are_refused(names, message):
    with pytest.raises((TypeError, ValueError)) as error:
        TabularMDP([[[0.0, 1.0]], [[0.0, 1.0]]], [[1.0], [0.0]], state_names=names)
    assert str(error.value) == message
