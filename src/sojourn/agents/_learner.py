"""A learner in play on tables that grow with what it visits: what all such learners share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sojourn._kernels import (
    AssumedLaw,
    PlayOptions,
    Tables,
    Valuation,
    apply_update,
    choose_action,
    count_step,
    fill_policy,
    initialize_q_row,
    number_state,
)
from sojourn._memory import check_fits
from sojourn._typing import FloatArray, PolicyArray
from sojourn._validation import check_reward_range, check_whole
from sojourn.agents._checks import check_terminal_reward, is_number, is_whole
from sojourn.agents._compiled_play import CompiledPlay
from sojourn.agents._table_memory import (
    START_ROOM,
    copied,
    empty_episode_buffer,
    empty_tables,
    table_bytes,
)

__all__ = ["TERMINAL", "TabularLearner"]

TERMINAL = 0
"""Number of the absorbing state."""

_NO_NAME = -1  # what that is called, which no state of an environment is
_SLACK = 1e-9  # of rewards mapped to [0, 1], for rounding


class TabularLearner(CompiledPlay):
    """A learner whose policy is greedy in Q values. States are numbered as they appear.

    A subclass says by its `update` what is made of an episode. Its settings have `ties`, `after` and `count`.

    Args:
        settings: What it was started with.
        assumed: The law that it assumes, layer by layer; Q starts from its caps.
        n_states: Number of states, or None if they are numbered as they appear.
        n_actions: Number of actions.
        rewards: `(S, A)` rewards if they are known.
        reward_range: Least and largest reward.
        terminal_reward: What the absorbing state pays a step.
        key: Of its ties.
        clock: Number of layers of its policy, where Q has a single one.
        worth: `(N + 1,)` Γ(h)/γ(h), where Q does not start from it.
    """

    counts_arcs = True
    """Whether successors are counted, for a model."""
    remedy = "give a smaller horizon or a larger truncation"
    """What to do where its tables do not fit."""
    plans_all_actions = False
    """Whether all actions of a state that was seen take room, not only those that were played."""

    def __init__(
        self,
        settings: Any,
        assumed: AssumedLaw,
        *,
        n_states: int | None,
        n_actions: int,
        rewards: FloatArray | None,
        reward_range: tuple[float, float],
        terminal_reward: float,
        key: int,
        clock: int | None = None,
        worth: FloatArray | None = None,
    ) -> None:
        n_actions = check_whole("n_actions", n_actions, least=1)
        n_states = None if n_states is None else check_whole("n_states", n_states, least=1)
        low, high = check_reward_range(reward_range)
        terminal_reward = check_terminal_reward(terminal_reward)
        self.settings = settings
        self.n_states, self.n_actions = n_states, n_actions
        self.episode = 0
        self._low, self._span = low, high - low
        self._rewards = None if rewards is None else self._scaled_table(rewards)
        self._key = np.uint64(key)
        self._assumed, self._clock = assumed, clock
        self._played: list[int] = []
        self._seen_this_episode: set[int] = set()
        self._steps: list[tuple[int, int, int, float]] = []
        self._awaited: tuple[int, int, int] | None = None
        self._step = 0
        self._tables = self._empty_tables(START_ROOM, self._pairs_of(START_ROOM), START_ROOM)
        self._valuation: Valuation | None = None
        number_state(self._tables, _NO_NAME)
        absorbing = self._scaled(terminal_reward)
        self._tables.value[TERMINAL] = absorbing * (assumed.caps if worth is None else worth)

    @property
    def n_layers(self) -> int:
        """Number of layers N, after which its clock has gone round."""
        return self._assumed.ratios.size if self._clock is None else self._clock

    @property
    def options(self) -> PlayOptions:
        """How it plays, as kernels take it."""
        settings = self.settings
        return PlayOptions(
            key=self._key,
            is_random=settings.ties == "random",
            restarts=settings.after == "restart",
            counts_all=settings.count == "all",
            n_layers=self.n_layers,
            counts_arcs=self.counts_arcs,
            counts_layers=self._counts_layers,
            epsilon=float(getattr(settings, "epsilon", 0.0)),
            decay=float(getattr(settings, "decay", 0.0)),
        )

    @property
    def after(self) -> str:
        """What is played past step N, as `evaluate` takes it."""
        return str(self.settings.after)

    @property
    def has_compiled_loop(self) -> bool:
        """Whether `play` does the same as `act`, `observe` and `end_episode`."""
        return self._rewards is not None and self.n_states is not None

    def act(self, state: int, h: int) -> int:
        """Return the greedy action in `state` at step `h`, counted from 1."""
        self._check_state(state)
        if not is_whole(h) or h < 1:
            raise ValueError(f"h must be a whole number ≥ 1; got {h!r}.")
        action = int(
            choose_action(self._tables, self._assumed, self.options, self.episode, state, self._layer(h))
        )
        self._awaited = (state, action, h)
        return action

    def observe(self, state: int, action: int, reward: float, next_state: int, terminated: bool) -> None:
        """Take in one step, the one that was just acted."""
        if self._awaited is None or self._awaited[:2] != (state, action):
            raise ValueError(
                f"observe must follow the act that it reports; got state {state!r}, action {action!r}."
            )
        _, _, h = self._awaited
        if not is_number(reward):
            raise ValueError(f"reward must be a finite number; got {reward!r}.")
        if not -_SLACK <= self._scaled(reward) <= 1.0 + _SLACK:
            most = self._low + self._span
            raise ValueError(f"reward must be in {self._low:g} … {most:g}, the reward_range; got {reward!r}.")
        if not terminated:
            self._check_state(next_state)
        self._awaited = None
        self._step = h
        if self.settings.count == "first" and h > self.n_layers:
            return
        self._make_room(1)
        here = number_state(self._tables, state)
        there = TERMINAL if terminated else number_state(self._tables, next_state)
        pair = count_step(self._tables, here, action, there, self.counts_arcs)
        if self._tables.visits[pair] == 1:
            initialize_q_row(self._tables, self._assumed, pair)
        if self._rewards is not None:
            paid = self._tables.reward_total[pair] = self._rewards[state, action]
        else:
            paid = self._scaled(reward)
            self._tables.reward_total[pair] += paid
        if self._counts_layers:
            self._tables.visits_at[here, self._layer(h)] += 1
        if self.keeps_steps:
            self._steps.append((pair, self._layer(h), there, float(paid)))
        if pair not in self._seen_this_episode:
            self._seen_this_episode.add(pair)
            self._played.append(pair)

    def end_episode(self, length: int, observed: bool) -> None:
        """End the episode and learn from it."""
        if self._awaited is not None:
            raise ValueError("end_episode must follow observe; an act was not observed.")
        if not is_whole(length) or length != self._step:
            raise ValueError(f"length must be the {self._step} steps that were observed; got {length!r}.")
        self.episode += 1
        self._step = 0
        self._seen_this_episode.clear()
        self._learn()

    def policy(self) -> PolicyArray:
        """Return the policy of the coming episode, `(N, S)`; the absorbing state is not asked."""
        if self.n_states is None:
            raise ValueError("policy needs the number of states; this learner numbers them as they appear.")
        actions = np.empty((self.n_layers, self.n_states), dtype=np.min_scalar_type(self.n_actions - 1))
        fill_policy(self._tables, self._assumed, self.options, self.episode, actions)
        return actions

    def save(self, path: str | Path) -> Path:
        """Refuse: only learners of `UCBVI` have a file format."""
        raise TypeError(
            f"save must be asked of a learner of UCBVI; got one of {type(self.settings).__name__}."
        )

    @property
    def _counts_layers(self) -> bool:
        """Whether the visits of states are counted per layer during an episode."""
        return False

    @property
    def _has_layer_visits(self) -> bool:
        """Whether the tables have room for visits of states per layer."""
        return self._counts_layers

    @property
    def _has_incumbents(self) -> bool:
        """Whether the tables keep what incremental replanning needs."""
        return False

    def _empty_tables(self, states: int, pairs: int, arcs: int) -> Tables:
        return empty_tables(
            self._assumed,
            self.n_actions,
            states=states,
            pairs=pairs,
            arcs=arcs,
            has_incumbents=self._has_incumbents,
            has_layer_visits=self._has_layer_visits,
        )

    def _grow(self, states: int, pairs: int, arcs: int) -> None:
        """Make room beside the tables, whatever a subclass keeps there."""

    def _learn(self) -> None:
        """Make of the episode what the rule says, and forget its steps."""
        n_played, n_steps = len(self._played), len(self._steps)
        steps = empty_episode_buffer(n_played, n_steps)
        steps.played[:] = self._played
        for i, step in enumerate(self._steps):
            steps.pairs[i], steps.layers[i], steps.successors[i], steps.rewards[i] = step
        apply_update(self.update, self._tables, self._assumed, steps, n_played, n_steps)
        self._played.clear()
        self._steps.clear()

    def _layer(self, h: int) -> int:
        """Return the layer, from 0, that plays step h."""
        if h <= self.n_layers:
            return h - 1
        return (h - 1) % self.n_layers if self.settings.after == "restart" else self.n_layers - 1

    def _check_state(self, state: int) -> None:
        limit = 2**62 if self.n_states is None else self.n_states
        if not is_whole(state) or not 0 <= state < limit:
            known = "a whole number ≥ 0" if self.n_states is None else f"in 0 … {limit - 1}"
            raise ValueError(f"state must be {known}; got {state!r}.")

    def _scaled(self, reward: float) -> float:
        return (reward - self._low) / self._span

    def _scaled_table(self, rewards: FloatArray) -> FloatArray:
        table = (np.asarray(rewards, dtype=np.float64) - self._low) / self._span
        if self.n_states is None:
            raise ValueError("rewards must be left out where the number of states is not known.")
        if table.shape != (self.n_states, self.n_actions):
            raise ValueError(
                f"rewards must have shape ({self.n_states}, {self.n_actions}); got {table.shape}."
            )
        if not np.isfinite(table).all():
            raise ValueError("rewards must be finite numbers.")
        if not ((table >= -_SLACK) & (table <= 1.0 + _SLACK)).all():
            least, most = float(np.min(rewards)), float(np.max(rewards))
            raise ValueError(f"rewards must be within reward_range; got {least:g} … {most:g}.")
        return table

    def _pairs_of(self, states: int) -> int:
        """Return how many pairs need room wherever so many states have it."""
        if not self.plans_all_actions:
            return START_ROOM
        return self.n_actions * (states if self.n_states is None else min(states, self.n_states))

    def _make_room(self, n_steps: int) -> None:
        """Double the tables until so many more steps fit, whatever they visit."""
        old = self._tables
        n_states, n_pairs, n_arcs = (int(n) for n in old.sizes)
        limit = self.n_states if self.n_states is not None else n_steps
        states, pairs, arcs = old.names.size, old.visits.size, old.arc_to.size
        while n_states + min(n_steps, limit) + 1 > states:
            states *= 2
        pairs = max(pairs, self._pairs_of(states))
        while n_pairs + min(n_steps, limit * self.n_actions) > pairs:
            pairs *= 2
        while n_arcs + n_steps > arcs:
            arcs *= 2
        if (states, pairs, arcs) == (old.names.size, old.visits.size, old.arc_to.size):
            return
        n_layers = self._assumed.ratios.size
        check_fits(
            table_bytes(n_layers, states, pairs) + table_bytes(n_layers, old.names.size, old.visits.size),
            f"A learner of {n_layers:,} layers that has seen {n_pairs:,} pairs",
            self.remedy,
        )
        self._tables = copied(old, self._empty_tables(states, pairs, arcs))
        self._grow(states, pairs, arcs)
