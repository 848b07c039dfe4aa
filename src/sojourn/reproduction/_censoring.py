"""What terminal states do to an estimate of the law."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.agents import UCBVI
from sojourn.laws import Empirical, Fixed, Geometric, KaplanMeier
from sojourn.learning import learn
from sojourn.mdps import TabularMDP

__all__ = ["Errors", "censoring_errors", "fitted_slope"]

Errors = tuple[IntArray, FloatArray, FloatArray]
"""Numbers of episodes, and `(seeds, n)` largest errors of Kaplan–Meier and of the empirical law."""

_STEPS = np.arange(1, 400)


def censoring_errors(seeds: Iterable[int], n_episodes: int) -> Errors:
    """Return numbers of episodes, and the largest errors of Kaplan–Meier and of the empirical law, by seeds.

    Half of the episodes begin where no terminal state can be reached, the others three steps before one;
    lengths are geometric with γ = 0.9.
    """
    transitions = np.zeros((5, 1, 5))
    for state, following in enumerate((0, 2, 3, 4, 4)):
        transitions[state, 0, following] = 1.0
    mdp = TabularMDP(transitions, np.zeros((5, 1)), start=[0.5, 0.5, 0.0, 0.0, 0.0], terminal=[4])
    law = Geometric(0.9)
    counts = np.round(10.0 ** np.arange(2.0, np.log10(n_episodes) + 0.01, 0.5)).astype(np.int64)
    errors = []
    for seed in seeds:
        run = learn(UCBVI(Fixed(1)), mdp, law, episodes=n_episodes, seed=seed)
        errors.append(
            [
                [
                    float(np.abs(found.survival(_STEPS) - law.survival(_STEPS)).max())
                    for found in (
                        KaplanMeier(run.lengths[:n], run.observed[:n]),
                        Empirical(run.lengths[:n], run.observed[:n]),
                    )
                ]
                for n in counts
            ]
        )
    table = np.array(errors)
    return counts, table[:, :, 0], table[:, :, 1]


def fitted_slope(counts: IntArray, errors: FloatArray) -> float:
    """Return the log-log slope of the mean error."""
    return float(np.polyfit(np.log(counts), np.log(errors.mean(axis=0)), 1)[0])
