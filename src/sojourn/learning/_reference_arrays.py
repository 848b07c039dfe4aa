"""What policies are measured with when they are followed forward from their start state."""

from __future__ import annotations

import numpy as np

from sojourn._kernels import ReferenceArrays
from sojourn._typing import FloatArray
from sojourn.laws import LengthLaw
from sojourn.mdps import TabularMDP

__all__ = ["drift_losses", "is_light", "make_reference_arrays"]

_MOST_STEPS = 100_000  # that a policy is followed where its tail is small enough then
_FAR_STEPS = 200_000  # and where it is not: until it runs in a circle
_LAST_NODE = 2.0**52
_UNIT = 2.0**-53


def make_reference_arrays(mdp: TabularMDP, law: LengthLaw, tolerance: float) -> ReferenceArrays:
    """Return what `value_from` measures with, for brackets as wide as half of `tolerance`."""
    low, high = float(mdp.rewards.min()), float(mdp.rewards.max())
    largest = float(max(np.abs(mdp.rewards).max(), np.finfo(float).tiny))
    enough = _enough_steps(law, tolerance / (4.0 * max(high - low, largest * 1e-6)))
    is_far = enough > _MOST_STEPS
    n_steps = _FAR_STEPS if is_far else int(enough)
    steps = np.arange(1, n_steps + 2)
    rest = float(law.tail(n_steps + 1))
    rounding = 8.0 * _UNIT * (n_steps + mdp.n_states) * largest * law.mean
    drifts = np.concatenate([[0.0], 10.0 ** np.arange(-16.0, -5.0, 0.25)]) if is_far else np.zeros(1)
    starts = np.flatnonzero(mdp.start)
    return ReferenceArrays(
        survival=law.survival(steps[:-1]),
        tails=law.tail(steps),
        start=int(starts[0]) if starts.size == 1 else -1,
        middle=(low + high) / 2.0,
        spread=high - low,
        width=rest * (high - low) + 2.0 * rounding,
        is_far=is_far,
        allowed=tolerance / 2.0,
        rounding=_rounding_a_step(mdp) if is_far else 0.0,
        drifts=drifts,
        losses=drift_losses(law, drifts) if is_far else np.zeros(1),
        chance=np.zeros(mdp.n_states),
        coming=np.zeros(mdp.n_states),
        saved=np.zeros(mdp.n_states),
        earned=np.zeros(n_steps if is_far else 0),
        here=np.zeros(mdp.n_states, dtype=np.int64),
        there=np.zeros(mdp.n_states, dtype=np.int64),
        numbers=np.zeros(mdp.n_states, dtype=np.int64),
    )


def drift_losses(law: LengthLaw, drifts: FloatArray) -> FloatArray:
    """Return Σ_h γ(h) min(2, drift·h) for each drift, from above.

    For every X it is at most drift·Σ_{h≤X} h γ(h) + 2 Γ(X+1), and Σ_{h≤X} h γ(h) ≤ Σ_{k≤X} Γ(k), which steps
    of a staircase bound: Γ falls.
    """
    nodes = np.unique(np.floor(np.geomspace(1.0, _LAST_NODE, 1_000))).astype(np.int64)
    tails = law.tail(nodes)
    below = np.concatenate([[0.0], np.cumsum(np.diff(nodes) * tails[:-1])])  # Σ_{k<node} Γ(k), from above
    found = [float(np.min(drift * below + 2.0 * tails)) if drift > 0.0 else 0.0 for drift in drifts]
    return np.asarray(found) * (1.0 + 1e-9)


def is_light(law: LengthLaw) -> bool:
    """Whether so little comes after so many steps that policies need not be followed further."""
    return _enough_steps(law, 1e-10 * law.mean) <= _MOST_STEPS


def _enough_steps(law: LengthLaw, truncation: float) -> float:
    """Return after how many steps Γ is at most `truncation`, or infinity if that is too far to say."""
    if float(law.tail(_FAR_STEPS)) > truncation:
        return np.inf
    return law.effective_horizon(truncation)


def _rounding_a_step(mdp: TabularMDP) -> float:
    """Return by how much all chances together can be rounded in one step: not at all if nothing is random.

    Each chance is a sum over the states that lead to it, and each row of transitions sums to 1 but for
    rounding.
    """
    table = mdp.transitions
    if bool((table.data == 1.0).all()):
        return 0.0
    rows = np.repeat(np.arange(table.shape[0]) // mdp.n_actions, np.diff(table.indptr))
    ways = np.unique(np.stack([rows, table.indices]), axis=1)
    return _UNIT * float(np.bincount(ways[1]).max() + np.diff(table.indptr).max())
