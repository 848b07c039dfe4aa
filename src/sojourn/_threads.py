"""Counts processors, and limits NumPy to one thread so that the rounding of sums does not vary."""

from __future__ import annotations

import os
import sys

__all__ = ["ONE_THREAD", "usable_cores", "use_one_thread"]

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""Environment variables that limit a process to one thread."""


def usable_cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def use_one_thread() -> None:
    """Limit NumPy to one thread; has no effect once NumPy is loaded, which reads the environment."""
    if "numpy" not in sys.modules:
        os.environ.update(ONE_THREAD)
