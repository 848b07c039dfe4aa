"""Plays whole trials of tabular learners in compiled code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from sojourn._kernels import (
    Episodes,
    LearnerState,
    PlayOptions,
    PlayStatus,
    ProblemArrays,
    ReferenceArrays,
    Valuation,
    fill_state_numbers,
    play,
    policy_value,
)
from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.agents._episode import play_episode, step_on_table
from sojourn.agents._protocol import EpisodeBatch, Played, ValueOf
from sojourn.agents.tabular._bookkeeping import Bookkeeping
from sojourn.agents.tabular._table_memory import empty_episode_buffer, empty_valuation
from sojourn.agents.tabular._table_views import TableViews

__all__ = ["CompiledPlay"]

_MOST_STEPS = 1 << 20
"""Longest episode whose steps are kept for an update in compiled code; longer ones are played in Python."""
_MOST_AHEAD = 4_096
"""An episode that may visit more states than this is played in Python if the tables are too small."""


class CompiledPlay(TableViews, ABC):
    """Plays whole episodes in compiled code, with the same bits as `act`, `observe` and `end_episode`."""

    bookkeeping: Bookkeeping
    episode: int
    _valuation: Valuation | None

    @property
    @abstractmethod
    def update(self) -> Any:
        """Parameters and scratch arrays of the update; the type selects the kernel."""

    @property
    @abstractmethod
    def n_layers(self) -> int:
        """Number of layers N of the policy."""

    @property
    @abstractmethod
    def options(self) -> PlayOptions:
        """How the learner plays, in the form that kernels take."""

    @abstractmethod
    def act(self, state: int, h: int) -> int:
        """Return the action in `state` at step `h`, counted from 1."""

    @abstractmethod
    def observe(self, state: int, action: int, reward: float, next_state: int, terminated: bool) -> None:
        """Record the step that `act` has just chosen."""

    @abstractmethod
    def end_episode(self, length: int, observed: bool) -> None:
        """End the episode and learn from it."""

    @abstractmethod
    def _make_room(self, n_steps: int) -> None:
        """Enlarge the tables until `n_steps` more steps fit, no matter which states they visit."""

    def policy_value(
        self, problem: ProblemArrays, reference: ReferenceArrays, start: int
    ) -> tuple[float, float]:
        """Return the value of the coming episode's policy from a start state, and its bracket's width.

        The value is NaN if it cannot be found by following the policy forward.
        """
        valuation = self._valuation_for(problem, reference)
        fill_state_numbers(self._tables, valuation.scratch.state_numbers)
        learner = (self._tables, self._assumed, self.options)
        value, width = policy_value(problem, *learner, valuation, self.episode, start)
        return float(value), float(width)

    def play(
        self,
        batch: EpisodeBatch,
        *,
        value_of: ValueOf | None = None,
        early: FloatArray | None = None,
        n_early: int = 0,
    ) -> Played:
        """Play whole episodes.

        Args:
            batch: The episodes.
            value_of: As in `CompiledLearner.play`.
            early: `(episodes,)` array to which the rewards of the first `n_early` steps are added.
            n_early: Number of such steps.
        """
        problem, reference, rng, starts, drawn, is_valued = batch
        episodes = _new_episodes(starts, drawn, is_valued, early, n_early)
        valuation = self._valuation_for(problem, reference)
        longest = min(int(drawn.max(initial=0)), _MOST_STEPS) if self.bookkeeping.keeps_steps else 0
        done = 0
        while done < starts.size:
            n_played, status = play(
                problem,
                LearnerState(self._tables, self._assumed, self.options),
                self.update,
                valuation,
                empty_episode_buffer(self._tables.visits.size, longest),
                episodes.since(done),
                self.episode,
                rng,
            )
            done += n_played
            self.episode += n_played
            if status == PlayStatus.NEEDS_VALUE:
                self._fill_value(problem, reference, episodes, done, value_of)
            elif status == PlayStatus.NEEDS_ROOM:
                length = int(drawn[done])
                is_short = min(length, problem.is_terminal.size) <= _MOST_AHEAD
                if is_short and not (self.bookkeeping.keeps_steps and length > longest):
                    self._make_room(min(length, problem.data.size))
                else:  # tables for everything that such an episode might visit would be far too large
                    self._fill_value(problem, reference, episodes, done, value_of)
                    one = play_episode(
                        self,
                        step_on_table(problem, rng),
                        int(starts[done]),
                        length,
                        n_actions=self.n_actions,
                        n_early=n_early,
                    )
                    episodes.lengths[done], episodes.observed[done] = one.length, one.observed
                    episodes.rewards[done] = one.total
                    episodes.early_rewards[done] += one.early
                    done += 1
        return Played(episodes.lengths, episodes.observed, episodes.rewards, episodes.values, episodes.widths)

    def _fill_value(
        self,
        problem: ProblemArrays,
        reference: ReferenceArrays,
        episodes: Episodes,
        k: int,
        value_of: ValueOf | None,
    ) -> None:
        """Store the value of episode k's policy: by `policy_value`, else by `value_of`, else infinity."""
        if reference.survival.size == 0 or not np.isnan(episodes.values[k]):
            return
        start = int(episodes.starts[k])
        value, width = self.policy_value(problem, reference, start)
        if np.isnan(value):
            value, width = (np.inf, np.inf) if value_of is None else value_of(self, start)
        episodes.values[k], episodes.widths[k] = value, width

    def _valuation_for(self, problem: ProblemArrays, reference: ReferenceArrays) -> Valuation:
        """Return the scratch arrays and the cache for this reference; allocate them if it is a new one."""
        if self._valuation is None or self._valuation.reference.survival is not reference.survival:
            self._valuation = empty_valuation(
                problem, reference, self.n_layers, is_cached=self.bookkeeping.caches_values
            )
        return self._valuation


def _new_episodes(
    starts: IntArray, drawn: IntArray, is_valued: BoolArray | None, early: FloatArray | None, n_early: int
) -> Episodes:
    """Return episodes to play, with arrays for their results; values to be computed are NaN."""
    size = starts.size
    return Episodes(
        starts=starts,
        drawn=drawn,
        n_early=n_early,
        lengths=np.empty(size, dtype=np.int64),
        observed=np.empty(size, dtype=np.bool_),
        rewards=np.empty(size),
        early_rewards=np.zeros(size) if early is None else early,
        values=np.full(size, np.nan) if is_valued is None else np.where(is_valued, np.nan, 0.0),
        widths=np.full(size, np.nan),
    )
