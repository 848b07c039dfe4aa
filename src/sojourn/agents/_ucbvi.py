"""The paper's Algorithm 1: optimistic value iteration (UCB-VI) under a law of lengths."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sojourn._kernels import (
    AssumedLaw,
    BernsteinUpdate,
    MonotoneBernsteinTerms,
    MonotoneBernsteinUpdate,
    Tables,
    find_all_incumbents,
)
from sojourn._typing import FloatArray
from sojourn._validation import check_choice, check_flag, check_open_unit, check_whole
from sojourn.agents._block_learner import BlockLearner
from sojourn.agents._bonuses import Bonus, PaperBonus, ProblemSize, VarianceBonus, bound_of, check_bonus
from sojourn.agents._layered_agent import LayeredAgent, remaining_steps, require_n_states, value_after
from sojourn.agents.tabular._bookkeeping import Bookkeeping
from sojourn.agents.tabular._learner import TERMINAL, TabularLearner
from sojourn.agents.tabular._reward_map import RewardMap
from sojourn.agents.tabular._table_memory import (
    START_ROOM,
    empty_monotone_bernstein_scratch,
    empty_ucbvi_update,
    make_assumed_law,
    recounted,
)
from sojourn.theory import BonusKind

__all__ = ["UCBVI", "AnytimeLearner", "UCBVILearner", "UCBVIState"]


@dataclass(frozen=True)
class UCBVI(LayeredAgent):
    """UCB-VI for any law of episode lengths (the paper's Algorithm 1 with Update-Q-values).

    Q_h(s, a) ← min(Q_h(s, a), r + ρ(h) Σ_y P̂(y|s, a) V_{h+1}(y) + bonus), starting from the caps Γ(h)/γ(h),
    with V_{N+1} = Δ/γ(N+1). If N was found from Δ, layer N never leaves its cap, so its actions are always
    tied. Classic UCB-VI is the special case with the assumed law `Fixed(H)` and `Hoeffding()` or
    `Bernstein()`.

    Args:
        law: The assumed law.
        bonus: The exploration bonus; its `scale` is 1 for the published one.
        delta: Probability that the bounds may fail, in (0, 1).
        horizon: Number of layers N, with Δ = Γ(N+1), instead of `truncation`.
        truncation: Δ; N is the smallest with Γ(N) ≤ Δ. "default" is `sojourn.theory.proven_truncation`,
            "paper" the choice of the paper's corollaries, `sojourn.theory.printed_truncation`.
        ties: "random" breaks ties by a hash of (episode, layer, state, action); "first" takes the lowest
            action.
        after: Policy past step N: "restart" begins again with layer 1, and "hold" keeps playing layer N.
        count: Steps to learn from: "all", or only the "first" N of each episode, as in the paper.
        replan: When to replan: after "every" episode, as in the paper, or when the count of some pair has
            doubled ("doubling").
        n_states: Number of states in the logarithm, for problems that do not state it.
        anytime: Whether to play without knowing the number of episodes T. Episodes then come in blocks of 16,
            32, 64, …; in each, T is the number of episodes up to its end, Q starts again from the caps, and
            all counts are kept. δ is for each block.
    """

    bonus: Bonus | VarianceBonus = field(default_factory=PaperBonus)
    delta: float = field(default=0.1, kw_only=True)
    replan: str = field(default="every", kw_only=True)
    anytime: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        check_bonus(self.bonus)
        super().__post_init__()
        check_open_unit("delta", self.delta)
        check_choice("replan", self.replan, ["every", "doubling"])
        check_flag("anytime", self.anytime)

    def start(self, *, episodes: int, **problem: Any) -> Any:
        """Return a new learner; see `Agent.start`. With `anytime`, `episodes` has no effect."""
        if self.anytime:
            check_whole("episodes", episodes, least=1)
            return AnytimeLearner(self, **problem)
        return super().start(episodes=episodes, **problem)

    @property
    def _bound(self) -> BonusKind:
        return bound_of(self.bonus)

    def _begin(self, episodes: int, rng: np.random.Generator, problem: dict[str, Any]) -> UCBVILearner:
        n_states = require_n_states(self, problem["n_states"], "its logarithm")
        n_layers, truncation = self.layers(episodes)
        caps = remaining_steps(self.law, n_layers)
        counts_all = self.count == "all"
        size = ProblemSize(n_states, problem["n_actions"], episodes, n_layers, self.delta, counts_all)
        reward_bonus = None
        if problem["rewards"] is None:
            reward_bonus = self.bonus.scale * math.sqrt(size.log() / 2.0)
        bonus, bernstein = None, None
        if hasattr(self.bonus, "bernstein_terms"):
            bernstein = self.bonus.bernstein_terms(self.law, size)
        else:
            bonus = self.bonus.of_one_visit(self.law, size)
        assumed = make_assumed_law(
            self.law.continuation(np.arange(1, n_layers + 1)),
            caps,
            value_after(self.law, n_layers, truncation),
            bonus=bonus,
            bonus_power=float(getattr(self.bonus, "power", 0.5)),
            reward_bonus=reward_bonus,
        )
        return UCBVILearner(self, assumed, bernstein=bernstein, **problem)


@dataclass(frozen=True)
class UCBVIState:
    """The state of a learner of `UCBVI` between two episodes, without scratch arrays.

    Attributes:
        settings: The agent's settings.
        assumed: The assumed law.
        bernstein: The terms of the bonus if it depends on variances, or None.
        n_states: Number of states, or None if they are numbered as they appear.
        n_actions: Number of actions.
        rewards: `(S, A)` rewards mapped to [0, 1], or None if they are learned.
        reward_map: The map of rewards to [0, 1].
        key: 64-bit key of the hash that breaks ties.
        episode: Number of episodes played.
        tables: Counts, model, Q and V.
        played: Pairs played since the last replanning.
        last_planned: Visits of each pair at its last replanning, for `replan="doubling"`.
    """

    settings: UCBVI
    assumed: AssumedLaw
    bernstein: BernsteinUpdate | MonotoneBernsteinTerms | None
    n_states: int | None
    n_actions: int
    rewards: FloatArray | None
    reward_map: RewardMap
    key: int
    episode: int
    tables: Tables
    played: tuple[int, ...]
    last_planned: Mapping[int, int]


class UCBVILearner(TabularLearner):
    """The learner of `UCBVI`; its memory grows with the visited states and pairs.

    Args:
        settings: The agent's settings.
        assumed: The assumed law.
        bernstein: The terms of the bonus if it depends on variances, or None.
        problem: Arguments of `TabularLearner`.
    """

    settings: UCBVI

    def __init__(
        self,
        settings: UCBVI,
        assumed: AssumedLaw,
        *,
        bernstein: BernsteinUpdate | MonotoneBernsteinTerms | None = None,
        **problem: Any,
    ) -> None:
        counts_layers = isinstance(bernstein, BernsteinUpdate)
        bookkeeping = Bookkeeping(
            counts_layers=counts_layers,
            has_layer_visits=counts_layers,
            has_incumbents=bernstein is None,
            caches_values=True,
        )
        super().__init__(settings, assumed, bookkeeping=bookkeeping, **problem)
        self._bernstein = bernstein
        self._last_planned: dict[int, int] = {}
        self._grow(START_ROOM, START_ROOM, START_ROOM)

    @property
    def update(self) -> Any:
        """Parameters and scratch arrays of the update; the type depends on the kind of bonus."""
        return self._update

    @property
    def has_compiled_loop(self) -> bool:
        """Whether `play` may replace `act`, `observe` and `end_episode`."""
        return super().has_compiled_loop and self.settings.replan == "every"

    def adopt_counts(self, tables: Tables) -> None:
        """Copy all counts from another learner's tables for the same problem, and plan with them."""
        absorbing = self._tables.value[TERMINAL].copy()
        room = (tables.names.size, tables.visits.size, tables.arc_to.size)
        self._tables = recounted(tables, self._empty_tables(*room))
        self._tables.value[TERMINAL] = absorbing
        self._grow(*room)
        n_pairs = int(self._tables.sizes[1])
        if n_pairs > 0:
            self._played = dict.fromkeys(range(n_pairs))
            super()._learn()

    def state(self) -> UCBVIState:
        """Return the learner's state without copying it; call this only between episodes."""
        if self._pending is not None or self._n_observed > 0:
            raise ValueError("save must come between episodes; this one has begun. Call end_episode first.")
        return UCBVIState(
            settings=self.settings,
            assumed=self._assumed,
            bernstein=self._bernstein,
            n_states=self.n_states,
            n_actions=self.n_actions,
            rewards=self._rewards,
            reward_map=self._reward_map,
            key=int(self._key),
            episode=self.episode,
            tables=self._tables,
            played=tuple(self._played),
            last_planned=self._last_planned,
        )

    @classmethod
    def from_state(cls, state: UCBVIState) -> UCBVILearner:
        """Return a learner that continues from a state; it uses the state's tables without copying them."""
        learner = cls(
            state.settings,
            state.assumed,
            bernstein=state.bernstein,
            n_states=state.n_states,
            n_actions=state.n_actions,
            rewards=state.rewards,
            reward_range=(0.0, 1.0),  # the rewards are mapped already
            terminal_reward=0.0,
            key=state.key,
        )
        learner._reward_map = state.reward_map
        learner.episode = state.episode
        learner._tables = state.tables
        learner._grow(state.tables.names.size, state.tables.visits.size, state.tables.arc_to.size)
        learner._played = dict.fromkeys(state.played)
        learner._last_planned = dict(state.last_planned)
        return learner

    def save(self, path: str | Path) -> Path:
        """Write the learner to an `.npz` file without pickle, between episodes; see `load_learner`."""
        from sojourn.agents.tabular._storage import save_learner  # noqa: PLC0415 - that module imports this one

        return save_learner(self, path)

    def _grow(self, states: int, pairs: int, arcs: int) -> None:
        find_all_incumbents(self._tables)
        self._update: Any = self._bernstein
        if self._bernstein is None:
            self._update = empty_ucbvi_update(self.n_layers, states, pairs, arcs)
        elif isinstance(self._bernstein, MonotoneBernsteinTerms):
            scratch = empty_monotone_bernstein_scratch(self.n_layers, states, pairs)
            self._update = MonotoneBernsteinUpdate(self._bernstein, scratch)

    def _learn(self) -> None:
        if self.settings.replan == "doubling":
            if not self._has_doubled():
                return
            self._last_planned.update((pair, int(self._tables.visits[pair])) for pair in self._played)
        super()._learn()

    def _has_doubled(self) -> bool:
        """Whether some pair has twice the visits that it had at its last replanning."""
        return any(self._tables.visits[pair] >= 2 * self._last_planned.get(pair, 0) for pair in self._played)


class AnytimeLearner(BlockLearner):
    """The learner of `UCBVI` with `anytime`: a new `UCBVILearner` for each block takes over all counts.

    Args:
        settings: The agent's settings.
        problem: Arguments of `Agent.start` but `episodes`.

    Attributes:
        settings: The agent's settings.
    """

    def __init__(self, settings: UCBVI, **problem: Any) -> None:
        self.settings, self._problem = settings, problem
        super().__init__()

    def _start_block(self, before: UCBVILearner | None) -> UCBVILearner:
        block = dataclasses.replace(self.settings, anytime=False)
        learner: UCBVILearner = block.start(episodes=self._last_episode, **self._problem)
        if before is not None:
            learner.adopt_counts(before.tables)
        return learner
