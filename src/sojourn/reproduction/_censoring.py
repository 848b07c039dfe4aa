"""Errors of estimated laws when terminal states censor the lengths."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.agents import UCBVI
from sojourn.laws import Empirical, Fixed, Geometric, KaplanMeier
from sojourn.learning import learn
from sojourn.mdps import TabularMDP

__all__ = ["Errors", "censoring_errors", "episode_counts", "fitted_slope"]

Errors = tuple[IntArray, FloatArray, FloatArray]
"""Result of `censoring_errors`."""

_STEPS = np.arange(1, 400)


def censoring_errors(seeds: Iterable[int], n_episodes: int) -> Errors:
    """Return the errors of two estimators of γ as the number of episodes grows.

    Half of the episodes start where no terminal state can be reached, the others three steps before one.
    Lengths are geometric with γ = 0.9.

    Returns:
        Numbers of episodes, `(n,)`; the largest errors of γ̂ by Kaplan–Meier, `(seeds, n)`; and those of the
        empirical law, `(seeds, n)`.
    """
    transitions = np.zeros((5, 1, 5))
    for state, following in enumerate((0, 2, 3, 4, 4)):
        transitions[state, 0, following] = 1.0
    mdp = TabularMDP(transitions, np.zeros((5, 1)), start=[0.5, 0.5, 0.0, 0.0, 0.0], terminal=[4])
    law = Geometric(0.9)
    counts = episode_counts(n_episodes)
    errors = []
    for seed in seeds:
        run = learn(UCBVI(Fixed(1)), mdp, law, episodes=n_episodes, seed=seed)
        errors.append(
            [
                [
                    float(np.abs(estimate.survival(_STEPS) - law.survival(_STEPS)).max())
                    for estimate in (
                        KaplanMeier(run.lengths[:n], run.observed[:n]),
                        Empirical(run.lengths[:n], run.observed[:n]),
                    )
                ]
                for n in counts
            ]
        )
    table = np.array(errors)
    return counts, table[:, :, 0], table[:, :, 1]


def episode_counts(n_episodes: int) -> IntArray:
    """Return the numbers of episodes after which laws are estimated, `(n,)`."""
    return np.round(10.0 ** np.arange(2.0, np.log10(n_episodes) + 0.01, 0.5)).astype(np.int64)


def fitted_slope(counts: IntArray, errors: FloatArray) -> float:
    """Return the log-log slope of the mean error over the number of episodes."""
    return float(np.polyfit(np.log(counts), np.log(errors.mean(axis=0)), 1)[0])
