"""Comparisons with regrets made by hand."""

from __future__ import annotations

import numpy as np

import sojourn as sj
from sojourn.learning import Comparison

LAW = sj.Fixed(2)


def a_comparison(regret, checkpoints=None, law=LAW, names=None, agents=None):
    """A comparison with these cumulative regrets, `(agents, seeds, n)`."""
    regret = np.asarray(regret, dtype=float)
    n_agents, n_seeds, n = regret.shape
    return Comparison(
        names=names or tuple(f"learner {i}" for i in range(n_agents)),
        agents=agents or (sj.UCBVI(law),) * n_agents,
        problem="a $problem$",
        law=law,
        seeds=tuple(range(n_seeds)),
        checkpoints=np.arange(1, n + 1) if checkpoints is None else np.asarray(checkpoints),
        cumulative_regret=regret,
        regret_width=np.zeros((n_agents, n_seeds)),
        rewards=np.zeros((n_agents, n_seeds)),
    )
