"""Problems read from Gymnasium have the dynamics of the environments."""

import re
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers

from sojourn.errors import NewerVersionWarning, SojournWarning
from sojourn.mdps import TabularMDP

ENVIRONMENTS = [
    ("Taxi-v4", {}),
    ("Taxi-v4", {"is_rainy": True}),
    ("Taxi-v4", {"is_rainy": True, "rainy_probability": 0.6}),
    ("FrozenLake-v1", {}),
    ("FrozenLake-v1", {"is_slippery": False}),
    ("FrozenLake-v1", {"map_name": "8x8", "success_rate": 0.7}),
    ("FrozenLake-v1", {"desc": ["SFS", "FHF", "FFG"], "reward_schedule": (3, -2, -1)}),
    ("FrozenLake8x8-v1", {}),
    ("CliffWalking-v1", {}),
    ("CliffWalking-v1", {"is_slippery": True}),
    ("CliffWalkingSlippery-v1", {}),
]


def by_loops(env):
    """Dense tables of an environment, read entry by entry, with the absorbing state last."""
    table = env.unwrapped.P
    n_states, n_actions = len(table), len(table[0])
    transitions = np.zeros((n_states + 1, n_actions, n_states + 1))
    rewards = np.zeros((n_states + 1, n_actions))
    transitions[n_states, :, n_states] = 1.0
    for s in range(n_states):
        for a in range(n_actions):
            for probability, next_state, reward, terminated in table[s][a]:
                transitions[s, a, n_states if terminated else next_state] += probability
                rewards[s, a] += probability * reward
    return transitions, rewards


@pytest.mark.parametrize(("name", "settings"), ENVIRONMENTS)
def test_tables_are_those_of_the_environment(name, settings):
    mdp = TabularMDP.from_env(name, **settings)
    env = gymnasium.make(name, **settings)
    transitions, rewards = by_loops(env)
    n_states = len(rewards) - 1
    found = mdp.transitions.toarray().reshape(transitions.shape)
    assert np.abs(found - transitions).max() <= 1e-15
    assert np.abs(mdp.rewards - rewards).max() <= 1e-13
    assert mdp.terminal == (n_states,)
    assert mdp.terminal_reward == 0.0
    assert mdp.start[:-1] == pytest.approx(env.unwrapped.initial_state_distrib)
    assert mdp.start[-1] == 0.0
    assert TabularMDP.from_env(env, start=0) == TabularMDP.from_env(env.unwrapped, start=0)
    assert TabularMDP.from_env(env) == mdp
    env.close()


@pytest.mark.parametrize("name", ["Taxi-v4", "FrozenLake-v1", "CliffWalkingSlippery-v1"])
def test_a_walk_in_the_environment_never_leaves_the_table(name):
    mdp, env = TabularMDP.from_env(name), gymnasium.make(name)
    state, _ = env.reset(seed=7)
    assert mdp.start[state] > 0.0
    rng = np.random.default_rng(7)
    for _ in range(500):
        action = int(rng.integers(mdp.n_actions))
        next_state, _, terminated, truncated, _ = env.step(action)
        reached = mdp.terminal[0] if terminated else next_state
        assert reached in mdp.successors(state, action)[0]
        state = env.reset()[0] if terminated or truncated else next_state
    env.close()


def test_taxi_has_one_state_more_and_normalizes_as_the_paper_needs():
    mdp = TabularMDP.from_env("Taxi-v4")
    assert (mdp.n_states, mdp.n_actions, mdp.terminal) == (501, 6, (500,))
    assert sorted(set(mdp.rewards.ravel())) == [-10.0, -1.0, 0.0, 20.0]
    normal = mdp.normalized()
    assert (normal.reward_scale, normal.reward_shift) == (30.0, -10.0)
    assert np.array_equal(normal.rewards, (mdp.rewards + 10.0) / 30.0)
    assert normal.terminal_reward == 10.0 / 30.0
    assert np.count_nonzero(mdp.start) == 300


def test_cliff_walking_is_mapped_from_minus_100_to_0():
    normal = TabularMDP.from_env("CliffWalking-v1").normalized()
    assert (normal.reward_scale, normal.reward_shift, normal.terminal_reward) == (100.0, -100.0, 1.0)


def test_frozen_lake_is_left_alone():
    mdp = TabularMDP.from_env("FrozenLake-v1")
    assert mdp.normalized() is mdp


