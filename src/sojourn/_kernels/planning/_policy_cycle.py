"""One whole round of a policy, from every state."""

from __future__ import annotations

import numpy as np

from sojourn._kernels._interrupts import interruptible
from sojourn._kernels._jit import kernel
from sojourn._kernels.planning._backward_induction import Rows
from sojourn._typing import FloatArray, PolicyArray

__all__ = ["follow_policy_cycle"]


@interruptible
@kernel
def follow_policy_cycle(
    rows: Rows, rewards: FloatArray, policy: PolicyArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Follow a deterministic policy `(N, S)` through its rows, from every state at once.

    Returns where a round leads, `(S, S)`, what it earns, `(S,)`, and the most and the least that its first
    0 … N − 1 steps earn from any state, `(N,)` each.
    """
    indptr, indices, data, n_actions = rows
    n_rows, n_states = policy.shape
    reached, coming = np.eye(n_states), np.zeros((n_states, n_states))
    earned, most, least = np.zeros(n_states), np.empty(n_rows), np.empty(n_rows)
    for i in range(n_rows):
        most[i], least[i] = earned.max(), earned.min()
        for x in range(n_states):
            total = 0.0
            for s in range(n_states):
                chance = reached[x, s]
                if chance > 0.0:
                    reached[x, s] = 0.0
                    row = s * n_actions + policy[i, s]
                    total += chance * rewards[row]
                    for j in range(indptr[row], indptr[row + 1]):
                        coming[x, indices[j]] += chance * data[j]
            earned[x] += total
        reached, coming = coming, reached
    return reached, earned, most, least
