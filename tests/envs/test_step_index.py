"""StepIndex: the step in the observation, for every kind of space."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import sojourn as sj
from sojourn.envs import StepIndex


class Showing(gymnasium.Env):
    """Shows samples of a space."""

    def __init__(self, space):
        self.observation_space, self.action_space = space, spaces.Discrete(2)
        self.metadata = {"render_modes": []}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, False, False, {}


SPACES = {
    "Discrete": (spaces.Discrete(5), spaces.MultiDiscrete([5, 5])),
    "Discrete from 3": (spaces.Discrete(5, start=3), spaces.MultiDiscrete([5, 5], start=[3, 0])),
    "MultiDiscrete": (spaces.MultiDiscrete([5, 2]), spaces.MultiDiscrete([5, 2, 5])),
    "MultiDiscrete of int8": (
        spaces.MultiDiscrete([5, 2], dtype=np.int8, start=[1, 1]),
        spaces.MultiDiscrete([5, 2, 5], dtype=np.int8, start=[1, 1, 0]),
    ),
    "Box": (
        spaces.Box(-1.0, 2.0, (2,), np.float32),
        spaces.Box(
            np.array([-1, -1, 0], dtype=np.float32), np.array([2, 2, 1], dtype=np.float32), dtype=np.float32
        ),
    ),
    "Box of bytes": (
        spaces.Box(0, 255, (2,), np.uint8),
        spaces.Box(np.zeros(3, dtype=np.uint8), np.array([255, 255, 4], dtype=np.uint8), dtype=np.uint8),
    ),
    "Tuple": (
        spaces.Tuple([spaces.Discrete(2), spaces.Discrete(3)]),
        spaces.Tuple([spaces.Discrete(2), spaces.Discrete(3), spaces.Discrete(5)]),
    ),
    "Dict": (
        spaces.Dict({"z": spaces.Discrete(2), "a": spaces.Box(0.0, 1.0, (3,))}),
        spaces.Dict({"z": spaces.Discrete(2), "a": spaces.Box(0.0, 1.0, (3,)), "step": spaces.Discrete(5)}),
    ),
    "image": (
        spaces.Box(0, 255, (8, 8, 3), np.uint8),
        spaces.Dict({"observation": spaces.Box(0, 255, (8, 8, 3), np.uint8), "step": spaces.Discrete(5)}),
    ),
    "MultiBinary": (
        spaces.MultiBinary(3),
        spaces.Dict({"observation": spaces.MultiBinary(3), "step": spaces.Discrete(5)}),
    ),
}


def split(space, observation):
    """Split an observation with a step into the inner observation and the index."""
    if isinstance(space, spaces.Dict):
        inner = {key: part for key, part in observation.items() if key != "step"}
        return inner.get("observation", inner), observation["step"]
    return observation[:-1], observation[-1]


@pytest.mark.parametrize(("inner", "expected"), SPACES.values(), ids=list(SPACES))
def test_observations_are_in_the_space(inner, expected):
    env = StepIndex(Showing(inner), 4)
    assert env.observation_space == expected
    inner.seed(3)
    shown = [env.reset()[0], *(env.step(0)[0] for _ in range(6))]
    inner.seed(3)
    raw = [inner.sample() for _ in range(7)]
    for taken, (observation, before) in enumerate(zip(shown, raw, strict=True)):
        assert observation in env.observation_space
        rest, index = split(expected, observation)
        scale = 4 if isinstance(inner, spaces.Box) and inner.dtype.kind == "f" else 1
        assert index * scale == min(taken, 4)
        np.testing.assert_equal(rest, before if not np.isscalar(before) else np.array([before]))
    assert split(expected, env.reset()[0])[1] == 0


FEATURED = {
    "Discrete from 3": (spaces.Discrete(5, start=3), 5),
    "MultiDiscrete": (spaces.MultiDiscrete([5, 2], start=[1, 0]), 7),
    "Box": (spaces.Box(-1.0, 2.0, (2,), np.float64), 2),
    "Box of bytes": (spaces.Box(0, 255, (2,), np.uint8), 2),
    "Dict": (spaces.Dict({"a": spaces.Discrete(2)}), None),
    "image": (spaces.Box(0, 255, (8, 8, 3), np.uint8), None),
}


@pytest.mark.parametrize("feature", ["log", "remaining"])
@pytest.mark.parametrize(("inner", "size"), FEATURED.values(), ids=list(FEATURED))
def test_smooth_features_follow_the_observation(inner, size, feature):
    law = sj.Uniform(1, 7)
    env = StepIndex(Showing(inner), 4, feature=feature, law=law)
    h = np.arange(1, 6)
    # The mean of Uniform(1, 7) is 4; given H ≥ h, H is uniform on h … 7, so (8 − h + 1)/2 steps remain.
    expected = np.log(h) / np.log(5) if feature == "log" else (9 - h) / 2 / 4
    np.testing.assert_allclose(env.features, expected)
    inner.seed(3)
    shown = [env.reset()[0], *(env.step(0)[0] for _ in range(6))]
    inner.seed(3)
    for taken, observation in enumerate(shown):
        assert observation in env.observation_space
        rest, value = split(env.observation_space, observation)
        assert value == pytest.approx(expected[min(taken, 4)], rel=1e-6)
        before = inner.sample()
        if isinstance(inner, (spaces.Discrete, spaces.MultiDiscrete)):
            ones = np.atleast_1d(before) - inner.start + np.array([0, 5])[: np.size(before)]
            np.testing.assert_array_equal(np.flatnonzero(rest), ones)
            assert rest.size == size
        else:
            np.testing.assert_equal(rest, before)
    batch = env.join(np.stack([before] * 3), [0, 2, 9]) if size else None
    if batch is not None:
        assert batch.shape == (3, size + 1)
        np.testing.assert_allclose(batch[:, -1], expected[[0, 2, 4]], rtol=1e-6)


def test_actions_rewards_and_ends_are_unchanged():
    bare, env = gymnasium.make("FrozenLake-v1"), StepIndex(gymnasium.make("FrozenLake-v1"), 10)
    first = bare.reset(seed=4)
    assert env.reset(seed=4)[1] == first[1]
    for action in (2, 1, 1, 2, 1, 2):
        plain, indexed = bare.step(action), env.step(action)
        assert indexed[0][0] == plain[0]
        assert indexed[1:] == plain[1:]
        if plain[2]:
            break
    assert env.action_space == bare.action_space


@pytest.mark.parametrize(
    ("space", "settings", "message"),
    [
        (spaces.Discrete(2), {"max_steps": 0}, r"max_steps must be a whole number ≥ 1; got 0\."),
        (
            spaces.Box(0, 255, (2,), np.uint8),
            {"max_steps": 256},
            r"max_steps must be at most 255 for uint8; got 256\.",
        ),
        (
            spaces.Dict({"step": spaces.Discrete(2)}),
            {"max_steps": 3},
            r"key must not be a key of the observation; got 'step'\.",
        ),
        (
            spaces.Discrete(2),
            {"max_steps": 3, "feature": "lag"},
            r"feature must be one of 'index', 'log', 'remaining'; got 'lag'\. Did you mean 'log'\?",
        ),
        (
            spaces.Discrete(2),
            {"max_steps": 3, "feature": "remaining"},
            r'law must be given if feature is "remaining"; got None\.',
        ),
        (
            spaces.MultiBinary(2),
            {"max_steps": 3, "key": "observation"},
            r"key must not be a key of the observation; got 'observation'\.",
        ),
    ],
)
def test_bad_settings_raise_a_one_line_error(space, settings, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        StepIndex(Showing(space), **settings)


def test_the_key_can_be_chosen():
    env = StepIndex(Showing(spaces.Dict({"step": spaces.Discrete(2)})), 3, key="h")
    assert set(env.reset()[0]) == {"step", "h"}
    with pytest.raises(TypeError, match=r"^key must be text; got 3\.$"):
        StepIndex(Showing(spaces.Discrete(2)), 3, key=3)
