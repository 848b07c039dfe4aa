"""What someone would earn who is told the episode's length in advance, and what not knowing it costs."""

from __future__ import annotations

import numpy as np

from sojourn._typing import FloatArray
from sojourn._validation import check_positive
from sojourn.laws import LengthLaw
from sojourn.mdps import TabularMDP
from sojourn.planning._horizons import average_over_horizons
from sojourn.planning._plan import plan
from sojourn.planning._problem import Problem
from sojourn.planning._request import MAX_LAYERS, TRUNCATION_SHARE, check_request, warn_if_wide
from sojourn.planning._tail import find_certificate

__all__ = ["clairvoyant_value", "price_of_not_knowing"]


def clairvoyant_value(
    mdp: TabularMDP, law: LengthLaw, *, tolerance: float = 1e-6, max_layers: int = MAX_LAYERS
) -> FloatArray:
    """Return Σ_ℓ P(H = ℓ) V*(s; ℓ), `(S,)`: the value of knowing each episode's length before it starts.

    It is no less than the best blind value, and often more, so regret measured against it is linear for every
    learner (the paper's Lemma 1 says otherwise and is false; `two_paths` is a counterexample).

    Args:
        mdp: The problem.
        law: The law of episode lengths.
        tolerance: How far off the result may be, certified, in units of value.
        max_layers: Lengths that are solved one by one at most; if they do not suffice, a `WideBracketWarning`
            says so.

    Example:
        >>> import sojourn as sj
        >>> mdp, law = sj.mdps.two_paths(), sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)])
        >>> round(float(sj.clairvoyant_value(mdp, law)[0]), 6)
        5.0
    """
    problem = Problem.of(mdp)
    tolerance, max_layers = check_request(problem, law, tolerance, max_layers)
    certificate, _ = find_certificate(problem, law, tolerance, max_layers)
    low, high = average_over_horizons(
        problem, law, certificate, after=0, width=TRUNCATION_SHARE * tolerance, most=max_layers
    )
    warn_if_wide("clairvoyant_value", float((high - low).max()), tolerance, max_layers)
    return np.asarray((low + high) / 2.0)


def price_of_not_knowing(
    mdp: TabularMDP, law: LengthLaw, *, tolerance: float = 1e-6, max_layers: int = MAX_LAYERS
) -> FloatArray:
    """Return the clairvoyant value less the best blind value, `(S,)`, to within the tolerance.

    It is a constant of the problem and the law, at least 0 up to the tolerance (it is not clipped).

    Example:
        >>> import sojourn as sj
        >>> mdp, law = sj.mdps.river_swim(6), sj.Geometric(0.9)
        >>> round(float(sj.price_of_not_knowing(mdp, law)[0]), 5)
        0.00926
    """
    half = check_positive("tolerance", tolerance) / 2.0
    told = clairvoyant_value(mdp, law, tolerance=half, max_layers=max_layers)
    return np.asarray(told - plan(mdp, law, tolerance=half, max_layers=max_layers).value)
