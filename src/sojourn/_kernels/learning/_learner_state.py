"""Everything that a learner consists of while it plays in compiled code."""

from __future__ import annotations

from typing import Any, NamedTuple

from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._play_options import PlayOptions
from sojourn._kernels.learning._tables import Tables

__all__ = ["LearnerState"]


class LearnerState(NamedTuple):
    """A learner: its tables, the law it assumes, its update and its options."""

    tables: Tables  # counts, Q and V
    assumed: AssumedLaw  # the law that it plans with
    update: Any  # parameters and scratch arrays of its update; the type selects the update, see `_updates`
    options: PlayOptions  # how it plays
