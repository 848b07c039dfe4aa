"""Tables with room to grow, and what a belief fills them with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn._kernels import Desk, Spread, Tables, number_state
from sojourn._typing import FloatArray, IntArray, PolicyArray

__all__ = ["NO_SPREAD", "START_ROOM", "Outlook", "clean_desk", "copied", "empty_tables"]

NO_SPREAD = Spread(np.empty(0), 0.0, np.empty(0), np.empty(0), np.empty(0))
"""For a bonus that does not look at variances."""

START_ROOM = 64
"""States, pairs and arcs that a new learner has room for."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """What a belief says layer by layer: ρ, caps Γ/γ of layers 1 … N+1, V_{N+1}, and the bonus.

    The bonus is that of one visit, or a spread if it looks at variances; the other is empty.
    """

    ratios: FloatArray
    caps: FloatArray
    last: float
    bonus: FloatArray
    spread: Spread
    reward_bonus: float


def empty_tables(outlook: Outlook, n_actions: int, states: int, pairs: int, arcs: int) -> Tables:
    """Return tables with room for so much and nothing in them: all at their caps."""
    n_layers, caps = outlook.ratios.size, outlook.caps
    value = np.repeat(caps[np.newaxis], states, axis=0)
    value[:, n_layers] = outlook.last

    def numbers(shape: int | tuple[int, int], fill: int = -1) -> PolicyArray:
        return np.full(shape, fill, dtype=np.int32)

    return Tables(
        sizes=np.zeros(3, dtype=np.int64),
        slots=numbers(2 << (states - 1).bit_length()),
        names=np.zeros(states, dtype=np.int64),
        tried=numbers(states, 0),
        pair_of=numbers((states, n_actions)),
        value=value,
        visits_at=numbers((states, n_layers + 1 if outlook.spread.outer.size > 0 else 0), 0),
        into=numbers(states),
        state_of=numbers(pairs),
        visits=np.zeros(pairs, dtype=np.int64),
        paid=np.zeros(pairs),
        reward=np.zeros(pairs),
        root=np.zeros(pairs),
        q=np.repeat(caps[np.newaxis, :n_layers], pairs, axis=0),
        first_arc=numbers(pairs),
        last_arc=numbers(pairs),
        arc_from=numbers(arcs),
        arc_to=numbers(arcs),
        arc_count=np.zeros(arcs),
        arc_weight=np.zeros(arcs),
        arc_next=numbers(arcs),
        arc_other=numbers(arcs),
    )


def copied(old: Tables, new: Tables) -> Tables:
    """Return the new, larger and empty tables with all that is in the old ones."""
    for name in Tables._fields:
        if name not in {"slots", "sizes"}:
            array = getattr(old, name)
            getattr(new, name)[: len(array)] = array
    for state in old.names[: old.sizes[0]]:
        number_state(new, int(state))
    new.sizes[:] = old.sizes
    return new


def clean_desk(n_layers: int, pairs: int) -> Desk:
    """Return room to replan in."""

    def room() -> IntArray:
        return np.full(pairs, -1, dtype=np.int64)

    return Desk(np.ones(1, dtype=np.int64), room(), room(), room(), room(), room(), np.empty(n_layers))
