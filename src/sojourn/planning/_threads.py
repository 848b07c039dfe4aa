"""Backward induction and value iteration on several threads, with the same bits as on one."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from sojourn._kernels import (
    BLOCK,
    NO_PREFERENCE,
    BlockedRows,
    TransitionRows,
    backward_induction,
    bellman_backup,
    value_iteration,
)
from sojourn._typing import FloatArray, IntArray, PolicyArray

__all__ = ["Sweeps", "layers_per_call", "open_sweeps"]

_TRANSITIONS_PER_CALL = 1 << 29
"""Work of one call of a kernel, about half a second: Ctrl-C is handled between two calls."""

_FEWEST_STATES = 20_000
"""Tables with fewer states per thread are swept by fewer threads: starting a thread would cost more."""


def layers_per_call(n_transitions: int) -> int:
    """Return over how many layers one call of a kernel may sweep, if each has so many transitions."""
    return max(1, _TRANSITIONS_PER_CALL // max(1, n_transitions))


class Sweeps:
    """Sweeps over all states; the states of a layer are split between the threads of a pool.

    The states of one layer are independent of each other, so the results do not depend on the threads.
    """

    def __init__(self, pool: ThreadPoolExecutor | None = None, threads: int = 1) -> None:
        self._pool, self._threads = pool, threads

    def induct(
        self,
        rows: TransitionRows,
        blocks: BlockedRows,
        *,
        ratios: FloatArray,
        value: FloatArray,
        policy: PolicyArray,
        preferred: PolicyArray,
        slack: float,
    ) -> FloatArray:
        """Return the same as the kernel `backward_induction`."""
        pool, parts = self._pool, self._parts(value.size)
        if pool is None or len(parts) == 1:
            at_once = layers_per_call(rows.data.size)
            for stop in range(ratios.size, 0, -at_once):
                part = slice(max(0, stop - at_once), stop)
                value = backward_induction(rows, blocks, ratios[part], value, policy[part], preferred, slack)
            return value
        current, previous = value.copy(), np.empty_like(value)
        for h in range(ratios.size - 1, -1, -1):
            layer = (rows, blocks, float(ratios[h]), current, previous, policy[h], preferred, slack)
            list(pool.map(lambda part, layer=layer: bellman_backup(*layer, *part), parts))
            current, previous = previous, current
        return current

    def iterate(
        self,
        rows: TransitionRows,
        blocks: BlockedRows,
        *,
        ratio: float,
        damping: float,
        value: FloatArray,
        n_sweeps: int,
    ) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return the same as the kernel `value_iteration`."""
        pool, parts = self._pool, self._parts(value.size)
        if pool is None or len(parts) == 1:
            at_once = layers_per_call(rows.data.size)
            for _ in range(0, n_sweeps - at_once, at_once):
                value, _, _ = value_iteration(rows, blocks, ratio, damping, value, at_once)
                n_sweeps -= at_once
            return value_iteration(rows, blocks, ratio, damping, value, n_sweeps)
        current, image = value.copy(), np.empty_like(value)
        actions = np.empty(value.size, dtype=np.int64)
        for sweep in range(n_sweeps + 1):
            layer = (rows, blocks, ratio, current, image, actions, actions, NO_PREFERENCE)
            list(pool.map(lambda part, layer=layer: bellman_backup(*layer, *part), parts))
            if sweep < n_sweeps:
                current += damping * (image - current)
        return current, image, actions

    def _parts(self, n_states: int) -> list[tuple[int, int]]:
        """Return ranges of states of about the same size, one per thread; each starts with a block."""
        n_parts = max(1, min(self._threads, n_states // _FEWEST_STATES))
        cuts = [i * (n_states // BLOCK) // n_parts * BLOCK for i in range(n_parts)]
        return list(zip(cuts, [*cuts[1:], n_states], strict=True))


@contextmanager
def open_sweeps(threads: int) -> Iterator[Sweeps]:
    """Return sweeps on a number of threads, which end with the context."""
    if threads == 1:
        yield Sweeps()
        return
    with ThreadPoolExecutor(threads) as pool:
        yield Sweeps(pool, threads)
