"""Constants of the forward valuation of policies: number of steps, tails, tolerances."""

from __future__ import annotations

import numpy as np

from sojourn._kernels import ReferenceArrays
from sojourn._typing import FloatArray
from sojourn.laws import LengthLaw
from sojourn.mdps import TabularMDP

__all__ = ["drift_losses", "is_light", "make_reference_arrays"]

_MOST_STEPS = 100_000  # largest number of steps after which a light tail is truncated
_HEAVY_STEPS = 200_000  # number of steps within which a policy must repeat itself under a heavy tail
_LAST_NODE = 2.0**52  # last step at which `drift_losses` evaluates the tail
_UNIT = 2.0**-53  # unit roundoff


def make_reference_arrays(mdp: TabularMDP, law: LengthLaw, tolerance: float) -> ReferenceArrays:
    """Return the constants of `policy_value`, for brackets at most half as wide as `tolerance`."""
    low, high = float(mdp.rewards.min()), float(mdp.rewards.max())
    largest = float(max(np.abs(mdp.rewards).max(), np.finfo(float).tiny))
    n_needed = _steps_needed(law, tolerance / (4.0 * max(high - low, largest * 1e-6)))
    is_heavy = n_needed > _MOST_STEPS
    n_steps = _HEAVY_STEPS if is_heavy else int(n_needed)
    steps = np.arange(1, n_steps + 2)
    rest = float(law.tail(n_steps + 1))
    rounding = 8.0 * _UNIT * (n_steps + mdp.n_states) * largest * law.mean
    drifts = np.concatenate([[0.0], 10.0 ** np.arange(-16.0, -5.0, 0.25)]) if is_heavy else np.zeros(1)
    starts = np.flatnonzero(mdp.start)
    return ReferenceArrays(
        survival=law.survival(steps[:-1]),
        tails=law.tail(steps),
        start=int(starts[0]) if starts.size == 1 else -1,
        middle=(low + high) / 2.0,
        spread=high - low,
        width=rest * (high - low) + 2.0 * rounding,
        is_heavy=is_heavy,
        tolerance=tolerance / 2.0,
        rounding=_rounding_per_step(mdp) if is_heavy else 0.0,
        drifts=drifts,
        drift_losses=drift_losses(law, drifts) if is_heavy else np.zeros(1),
    )


def drift_losses(law: LengthLaw, drifts: FloatArray) -> FloatArray:
    """Return upper bounds of Σ_h γ(h) min(2, drift·h) for each drift.

    For every X the sum is at most drift·Σ_{h≤X} h γ(h) + 2 Γ(X+1), and Σ_{h≤X} h γ(h) ≤ Σ_{k≤X} Γ(k). As Γ is
    decreasing, a step function bounds the last sum.
    """
    nodes = np.unique(np.floor(np.geomspace(1.0, _LAST_NODE, 1_000))).astype(np.int64)
    tails = law.tail(nodes)
    below = np.concatenate([[0.0], np.cumsum(np.diff(nodes) * tails[:-1])])  # upper bounds of Σ_{k<node} Γ(k)
    found = [float(np.min(drift * below + 2.0 * tails)) if drift > 0.0 else 0.0 for drift in drifts]
    return np.asarray(found) * (1.0 + 1e-9)


def is_light(law: LengthLaw) -> bool:
    """Return whether the law's tail is negligible after at most 100,000 steps."""
    return _steps_needed(law, 1e-10 * law.mean) <= _MOST_STEPS


def _steps_needed(law: LengthLaw, truncation: float) -> float:
    """Return after how many steps Γ is at most `truncation`, or infinity if that is more than 200,000."""
    if float(law.tail(_HEAVY_STEPS)) > truncation:
        return np.inf
    return law.effective_horizon(truncation)


def _rounding_per_step(mdp: TabularMDP) -> float:
    """Return a bound of the rounding error that one step adds to all probabilities together.

    Each probability is a sum over the states that lead to it, and each row of transitions sums to 1 up to
    rounding. There is no error if the problem is deterministic.
    """
    table = mdp.transitions
    if bool((table.data == 1.0).all()):
        return 0.0
    rows = np.repeat(np.arange(table.shape[0]) // mdp.n_actions, np.diff(table.indptr))
    arcs = np.unique(np.stack([rows, table.indices]), axis=1)
    return _UNIT * float(np.bincount(arcs[1]).max() + np.diff(table.indptr).max())
