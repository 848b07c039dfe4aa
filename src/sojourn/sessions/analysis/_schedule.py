"""Discounts step by step, for other systems."""

from __future__ import annotations

from typing import Any

import numpy as np

from sojourn.laws import LengthLaw

__all__ = ["schedule_of"]

_MAX_SCHEDULE = 100_000
"""Largest number of steps of a schedule of discounts."""


def schedule_of(law: LengthLaw) -> dict[str, Any]:
    """Return the columns of a schedule of discounts; see `Analysis.schedule`."""
    wanted = 0.01 * law.mean
    is_far = law.longest is None and float(law.tail(_MAX_SCHEDULE)) > wanted
    h = np.arange(1, (_MAX_SCHEDULE if is_far else min(law.effective_horizon(wanted), _MAX_SCHEDULE)) + 1)
    columns = {"survival": law.survival, "discount": law.continuation, "remaining": law.remaining}
    return {"step": h} | {name: column(h) for name, column in columns.items()}
