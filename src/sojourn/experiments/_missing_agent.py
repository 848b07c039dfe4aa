"""Stands in for agents that reading results does not build: it imports nothing that a store names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["MissingAgent"]


@dataclass(frozen=True)
class MissingAgent:
    """An agent that is known by its settings only.

    Attributes:
        settings: Its plain settings.
        reason: Why the agent itself is not available, in one line.
    """

    settings: Mapping[str, Any]
    reason: str

    def start(self, **_: Any) -> Any:
        """Raise `ValueError`: this agent cannot play."""
        raise ValueError(f"{self.settings.get('type')} cannot play here: {self.reason}")
