"""The episode lengths seen so far, which several learners may share."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sojourn._typing import BoolArray, IntArray

__all__ = ["LengthRecord"]


@dataclass
class LengthRecord:
    """Lengths of episodes in the order played, and whether each was observed or only censored."""

    lengths: list[int] = field(default_factory=list)
    observed: list[bool] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.lengths)

    def add(self, lengths: list[int], observed: list[bool]) -> None:
        """Append the lengths of some episodes."""
        self.lengths += lengths
        self.observed += observed

    def since(self, first: int) -> tuple[IntArray, BoolArray]:
        """Return the entries from index `first` on, as arrays."""
        return np.array(self.lengths[first:], dtype=np.int64), np.array(self.observed[first:], dtype=np.bool_)
