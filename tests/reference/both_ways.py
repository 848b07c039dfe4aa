"""Plays a trial in compiled code and by the learner's protocol, and checks that both give the same bits."""

from __future__ import annotations

import numpy as np
import pytest

import sojourn as sj
from sojourn.learning import _learn


def play_both_ways(agent, mdp, law, *, episodes=120, seed=3):
    """Return both runs after comparing what they recorded."""
    compiled = sj.learn(agent, mdp, law, episodes=episodes, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_learn, "play_compiled", _learn.play_by_protocol)
        spoken = sj.learn(agent, mdp, law, episodes=episodes, seed=seed)
    for name in ("lengths", "observed", "rewards", "regret", "regret_width"):
        np.testing.assert_array_equal(getattr(compiled, name), getattr(spoken, name))
    assert compiled.learner.transition_counts == spoken.learner.transition_counts
    return compiled, spoken
