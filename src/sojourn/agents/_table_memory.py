"""Tables with room to grow, and what a belief fills them with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn._kernels import (
    MOST_MASKED,
    BernsteinUpdate,
    EpisodeBuffer,
    IncrementalScratch,
    ReferenceArrays,
    SweepScratch,
    Tables,
    ValueCache,
    number_state,
)
from sojourn._memory import check_fits
from sojourn._typing import FloatArray, PolicyArray

__all__ = [
    "NO_SPREAD",
    "START_ROOM",
    "Outlook",
    "copied",
    "empty_episode_buffer",
    "empty_incremental_scratch",
    "empty_sweep_scratch",
    "empty_tables",
    "empty_value_cache",
    "recounted",
    "table_bytes",
]

NO_SPREAD = BernsteinUpdate(np.empty(0), 0.0, np.empty(0), np.empty(0), np.empty(0))
"""For a bonus that does not look at variances."""

START_ROOM = 64
"""States, pairs and arcs that a new learner has room for."""


_OF_LAYERS = {"value", "watch", "second", "best", "visits_at", "q"}
"""Tables that depend on the layers of a belief."""

_MOST_KEPT = 200_000
"""States times steps whose chances are kept between valuations."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """What a belief says layer by layer: ρ, caps Γ/γ of layers 1 … N+1, V_{N+1}, and the bonus.

    The bonus is that of one visit, or a spread if it looks at variances; the other is empty. After n visits
    it is that over n^power.
    """

    ratios: FloatArray
    caps: FloatArray
    last: float
    bonus: FloatArray
    spread: BernsteinUpdate = NO_SPREAD
    reward_bonus: float = -1.0
    power: float = 0.5


def table_bytes(n_layers: int, states: int, pairs: int, *, is_watched: bool = True) -> int:
    """Return what tables of so many layers with room for so much take, but for what has no layers."""
    return (states * (21 if is_watched else 12) + pairs * 8) * (n_layers + 1)


def empty_tables(
    outlook: Outlook, n_actions: int, states: int, pairs: int, arcs: int, *, is_watched: bool
) -> Tables:
    """Return tables with room for so much and nothing in them: all at their caps.

    `is_watched` makes room for what `replan_incrementally` keeps of each state.
    """
    n_layers, caps = outlook.ratios.size, outlook.caps
    value = np.repeat(caps[np.newaxis], states, axis=0)
    value[:, n_layers] = outlook.last
    watched = n_layers if is_watched else 0

    def numbers(shape: int | tuple[int, int], fill: int = -1) -> PolicyArray:
        return np.full(shape, fill, dtype=np.int32)

    return Tables(
        sizes=np.zeros(3, dtype=np.int64),
        slots=numbers(2 << (states - 1).bit_length()),
        names=np.zeros(states, dtype=np.int64),
        tried=numbers(states, 0),
        pair_of=numbers((states, n_actions)),
        value=value,
        watch=numbers((states, watched)),
        second=np.zeros((states, watched)),
        visits_at=numbers((states, n_layers + 1 if outlook.spread.outer.size > 0 else 0), 0),
        best=np.zeros((states, watched if n_actions <= MOST_MASKED else 0), dtype=np.uint8),
        into=numbers(states),
        state_of=numbers(pairs),
        action_of=numbers(pairs),
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


def recounted(old: Tables, outlook: Outlook) -> Tables:
    """Return tables with the counts of others, and all Q and V at the caps of another belief."""
    rooms = (old.pair_of.shape[1], old.names.size, old.visits.size, old.arc_to.size)
    new = empty_tables(outlook, *rooms, is_watched=outlook.spread.outer.size == 0)
    kept = {name: getattr(old, name) for name in Tables._fields if name not in _OF_LAYERS}
    n_layers = min(new.visits_at.shape[1], old.visits_at.shape[1])
    new.visits_at[:, :n_layers] = old.visits_at[:, :n_layers]
    return new._replace(**{name: array.copy() for name, array in kept.items()})


def empty_incremental_scratch(n_layers: int, states: int, pairs: int) -> IncrementalScratch:
    """Return room to follow changes in."""
    return IncrementalScratch(
        clock=np.zeros(1, dtype=np.int64),
        sweeps=np.zeros(2, dtype=np.int64),
        state_token=np.full(states, -1, dtype=np.int64),
        pair_token=np.full(pairs, -1, dtype=np.int64),
        fallen_token=np.full(states, -1, dtype=np.int64),
        now=_numbers(states),
        fell=_numbers(states),
        fallen=_numbers(states),
        rows=_numbers(pairs),
        seeds=_numbers(pairs),
        tops=np.empty(pairs, dtype=np.int64),
        layers=np.empty(n_layers),
    )


def empty_sweep_scratch(states: int, pairs: int, arcs: int) -> SweepScratch:
    """Return room to sweep in."""
    return SweepScratch(
        pairs=_numbers(pairs),
        stops=_numbers(pairs),
        n_pairs=_numbers(states),
        least=np.empty(states),
        to=_numbers(arcs),
        weights=np.empty(arcs),
        rewards=np.empty(pairs),
        roots=np.empty(pairs),
        above=np.empty(states),
        here=np.empty(states),
    )


def empty_episode_buffer(pairs: int, steps: int) -> EpisodeBuffer:
    """Return room for an episode: for so many pairs, and for so many steps in their order."""
    check_fits(32 * steps, f"An episode of {steps:,} steps", "give a law with shorter episodes")
    return EpisodeBuffer(
        played=np.empty(pairs, dtype=np.int64),
        mark=np.full(pairs, -1, dtype=np.int64),
        pairs=np.empty(steps, dtype=np.int64),
        layers=np.empty(steps, dtype=np.int64),
        following=np.empty(steps, dtype=np.int64),
        rewards=np.empty(steps),
    )


def empty_value_cache(scale: ReferenceArrays, n_layers: int) -> ValueCache:
    """Return room to keep what a valuation saw: none where the problem is large or has several starts."""
    n_steps, n_states = scale.survival.size, scale.chance.size
    if scale.is_far or scale.start < 0 or n_states * max(n_steps, n_layers) > _MOST_KEPT:
        n_steps, n_states, n_layers = -1, 0, 0
    return ValueCache(
        actions=np.full((n_states, n_layers), -3, dtype=np.int64),
        chances=np.zeros((n_steps + 1, n_states)),
        totals=np.zeros(n_steps + 1),
        firsts=np.full(n_states, n_steps + 1, dtype=np.int64),
        row=np.empty(n_layers, dtype=np.int64),
    )


def _numbers(size: int) -> PolicyArray:
    """Return room for numbers that are never negative: compiled loops look them up without asking."""
    return np.empty(size, dtype=np.uint32)