def test_entering_the_goal_ends_the_episode_although_its_table_goes_on():
    # CliffWalking's goal, state 47, is not absorbing in P: there, up leads on to state 35.
    env = gymnasium.make("CliffWalking-v1")
    assert not env.unwrapped.P[47][0][0][3]
    mdp = TabularMDP.from_env(env)
    assert mdp.successors(35, 2)[0].tolist() == [48]
    assert mdp.successors(47, 0)[0].tolist() == [35]
    env.close()


def test_a_missing_version_is_replaced_by_the_newest_with_a_warning():
    with pytest.warns(
        NewerVersionWarning, match=r"^Taxi-v3 is not in this Gymnasium; using Taxi-v4\.$"
    ) as caught:
        mdp = TabularMDP.from_env("Taxi-v3")
    assert issubclass(NewerVersionWarning, SojournWarning)
    assert caught[0].filename == __file__
    assert mdp == TabularMDP.from_env("Taxi-v4")
    assert mdp.name == "Taxi-v4"
    with pytest.warns(NewerVersionWarning, match="using CliffWalking-v1"):
        TabularMDP.from_env("CliffWalking-v0")
    with pytest.warns(NewerVersionWarning, match="using FrozenLake-v1"):
        TabularMDP.from_env("FrozenLake")


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ("Taxy-v4", "Unknown environment 'Taxy-v4'. Did you mean 'Taxi-v4'?"),
        ("Taxi-v9", "Unknown environment 'Taxi-v9'. Did you mean 'Taxi-v4'?"),
        ("frozen lake", "Unknown environment 'frozen lake'."),
        ("", "Unknown environment ''."),
        ("nowhere:Taxi-v4", "env 'nowhere:Taxi-v4' could not be made: No module named 'nowhere'"),
        ("Blackjack-v1", "Blackjack-v1 has no transition table P. Use an environment with one"),
        ("CartPole-v1", "or TabularMDP.from_transitions on logged data."),
    ],
)
def test_ids_without_a_table_are_refused_with_advice(env, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        TabularMDP.from_env(env)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("env", [None, 3, gymnasium.Env, {"P": {}}])
def test_anything_but_an_environment_raises_a_type_error(env):
    with pytest.raises(TypeError, match=r"^env must be a Gymnasium id or environment; got "):
        TabularMDP.from_env(env)


def test_a_fickle_passenger_is_not_in_the_table_and_refused():
    with pytest.raises(ValueError, match=r"fickle_passenger must be False; got True\."):
        TabularMDP.from_env("Taxi-v4", fickle_passenger=True)


def test_settings_go_with_an_id_only():
    env = gymnasium.make("FrozenLake-v1")
    with pytest.raises(TypeError, match="is_slippery must come with an id"):
        TabularMDP.from_env(env, is_slippery=False)
    with pytest.raises(TypeError, match="has no setting 'slippery'"):
        TabularMDP.from_env("FrozenLake-v1", slippery=False)
    env.close()


def test_specifications_are_made_like_ids():
    mdp = TabularMDP.from_env(gymnasium.spec("FrozenLake-v1"), is_slippery=False)
    assert mdp == TabularMDP.from_env("FrozenLake-v1", is_slippery=False)


def test_names_include_the_settings():
    assert TabularMDP.from_env("Taxi-v4", is_rainy=True).name == "Taxi-v4(is_rainy=True)"
    env = gymnasium.make("FrozenLake8x8-v1")
    assert TabularMDP.from_env(env).name == "FrozenLake8x8-v1"
    assert TabularMDP.from_env(Table(TINY)).name == "Table"
    env.close()


def test_wrappers_that_do_not_change_the_problem_are_ignored():
    env = wrappers.RecordEpisodeStatistics(wrappers.TimeLimit(gymnasium.make("FrozenLake-v1"), 5))
    assert TabularMDP.from_env(env) == TabularMDP.from_env("FrozenLake-v1")
    env.close()


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: wrappers.TransformReward(env, lambda r: 2 * r),
        lambda env: wrappers.StickyAction(env, 0.25),
        wrappers.NormalizeReward,
        lambda env: wrappers.TimeLimit(wrappers.TransformReward(env, lambda r: 2 * r), 5),
    ],
)
def test_wrappers_that_change_the_problem_are_refused(wrap):
    env = wrap(gymnasium.make("FrozenLake-v1"))
    with pytest.raises(ValueError, match=r"may change what FrozenLake-v1 does .* pass env\.unwrapped"):
        TabularMDP.from_env(env)
    assert TabularMDP.from_env(env.unwrapped).n_states == 17
    env.close()


