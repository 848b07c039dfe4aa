"""One whole cycle through the layers of a policy, from every state."""

from __future__ import annotations

import numpy as np

from sojourn._kernels._interrupts import interruptible
from sojourn._kernels._jit import kernel
from sojourn._kernels._problem import TransitionRows
from sojourn._typing import FloatArray, PolicyArray

__all__ = ["follow_policy_cycle"]


@interruptible
@kernel
def follow_policy_cycle(
    rows: TransitionRows, rewards: FloatArray, policy: PolicyArray, reached: FloatArray, earned: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Follow a deterministic policy `(N, S)` through N layers, from every state at once.

    Args:
        rows: Transitions.
        rewards: Rewards, `(S·A,)`.
        policy: The layers to follow: all of a cycle, or some at a time.
        reached: Distribution over states after the layers before, from each start state, `(S, S)`.
        earned: Expected sum of the rewards before, `(S,)`.

    Returns:
        The distribution over states after these layers, `(S, S)`; the expected sum of rewards, `(S,)`; and
        the largest and the smallest expected sum before each of these layers over all start states, `(N,)`
        each.
    """
    indptr, indices, data, n_actions = rows
    n_rows, n_states = policy.shape
    reached, coming = reached.copy(), np.zeros((n_states, n_states))
    earned, most, least = earned.copy(), np.empty(n_rows), np.empty(n_rows)
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
