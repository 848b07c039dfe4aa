"""The chances of leaving in a log, in bins of one or more steps."""

from __future__ import annotations

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.laws import Sample

__all__ = ["hazard_bins"]

_MAX_BINS = 40
_MIN_ENDED = 20
"""A bin is widened until at least this many sessions have ended in it."""


def hazard_bins(sample: Sample, last: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the middle steps of bins of the data, their hazards, and twice the standard errors.

    Bins are single steps at first and wider later; each is extended until enough sessions have ended in it.

    Args:
        sample: The sessions.
        last: Last step of the last bin.
    """
    edges = np.unique(np.concatenate((np.arange(0, min(last, _MAX_BINS)), _spread(last))))
    ended, at_risk = sample.ended_by(edges), sample.exposure(edges)
    begin, found = 0, []
    for end in range(1, edges.size):
        gone, risk = int(ended[end] - ended[begin]), float(at_risk[end] - at_risk[begin])
        if not ended[end]:
            begin = end  # no session has ended yet: the first bin starts later
        elif gone >= _MIN_ENDED:
            share = gone / risk
            middle = (edges[begin] + 1 + edges[end]) / 2.0
            found.append((middle, share, 2.0 * float(np.sqrt(share * (1.0 - share) / risk))))
            begin = end
    table = np.array(found).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _spread(last: int) -> IntArray:
    return np.geomspace(1.0, last, 2 * _MAX_BINS).round().astype(np.int64)
