"""Learners whose code is not at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["AbsentAgent"]


@dataclass(frozen=True)
class AbsentAgent:
    """Stands for a learner of the user's own that cannot be imported where its results are read.

    Attributes:
        settings: Its plain settings.
        reason: Why it is not here, in one line.
    """

    settings: Mapping[str, Any]
    reason: str

    def start(self, **_: Any) -> Any:
        """Raise `ValueError`: what is not here cannot play."""
        raise ValueError(f"{self.settings.get('type')} cannot play here: {self.reason}")
