"""Observations and actions as numbers."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from sojourn.envs import NumberedEnv
from sojourn.envs._numbered import open_env


class Shown(gymnasium.Env):
    """Shows given observations and records the actions."""

    def __init__(self, space, shows, actions=None):
        self.observation_space = space
        self.action_space = spaces.Discrete(2) if actions is None else actions
        self._shows, self.got = iter(shows), []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return next(self._shows), {}

    def step(self, action):
        assert action in self.action_space
        self.got.append(action)
        return next(self._shows), 1, np.bool_(False), np.bool_(False), {}


def ints(*values):
    return np.array(values, dtype=np.int64)


SPACES = {
    "MultiDiscrete": (spaces.MultiDiscrete([3, 3]), [ints(1, 2), ints(2, 1), [1, 2]], [0, 1, 0], 10),
    "MultiBinary": (spaces.MultiBinary(3), [np.array([0, 1, 1], dtype=np.int8), [0, 1, 1]], [0, 0], 9),
    "Box": (spaces.Box(0, 3, (2,), np.uint8), [np.uint8([1, 2]), np.uint8([2, 1])], [0, 1], 17),
    "Text": (spaces.Text(3), ["ab", "ba", "ab"], [0, 1, 0], None),
    "Tuple": (
        spaces.Tuple([spaces.Discrete(4), spaces.MultiDiscrete([2, 2])]),
        [(1, ints(0, 1)), (np.int64(1), ints(0, 1)), (1, ints(1, 0))],
        [0, 0, 1],
        17,
    ),
    "Dict": (
        spaces.Dict({"b": spaces.Discrete(4), "a": spaces.Dict({"c": spaces.Discrete(2)})}),
        [{"b": 1, "a": {"c": 0}}, {"a": {"c": 0}, "b": 1}, {"b": 0, "a": {"c": 1}}],
        [0, 0, 1],
        9,
    ),
    "too many to count on": (spaces.MultiDiscrete([1_000] * 40), [np.zeros(40, dtype=int)], [0], None),
}


@pytest.mark.parametrize(("space", "shows", "numbers", "n_states"), SPACES.values(), ids=list(SPACES))
def test_observations_are_numbered_as_they_appear(space, shows, numbers, n_states):
    env = NumberedEnv(Shown(space, shows))
    assert env.n_states == n_states
    found = [env.reset(seed=0), *(env.step(0)[0] for _ in shows[1:])]
    assert found == numbers
    assert len(env.observations) == max(numbers) + 1
    np.testing.assert_equal(env.observations[0], shows[0])


def test_discrete_observations_keep_their_numbers():
    env = NumberedEnv(Shown(spaces.Discrete(9, start=-3), [np.int64(4), 4, -3, np.int32(5)]))
    assert env.n_states == 10
    assert [env.reset(), *(env.step(0)[0] for _ in range(3))] == [7, 7, 0, 8]
    assert env.observations is None


def test_observations_are_copied():
    shown = ints(1, 2)
    env = NumberedEnv(Shown(spaces.MultiDiscrete([3, 3]), [shown]))
    env.reset()
    shown[:] = 0
    assert env.observations[0].tolist() == [1, 2]


def test_flags_and_rewards_are_plain_python_values():
    env = NumberedEnv(Shown(spaces.Discrete(2), [0, 1]))
    env.reset()
    step = env.step(1)
    assert step == (1, 1.0, False, False)
    assert [type(part) for part in step] == [int, float, bool, bool]


ACTIONS = {
    "Discrete from 5": (spaces.Discrete(3, start=5), [5, 6, 7]),
    "MultiDiscrete": (
        spaces.MultiDiscrete([2, 3], start=[0, 4]),
        [[0, 4], [0, 5], [0, 6], [1, 4], [1, 5], [1, 6]],
    ),
    "MultiBinary": (spaces.MultiBinary((1, 2)), [[[0, 0]], [[0, 1]], [[1, 0]], [[1, 1]]]),
}


@pytest.mark.parametrize(("space", "expected"), ACTIONS.values(), ids=list(ACTIONS))
def test_every_action_has_a_number(space, expected):
    bare = Shown(spaces.Discrete(2), [0] * 20, space)
    env = NumberedEnv(bare)
    assert env.n_actions == len(expected)
    for number in range(env.n_actions):
        env.step(number)  # which asserts that it is an action
    np.testing.assert_equal([np.asarray(action).tolist() for action in bare.got], expected)


@pytest.mark.parametrize(
    ("observations", "actions", "message"),
    [
        (spaces.Box(0.0, 1.0, (2,)), None, r"env must have discrete observations; got Box\(0.0, 1.0, \(2,\)"),
        (
            spaces.Tuple([spaces.Discrete(2), spaces.Box(0.0, 1.0)]),
            None,
            r"env must have discrete observations; got Box",
        ),
        (spaces.Discrete(2), spaces.Box(0.0, 1.0), r"env must have discrete actions; got Box\(0.0, 1.0"),
        (
            spaces.Discrete(2),
            spaces.MultiBinary(60),
            r"env must have at most 10,000 actions; got 1.15292e\+18\.",
        ),
    ],
)
def test_spaces_that_cannot_be_numbered_are_refused_in_one_line(observations, actions, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        NumberedEnv(Shown(observations, [0], actions))


def test_only_environments_made_here_are_closed():
    class Closing(Shown):
        closed = False

        def close(self):
            self.closed = True

    own = Closing(spaces.Discrete(2), [0])
    with open_env(own) as (env, name):
        assert env is own
        assert name == "Closing"
    assert not own.closed
    gymnasium.register("SojournTest/Closing-v0", lambda: Closing(spaces.Discrete(2), [0]))
    try:
        with open_env("SojournTest/Closing-v0") as (env, name):
            assert name == "SojournTest/Closing-v0"
        assert env.unwrapped.closed
    finally:
        gymnasium.registry.pop("SojournTest/Closing-v0")
    with pytest.raises(TypeError, match=r"^env must be a Gymnasium id or environment; got 3\.$"), open_env(3):
        pass
