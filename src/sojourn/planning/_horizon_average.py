"""Averages of the n-step optima over a law of n, bracketed.

For someone who is told the length, and for a single policy, the value is Σ_n P(n) V_n, or, by parts,
Σ_k γ(k) (V_k − V_{k−1}): the optima of longer and longer horizons, weighed. Once V_n grows like the
certificate's n·g + b, the rest is known to within how much V_n − n·g − b still differs between states, which
vanishes as the problem mixes: far fewer steps are needed than for the certificate alone.
"""

from __future__ import annotations

import numpy as np

from sojourn._kernels import accumulate_horizons
from sojourn._typing import FloatArray
from sojourn.laws import LengthLaw
from sojourn.planning._certificate import Certificate
from sojourn.planning._problem import Problem

__all__ = ["average_over_horizons"]

_CHUNK = 1 << 18


def average_over_horizons(
    problem: Problem, law: LengthLaw, certificate: Certificate, *, after: int, width: float, most: int
) -> tuple[FloatArray, FloatArray]:
    """Return bounds on Σ_n P(H = after + n | H > after) V*(·; n).

    They are at most `width` apart, seen from step 1, or the best after `most` horizons.
    """
    if law.longest is not None:
        most = max(1, min(most, law.longest - after))
    seen_from_start = float(law.survival(after + 1))
    value = np.zeros(problem.n_states)  # V*(·; n)
    total = np.zeros(problem.n_states)  # Σ_{k ≤ n} w(k) (V*(·; k) − V*(·; k−1))
    n, chunk = 0, min(64, most)
    weight, moment = 1.0, 0.0  # w(n + 1) = P(H > after + n | H > after), and Σ_{k ≤ n} k w(k)
    while True:
        steps = np.arange(after + n + 1, after + n + chunk + 1)
        weights = weight * np.cumprod(np.append(1.0, law.continuation(steps)), dtype=np.float64)
        value, total = accumulate_horizons(problem.rows, problem.packed, weights[:-1], value, total)
        moment += float(np.arange(n + 1, n + chunk + 1) @ weights[:-1])
        n, weight = n + chunk, float(weights[-1])
        # V*(·; n+k) ≤ b + max(V*(·; n) − b) + k·g for any b that the certificate allows, and b may hold any
        # multiple of g; the lower end alike.
        rest = weight * float(law.remaining(after + n + 1))
        over = value - certificate.upper_bias - n * certificate.upper_gain
        under = value - certificate.lower_bias - n * certificate.lower_gain
        high = rest * certificate.upper_gain + weight * (over.max() - over)
        low = rest * certificate.lower_gain + weight * (under.min() - under)
        if seen_from_start * float((high - low).max()) <= width or n >= most:
            break
        chunk = min(n, most - n, _CHUNK)
    # V*(·; n) errs by at most n·(n + 1)/2 units of the largest reward, and enters with P(n).
    slack = 2.0 * problem.unit * problem.largest_reward * moment
    return total + low - slack, total + high + slack
