"""The checker of stable-baselines3, where it is installed (`make deep`), on every wrapper."""

from __future__ import annotations

import warnings

import gymnasium
import pytest

import sojourn as sj
from sojourn.envs import LawDiscount, RandomLength, StepIndex

sb3 = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs stable-baselines3: make deep")

LAW = sj.Polynomial(p=1.4, offset=3)
WRAPPED = {
    "lengths": lambda env: RandomLength(env, LAW, seed=1),
    "weights": lambda env: LawDiscount(env, LAW, 50),
    "discounts": lambda env: LawDiscount(env, LAW, 50, emit="discount"),
    "steps": lambda env: StepIndex(env, 50),
    "weights and steps": lambda env: LawDiscount(StepIndex(env, 50), LAW, 50),
}


def complaints(env):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sb3.check_env(env, skip_render_check=True)
    return {str(warning.message) for warning in caught}


@pytest.mark.parametrize("wrap", WRAPPED.values(), ids=list(WRAPPED))
@pytest.mark.parametrize("name", ["Taxi-v4", "FrozenLake-v1", "CartPole-v1", "sojourn/CashOrInvest-v0"])
def test_the_checker_finds_nothing(name, wrap):
    assert complaints(wrap(gymnasium.make(name))) == set()


@pytest.mark.parametrize("wrap", WRAPPED.values(), ids=list(WRAPPED))
def test_only_tuples_are_reported_as_unsupported(wrap):
    expected = complaints(gymnasium.make("Blackjack-v1"))
    assert len(expected) == 1
    assert "Tuple" in next(iter(expected))
    assert complaints(wrap(gymnasium.make("Blackjack-v1"))) == expected
