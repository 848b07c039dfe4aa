"""The base class of tabular learners, whose tables grow with the states they visit."""

from __future__ import annotations

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
from sojourn.agents.tabular._bookkeeping import Bookkeeping, Exploration
from sojourn.agents.tabular._checks import check_terminal_reward, is_whole
from sojourn.agents.tabular._compiled_play import CompiledPlay
from sojourn.agents.tabular._reward_map import RewardMap
from sojourn.agents.tabular._table_memory import (
    START_ROOM,
    copied,
    empty_episode_buffer,
    empty_tables,
    table_bytes,
)

__all__ = ["TERMINAL", "TabularLearner"]

TERMINAL = 0
"""Number of the absorbing state."""

_TERMINAL_NAME = -1
"""Name of the absorbing state, which no state of an environment has."""

_NO_EXPLORATION = Exploration()


class TabularLearner(CompiledPlay):
    """A learner whose policy is greedy in Q values; states are numbered as they appear.

    A subclass defines the learning algorithm by its `update`, which kernels apply after each episode.

    Args:
        settings: The agent's settings; they have `ties`, `after` and `count`.
        assumed: The assumed law; Q starts from its caps.
        n_states: Number of states, or None if they are numbered as they appear.
        n_actions: Number of actions.
        rewards: `(S, A)` rewards, or None if they are learned.
        reward_range: Least and largest reward.
        terminal_reward: Reward per step of the absorbing state.
        key: 64-bit key of the hash that breaks ties.
        bookkeeping: Which data must be recorded for the update.
        exploration: Probability of a random action; by default none.
        n_layers: Number of layers of the policy, if Q has only one.
        remaining: `(N + 1,)` expected remaining steps Γ(h)/γ(h), if they differ from the caps.
    """

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
        bookkeeping: Bookkeeping,
        exploration: Exploration = _NO_EXPLORATION,
        n_layers: int | None = None,
        remaining: FloatArray | None = None,
    ) -> None:
        n_actions = check_whole("n_actions", n_actions, least=1)
        n_states = None if n_states is None else check_whole("n_states", n_states, least=1)
        low, high = check_reward_range(reward_range)
        terminal_reward = check_terminal_reward(terminal_reward)
        self.settings = settings
        self.n_states, self.n_actions = n_states, n_actions
        self.episode = 0
        self.bookkeeping = bookkeeping
        self._exploration = exploration
        self._reward_map = RewardMap(low, high - low)
        self._rewards: FloatArray | None = None
        if rewards is not None:
            self._rewards = self._reward_map.scaled_table(rewards, n_states, n_actions)
        self._key = np.uint64(key)
        self._assumed = assumed
        self._n_layers = assumed.ratios.size if n_layers is None else n_layers
        self._played: dict[int, None] = {}  # pairs played since the last update, as an ordered set
        self._steps: list[tuple[int, int, int, float]] = []  # (pair, layer, successor, reward) of the episode
        self._pending: tuple[int, int, int] | None = None  # (state, action, h) of an `act` not yet observed
        self._n_observed = 0  # steps of the episode observed so far
        self._tables = self._empty_tables(START_ROOM, self._pairs_for(START_ROOM), START_ROOM)
        self._valuation: Valuation | None = None
        number_state(self._tables, _TERMINAL_NAME)
        absorbing = self._reward_map.scaled(terminal_reward)
        self._tables.value[TERMINAL] = absorbing * (assumed.caps if remaining is None else remaining)

    @property
    def n_layers(self) -> int:
        """Number of layers N of the policy."""
        return self._n_layers

    @property
    def tables(self) -> Tables:
        """The learner's counts, model, Q and V, not copied."""
        return self._tables

    @property
    def options(self) -> PlayOptions:
        """How the learner plays, in the form that kernels take."""
        settings = self.settings
        return PlayOptions(
            key=self._key,
            is_random=settings.ties == "random",
            restarts=settings.after == "restart",
            counts_all=settings.count == "all",
            n_layers=self.n_layers,
            counts_arcs=self.bookkeeping.counts_successors,
            counts_layers=self.bookkeeping.counts_layers,
            epsilon=float(self._exploration.epsilon),
            decay=float(self._exploration.decay),
        )

    @property
    def after(self) -> str:
        """How the policy continues past step N: "restart" or "hold", as in `evaluate`."""
        return str(self.settings.after)

    @property
    def has_compiled_loop(self) -> bool:
        """Whether `play` can be used: only if the rewards and the number of states are known."""
        return self._rewards is not None and self.n_states is not None

    def act(self, state: int, h: int) -> int:
        """Return the greedy action in `state` at step `h`, counted from 1."""
        self._check_state(state)
        if not is_whole(h) or h < 1:
            raise ValueError(f"h must be a whole number ≥ 1; got {h!r}.")
        action = int(
            choose_action(self._tables, self._assumed, self.options, self.episode, state, self._layer(h))
        )
        self._pending = (state, action, h)
        return action

    def observe(self, state: int, action: int, reward: float, next_state: int, terminated: bool) -> None:
        """Record the step that `act` has just chosen."""
        if self._pending is None or self._pending[:2] != (state, action):
            raise ValueError(
                f"observe must follow the act that it reports; got state {state!r}, action {action!r}."
            )
        _, _, h = self._pending
        self._reward_map.check(reward)
        if not terminated:
            self._check_state(next_state)
        self._pending = None
        self._n_observed = h
        if self.settings.count == "first" and h > self.n_layers:
            return
        self._make_room(1)
        here = number_state(self._tables, state)
        there = TERMINAL if terminated else number_state(self._tables, next_state)
        pair = count_step(self._tables, here, action, there, self.bookkeeping.counts_successors)
        if self._tables.visits[pair] == 1:
            initialize_q_row(self._tables, self._assumed, pair)
        if self._rewards is not None:
            scaled = self._tables.reward_total[pair] = self._rewards[state, action]
        else:
            scaled = self._reward_map.scaled(reward)
            self._tables.reward_total[pair] += scaled
        if self.bookkeeping.counts_layers:
            self._tables.visits_at[here, self._layer(h)] += 1
        if self.bookkeeping.keeps_steps:
            self._steps.append((pair, self._layer(h), there, float(scaled)))
        self._played.setdefault(pair)

    def end_episode(self, length: int, observed: bool) -> None:
        """End the episode and learn from it."""
        if self._pending is not None:
            raise ValueError("end_episode must follow observe; an act was not observed.")
        if not is_whole(length) or length != self._n_observed:
            raise ValueError(
                f"length must be the {self._n_observed} steps that were observed; got {length!r}."
            )
        self.episode += 1
        self._n_observed = 0
        self._learn()

    def policy(self) -> PolicyArray:
        """Return the policy of the coming episode, `(N, S)`; entries of the absorbing state are arbitrary."""
        if self.n_states is None:
            raise ValueError("policy needs the number of states; this learner numbers them as they appear.")
        kind = np.min_scalar_type(self.n_actions - 1)
        check_fits(self.n_layers * self.n_states * kind.itemsize, "The policy", self._memory_remedy)
        actions = np.empty((self.n_layers, self.n_states), dtype=kind)
        fill_policy(self._tables, self._assumed, self.options, self.episode, actions)
        return actions

    @property
    def _memory_remedy(self) -> str:
        """Advice for the error if the tables do not fit in memory."""
        return "give a smaller horizon or a larger truncation"

    def _empty_tables(self, states: int, pairs: int, arcs: int) -> Tables:
        """Allocate empty tables with room for this many states, pairs and arcs."""
        return empty_tables(
            self._assumed,
            self.n_actions,
            states=states,
            pairs=pairs,
            arcs=arcs,
            has_incumbents=self.bookkeeping.has_incumbents,
            has_layer_visits=self.bookkeeping.has_layer_visits,
        )

    def _grow(self, states: int, pairs: int, arcs: int) -> None:
        """Called after the tables have grown to this size, for a subclass to enlarge its own arrays."""

    def _learn(self) -> None:
        """Apply the update to the pairs and steps played since the last one, and forget them."""
        n_played, n_steps = len(self._played), len(self._steps)
        steps = empty_episode_buffer(n_played, n_steps)
        steps.played[:] = list(self._played)
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
            rule = "a whole number ≥ 0" if self.n_states is None else f"in 0 … {limit - 1}"
            raise ValueError(f"state must be {rule}; got {state!r}.")

    def _pairs_for(self, states: int) -> int:
        """Return the least number of pairs to allocate in tables for `states` states."""
        if not self.bookkeeping.has_all_actions:
            return START_ROOM
        return self.n_actions * (states if self.n_states is None else min(states, self.n_states))

    def _make_room(self, n_steps: int) -> None:
        """Double the tables until `n_steps` more steps fit, no matter which states they visit."""
        old = self._tables
        n_states, n_pairs, n_arcs = (int(n) for n in old.sizes)
        limit = self.n_states if self.n_states is not None else n_steps
        states, pairs, arcs = old.names.size, old.visits.size, old.arc_to.size
        while n_states + min(n_steps, limit) + 1 > states:
            states *= 2
        pairs = max(pairs, self._pairs_for(states))
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
            self._memory_remedy,
        )
        self._tables = copied(old, self._empty_tables(states, pairs, arcs))
        self._grow(states, pairs, arcs)
