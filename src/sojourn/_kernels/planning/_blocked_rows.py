"""Transitions in an order that backs up a whole block of states at once.

The rows of one action and `BLOCK` neighboring states form a slice. A slice is stored by successor number
first and state second, padded with probability 0 to its longest row. Its loops then run over states, without
branches that depend on data, so that the processor's vector units do the work. A slice that padding would
more than double is left out (its width is 0) and read from the compressed rows instead. Sums over successors
are formed in the same order either way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn._kernels._interrupts import interruptible
from sojourn._kernels._jit import kernel
from sojourn._kernels._problem import TransitionRows
from sojourn._typing import FloatArray, IntArray, PolicyArray

__all__ = ["BLOCK", "BlockedRows", "fill_slices", "measure_slices"]

BLOCK = 128
"""Number of states in a block; the last block may be smaller."""


class BlockedRows(NamedTuple):
    """Transitions and rewards slice by slice; slice b·A + a belongs to block b and action a."""

    starts: IntArray  # (slices + 1,) position of each slice's first entry in `columns`, and the end
    widths: IntArray  # (slices,) length of the slice's longest row, or 0 if the slice is not stored
    columns: PolicyArray  # (entries,) successors, unsigned
    weights: FloatArray  # (entries,) probabilities, 0 where a row is padded
    rewards: FloatArray  # (S·A,) rewards, slice by slice


@interruptible
@kernel
def measure_slices(rows: TransitionRows) -> tuple[IntArray, IntArray]:
    """Return `starts` and `widths` of the slices of a problem; see `BlockedRows`."""
    indptr, n_actions = rows.indptr, rows.n_actions
    n_states = (indptr.size - 1) // n_actions
    n_slices = (n_states + BLOCK - 1) // BLOCK * n_actions
    starts = np.zeros(n_slices + 1, dtype=np.int64)
    widths = np.zeros(n_slices, dtype=np.int64)
    for c in range(n_slices):
        first = c // n_actions * BLOCK
        last = min(first + BLOCK, n_states)
        longest = 0
        entries = 0
        for s in range(first, last):
            row = s * n_actions + c % n_actions
            length = indptr[row + 1] - indptr[row]
            longest = max(longest, length)
            entries += length
        if longest * (last - first) <= 2 * entries:
            widths[c] = longest
        starts[c + 1] = starts[c] + widths[c] * (last - first)
    return starts, widths


@kernel
def fill_slices(rows: TransitionRows, rewards: FloatArray, blocks: BlockedRows) -> None:
    """Fill `columns`, `weights` and `rewards` of `blocks`; the first two must be all 0."""
    indptr, indices, data, n_actions = rows
    starts, widths, columns, weights, blocked_rewards = blocks
    n_states = rewards.size // n_actions
    for c in range(widths.size):
        first = c // n_actions * BLOCK
        size = min(BLOCK, n_states - first)
        for s in range(size):
            row = (first + s) * n_actions + c % n_actions
            blocked_rewards[first * n_actions + c % n_actions * size + s] = rewards[row]
            if widths[c] > 0:
                begin = indptr[row]
                for k in range(indptr[row + 1] - begin):
                    columns[starts[c] + k * size + s] = indices[begin + k]
                    weights[starts[c] + k * size + s] = data[begin + k]
