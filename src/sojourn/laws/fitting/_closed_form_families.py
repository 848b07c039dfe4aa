"""Families with a closed-form maximum of the likelihood: geometric and quasi-hyperbolic laws."""

from __future__ import annotations

import math

import numpy as np

from sojourn.laws._base import LengthLaw
from sojourn.laws.estimates._sample import Sample
from sojourn.laws.families._geometric import Geometric
from sojourn.laws.families._quasi_hyperbolic import QuasiHyperbolic
from sojourn.laws.fitting._family import Family, Solution

__all__ = ["HIGHEST_GAMMA", "GeometricFamily", "QuasiHyperbolicFamily"]

HIGHEST_GAMMA = 1.0 - 1e-12
"""Largest fitted chance of one more step: the mean length must be finite."""

_LOWEST_GAMMA = 1e-12
"""Smallest fitted chance where rows entered after step 1: with chance 0 they could not have got there."""


class GeometricFamily(Family):
    """Geometric laws: γ is the share of steps at risk that were survived."""

    name = "geometric"
    parameters = ("gamma",)

    def make(self, *values: float) -> LengthLaw:
        """Return the law."""
        return Geometric(*values)

    def solve(self, sample: Sample) -> Solution:
        """Return the most likely member in closed form."""
        gamma, error = _overall_share(sample)
        edge = ("gamma",) if gamma in (HIGHEST_GAMMA, _LOWEST_GAMMA) else ()
        return Solution(Geometric(gamma), (gamma,), np.array([[error**2]]), edge)


class QuasiHyperbolicFamily(Family):
    """Quasi-hyperbolic laws: βγ is the share of survivors of the first step, γ that of all later steps."""

    name = "quasi_hyperbolic"
    parameters = ("beta", "gamma")

    def make(self, *values: float) -> LengthLaw:
        """Return the law."""
        return QuasiHyperbolic(*values)

    def solve(self, sample: Sample) -> Solution:
        """Return the most likely member in closed form; β = 1 if the first step is not the riskiest."""
        at_first = int(sample.at_risk(np.array([1]))[0])
        ended_first = int(sample.end_counts[0]) if sample.ends.size and sample.ends[0] == 1 else 0
        survived_first = at_first - ended_first
        ended, survived = sample.n_observed - ended_first, sample.steps_survived - survived_first
        gamma, error = _share(survived, ended)
        if not at_first or not survived + ended or not survived_first or survived_first / at_first >= gamma:
            whole, error = _overall_share(sample)
            covariance = np.diag([math.nan, error**2])
            return Solution(QuasiHyperbolic(1.0, whole), (1.0, whole), covariance, ("beta",))
        second, error_second = _share(survived_first, ended_first)
        beta = second / gamma
        # βγ and γ are two independent shares; β is their ratio (delta method).
        slopes = np.array([[1.0 / gamma, -beta / gamma], [0.0, 1.0]])
        covariance = slopes @ np.diag([error_second**2, error**2]) @ slopes.T
        edge = ("gamma",) if gamma == HIGHEST_GAMMA else ()
        return Solution(QuasiHyperbolic(beta, gamma), (beta, gamma), covariance, edge)


def _overall_share(sample: Sample) -> tuple[float, float]:
    """Return the share of all steps at risk that were survived and its error; > 0 if rows entered late."""
    gamma, error = _share(sample.steps_survived, sample.n_observed)
    return (gamma, error) if gamma or int(sample.entries[-1]) == 1 else (_LOWEST_GAMMA, math.nan)


def _share(survived: float, ended: float) -> tuple[float, float]:
    """Return the share of steps that were survived, at most `HIGHEST_GAMMA`, and its standard error."""
    if not survived + ended:
        return 0.0, math.nan
    share = survived / (survived + ended)
    if share >= HIGHEST_GAMMA:
        return HIGHEST_GAMMA, math.nan
    return share, math.sqrt(share * (1.0 - share) / (survived + ended))
