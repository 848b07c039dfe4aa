"""Whole trials in compiled code, for learners on tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from sojourn._kernels import (
    PlayOptions,
    ProblemArrays,
    ReferenceArrays,
    ValueCache,
    look_up_states,
    play,
    value_from,
)
from sojourn._typing import FloatArray, IntArray
from sojourn.agents._episode import play_episode, step_on_table
from sojourn.agents._protocol import Played
from sojourn.agents._table_memory import empty_episode_buffer, empty_value_cache
from sojourn.agents._table_views import TableViews

__all__ = ["CompiledPlay"]

_MOST_STEPS = 1 << 20  # of an episode that a rule is shown without returning to Python
_MOST_AHEAD = 4_096
"""States that room is made for before an episode that might visit so many."""


class CompiledPlay(TableViews, ABC):
    """Plays episodes, and values the policies that are played, by the same bits as the protocol does."""

    keeps_steps = False
    """Whether its rule asks for the steps of an episode in their order."""
    keeps_traces = False
    """Whether its policy is often that of the last episode, so that valuations are worth keeping."""

    episode: int
    _traced: tuple[FloatArray, ValueCache] | None

    @property
    @abstractmethod
    def rule(self) -> Any:
        """What is made of an episode, as kernels take it."""

    @property
    @abstractmethod
    def n_layers(self) -> int:
        """Number of layers N, after which its clock has gone round."""

    @property
    @abstractmethod
    def manner(self) -> PlayOptions:
        """How it plays, as kernels take it."""

    @abstractmethod
    def act(self, state: int, h: int) -> int:
        """Return the action in `state` at step `h`, counted from 1."""

    @abstractmethod
    def observe(self, state: int, action: int, reward: float, next_state: int, terminated: bool) -> None:
        """Take in one step, the one that was just acted."""

    @abstractmethod
    def end_episode(self, length: int, observed: bool) -> None:
        """End the episode and learn from it."""

    @abstractmethod
    def _make_room(self, n_steps: int) -> None:
        """Make room for so many more steps, whatever they visit."""

    def value_from(self, world: ProblemArrays, scale: ReferenceArrays, start: int) -> tuple[float, float]:
        """Return what the coming episode's policy is worth from a start state, and a width; or NaN."""
        look_up_states(self._tables, scale.numbers)
        parts = (self._tables, self._belief, self.manner, scale, self._trace_of(scale))
        value, width = value_from(world, *parts, self.episode, start)
        return float(value), float(width)

    def play(
        self,
        world: ProblemArrays,
        scale: ReferenceArrays,
        rng: np.random.Generator,
        starts: IntArray,
        drawn: IntArray,
        *,
        value_of: Callable[[Any, int], tuple[float, float]] | None = None,
        early: FloatArray | None = None,
        n_early: int = 0,
    ) -> Played:
        """Play whole episodes.

        `value_of` values the coming policy from a start state where following it forward does not. To `early`
        `(episodes,)` the rewards of the first `n_early` steps of each episode are added.
        """
        size = starts.size
        lengths, observed = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.bool_)
        rewards, values, widths = np.empty(size), np.full(size, np.nan), np.full(size, np.nan)
        done, known = 0, np.full(2, np.nan)
        early = np.zeros(size) if early is None else early
        longest = min(int(drawn.max(initial=0)), _MOST_STEPS) if self.keeps_steps else 0
        while done < size:
            rest = slice(done, None)
            n_played = play(
                world,
                self._tables,
                self._belief,
                self.rule,
                self.manner,
                scale,
                self._trace_of(scale),
                empty_episode_buffer(self._tables.visits.size, longest),
                self.episode,
                starts[rest],
                drawn[rest],
                rng,
                lengths[rest],
                observed[rest],
                rewards[rest],
                n_early,
                early[rest],
                values[rest],
                widths[rest],
                known,
            )
            is_stuck = n_played < 0
            n_played = -1 - n_played if is_stuck else n_played
            done += n_played
            self.episode += n_played
            known[:] = np.nan
            if is_stuck:
                known[:] = self._value(world, scale, int(starts[done]), value_of)
            elif done < size:
                ahead = int(min(drawn[done], world.is_terminal.size))
                if ahead <= _MOST_AHEAD and not (self.keeps_steps and drawn[done] > longest):
                    self._make_room(int(min(drawn[done], world.data.size)))
                else:  # room for whatever so long an episode might visit would be far too much
                    known[:] = self._value(world, scale, int(starts[done]), value_of)
                    one = play_episode(
                        self,
                        step_on_table(world, rng),
                        int(starts[done]),
                        int(drawn[done]),
                        n_actions=self.n_actions,
                        n_early=n_early,
                    )
                    lengths[done], observed[done], rewards[done] = one.length, one.observed, one.total
                    values[done], widths[done] = known
                    early[done] += one.early
                    known[:] = np.nan
                    done += 1
        return Played(lengths, observed, rewards, values, widths)

    def _value(
        self,
        world: ProblemArrays,
        scale: ReferenceArrays,
        start: int,
        value_of: Callable[[Any, int], tuple[float, float]] | None,
    ) -> tuple[float, float]:
        """Return what the coming policy is worth, however it can be found."""
        if scale.survival.size == 0:
            return np.nan, np.nan
        value, width = self.value_from(world, scale, start)
        if not np.isnan(value):
            return value, width
        return (np.inf, np.inf) if value_of is None else value_of(self, start)

    def _trace_of(self, scale: ReferenceArrays) -> ValueCache:
        """Return what the last valuation by this scale saw, or a clean sheet for it."""
        if self._traced is None or self._traced[0] is not scale.survival:
            kept = empty_value_cache(scale if self.keeps_traces else scale._replace(start=-1), self.n_layers)
            self._traced = scale.survival, kept
        return self._traced[1]
