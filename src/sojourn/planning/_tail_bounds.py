"""Bounds on the value of the steps after the layers that are computed one by one."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn._typing import FloatArray, IntArray
from sojourn.laws import LengthLaw

__all__ = ["Tail", "reach_probability"]


@dataclass(frozen=True, eq=False)
class Tail:
    """Bounds on the value from step `n_layers` + 1 on, given that it is reached.

    Always playing `actions` earns at least `lower`, and no policy earns more than `upper`.
    """

    n_layers: int
    lower: FloatArray
    upper: FloatArray
    actions: IntArray

    def width(self, law: LengthLaw) -> float:
        """Return the width of the bracket of the value from step 1."""
        return reach_probability(law, self.n_layers) * float((self.upper - self.lower).max())


def reach_probability(law: LengthLaw, n_layers: int) -> float:
    """Return P(H > n_layers), the chance that the steps after the layers are reached."""
    return 1.0 if n_layers == 0 else float(law.survival(n_layers + 1))
