"""The example with deep agents, if stable-baselines3 is installed (`make deep`)."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import sojourn as sj

pytest.importorskip("stable_baselines3", reason="needs stable-baselines3: make deep")


@pytest.fixture(scope="module")
def example():
    path = Path(__file__).parents[2] / "examples" / "08_deep_agents.py"
    spec = importlib.util.spec_from_file_location("deep_agents", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["deep_agents"] = module  # dataclasses look up their module
    spec.loader.exec_module(module)
    return module


def test_the_best_policy_beats_every_constant_discount(example):
    best = sj.plan(example.PROBLEM, example.LAW)
    assert best.lower[0] > 0.52
    for gamma in (0.5, example.SAME_MEAN, 0.9, 0.99):
        stationary = sj.plan(example.PROBLEM, sj.Geometric(gamma)).policy[:1]
        assert example.exact_value(stationary) < 0.43


def test_the_best_policy_in_training_is_best_if_held_from_the_last_decision_on(example):
    trained_on = sj.Tabulated(example.LAW.survival(np.arange(1, example.STEPS + 1)))
    policy = sj.plan(example.PROBLEM, trained_on).policy
    best = sj.plan(example.PROBLEM, example.LAW).value[0]
    held = example.last_decision(policy[: example.STEPS // 2])
    assert held == 13  # three times cash, then an investment of nine steps: 4, 13, 22, …
    assert example.exact_value(policy[:held]) == pytest.approx(best, abs=1e-9)
    assert example.exact_value(policy) < 0.39  # the actions of the last training steps, held


def test_the_last_decision_is_a_step_with_a_choice(example):
    cash, invest = (np.full(example.PROBLEM.n_states, action) for action in (0, 1))
    assert example.last_decision([cash] * 16) == 16
    assert example.last_decision([invest] * 16) == 10
    assert example.last_decision([cash] * 4 + [invest] * 12) == 14


def test_mean_returns_agree_with_the_exact_value(example):
    policy = sj.plan(example.PROBLEM, example.LAW).policy
    cut = sj.Tabulated(example.LAW.survival(np.arange(1, example.CUT + 1)))
    got = example.play(policy, 4_000, seed=0)
    assert abs(got.mean() - example.exact_value(policy, cut)) < 4.5 * got.std() / np.sqrt(got.size)


def test_agents_with_the_law_earn_much_more(example, capsys):
    example.main(seeds=1, episodes=500)
    lines = re.sub(r"γ = [\d.]+", "", capsys.readouterr().out)
    found = {
        (kind, way): float(value) for kind, way, value in re.findall(r"(\w+), (usual|Law).*?(\d\.\d+)", lines)
    }
    assert len(found) == 4
    for kind in ("PPO", "DQN"):
        assert found[kind, "usual"] == pytest.approx(0.310555, abs=1e-4)
        assert found[kind, "Law"] > 0.50
