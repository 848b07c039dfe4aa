"""Backward induction and policy evaluation, layer by layer.

The Bellman backup of a layer is V_h(s) = max_a r(s, a) + ρ(h) Σ_y P(y|s, a) V_{h+1}(y). Sums run from left to
right over a row's successors; the lowest action wins ties.
"""

from __future__ import annotations

import numpy as np

from sojourn._kernels._interrupts import interruptible
from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels._problem import TransitionRows
from sojourn._kernels.planning._blocked_rows import BLOCK, BlockedRows
from sojourn._typing import FloatArray, IntArray, PolicyArray

__all__ = [
    "NO_PREFERENCE",
    "accumulate_horizons",
    "backward_induction",
    "bellman_backup",
    "evaluate_deterministic",
    "evaluate_stochastic",
    "value_iteration",
]

NO_PREFERENCE = -1.0
"""Value of `slack` with which no action is preferred."""


@inlined
def _expect_slice(
    rows: TransitionRows, blocks: BlockedRows, first: int, a: int, following: FloatArray, expected: FloatArray
) -> None:
    """Fill `expected` with Σ_y P(y|s, a) V(y) of the states from `first` on, one block of them."""
    indptr, indices, data, n_actions = rows
    starts, widths, columns, weights, _ = blocks
    size = expected.size
    # Loops run over views from 0 on: an index that might be negative would prevent vectorization.
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


@inlined
def _improve(
    a: int, rewards: FloatArray, ratio: float, expected: FloatArray, best: FloatArray, best_action: IntArray
) -> None:
    """Take action a in the states in which its Q is larger than the best so far; action 0 comes first."""
    if a == 0:
        for s in range(expected.size):
            best[s] = rewards[s] + ratio * expected[s]
            best_action[s] = 0
    else:
        for s in range(expected.size):
            q = rewards[s] + ratio * expected[s]
            old = best[s]
            best_action[s] = a if q > old else best_action[s]
            best[s] = q if q > old else old


@kernel
def bellman_backup(
    rows: TransitionRows,
    blocks: BlockedRows,
    ratio: float,
    following: FloatArray,
    value: FloatArray,
    actions: PolicyArray,
    preferred: PolicyArray,
    slack: float,
    begin: int,
    end: int,
) -> None:
    """Fill `value` and `actions` of one layer from the value of the following layer, for one range of states.

    The range starts at a multiple of `BLOCK`. States do not depend on each other, so ranges may be filled at
    the same time by several threads.

    A preferred action is taken, with its own value, if that is at most `slack` times |best value| below the
    best value. With `NO_PREFERENCE` as the slack, no action is preferred.
    """
    n_actions = rows.n_actions
    block_expected, block_best, block_preferred = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    block_action = np.empty(BLOCK, dtype=np.int64)
    for first in range(begin, end, BLOCK):
        size = min(BLOCK, end - first)
        expected, best, preferred_q = block_expected[:size], block_best[:size], block_preferred[:size]
        best_action, wanted = block_action[:size], preferred[first : first + size]
        for a in range(n_actions):
            _expect_slice(rows, blocks, first, a, following, expected)
            at = first * n_actions + a * size
            rewards = blocks.rewards[at : at + size]
            _improve(a, rewards, ratio, expected, best, best_action)
            if slack >= 0.0:
                for s in range(size):
                    q = rewards[s] + ratio * expected[s]
                    preferred_q[s] = q if wanted[s] == a else preferred_q[s]
        if slack >= 0.0:
            for s in range(size):
                if preferred_q[s] >= best[s] - slack * abs(best[s]):
                    best[s] = preferred_q[s]
                    best_action[s] = wanted[s]
        value_here, actions_here = value[first : first + size], actions[first : first + size]
        for s in range(size):
            value_here[s] = best[s]
            actions_here[s] = best_action[s]


@kernel
def backward_induction(
    rows: TransitionRows,
    blocks: BlockedRows,
    ratios: FloatArray,
    value: FloatArray,
    policy: PolicyArray,
    preferred: PolicyArray,
    slack: float,
) -> FloatArray:
    """Return V_1 from V_{N+1}, given as `value`, over N = `ratios.size` layers; fill `policy` `(N, S)`.

    See `bellman_backup` for `preferred` and `slack`.
    """
    current = value.copy()
    previous = np.empty_like(current)
    for h in range(ratios.size - 1, -1, -1):
        bellman_backup(
            rows, blocks, ratios[h], current, previous, policy[h], preferred, slack, 0, current.size
        )
        current, previous = previous, current
    return current


@interruptible
@kernel
def value_iteration(
    rows: TransitionRows, blocks: BlockedRows, ratio: float, damping: float, value: FloatArray, n_sweeps: int
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return V after `n_sweeps` sweeps V ← V + damping·(TV − V), then TV and the actions greedy in V.

    T is the Bellman operator with the discount `ratio`. `n_sweeps` may be 0.
    """
    current = value.copy()
    image = np.empty_like(current)
    actions = np.empty(current.size, dtype=np.int64)
    for _ in range(n_sweeps):
        bellman_backup(rows, blocks, ratio, current, image, actions, actions, NO_PREFERENCE, 0, current.size)
        for s in range(current.size):
            current[s] += damping * (image[s] - current[s])
    bellman_backup(rows, blocks, ratio, current, image, actions, actions, NO_PREFERENCE, 0, current.size)
    return current, image, actions


@interruptible
@kernel
def accumulate_horizons(
    rows: TransitionRows, blocks: BlockedRows, weights: FloatArray, value: FloatArray, total: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the optimal value of a longer horizon, and `total` plus the weighted increments on the way.

    `value` is V* of some number of steps. Each weight w adds one step: V ← max_a r + PV, and total += w times
    the increase of V.
    """
    current = value.copy()
    longer = np.empty_like(current)
    actions = np.empty(current.size, dtype=np.int64)
    total = total.copy()
    for n in range(weights.size):
        bellman_backup(rows, blocks, 1.0, current, longer, actions, actions, NO_PREFERENCE, 0, current.size)
        for s in range(current.size):
            total[s] += weights[n] * (longer[s] - current[s])
        current, longer = longer, current
    return current, total


@kernel
def evaluate_deterministic(
    rows: TransitionRows,
    rewards: FloatArray,
    ratios: FloatArray,
    value: FloatArray,
    policy: PolicyArray,
    layers: IntArray,
) -> FloatArray:
    """Return V_1 of a deterministic policy `(N, S)`; row `layers[h]` of it is played at layer h.

    `value` is the value after the last layer.
    """
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
    rows: TransitionRows,
    rewards: FloatArray,
    ratios: FloatArray,
    value: FloatArray,
    policy: FloatArray,
    layers: IntArray,
) -> FloatArray:
    """Return V_1 of a stochastic policy `(N, S, A)`; see `evaluate_deterministic`."""
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
