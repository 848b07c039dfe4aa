"""Q-learning: optimistic by a bonus, or greedy most of the time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sojourn._kernels import AssumedLaw, QLearningUpdate
from sojourn._validation import (
    check_choice,
    check_closed_unit,
    check_nonnegative,
    check_open_unit,
    check_positive,
    check_reward_range,
)
from sojourn.agents._layered_agent import LayeredAgent, discount_of, states_of, value_after, worth_of
from sojourn.agents._learner import TabularLearner
from sojourn.agents._table_memory import START_ROOM, make_assumed_law
from sojourn.laws import LengthLaw

__all__ = ["EpsilonGreedy", "QLearning", "QLearningLearner"]


@dataclass(frozen=True)
class QLearning(LayeredAgent):
    """Optimistic Q-learning (Jin, Allen-Zhu, Bubeck, Jordan 2018, Hoeffding's form) under any law.

    Q_h(s, a) ← (1 − α_t) Q_h(s, a) + α_t [r + ρ(h) V_{h+1}(y) + b_t(h)] for the t-th visit of (s, a) at layer
    h, with α_t = (N + 1)/(N + t), V_h(s) = min(Γ(h)/γ(h), max_a Q_h(s, a)), and Q_h = Γ(h)/γ(h) at first. It
    keeps no model: a step costs O(A).

    Jin et al. have b_t = c √(H³ ι/t) with ι = ln(S·A·T/δ), T the number of steps, and leave c open. One H
    comes from the learning rate, two from the range of values; under a law they are N and Γ(h)/γ(h):
    b_t(h) = scale · Γ(h)/γ(h) · √(N ι/t), with ι = ln(S·A·K·N/δ) for K episodes. At `Fixed(H)` the cap is
    H − h + 1 where theirs is H in every layer: valid, and tighter. The updates of an episode are made at its
    end in the order of its steps, which is the same where no step comes twice in a layer.

    Args:
        law: The law that the learner believes in.
        scale: c, what the bonus is multiplied by.
        delta: Probability with which the bounds may fail, in (0, 1).
        horizon: Number of layers N, with Δ = Γ(N+1), in place of `truncation`.
        truncation: Δ, with N the smallest with Γ(N) ≤ Δ; "default" is the corollary's choice, or Γ(1)/T.
        ties: "random" gives each (episode, layer, state, action) a priority; "first" takes the lowest action.
        after: Past step N the clock starts again at 1 ("restart"), or layer N is played for ever ("hold").
        count: Which steps are data: "all", or the "first" N of an episode.
        n_states: Number of states in the logarithm where the problem does not say it.

    Example:
        >>> import sojourn as sj
        >>> law = sj.Fixed(5)
        >>> run = sj.learn(sj.QLearning(law, 0.01), sj.mdps.chain(4), law, episodes=2_000)
        >>> bool(run.regret[-200:].mean() < run.regret[:20].mean())
        True
    """

    scale: float = 1.0
    delta: float = field(default=0.1, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_nonnegative("scale", self.scale)
        check_open_unit("delta", self.delta)

    def _begin(self, episodes: int, rng: np.random.Generator, problem: dict[str, Any]) -> QLearningLearner:
        known = states_of(self, problem["n_states"], "its logarithm")
        n_layers, truncation = self.layers(episodes)
        caps = worth_of(self.law, n_layers)
        log = math.log(known * problem["n_actions"] * episodes * n_layers / self.delta)
        assumed = make_assumed_law(
            self.law.continuation(np.arange(1, n_layers + 1)),
            caps,
            value_after(self.law, n_layers, truncation),
            bonus=self.scale * caps[:-1] * math.sqrt(n_layers * log),
        )
        return QLearningLearner(
            self,
            assumed,
            lead=float(n_layers),
            is_capped=True,
            **problem,
        )


@dataclass(frozen=True)
class EpsilonGreedy(LayeredAgent):
    """Q-learning (Watkins 1989) that takes any action now and then: what most people would write first.

    Q_h(s, a) ← (1 − α) Q_h(s, a) + α [r + ρ(h) max_b Q_{h+1}(y, b)], one Q for every layer h ("layered"), or
    a single one with a discount γ in place of ρ(h) ("stationary"; γ = 1 − 1/mean unless it is given). With a
    chance of epsilon · k^−decay, tossed for every state and layer of episode k before it begins, the action
    is any one at all; so the policy of an episode is fixed, and its regret is exact. Updates are made at the
    end of the episode, in the order of its steps. After step N nothing is counted, in the problem's own
    units.

    Args:
        law: The law that the learner believes in.
        epsilon: Chance of any action at all in the first episode.
        decay: How fast it falls: 0 not at all, 1 as 1/k.
        rate: Learning rate α in (0, 1], or "mean" for 1/t at the t-th update.
        initial: What every step is taken to pay at first, in [0, 1] as rewards are mapped: 1 is optimistic.
            Left out, Q starts at 0 in the problem's own units.
        form: "layered" or "stationary".
        gamma: Discount of the stationary form, in [0, 1).
        horizon: Number of layers N, in place of `truncation`.
        truncation: Δ, with N the smallest with Γ(N) ≤ Δ; "default" is the corollary's choice, or Γ(1)/T.
        ties: "random" gives each (episode, layer, state, action) a priority; "first" takes the lowest action.
        after: Past step N the clock starts again at 1 ("restart"), or layer N is played for ever ("hold").
        count: Which steps are data: "all", or the "first" N of an episode.
        n_states: Accepted as everywhere; nothing depends on it.

    Example:
        >>> import sojourn as sj
        >>> law = sj.Geometric(0.8)
        >>> agent = sj.EpsilonGreedy(law, 0.2, form="stationary", initial=1.0)
        >>> run = sj.learn(agent, sj.mdps.river_swim(4), law, episodes=2_000)
        >>> bool(run.regret[-200:].mean() < 0.5 * run.regret[:20].mean())
        True
    """

    epsilon: float = 0.1
    decay: float = field(default=0.0, kw_only=True)
    rate: float | str = field(default=0.1, kw_only=True)
    initial: float | None = field(default=None, kw_only=True)
    form: str = field(default="layered", kw_only=True)
    gamma: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_closed_unit("epsilon", self.epsilon)
        check_nonnegative("decay", self.decay)
        check_choice("form", self.form, ["layered", "stationary"])
        if isinstance(self.rate, str):
            check_choice("rate", self.rate, ["mean"])
        elif check_positive("rate", self.rate, rule='in (0, 1], or "mean"') > 1.0:
            raise ValueError(f'rate must be in (0, 1], or "mean"; got {self.rate!r}.')
        if self.initial is not None:
            check_closed_unit("initial", self.initial)
        if self.gamma is not None:
            discount_of(self.law, self.gamma)  # refuses what is no discount
            if self.form != "stationary":
                raise ValueError(f"gamma must be left out unless the form is stationary; got {self.gamma!r}.")

    def _begin(self, episodes: int, rng: np.random.Generator, problem: dict[str, Any]) -> QLearningLearner:
        clock, _ = self.layers(episodes)
        law: LengthLaw = self.law
        n_layers = clock
        if self.form == "stationary":
            law, n_layers = discount_of(law, self.gamma), 1
        worth = worth_of(law, n_layers)
        low, high = check_reward_range(problem["reward_range"])
        absorbing = (problem["terminal_reward"] - low) / (high - low)
        initial = absorbing if self.initial is None else self.initial
        assumed = make_assumed_law(
            law.continuation(np.arange(1, n_layers + 1)),
            initial * worth,
            absorbing * float(worth[-1]),
        )
        return QLearningLearner(
            self,
            assumed,
            rate=0.0 if isinstance(self.rate, str) else float(self.rate),
            **problem,
            clock=clock,
            worth=worth,
        )


class QLearningLearner(TabularLearner):
    """A learner of temporal differences; memory grows with what was visited, and no model is kept."""

    counts_arcs = False
    keeps_steps = True

    def __init__(
        self,
        settings: QLearning | EpsilonGreedy,
        assumed: AssumedLaw,
        *,
        rate: float = 0.0,
        lead: float = 0.0,
        is_capped: bool = False,
        **problem: Any,
    ) -> None:
        super().__init__(settings, assumed, **problem)
        self._rate, self._lead, self._is_capped = rate, lead, is_capped
        self._counts = np.zeros((START_ROOM, assumed.ratios.size), dtype=np.int64)

    @property
    def update(self) -> QLearningUpdate:
        """Parameters and counts of the update."""
        is_stationary = getattr(self.settings, "form", "layered") == "stationary"
        return QLearningUpdate(self._counts, self._rate, self._lead, self._is_capped, is_stationary)

    def _grow(self, states: int, pairs: int, arcs: int) -> None:
        grown = np.zeros((pairs, self._counts.shape[1]), dtype=np.int64)
        grown[: len(self._counts)] = self._counts
        self._counts = grown