@pytest.mark.parametrize("settings", [{}, {"fickle_passenger": True}])
def test_environments_that_were_opened_are_closed(monkeypatch, settings):
    closed = []
    monkeypatch.setattr(gymnasium.envs.toy_text.TaxiEnv, "close", lambda env: closed.append(env.spec.id))
    if settings:
        with pytest.raises(ValueError):
            TabularMDP.from_env("Taxi-v4", **settings)
    else:
        TabularMDP.from_env("Taxi-v4")
        env = gymnasium.make("Taxi-v4")
        TabularMDP.from_env(env)
    assert len(closed) == 1


TINY = {0: {0: [(0.5, 0, 1.0, False), (0.5, 1, 3.0, False)]}, 1: {0: [(1.0, 0, 0.0, False)]}}


class Table:
    """A minimal third-party environment: only a table and a start."""

    def __init__(self, table, start=(1.0, 0.0)):
        self.P = table
        self.isd = start


def test_without_a_terminated_transition_no_state_is_added():
    mdp = TabularMDP.from_env(Table(TINY))
    assert (mdp.n_states, mdp.terminal) == (2, ())
    assert mdp.rewards[:, 0].tolist() == [2.0, 0.0]


@pytest.mark.parametrize(
    "table",
    [
        [[[(0.5, 0, 1.0, False), (0.5, 1, 3.0, False)]], [[(1.0, 0, 0.0, False)]]],
        [{0: [(0.5, 0, 1.0, 0), (0.5, 1, 3.0, 0)]}, ([[1.0, 0, 0.0, 0]],)],
        np.array([[[[0.5, 0, 1, 0], [0.5, 1, 3, 0]]], [[[1.0, 0, 0, 0], [0.0, 1, 9, 1]]]]),
    ],
)
def test_tables_of_lists_and_arrays_are_read_alike(table):
    assert TabularMDP.from_env(Table(table)) == TabularMDP.from_env(Table(TINY))


def test_a_terminated_transition_may_name_any_state():
    outcomes = [(0.25, 0, 4.0, True), (0.25, None, 0.0, True), (0.25, -7, 0.0, True), (0.25, 0, 0.0, False)]
    mdp = TabularMDP.from_env(Table([[outcomes]], start=[1.0]))
    assert mdp.successors(0, 0)[0].tolist() == [0, 1]
    assert mdp.successors(0, 0)[1].tolist() == [0.25, 0.75]
    assert mdp.rewards.tolist() == [[1.0], [0.0]]


def test_repeated_successors_are_summed_exactly():
    third = [(1 / 3, 1, -1.0, False)] * 3
    mdp = TabularMDP.from_env(Table([[third], [third]]))
    assert mdp.transitions.data.tolist() == [1.0, 1.0]
    assert mdp.rewards.tolist() == [[-1.0], [-1.0]], "the same reward three times is that reward, to the bit"


def test_outcomes_with_probability_zero_are_ignored():
    outcomes = [(0.0, 0, -50.0, True), (1.0, 1, 0.1, False)]
    mdp = TabularMDP.from_env(Table([[outcomes], [outcomes]]))
    assert mdp.terminal == ()
    assert mdp.rewards.tolist() == [[0.1], [0.1]]
    with pytest.raises(ValueError, match=re.escape("transitions[1, 0] must sum to 1; got 0.0.")):
        TabularMDP.from_env(Table([[outcomes], [outcomes[:1]]]))


