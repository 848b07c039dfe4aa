"""Bounds on the average of n-step values over the distribution of n.

If the length is known in advance, or if there is only one policy, the value is Σ_n P(n) V_n, which equals
Σ_k γ(k) (V_k − V_{k−1}) by summation by parts. So it is computed by forward recursion over horizons. Once V_n
grows like the certificate's n·g + b, the remaining sum is known up to the spread of V_n − n·g − b over the
states. That spread vanishes as the chain mixes, so far fewer steps are needed than for the certificate alone.
"""

from __future__ import annotations

import numpy as np

from sojourn._kernels import accumulate_horizons
from sojourn._typing import FloatArray
from sojourn.laws import LengthLaw
from sojourn.planning._certificate import Certificate
from sojourn.planning._sparse_problem import SparseProblem

__all__ = ["average_over_horizons"]

_CHUNK = 1 << 18


def average_over_horizons(
    problem: SparseProblem,
    law: LengthLaw,
    certificate: Certificate,
    *,
    after: int,
    width: float,
    max_layers: int,
) -> tuple[FloatArray, FloatArray]:
    """Return bounds on Σ_n P(H = after + n | H > after) V*(·; n).

    Weighted by P(H > after), they are at most `width` apart, unless `max_layers` horizons are not enough.
    """
    if law.longest is not None:
        max_layers = max(1, min(max_layers, law.longest - after))
    reach_probability = float(law.survival(after + 1))
    value = np.zeros(problem.n_states)  # V*(·; n)
    total = np.zeros(problem.n_states)  # Σ_{k ≤ n} w(k) (V*(·; k) − V*(·; k−1))
    n, chunk = 0, min(64, max_layers)
    weight, moment = 1.0, 0.0  # w(n + 1) = P(H > after + n | H > after), and Σ_{k ≤ n} k w(k)
    while True:
        steps = np.arange(after + n + 1, after + n + chunk + 1)
        weights = weight * np.cumprod(np.append(1.0, law.continuation(steps)), dtype=np.float64)
        value, total = accumulate_horizons(problem.rows, problem.blocks, weights[:-1], value, total)
        moment += float(np.arange(n + 1, n + chunk + 1) @ weights[:-1])
        n, weight = n + chunk, float(weights[-1])
        # V*(·; n+k) ≤ b + max(V*(·; n) − b) + k·g for any valid bias b, and b plus any multiple of g is valid
        # too. The lower bound is analogous.
        rest = weight * float(law.remaining(after + n + 1))
        over = value - certificate.upper_bias - n * certificate.upper_gain
        under = value - certificate.lower_bias - n * certificate.lower_gain
        high = rest * certificate.upper_gain + weight * (over.max() - over)
        low = rest * certificate.lower_gain + weight * (under.min() - under)
        if reach_probability * float((high - low).max()) <= width or n >= max_layers:
            break
        chunk = min(n, max_layers - n, _CHUNK)
    # The rounding error of V*(·; n) is at most n·(n + 1)/2 units of the largest reward, weighted with P(n).
    slack = 2.0 * problem.unit * problem.largest_reward * moment
    return total + low - slack, total + high + slack
