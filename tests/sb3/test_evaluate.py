"""Evaluation of agents: random lengths, exact values, policies as tables."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecNormalize

import sojourn as sj
from sojourn import sb3
from sojourn.envs import LawDiscount, RandomLength, TabularEnv

MDP = sj.mdps.cash_or_invest(3, payoff=2.0)
LAW = sj.BetaGeometric(2, 4)


class Table:
    """Plays a policy given as a table, decoding the step from the feature."""

    def __init__(self, policy, features=None):
        self.policy, self.features = policy, features

    def predict(self, seen, deterministic=True):
        if self.features is None:
            return np.asarray(self.policy[0, seen]), None
        index = np.abs(seen[..., -1, None] - self.features).argmin(axis=-1)
        return self.policy[index, seen[..., :-1].argmax(axis=-1)], None


@pytest.fixture
def prepared():
    env, kwargs = sb3.prepare(TabularEnv(MDP), LAW, "DQN", last=12, feature="log")
    return env, kwargs["replay_buffer_kwargs"]["features"]


def test_the_exact_value_is_that_of_the_tabulated_policy(prepared):
    env, features = prepared
    policy = np.random.default_rng(4).integers(0, 2, size=(13, MDP.n_states))
    model = Table(policy, features)
    np.testing.assert_array_equal(sb3.tabulate(model, env), policy)
    found = sb3.evaluate_policy(model, env, LAW, 2_000, seed=3)
    assert found.exact == pytest.approx(MDP.start @ sj.evaluate(MDP, LAW, policy).value, abs=1e-9)
    assert abs(found.mean - found.exact) < 4.5 * found.returns.std() / np.sqrt(found.returns.size)
    assert found.n_cut == 0
    assert repr(found).startswith("PolicyReturns(mean=")


def test_an_end_state_that_no_observation_shows_gets_an_action():
    mdp = sj.TabularMDP.from_env("FrozenLake-v1")
    env, kwargs = sb3.prepare("FrozenLake-v1", LAW, "DQN", last=5, feature="log")
    policy = np.random.default_rng(1).integers(0, 4, size=(6, 16))
    model = Table(policy, kwargs["replay_buffer_kwargs"]["features"])
    whole = np.concatenate([policy, np.zeros((6, mdp.n_states - 16), int)], axis=1)
    np.testing.assert_array_equal(sb3.tabulate(model, env), whole)
    found = sb3.evaluate_policy(model, env, LAW, 5)
    assert found.exact == pytest.approx(mdp.start @ sj.evaluate(mdp, LAW, whole).value, abs=1e-12)


def test_lengths_and_returns_are_those_of_random_length(prepared):
    env, features = prepared
    rng = np.random.default_rng(0)
    policy = rng.integers(0, 2, size=(13, MDP.n_states))
    found = sb3.evaluate_policy(Table(policy, features), env, LAW, 50, seed=8)
    plain = RandomLength(TabularEnv(MDP), LAW)
    for k in range(50):
        state, _ = plain.reset(seed=8 if k == 0 else None)
        total, h, over = 0.0, 0, False
        while not over:
            state, reward, over, _, _ = plain.step(policy[min(h, 12), state])
            total, h = total + reward, h + 1
        assert (found.lengths[k], found.returns[k]) == (h, pytest.approx(total))


def test_differences_use_the_same_lengths(prepared):
    env, features = prepared
    cash, invest = (np.full((13, MDP.n_states), action) for action in (0, 1))
    found = [sb3.evaluate_policy(Table(one, features), env, LAW, 400, seed=1) for one in (cash, invest)]
    difference = found[0].minus(found[1])
    assert difference.mean == pytest.approx(found[0].mean - found[1].mean)
    other = sb3.evaluate_policy(Table(cash, features), env, LAW, 400, seed=2)
    with pytest.raises(ValueError, match=r"^other must have the same lengths: .*\.$"):
        found[0].minus(other)


def test_agents_without_a_clock_are_evaluated_on_their_plain_environment():
    model = Table(np.ones((1, MDP.n_states), dtype=int))
    env = TabularEnv(MDP)
    found = sb3.evaluate_policy(model, env, LAW, 10)
    assert found.exact == pytest.approx(MDP.start @ sj.evaluate(MDP, LAW, [[1] * MDP.n_states]).value)
    assert sb3.tabulate(model, env).shape == (1, MDP.n_states)


def test_limits_of_the_environment_stay_and_those_of_training_are_lifted(prepared):
    env, features = prepared
    model = Table(np.zeros((13, MDP.n_states), dtype=int), features)
    found = sb3.evaluate_policy(model, env, sj.Fixed(60), 3)
    np.testing.assert_allclose(found.returns, 60 * MDP.rewards[0, 0])
    assert sb3.evaluate_policy(model, env, sj.Fixed(60), 3, max_steps=40).n_cut == 3
    limited, _ = sb3.prepare(TimeLimit(TabularEnv(MDP), 50), LAW, "DQN", last=12, feature="log")
    found = sb3.evaluate_policy(model, limited, sj.Fixed(60), 3)
    assert found.n_cut == 3
    np.testing.assert_allclose(found.returns, 50 * MDP.rewards[0, 0])


def test_trained_agents_of_both_kinds_are_tabulated():
    small = {"policy_kwargs": {"net_arch": [8]}, "device": "cpu", "seed": 0}
    env, kwargs = sb3.prepare(lambda: TabularEnv(MDP), LAW, PPO, last=5, n_envs=2)
    model = PPO("MlpPolicy", env, **kwargs, n_steps=16, batch_size=16, **small).learn(32)
    actions, chances = sb3.tabulate(model, env), sb3.tabulate(model, env, deterministic=False)
    assert actions.shape == (6, MDP.n_states)
    assert chances.shape == (6, MDP.n_states, 2)
    np.testing.assert_array_equal(chances.argmax(axis=2), actions)
    found = sb3.evaluate_policy(model, env, LAW, 5, deterministic=False)
    assert found.exact == pytest.approx(MDP.start @ sj.evaluate(MDP, LAW, chances).value)
    env, kwargs = sb3.prepare(TabularEnv(MDP), LAW, DQN, last=5)
    model = DQN("MlpPolicy", env, **kwargs, learning_starts=5, buffer_size=50, **small).learn(20)
    assert sb3.tabulate(model, env).shape == (6, MDP.n_states)
    with pytest.raises(TypeError, match=r"^model must learn on policy if deterministic is False; got DQN\.$"):
        sb3.tabulate(model, env, deterministic=False)


def test_agents_see_scaled_observations_where_they_were_trained_on_them():
    env, kwargs = sb3.prepare(lambda: TabularEnv(MDP), LAW, DQN, last=5, n_envs=1)
    scaled = VecNormalize(env, norm_reward=False)
    small = {"policy_kwargs": {"net_arch": [8]}, "device": "cpu", "seed": 0}
    model = DQN("MlpPolicy", scaled, **kwargs, learning_starts=5, buffer_size=50, **small).learn(20)
    expected = []
    for h in range(6):
        seen = np.eye(MDP.n_states + 1)[: MDP.n_states]
        seen[:, -1] = np.log(h + 1) / np.log(6)
        seen = (seen - scaled.obs_rms.mean) / np.sqrt(scaled.obs_rms.var + scaled.epsilon)
        expected.append(model.predict(seen.clip(-10, 10), deterministic=True)[0])
    shown = []

    class Seen:
        def predict(self, seen, deterministic=True):
            shown.append(seen)
            return model.predict(seen, deterministic=deterministic)

    np.testing.assert_array_equal(sb3.tabulate(model, env), expected)
    np.testing.assert_array_equal(sb3.tabulate(Seen(), scaled), expected)
    sb3.evaluate_policy(Seen(), scaled, sj.Fixed(1), 1)
    first = np.append(np.eye(MDP.n_states)[0], 0.0)
    np.testing.assert_allclose(shown[-7], scaled.normalize_obs(first), rtol=1e-6)


def test_wrappers_outside_and_another_clock_are_refused():
    env, kwargs = sb3.prepare("CartPole-v1", LAW, "DQN", last=5)
    model = DQN("MlpPolicy", env, **kwargs, policy_kwargs={"net_arch": [8]}, device="cpu", buffer_size=10)
    outside = gymnasium.wrappers.TransformObservation(env, lambda seen: 2 * seen, env.observation_space)
    with pytest.raises(ValueError, match=r"^env must have TransformObservation inside .* wrap .* first; .*"):
        sb3.evaluate_policy(model, outside, LAW, 1)
    with pytest.raises(TypeError, match=r"^env must have no VecFrameStack around it: .*\.$"):
        sb3.evaluate_policy(model, VecFrameStack(DummyVecEnv([lambda: env]), 2), LAW, 1)
    for settings in ({"last": 6}, {"last": 5, "normalize": False}):
        other, _ = sb3.prepare("CartPole-v1", LAW, "DQN", **settings)
        with pytest.raises(ValueError, match=r"^env must be prepared as for training, with StepClock.*\.$"):
            sb3.evaluate_policy(model, other, LAW, 1)
    assert sb3.evaluate_policy(model, model.get_env(), LAW, 1).returns.size == 1


def test_a_second_law_and_a_missing_table_are_refused():
    model = Table(np.zeros((1, MDP.n_states), dtype=int))
    for wrap in (RandomLength, LawDiscount):
        with pytest.raises(ValueError, match=rf"^env must not have {wrap.__name__} inside, .*\.$"):
            sb3.evaluate_policy(model, wrap(TabularEnv(MDP), LAW), LAW)
    with pytest.raises(TypeError, match=r"^env must have Discrete observations and actions .*\.$"):
        sb3.tabulate(model, gymnasium.make("CartPole-v1"))
