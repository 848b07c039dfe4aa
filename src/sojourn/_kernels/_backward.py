"""Backward induction and policy evaluation, layer by layer.

All functions take V_{N+1} in `value` and return V_1 in a fresh array. A layer's value is
V_h(s) = max_a r(s, a) + ρ(h) Σ_y P(y|s, a) V_{h+1}(y), summed from left to right, the lowest action on ties.
"""

from __future__ import annotations

import numpy as np

from sojourn._kernels._jit import kernel
from sojourn._typing import FloatArray, IndexArray, IntArray, PolicyArray

__all__ = ["accumulate_horizons", "evaluate_deterministic", "evaluate_stochastic", "induce", "sweep"]


@kernel
def induce(
    indptr: IndexArray,
    indices: IndexArray,
    data: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    ratios: FloatArray,
    value: FloatArray,
    policy: PolicyArray,
) -> FloatArray:
    """Return V_1 by backward induction over `ratios.size` layers; fill `policy` `(layers, S)`."""
    current = value.copy()
    previous = np.empty_like(current)
    for h in range(ratios.size - 1, -1, -1):
        ratio = ratios[h]
        row = 0
        for s in range(current.size):
            best = -np.inf
            best_action = 0
            for a in range(n_actions):
                total = 0.0
                for i in range(indptr[row], indptr[row + 1]):
                    total += data[i] * current[indices[i]]
                q = rewards[row] + ratio * total
                if q > best:
                    best = q
                    best_action = a
                row += 1
            previous[s] = best
            policy[h, s] = best_action
        current, previous = previous, current
    return current


@kernel
def sweep(
    indptr: IndexArray,
    indices: IndexArray,
    data: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    ratio: float,
    damping: float,
    value: FloatArray,
    n_sweeps: int,
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return value iterates: V after `n_sweeps` of V ← V + damping·(TV − V), then TV and its greedy actions.

    T is the Bellman operator with one `ratio` for all layers. `n_sweeps` may be 0.
    """
    current = value.copy()
    image = np.empty_like(current)
    actions = np.zeros(current.size, dtype=np.int64)
    for n in range(n_sweeps + 1):
        row = 0
        for s in range(current.size):
            best = -np.inf
            best_action = 0
            for a in range(n_actions):
                total = 0.0
                for i in range(indptr[row], indptr[row + 1]):
                    total += data[i] * current[indices[i]]
                q = rewards[row] + ratio * total
                if q > best:
                    best = q
                    best_action = a
                row += 1
            image[s] = best
            actions[s] = best_action
        if n < n_sweeps:
            for s in range(current.size):
                current[s] += damping * (image[s] - current[s])
    return current, image, actions


@kernel
def evaluate_deterministic(
    indptr: IndexArray,
    indices: IndexArray,
    data: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    ratios: FloatArray,
    value: FloatArray,
    policy: PolicyArray,
    layers: IntArray,
) -> FloatArray:
    """Return V_1 of a policy `(N, S)`; layer h is played by row `layers[h]` of `policy`."""
    current = value.copy()
    previous = np.empty_like(current)
    for h in range(ratios.size - 1, -1, -1):
        layer = layers[h]
        for s in range(current.size):
            row = s * n_actions + policy[layer, s]
            total = 0.0
            for i in range(indptr[row], indptr[row + 1]):
                total += data[i] * current[indices[i]]
            previous[s] = rewards[row] + ratios[h] * total
        current, previous = previous, current
    return current


@kernel
def evaluate_stochastic(
    indptr: IndexArray,
    indices: IndexArray,
    data: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    ratios: FloatArray,
    value: FloatArray,
    policy: FloatArray,
    layers: IntArray,
) -> FloatArray:
    """Return V_1 of a policy `(N, S, A)`; layer h is played by row `layers[h]` of `policy`."""
    current = value.copy()
    previous = np.empty_like(current)
    for h in range(ratios.size - 1, -1, -1):
        layer = layers[h]
        row = 0
        for s in range(current.size):
            mean = 0.0
            for a in range(n_actions):
                weight = policy[layer, s, a]
                if weight > 0.0:
                    total = 0.0
                    for i in range(indptr[row], indptr[row + 1]):
                        total += data[i] * current[indices[i]]
                    mean += weight * (rewards[row] + ratios[h] * total)
                row += 1
            previous[s] = mean
        current, previous = previous, current
    return current


@kernel
def accumulate_horizons(
    indptr: IndexArray,
    indices: IndexArray,
    data: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    weights: FloatArray,
    value: FloatArray,
    total: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the optima of longer and longer horizons, and `total` plus their weighted increments.

    From V* of n steps in `value`, one step more for each weight w: V ← max_a r + PV, total += w·(new − old).
    """
    current = value.copy()
    longer = np.empty_like(current)
    total = total.copy()
    for n in range(weights.size):
        row = 0
        for s in range(current.size):
            best = -np.inf
            for _a in range(n_actions):
                expected = 0.0
                for i in range(indptr[row], indptr[row + 1]):
                    expected += data[i] * current[indices[i]]
                best = max(best, rewards[row] + expected)
                row += 1
            longer[s] = best
            total[s] += weights[n] * (best - current[s])
        current, longer = longer, current
    return current, total
