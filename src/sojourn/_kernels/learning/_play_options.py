"""Options that fix how a learner plays: tie-breaking, behavior after its last layer, exploration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import inlined

__all__ = ["PlayOptions", "exploration_rate", "next_layer"]


class PlayOptions(NamedTuple):
    """Settings of a learner that are constant during a trial."""

    key: np.uint64  # 64-bit key of the hash that breaks ties
    is_random: bool  # break ties by the hash; otherwise take the lowest action
    restarts: bool  # after the last layer go back to the first one; otherwise repeat the last layer
    counts_all: bool  # count all steps of an episode; otherwise only its first N
    n_layers: int  # number of layers N of the policy; the Q table may have only one
    counts_arcs: bool  # count successors, for learners that estimate a model
    counts_layers: bool  # count the visits of each state per layer
    epsilon: float  # probability of a uniformly random action in the first episode
    decay: float  # that probability is epsilon·k^−decay in episode k


@inlined
def exploration_rate(options: PlayOptions, episode: int) -> float:
    """Return the probability of a uniformly random action in an episode, counted from 0."""
    if options.decay == 0.0:
        return options.epsilon
    return float(options.epsilon * (episode + 1.0) ** -options.decay)


@inlined
def next_layer(options: PlayOptions, layer: int) -> int:
    """Return the layer, counted from 0, that is played one step after `layer`; −1 is before the first."""
    layer += 1
    if layer == options.n_layers:
        return 0 if options.restarts else layer - 1
    return layer
