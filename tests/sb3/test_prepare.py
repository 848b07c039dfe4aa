"""What `prepare` returns, and what it refuses."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import TimeLimit
from stable_baselines3 import DQN, PPO, SAC
from stable_baselines3.common import env_checker
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import sojourn as sj
from sojourn import sb3
from sojourn.envs import RandomLength, StepIndex, TabularEnv

LAW = sj.Polynomial(1.4, offset=3)


def tiny():
    """Return settings of a small network; agents change the dictionary."""
    return {"policy_kwargs": {"net_arch": [8]}, "device": "cpu", "seed": 0}


class Sketch(gymnasium.Env):
    """An environment whose observations are pictures, or pictures beside numbers."""

    action_space = spaces.Discrete(2)

    def __init__(self, kind="dict", *, ends=True):
        image = spaces.Box(0, 255, (36, 36, 1), np.uint8)
        numbers = {"picture": image, "numbers": spaces.Box(0.0, 1.0, (2,))}
        self.observation_space = spaces.Dict(numbers) if kind == "dict" else image
        self._ends, self._taken = ends, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        self._taken = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        self._taken += 1
        return self.observation_space.sample(), float(action), self._ends and self._taken == 6, False, {}


ENVIRONMENTS = {
    "Taxi": lambda: gymnasium.make("Taxi-v4"),
    "CartPole": lambda: gymnasium.make("CartPole-v1"),
    "table": lambda: TabularEnv(sj.mdps.cash_or_invest(8, payoff=3.0)),
    "dict": Sketch,
    "picture": lambda: Sketch("picture"),
}


def complaints(check, env):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check(env, skip_render_check=True)
    texts = {str(warning.message) for warning in caught}
    harmless = ("is different from the unwrapped version", "spec", "fps")
    return {text for text in texts if not any(part in text for part in harmless)}


@pytest.mark.parametrize("algorithm", ["DQN", "PPO"])
@pytest.mark.parametrize("make", ENVIRONMENTS.values(), ids=list(ENVIRONMENTS))
def test_both_checkers_report_the_same_with_and_without_the_wrappers(make, algorithm):
    env, _ = sb3.prepare(make(), LAW, algorithm, last=20)
    for check in (check_env, env_checker.check_env):
        assert complaints(check, env) <= complaints(check, make())


@pytest.mark.parametrize("n_envs", [None, 2])
@pytest.mark.parametrize("agent", [DQN, PPO])
@pytest.mark.parametrize("kind", ["dict", "picture"])
def test_agents_learn_from_dict_observations(kind, agent, n_envs):
    env, kwargs = sb3.prepare(lambda: Sketch(kind), LAW, agent, last=4, n_envs=n_envs)
    key = "picture" if kind == "dict" else "observation"
    assert list(env.observation_space.spaces) == (
        ["numbers", "picture", "step"] if kind == "dict" else [key, "step"]
    )
    settings = {"n_steps": 16, "batch_size": 8} if agent is PPO else {"learning_starts": 8, "buffer_size": 50}
    model = agent("MultiInputPolicy", env, **kwargs, **settings, **tiny()).learn(40)
    assert model.num_timesteps >= 40
    if agent is DQN:
        samples = model.replay_buffer.sample(30)
        seen, after = (
            part["step"].numpy().ravel() for part in (samples.observations, samples.next_observations)
        )
        features = np.log(np.arange(1, 6)) / np.log(5)
        index = np.abs(seen[:, None] - features).argmin(axis=1)
        np.testing.assert_allclose(after, features[np.minimum(index + 1, 4)], atol=1e-6)


def test_continuous_actions_and_saved_agents(tmp_path):
    env, kwargs = sb3.prepare("Pendulum-v1", LAW, SAC, n_steps=3)
    settings = {"learning_starts": 8, "buffer_size": 100, "batch_size": 8}
    model = SAC("MlpPolicy", env, **kwargs, **settings, **tiny()).learn(30)
    model.save(tmp_path / "agent.zip")
    again = SAC.load(tmp_path / "agent.zip", env=env)
    assert again.replay_buffer.clock == model.replay_buffer.clock
    again.learn(20)
    observation, _ = env.reset(seed=0)
    assert again.predict(observation)[0].shape == (1,)


def test_logs_show_the_rewards_of_the_environment():
    env, kwargs = sb3.prepare("CartPole-v1", LAW, "PPO")
    model = PPO("MlpPolicy", env, **kwargs, n_steps=64, batch_size=32, **tiny()).learn(64)
    episodes = list(model.ep_info_buffer)
    assert episodes
    assert all(one["r"] == one["l"] for one in episodes)


def test_rewards_are_weighted_on_policy_only():
    for algorithm, expected in (("A2C", 1 / LAW.remaining(np.arange(1, 6))), ("QR-DQN", np.ones(5))):
        env, _ = sb3.prepare("CartPole-v1", LAW, algorithm)
        env.reset(seed=0)
        played = [env.step(h % 2) for h in range(5)]
        np.testing.assert_allclose([one[1] for one in played], expected)
        assert [one[4]["step"] for one in played] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("law", "settings", "kind", "limit"),
    [
        (LAW, {}, "log", 512),
        (LAW, {"last": 10}, "log", 20),
        (LAW, {"last": 10, "feature": "index"}, "index", 20),
        (LAW, {"max_steps": 30}, "log", 30),
        (sj.Uniform(1, 9), {}, "remaining", 9),
        (sj.Uniform(1, 9), {"last": 50, "feature": "index"}, "index", 9),
        (sj.Geometric(0.9), {}, None, None),
    ],
)
def test_features_and_limits_follow_the_law(law, settings, kind, limit):
    env, kwargs = sb3.prepare(TabularEnv(sj.mdps.river_swim(3)), law, "DQN", **settings)
    buffer = kwargs["replay_buffer_kwargs"]
    if kind is None:
        assert "features" not in buffer
        assert env.observation_space == spaces.Discrete(3)
    else:
        inner = TabularEnv(sj.mdps.river_swim(3))
        wrapped = StepIndex(inner, env.clock.last, feature=kind, law=law)
        assert env.observation_space == wrapped.observation_space
        np.testing.assert_array_equal(buffer["features"], wrapped.features)
    env.reset(seed=0)
    taken = 0
    while taken < 600:
        taken += 1
        if env.step(0)[3]:
            break
    assert taken == (limit or 600)


@pytest.mark.parametrize("algorithm", ["DQN", "PPO"])
def test_training_episodes_are_no_longer_than_the_longest_length(algorithm):
    env, _ = sb3.prepare("CartPole-v1", sj.Fixed(5), algorithm)
    env.reset(seed=0)
    assert [env.step(h % 2)[3] for h in range(5)] == [False] * 4 + [True]


def test_on_policy_discrete_observations_show_a_short_clock_as_one_hot():
    for last, expected in ((10, spaces.MultiDiscrete([3, 11])), (65, spaces.Box(0.0, 1.0, (4,), np.float32))):
        env, _ = sb3.prepare(TabularEnv(sj.mdps.river_swim(3)), LAW, "PPO", last=last)
        assert env.observation_space == expected


def test_the_agents_gamma_is_the_discount_after_the_last_step():
    for last in (3, 20):
        _, kwargs = sb3.prepare("CartPole-v1", LAW, "PPO", last=last)
        assert kwargs["gamma"] == pytest.approx(1 - LAW.survival(last + 1) / LAW.tail(last + 1))
    _, kwargs = sb3.prepare("CartPole-v1", sj.Fixed(9), "PPO")
    assert kwargs["gamma"] == 0.0


def test_on_policy_the_limit_bounds_the_last_step():
    env, _ = sb3.prepare(TimeLimit(Sketch(ends=False), 30), LAW, "PPO")
    assert env.clock.last == 15
    env, _ = sb3.prepare(TimeLimit(Sketch(ends=False), 30), sj.Uniform(1, 20), "PPO")
    assert env.clock.last == 19
    env, _ = sb3.prepare(TimeLimit(Sketch(ends=False), 30), LAW, "DQN")
    assert env.clock.last == 256
    with pytest.raises(
        ValueError, match=r"^last must be below the length of training episodes, 30, .* got 30\.$"
    ):
        sb3.prepare(TimeLimit(Sketch(ends=False), 30), LAW, "PPO", last=30)


class Cutting(Sketch):
    def step(self, action):
        observation, reward, _, _, info = super().step(action)
        return observation, reward, False, self._taken == 4, info


def test_on_policy_an_early_truncation_is_refused_when_it_happens():
    env, _ = sb3.prepare(Cutting(), LAW, "PPO", last=4)
    env.reset(seed=0)
    for _ in range(3):
        env.step(0)
    with pytest.raises(ValueError, match=r"^last must be below 4, .* got last=4\.$"):
        env.step(0)
    env, _ = sb3.prepare(Cutting(), LAW, "DQN", last=4)
    env.reset(seed=0)
    assert [env.step(0)[3] for _ in range(4)] == [False, False, False, True]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"algorithm": "MaskablePPO"}, r"algorithm must not be MaskablePPO: it needs .*"),
        ({"algorithm": "QQN"}, r"algorithm must be one of DQN, .*; got 'QQN'\. Did you mean '\w+'\?"),
        ({"algorithm": "PPO", "n_steps": 3}, r"n_steps must be 1 .*; got 3\."),
        ({"feature": "lgo"}, r"feature must be one of .*; got 'lgo'\. Did you mean 'log'\?"),
        ({"law": "polynomal(2)"}, r".*[Dd]id you mean 'polynomial'.*"),
        ({"env": RandomLength(gymnasium.make("CartPole-v1"), LAW)}, r"env must not have RandomLength .*"),
    ],
)
def test_bad_settings_raise_a_one_line_error(settings, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        sb3.prepare(**{"env": "CartPole-v1", "law": LAW, "algorithm": "DQN", **settings})


def test_wrong_types_and_a_taken_key_raise_a_one_line_error():
    for law in (0.99, None):
        with pytest.raises(TypeError, match=rf"^law must be a LengthLaw, .*; got {law}\.$"):
            sb3.prepare("CartPole-v1", law, "DQN")
    with pytest.raises(TypeError, match=r"^algorithm must be the name or class of an agent, .*; got None\.$"):
        sb3.prepare("CartPole-v1", LAW, None)
    taken = Sketch()
    taken.observation_space = spaces.Dict({"step": spaces.Discrete(3)})
    with pytest.raises(ValueError, match=r"^env must not have 'step' among the keys .* got \['step'\]\.$"):
        sb3.prepare(taken, LAW, "DQN")


def test_stacked_environments_are_refused_with_the_remedy():
    stacked = DummyVecEnv([Sketch])
    with pytest.raises(TypeError, match=r"^env must be one environment, .* n_envs=…, .* got DummyVecEnv\.$"):
        sb3.prepare(stacked, LAW, "DQN")
    with pytest.raises(TypeError, match=r"^env must be an id or a function if n_envs is given; got <.*>\.$"):
        sb3.prepare(Sketch(), LAW, "DQN", n_envs=2)
    with pytest.raises(
        TypeError, match=r"^env must be a Gymnasium environment, an id or a function; got 3\.$"
    ):
        sb3.prepare(3, LAW, "DQN")


def test_observations_may_be_normalized_outside_but_not_rewards():
    env, kwargs = sb3.prepare("CartPole-v1", LAW, "DQN", n_envs=1, seed=0)
    settings = {"learning_starts": 8, "buffer_size": 100, **tiny()}
    scaled = VecNormalize(env, norm_reward=False)
    DQN("MlpPolicy", scaled, **kwargs, **settings).learn(30)
    with pytest.raises(ValueError, match=r"^VecNormalize must have norm_reward=False: .*\.$"):
        DQN("MlpPolicy", VecNormalize(env), **kwargs, **settings).learn(30)


def test_the_environment_that_is_only_looked_at_is_closed():
    closed = []

    class Counted(Sketch):
        def close(self):
            closed.append(self)

    env, _ = sb3.prepare(Counted, LAW, "DQN", last=4, n_envs=2)
    assert len(closed) == 1
    env.close()
    assert len(closed) == 3
