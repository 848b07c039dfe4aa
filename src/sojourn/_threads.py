"""One thread a process: how sums are split over threads changes their last digits."""

from __future__ import annotations

import os
import sys

__all__ = ["ONE_THREAD", "use_one_thread"]

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""The environment of a process that plays trials."""


def use_one_thread() -> None:
    """Have NumPy use one thread, if it is not loaded yet: it looks at the environment only then."""
    if "numpy" not in sys.modules:
        os.environ.update(ONE_THREAD)
