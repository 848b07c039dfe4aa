"""The paper's Algorithm 1: optimistic value iteration under a law of lengths."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sojourn._kernels import AssumedLaw, BernsteinUpdate, find_all_incumbents
from sojourn._validation import check_choice, check_open_unit
from sojourn.agents._bonuses import Bonus, PaperBonus, Size, VarianceBonus, check_bonus
from sojourn.agents._layered_agent import LayeredAgent, states_of, value_after, worth_of
from sojourn.agents._learner import TERMINAL, TabularLearner
from sojourn.agents._table_memory import START_ROOM, empty_ucbvi_update, make_assumed_law, recounted

__all__ = ["UCBVI", "UCBVILearner"]


@dataclass(frozen=True)
class UCBVI(LayeredAgent):
    """UCB-VI for any law of episode lengths (the paper's Algorithm 1 with Update-Q-values).

    Q_h(s, a) ← min(Q_h(s, a), r + ρ(h) Σ_y P̂(y|s, a) V_{h+1}(y) + bonus), from the caps Γ(h)/γ(h) down, where
    V_{N+1} = Δ/γ(N+1). A layer N that was found from Δ can never leave its cap: it is always tied. Classic
    UCB-VI is the same with the belief `Fixed(H)` and `Hoeffding()` or `Bernstein()`.

    Args:
        law: The law that the learner believes in.
        bonus: What is added for optimism; its `scale` is 1 for the published one.
        delta: Probability with which the bounds may fail, in (0, 1).
        horizon: Number of layers N, with Δ = Γ(N+1), in place of `truncation`.
        truncation: Δ, with N the smallest with Γ(N) ≤ Δ; "default" is the corollary's choice, or Γ(1)/T.
        ties: "random" gives each (episode, layer, state, action) a priority; "first" takes the lowest action.
        after: Past step N the clock starts again at 1 ("restart"), or layer N is played for ever ("hold").
        count: Which steps are data: "all", or the "first" N of an episode, as in the paper.
        replan: After "every" episode, as in the paper, or when some pair's count has doubled ("doubling").
        n_states: Number of states in the logarithm where the problem does not say it.
    """

    bonus: Bonus | VarianceBonus = field(default_factory=PaperBonus)
    delta: float = field(default=0.1, kw_only=True)
    replan: str = field(default="every", kw_only=True)

    def __post_init__(self) -> None:
        check_bonus(self.bonus)
        super().__post_init__()
        check_open_unit("delta", self.delta)
        check_choice("replan", self.replan, ["every", "doubling"])

    def _begin(self, episodes: int, rng: np.random.Generator, problem: dict[str, Any]) -> UCBVILearner:
        known = states_of(self, problem["n_states"], "its logarithm")
        n_layers, truncation = self.layers(episodes)
        caps = worth_of(self.law, n_layers)
        size = Size(known, problem["n_actions"], episodes, n_layers, self.delta)
        reward_bonus = None
        if problem["rewards"] is None:
            reward_bonus = self.bonus.scale * math.sqrt(size.log() / 2.0)
        bonus, bernstein = None, None
        if hasattr(self.bonus, "spread"):
            bernstein = self.bonus.spread(self.law, size)
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


class UCBVILearner(TabularLearner):
    """A learner of `UCBVI`. States are numbered as they appear; memory grows with what was visited."""

    settings: UCBVI
    caches_values = True

    def __init__(
        self,
        settings: UCBVI,
        assumed: AssumedLaw,
        *,
        bernstein: BernsteinUpdate | None = None,
        **problem: Any,
    ) -> None:
        self._bernstein = bernstein
        super().__init__(settings, assumed, **problem)
        self._last_planned: dict[int, int] = {}
        self._grow(START_ROOM, START_ROOM, START_ROOM)

    @property
    def update(self) -> Any:
        """Parameters and scratch arrays of the update, with or without a Bernstein bonus."""
        return self._ucbvi_update if self._bernstein is None else self._bernstein

    @property
    def has_compiled_loop(self) -> bool:
        """Whether `play` does the same as `act`, `observe` and `end_episode`."""
        return super().has_compiled_loop and self.settings.replan == "every"

    def adopt(self, other: UCBVILearner) -> None:
        """Take over all counts of another learner of the same problem, and plan with them."""
        absorbing, old = self._tables.value[TERMINAL].copy(), other._tables
        self._tables = recounted(old, self._empty_tables(old.names.size, old.visits.size, old.arc_to.size))
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
        return self._bernstein is not None

    @property
    def _has_incumbents(self) -> bool:
        return self._bernstein is None

    def _grow(self, states: int, pairs: int, arcs: int) -> None:
        find_all_incumbents(self._tables)
        self._ucbvi_update = empty_ucbvi_update(self.n_layers, states, pairs, arcs)

    def _learn(self) -> None:
        if self.settings.replan == "every" or self._has_doubled():
            if self.settings.replan == "doubling":
                self._last_planned.update((pair, int(self._tables.visits[pair])) for pair in self._played)
            super()._learn()
        else:
            self._seen_this_episode.update(self._played)

    def _has_doubled(self) -> bool:
        return any(self._tables.visits[pair] >= 2 * self._last_planned.get(pair, 0) for pair in self._played)
