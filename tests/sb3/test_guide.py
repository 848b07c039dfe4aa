"""The blocks of the guide run, in order, as one program."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import torch
from gymnasium import spaces

from sojourn.sb3 import LawRolloutBuffer, StepClock

GUIDE = Path(__file__).parents[2] / "docs" / "deep-agents.md"


def test_the_blocks_of_the_guide_run(capsys):
    blocks = re.findall(r"^```py\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5
    variables: dict = {}
    for block in blocks:
        exec(block, variables)
    assert capsys.readouterr().out.count("PolicyReturns(mean=") == 2
    check_advantages(variables)


def check_advantages(variables):
    """The recipe for other libraries gives the advantages of the rollout buffer."""
    law, rng = variables["law"], np.random.default_rng(0)
    clock = StepClock(law, 100)
    box = spaces.Box(0, 1, (1,))
    buffer = LawRolloutBuffer(30, box, spaces.Discrete(2), "cpu", 0.95, 0.9, 2, clock=clock)
    rewards, values = rng.normal(size=(2, 30, 2))
    starts = rng.random((30, 2)) < 0.1
    starts[0] = True
    for t in range(30):
        weighted = rewards[t] * clock.weights[steps_of(starts[: t + 1])]
        value, nothing = torch.tensor(values[t]), np.zeros((2, 1))
        buffer.add(nothing, nothing, weighted, starts[t], value, torch.zeros(2))
    last, ends = torch.tensor(rng.normal(size=2)), np.array([True, False])
    buffer.compute_returns_and_advantage(last, ends)
    steps = torch.tensor(np.array([steps_of(starts[: t + 1]) for t in range(30)]))
    tensors = (torch.tensor(one) for one in (rewards, values))
    found = variables["advantages"](
        *tensors, last, torch.tensor(starts).float(), torch.tensor(ends).float(), steps
    )
    np.testing.assert_allclose(found, buffer.advantages, rtol=1e-4, atol=1e-5)


def steps_of(starts):
    """Return the number of steps since the last start, in each environment."""
    return np.array([np.flatnonzero(column[::-1])[0] for column in starts.T])