def test_a_table_without_a_start_asks_for_one():
    table = Table(TINY, start=None)
    with pytest.raises(ValueError, match="Table has no initial_state_distrib; pass start="):
        TabularMDP.from_env(table)
    assert TabularMDP.from_env(table, start=1).start.tolist() == [0.0, 1.0]
    assert TabularMDP.from_env(table, start=[0.5, 0.5]).start.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TINY | {1: {0: [(0.9, 0, 0.0, False)]}}, "transitions[1, 0] must sum to 1; got 0.9."),
        ({0: {0: [(1.5, 0, 0.0, False), (-0.5, 0, 0.0, False)]}}, "P[0][0] must list (probability, next"),
        ({0: {0: [(1.0, 5, 0.0, False)]}}, "with a next state in 0 … 0; got (1.0, 5, 0.0, False)."),
        ({0: {0: [(1.0, 0.5, 0.0, False)]}}, "with a next state in 0 … 0"),
        ({0: {0: [(1.0, 0, float("nan"), False)]}}, "with a finite reward"),
        ({0: {0: [(1.0, 0, 0.0, 0.5)]}}, "with terminated true or false"),
        (
            {0: {0: [(1.0, 0, 0.0)]}},
            "P[0][0] must list (probability, next state, reward, terminated); got (1.0, 0",
        ),
        ({0: {0: [0.5]}}, "P[0][0] must list (probability, next state, reward, terminated); got 0.5."),
        ({0: {0: []}}, "P[0][0] must list at least one outcome; got none."),
        ({0: {0: 1.0}}, "P[0][0] must be a list or a mapping; got 1.0."),
        ({0: TINY[0], 1: {}}, "P[1] must list 1 actions, as P[0] does; got 0."),
        ({1: TINY[0], 2: TINY[1]}, "P[0] must exist: states and actions are numbered from 0"),
        ({}, "P must list states and their actions; got 0 states"),
        (np.ones((2, 1, 2)) / 2, "Use TabularMDP(env.P, rewards)."),
        (9.81, "has no transition table P."),
        (None, "has no transition table P."),
    ],
)
def test_a_wrong_table_is_refused_by_its_place(table, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        TabularMDP.from_env(Table(table))
    assert "\n" not in str(caught.value)


def test_gymnasium_is_loaded_only_when_needed():
    code = "import sys, sojourn.mdps; sojourn.mdps.river_swim(); sys.exit('gymnasium' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_setting_that_the_environment_refuses_is_one_line():
    with pytest.raises(ValueError, match=r"^env 'FrozenLake-v1' could not be made: no '9x9'$"):
        TabularMDP.from_env("FrozenLake-v1", map_name="9x9")


@pytest.mark.parametrize("name", ["TAXI-V4", "taxi-v4", "Taxi-v4"])
def test_ids_are_taken_in_any_case(name):
    assert TabularMDP.from_env(name).name == "Taxi-v4"


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        (
            "FrozenLake-v1",
            {"is_slipery": False},
            "FrozenLake-v1 has no setting 'is_slipery'. Did you mean 'is_slippery'?",
        ),
        (
            "CliffWalking-v1",
            {"zzz": 1},
            "CliffWalking-v1 has no setting 'zzz'. It takes render_mode, is_slippery.",
        ),
    ],
)
def test_a_setting_that_an_environment_does_not_have_is_named(name, settings, message):
    with pytest.raises(TypeError) as caught:
        TabularMDP.from_env(name, **settings)
    assert str(caught.value) == message


def test_a_custom_wrapper_that_overrides_step_is_refused():
    class Louder(gymnasium.Wrapper):
        def step(self, action):
            state, reward, *rest = self.env.step(action)
            return state, 100.0 * reward, *rest

    class Named(gymnasium.Wrapper):
        pass

    with gymnasium.make("FrozenLake-v1") as env:
        with pytest.raises(
            ValueError, match=r"^Louder may change what FrozenLake-v1 does .* pass env.unwrapped"
        ):
            TabularMDP.from_env(Louder(env))
        assert TabularMDP.from_env(Named(env)) == TabularMDP.from_env("FrozenLake-v1")


@pytest.mark.parametrize(
    ("name", "state", "words", "actions"),
    [
        ("FrozenLake-v1", 6, "row 1, column 2", ("left", "down", "right", "up")),
        ("CliffWalking-v1", 36, "row 3, column 0", ("up", "right", "down", "left")),
        ("Taxi-v4", 328, "row 3, column 1, passenger at Y, to R", ("south", "north", "east", "west")),
    ],
)
def test_the_grids_of_gymnasium_have_names(
    name: str, state: int, words: str, actions: tuple[str, ...]
) -> None:
    mdp = TabularMDP.from_env(name)  # 328 is Gymnasium's own example of encode(3, 1, 2, 0)
    assert mdp.state_label(state) == words
    assert mdp.state_label(mdp.n_states - 1) == "end"
    assert mdp.action_names is not None
    assert mdp.action_names[: len(actions)] == actions
    assert mdp.normalized().grid == mdp.grid
