"""An optimistic learner in play: counts, Q values that only fall, and the policy greedy in them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn._kernels import Tables, UCBVIUpdate, watch_all
from sojourn.agents._learner import TERMINAL, TabularLearner
from sojourn.agents._table_memory import (
    START_ROOM,
    Outlook,
    empty_incremental_scratch,
    empty_sweep_scratch,
    empty_tables,
    recounted,
)

if TYPE_CHECKING:
    from sojourn.agents._ucbvi import UCBVI

__all__ = ["UCBVILearner"]


class UCBVILearner(TabularLearner):
    """A learner of `UCBVI`. States are numbered as they appear; memory grows with what was visited."""

    settings: UCBVI
    keeps_traces = True

    def __init__(self, settings: UCBVI, outlook: Outlook, **problem: Any) -> None:
        super().__init__(settings, outlook, **problem)
        self._last_planned: dict[int, int] = {}
        self._grow(START_ROOM, START_ROOM, START_ROOM)

    @property
    def rule(self) -> Any:
        """What is made of an episode, as kernels take it."""
        return self._outlook.spread if self._counts_layers else UCBVIUpdate(self._desk, self._sheet)

    @property
    def has_compiled_loop(self) -> bool:
        """Whether `play` does the same as `act`, `observe` and `end_episode`."""
        return super().has_compiled_loop and self.settings.replan == "every"

    def adopt(self, other: UCBVILearner) -> None:
        """Take over all counts of another learner of the same problem, and plan with them."""
        absorbing = self._tables.value[TERMINAL].copy()
        self._tables = recounted(other._tables, self._outlook)
        self._tables.value[TERMINAL] = absorbing
        self._grow(self._tables.names.size, self._tables.visits.size, self._tables.arc_to.size)
        n_pairs = int(self._tables.sizes[1])
        if n_pairs > 0:
            self._played = list(range(n_pairs))
            super()._learn()

    def save(self, path: str | Path) -> Path:
        """Write the learner to an `.npz` file without pickle, between episodes; see `load_learner`."""
        from sojourn.agents._storage import save_learner  # noqa: PLC0415 - the file format knows the class

        return save_learner(self, path)

    @property
    def _counts_layers(self) -> bool:
        return self._outlook.spread.outer.size > 0

    def _empty_tables(self, states: int, pairs: int, arcs: int) -> Tables:
        return empty_tables(
            self._outlook, self.n_actions, states, pairs, arcs, is_watched=not self._counts_layers
        )

    def _grow(self, states: int, pairs: int, arcs: int) -> None:
        watch_all(self._tables)
        self._desk = empty_incremental_scratch(self.n_layers, states, pairs)
        self._sheet = empty_sweep_scratch(states, pairs, arcs)

    def _learn(self) -> None:
        if self.settings.replan == "every" or self._has_doubled():
            if self.settings.replan == "doubling":
                self._last_planned.update((pair, int(self._tables.visits[pair])) for pair in self._played)
            super()._learn()
        else:
            self._seen_this_episode.update(self._played)

    def _has_doubled(self) -> bool:
        return any(self._tables.visits[pair] >= 2 * self._last_planned.get(pair, 0) for pair in self._played)
