"""The example with deep agents, if stable-baselines3 is installed (`make deep`)."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import sojourn as sj

pytest.importorskip("stable_baselines3", reason="needs stable-baselines3: make deep")


@pytest.fixture(scope="module")
def example():
    path = Path(__file__).parents[2] / "examples" / "08_deep_agents.py"
    spec = importlib.util.spec_from_file_location("deep_agents", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_best_policy_beats_every_constant_discount(example):
    best = sj.plan(example.PROBLEM, example.LAW)
    assert best.lower[0] > 0.52
    for gamma in (0.5, example.SAME_MEAN, 0.9, 0.99):
        stationary = sj.plan(example.PROBLEM, sj.Geometric(gamma)).policy[:1]
        assert sj.evaluate(example.PROBLEM, example.LAW, stationary).value[0] < 0.43


def test_agents_with_the_law_come_close_to_the_best(example, capsys):
    example.main(seeds=1)
    lines = re.sub(r"γ = [\d.]+", "", capsys.readouterr().out)
    found = {
        (kind, way): float(value)
        for kind, way, value in re.findall(r"(DQN|PPO), (usual|sojourn).*?(\d\.\d+)", lines)
    }
    assert len(found) == 4
    best = sj.plan(example.PROBLEM, example.LAW).value[0]
    for kind in ("PPO", "DQN"):
        assert found[kind, "usual"] == pytest.approx(0.310555, abs=1e-4)
        assert found[kind, "sojourn"] > 0.98 * best
