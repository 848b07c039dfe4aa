"""The value of knowing each episode's length in advance, and the price of not knowing it."""

from __future__ import annotations

import numpy as np

from sojourn._typing import FloatArray
from sojourn.laws import LengthLaw
from sojourn.mdps import TabularMDP, check_tolerance
from sojourn.planning._horizon_average import average_over_horizons
from sojourn.planning._plan import plan
from sojourn.planning._sparse_problem import SparseProblem
from sojourn.planning._tail import find_certificate
from sojourn.planning._tolerance import (
    MAX_LAYERS,
    TRUNCATION_SHARE,
    check_planning_arguments,
    warn_if_wide,
)

__all__ = ["clairvoyant_value", "price_of_not_knowing"]


def clairvoyant_value(
    mdp: TabularMDP, law: LengthLaw, *, tolerance: float | None = None, max_layers: int = MAX_LAYERS
) -> FloatArray:
    """Return Σ_ℓ P(H = ℓ) V*(s; ℓ), `(S,)`: the value of knowing each episode's length before it starts.

    It is at least the best blind value, and often larger, so regret measured against it is linear for every
    learner (the paper's Lemma 1 says otherwise and is false; `two_paths` is a counterexample).

    Args:
        mdp: The problem.
        law: The law of episode lengths.
        tolerance: Largest error of the result, certified, in units of value; by default 1e-6,
            or 1e-6 times the largest reward if that is smaller than 1.
        max_layers: Largest number of lengths that are solved one by one. If they are not enough for the
            tolerance, a `WideBracketWarning` says so.

    Example:
        >>> import sojourn as sj
        >>> mdp, law = sj.mdps.two_paths(), sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)])
        >>> round(float(sj.clairvoyant_value(mdp, law)[0]), 6)
        5.0
    """
    problem = SparseProblem.of(mdp)
    tolerance, max_layers = check_planning_arguments(problem, law, tolerance, max_layers)
    certificate, _ = find_certificate(problem, law, tolerance, max_layers)
    low, high = average_over_horizons(
        problem, law, certificate, after=0, width=TRUNCATION_SHARE * tolerance, max_layers=max_layers
    )
    warn_if_wide("clairvoyant_value", float((high - low).max()), tolerance, max_layers)
    return np.asarray((low + high) / 2.0)


def price_of_not_knowing(
    mdp: TabularMDP, law: LengthLaw, *, tolerance: float | None = None, max_layers: int = MAX_LAYERS
) -> FloatArray:
    """Return the clairvoyant value minus the best blind value, `(S,)`, to within the tolerance.

    It depends only on the problem and the law. It is ≥ 0 up to the tolerance, and is not clipped.

    Example:
        >>> import sojourn as sj
        >>> mdp, law = sj.mdps.river_swim(6), sj.Geometric(0.9)
        >>> round(float(sj.price_of_not_knowing(mdp, law)[0]), 5)
        0.00926
    """
    half = check_tolerance(mdp, tolerance) / 2.0
    clairvoyant = clairvoyant_value(mdp, law, tolerance=half, max_layers=max_layers)
    return np.asarray(clairvoyant - plan(mdp, law, tolerance=half, max_layers=max_layers).value)
