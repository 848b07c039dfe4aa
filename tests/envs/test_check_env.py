"""Gymnasium's own checker on every wrapper, and the specs that make a wrapped environment again."""

from __future__ import annotations

import warnings

import gymnasium
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

import sojourn as sj
from sojourn.envs import IDS, LawDiscount, RandomLength, StepIndex, TabularEnv

ENVIRONMENTS = ("Taxi-v4", "FrozenLake-v1", "Blackjack-v1", "CartPole-v1")
LAW = sj.Polynomial(p=1.4, offset=3)
WRAPPED = {
    "lengths": lambda env: RandomLength(env, LAW, seed=1),
    "revealed": lambda env: RandomLength(env, LAW, reveal=True),
    "weights": lambda env: LawDiscount(env, LAW, 50),
    "discounts": lambda env: LawDiscount(env, LAW, 50, emit="discount"),
    "steps": lambda env: StepIndex(env, 50),
    "log steps": lambda env: StepIndex(env, 50, feature="log"),
    "remaining steps": lambda env: StepIndex(env, 50, feature="remaining", law=LAW),
    "lengths and steps": lambda env: StepIndex(RandomLength(env, LAW), 50),
    "weights and steps": lambda env: LawDiscount(StepIndex(env, 50), LAW, 50),
}


def complaints(env):
    """Return what `check_env` warns of, less its remark that a wrapper is not the bare environment."""
    # Pictures need pygame, and are not ours.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env, skip_render_check=True)
    texts = {str(warning.message) for warning in caught}
    return {text for text in texts if "is different from the unwrapped version" not in text}


@pytest.mark.parametrize("wrap", WRAPPED.values(), ids=list(WRAPPED))
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_checker_reports_the_same_with_and_without_the_wrapper(name, wrap):
    expected = complaints(gymnasium.make(name))
    assert (name == "CartPole-v1") == bool(expected)  # its own bounds are infinite
    assert complaints(wrap(gymnasium.make(name))) == expected


@pytest.mark.parametrize("name", IDS)
def test_a_tabular_environment_passes_the_checker(name):
    check_env(gymnasium.make(name).unwrapped)  # warnings are errors


def test_a_tabular_environment_without_an_id_passes_too():
    with pytest.warns(UserWarning, match="not having a spec"):
        check_env(TabularEnv(sj.TabularMDP.from_env("Taxi-v4").normalized(), render_mode="ansi"))


@pytest.mark.parametrize("wrap", WRAPPED.values(), ids=list(WRAPPED))
@pytest.mark.parametrize("name", [*ENVIRONMENTS, "sojourn/RiverSwim-v0"])
def test_a_spec_written_as_json_makes_the_same_environment(name, wrap):
    env = wrap(gymnasium.make(name))
    again = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))
    assert str(again) == str(env)
    assert again.observation_space == env.observation_space
    # RandomLength without a seed has another stream until it is given one.
    assert [step(env, h) for h in range(20)] == [step(again, h) for h in range(20)]


def step(env, h):
    if h == 0:
        return repr(env.reset(seed=5)[0])
    observation, reward, terminated, truncated, _ = env.step(h % 2)
    if terminated or truncated:
        env.reset()
    return repr(observation), reward, terminated, truncated


def test_a_law_class_of_the_user_is_recorded_as_an_object():
    class Twice(sj.laws.LengthLaw):
        longest = 2

        def survival(self, h):
            return (sj.laws.steps(h) <= 2).astype(float)

    env = RandomLength(gymnasium.make("Taxi-v4"), Twice())
    again = gymnasium.make(env.spec)
    again.reset(seed=0)
    assert [again.step(0)[2] for _ in range(2)] == [False, True]
