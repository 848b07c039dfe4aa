"""Backward induction and policy evaluation, layer by layer.

A layer's value is V_h(s) = max_a r(s, a) + ρ(h) Σ_y P(y|s, a) V_{h+1}(y), summed from left to right, the
lowest action on ties. `packed` is what `_slices` makes of a problem: starts, widths, columns, weights, paid.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from sojourn._kernels._interrupts import interruptible
from sojourn._kernels._jit import kernel
from sojourn._kernels.planning._blocked_rows import BLOCK
from sojourn._typing import FloatArray, IndexArray, IntArray, PolicyArray

__all__ = ["accumulate_horizons", "evaluate_deterministic", "evaluate_stochastic", "induce", "sweep"]

Rows: TypeAlias = tuple[IndexArray, IndexArray, FloatArray, int]
Packed: TypeAlias = tuple[IntArray, IntArray, PolicyArray, FloatArray, FloatArray]


@kernel
def back_up(
    rows: Rows,
    packed: Packed,
    ratio: float,
    following: FloatArray,
    value: FloatArray,
    actions: PolicyArray,
    preferred: PolicyArray,
    slack: float,
) -> None:
    """Fill `value` and `actions` of one layer from the value of the following one.

    A preferred action is taken, with the value that it has, if that is within `slack` times the best one;
    with a negative slack nothing is preferred.
    """
    indptr, indices, data, n_actions = rows
    starts, widths, columns, weights, paid = packed
    n_states = value.size
    expected = np.empty(BLOCK)
    best = np.empty(BLOCK)
    best_action = np.empty(BLOCK, dtype=np.int64)
    preferred_value = np.empty(BLOCK)
    for first in range(0, n_states, BLOCK):
        size = min(BLOCK, n_states - first)
        for a in range(n_actions):
            # Loops run over views from 0 on: an index that might be negative would keep them scalar.
            c = first // BLOCK * n_actions + a
            for k in range(widths[c]):
                at = starts[c] + k * size
                to, chance = columns[at : at + size], weights[at : at + size]
                if k == 0:
                    for s in range(size):
                        expected[s] = chance[s] * following[to[s]]
                else:
                    for s in range(size):
                        expected[s] += chance[s] * following[to[s]]
            if widths[c] == 0:
                for s in range(size):
                    row = (first + s) * n_actions + a
                    total = 0.0
                    for i in range(indptr[row], indptr[row + 1]):
                        total += data[i] * following[indices[i]]
                    expected[s] = total
            at = first * n_actions + a * size
            reward = paid[at : at + size]
            if a == 0:
                for s in range(size):
                    best[s] = reward[s] + ratio * expected[s]
                    best_action[s] = 0
            else:
                for s in range(size):
                    q = reward[s] + ratio * expected[s]
                    old = best[s]
                    best_action[s] = a if q > old else best_action[s]
                    best[s] = q if q > old else old
            if slack >= 0.0:
                wanted = preferred[first : first + size]
                for s in range(size):
                    q = reward[s] + ratio * expected[s]
                    preferred_value[s] = q if wanted[s] == a else preferred_value[s]
        if slack >= 0.0:
            wanted = preferred[first : first + size]
            for s in range(size):
                if preferred_value[s] >= best[s] - slack * abs(best[s]):
                    best[s] = preferred_value[s]
                    best_action[s] = wanted[s]
        value_here, actions_here = value[first : first + size], actions[first : first + size]
        for s in range(size):
            value_here[s] = best[s]
            actions_here[s] = best_action[s]


@kernel
def induce(
    rows: Rows,
    packed: Packed,
    ratios: FloatArray,
    value: FloatArray,
    policy: PolicyArray,
    preferred: PolicyArray,
    slack: float,
) -> FloatArray:
    """Return V_1 from V_{N+1} in `value`, over N = `ratios.size` layers; fill `policy` `(N, S)`."""
    current = value.copy()
    previous = np.empty_like(current)
    for h in range(ratios.size - 1, -1, -1):
        back_up(rows, packed, ratios[h], current, previous, policy[h], preferred, slack)
        current, previous = previous, current
    return current


@interruptible
@kernel
def sweep(
    rows: Rows, packed: Packed, ratio: float, damping: float, value: FloatArray, n_sweeps: int
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return V after `n_sweeps` of V ← V + damping·(TV − V), then TV and the actions greedy in V.

    T is the Bellman operator with one `ratio` for all layers. `n_sweeps` may be 0.
    """
    current = value.copy()
    image = np.empty_like(current)
    actions = np.empty(current.size, dtype=np.int64)
    for _ in range(n_sweeps):
        back_up(rows, packed, ratio, current, image, actions, actions, -1.0)
        for s in range(current.size):
            current[s] += damping * (image[s] - current[s])
    back_up(rows, packed, ratio, current, image, actions, actions, -1.0)
    return current, image, actions


@interruptible
@kernel
def accumulate_horizons(
    rows: Rows, packed: Packed, weights: FloatArray, value: FloatArray, total: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the optima of longer and longer horizons, and `total` plus their weighted increments.

    From V* of n steps in `value`, one step more for each weight w: V ← max_a r + PV, total += w·(new − old).
    """
    current = value.copy()
    longer = np.empty_like(current)
    actions = np.empty(current.size, dtype=np.int64)
    total = total.copy()
    for n in range(weights.size):
        back_up(rows, packed, 1.0, current, longer, actions, actions, -1.0)
        for s in range(current.size):
            total[s] += weights[n] * (longer[s] - current[s])
        current, longer = longer, current
    return current, total


@kernel
def evaluate_deterministic(
    rows: Rows,
    rewards: FloatArray,
    ratios: FloatArray,
    value: FloatArray,
    policy: PolicyArray,
    layers: IntArray,
) -> FloatArray:
    """Return V_1 of a policy `(N, S)` from V after the last layer; layer h is played by row `layers[h]`."""
    indptr, indices, data, n_actions = rows
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
    rows: Rows,
    rewards: FloatArray,
    ratios: FloatArray,
    value: FloatArray,
    policy: FloatArray,
    layers: IntArray,
) -> FloatArray:
    """Return V_1 of a policy `(N, S, A)`; as `evaluate_deterministic`."""
    indptr, indices, data, n_actions = rows
    current = value.copy()
    previous = np.empty_like(current)
    for h in range(ratios.size - 1, -1, -1):
        layer = layers[h]
        row = 0
        for s in range(current.size):
            mean = 0.0
            for a in range(n_actions):
                chance = policy[layer, s, a]
                if chance > 0.0:
                    total = 0.0
                    for i in range(indptr[row], indptr[row + 1]):
                        total += data[i] * current[indices[i]]
                    mean += chance * (rewards[row] + ratios[h] * total)
                row += 1
            previous[s] = mean
        current, previous = previous, current
    return current
