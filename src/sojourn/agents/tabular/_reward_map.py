"""The map from an environment's rewards to [0, 1], which all tabular learners work with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn._typing import FloatArray
from sojourn.agents.tabular._checks import is_number

__all__ = ["RewardMap"]

_SLACK = 1e-9
"""Largest distance by which rounding may put a mapped reward outside [0, 1]."""


@dataclass(frozen=True)
class RewardMap:
    """Maps a reward r to (r − low)/span."""

    low: float
    span: float

    def scaled(self, reward: float) -> float:
        """Return a reward mapped to [0, 1], unchecked."""
        return (reward - self.low) / self.span

    def check(self, reward: float) -> None:
        """Raise `ValueError` unless `reward` is a finite number in the range."""
        if not is_number(reward):
            raise ValueError(f"reward must be a finite number; got {reward!r}.")
        if not -_SLACK <= self.scaled(reward) <= 1.0 + _SLACK:
            most = self.low + self.span
            raise ValueError(f"reward must be in {self.low:g} … {most:g}, the reward_range; got {reward!r}.")

    def scaled_table(self, rewards: FloatArray, n_states: int | None, n_actions: int) -> FloatArray:
        """Return the `(S, A)` table of known rewards mapped to [0, 1], checked."""
        table = (np.asarray(rewards, dtype=np.float64) - self.low) / self.span
        if n_states is None:
            raise ValueError("rewards must be left out if the number of states is not known.")
        if table.shape != (n_states, n_actions):
            raise ValueError(f"rewards must have shape ({n_states}, {n_actions}); got {table.shape}.")
        if not np.isfinite(table).all():
            raise ValueError("rewards must be finite numbers.")
        if not ((table >= -_SLACK) & (table <= 1.0 + _SLACK)).all():
            least, most = float(np.min(rewards)), float(np.max(rewards))
            raise ValueError(f"rewards must be within reward_range; got {least:g} … {most:g}.")
        return table
