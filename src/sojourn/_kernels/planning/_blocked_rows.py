"""Transitions packed so that a whole block of states is backed up at once.

Rows of one action and `BLOCK` neighbouring states form a slice. A slice is stored by successor number first
and state second, padded with probability 0 to its longest row, so that its loops run over states: no branch
depends on data, and the processor's vector units do the work. A slice that padding would more than double is
left out (`widths` 0) and read from the compressed rows instead. Sums are formed in the same order either way.
"""

from __future__ import annotations

import numpy as np

from sojourn._kernels._interrupts import interruptible
from sojourn._kernels._jit import kernel
from sojourn._typing import FloatArray, IndexArray, IntArray

__all__ = ["BLOCK", "fill_slices", "measure_slices"]

BLOCK = 128


@interruptible
@kernel
def measure_slices(indptr: IndexArray, n_actions: int) -> tuple[IntArray, IntArray]:
    """Return where each slice starts (and where the last ends) and its width; b·A + a is of block b."""
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
def fill_slices(
    indptr: IndexArray,
    indices: IndexArray,
    data: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    starts: IntArray,
    widths: IntArray,
    columns: IndexArray,
    weights: FloatArray,
    paid: FloatArray,
) -> None:
    """Fill zeroed `columns` and `weights` slice by slice, and `paid` with the rewards in the same order."""
    n_states = rewards.size // n_actions
    for c in range(widths.size):
        first = c // n_actions * BLOCK
        size = min(BLOCK, n_states - first)
        for s in range(size):
            row = (first + s) * n_actions + c % n_actions
            paid[first * n_actions + c % n_actions * size + s] = rewards[row]
            if widths[c] > 0:
                begin = indptr[row]
                for k in range(indptr[row + 1] - begin):
                    columns[starts[c] + k * size + s] = indices[begin + k]
                    weights[starts[c] + k * size + s] = data[begin + k]
