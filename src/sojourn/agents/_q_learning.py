"""Q-learning: optimistic through a bonus, or ε-greedy."""

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
from sojourn.agents._layered_agent import (
    LayeredAgent,
    discount_law,
    remaining_steps,
    require_n_states,
    value_after,
)
from sojourn.agents.tabular._bookkeeping import Bookkeeping, Exploration
from sojourn.agents.tabular._learner import TabularLearner
from sojourn.agents.tabular._table_memory import START_ROOM, make_assumed_law
from sojourn.laws import LengthLaw

__all__ = ["EpsilonGreedy", "QLearning", "QLearningLearner"]


@dataclass(frozen=True)
class QLearning(LayeredAgent):
    """Optimistic Q-learning (Jin, Allen-Zhu, Bubeck, Jordan 2018, Hoeffding's form) under any law.

    Q_h(s, a) ← (1 − α_t) Q_h(s, a) + α_t [r + ρ(h) V_{h+1}(y) + b_t(h)] for the t-th visit of (s, a) at layer
    h, with α_t = (N + 1)/(N + t), V_h(s) = min(Γ(h)/γ(h), max_a Q_h(s, a)), and initially Q_h = Γ(h)/γ(h).
    There is no model: a step costs O(A).

    Jin et al. have b_t = c √(H³ ι/t) with ι = ln(S·A·T/δ), where T is the number of steps, and leave c open.
    One H comes from the learning rate and two from the range of values; under a law they become N and
    Γ(h)/γ(h): b_t(h) = scale · Γ(h)/γ(h) · √(N ι/t), with ι = ln(S·A·K·N/δ) for K episodes. For `Fixed(H)`
    the cap of layer h is H − h + 1, which is valid and tighter than their H. The updates of an episode are
    made at its end, in the order of its steps; the result is the same as with updates after every step,
    unless a layer is played more than once.

    `form="literal"` has their H, the number of layers N, in place of Γ(h)/γ(h) everywhere: Q starts at N,
    values are at most N, and b_t = scale · √(N³ ι/t). For `Fixed(H)` this is their algorithm. It explores
    longer, because these numbers are larger.

    Args:
        law: The assumed law.
        scale: c, the factor on the bonus.
        form: "tight" or "literal".
        delta: Probability that the bounds may fail, in (0, 1).
        horizon, truncation, ties, after, count: As in `UCBVI`.
        n_states: Number of states in the logarithm, for problems that do not state it.

    Example:
        >>> import sojourn as sj
        >>> law = sj.Fixed(5)
        >>> run = sj.learn(sj.QLearning(law, 0.01), sj.mdps.chain(4), law, episodes=2_000)
        >>> bool(run.regret[-200:].mean() < run.regret[:20].mean())
        True
    """

    scale: float = 1.0
    delta: float = field(default=0.1, kw_only=True)
    form: str = field(default="tight", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_nonnegative("scale", self.scale)
        check_open_unit("delta", self.delta)
        check_choice("form", self.form, ["tight", "literal"])

    def _begin(self, episodes: int, rng: np.random.Generator, problem: dict[str, Any]) -> QLearningLearner:
        n_states = require_n_states(self, problem["n_states"], "its logarithm")
        n_layers, truncation = self.layers(episodes)
        remaining = remaining_steps(self.law, n_layers)
        caps = np.full(n_layers + 1, float(n_layers)) if self.form == "literal" else remaining
        log = math.log(n_states * problem["n_actions"] * episodes * n_layers / self.delta)
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
            remaining=remaining,
            **problem,
        )


@dataclass(frozen=True)
class EpsilonGreedy(LayeredAgent):
    """ε-greedy Q-learning (Watkins 1989), the first thing that most people would write.

    Q_h(s, a) ← (1 − α) Q_h(s, a) + α [r + ρ(h) max_b Q_{h+1}(y, b)], with one Q per layer h ("layered"), or a
    single Q and a discount γ instead of ρ(h) ("stationary"; γ = 1 − 1/mean unless it is given). With
    probability epsilon · k^−decay the action is uniformly random. This is drawn for every state and layer
    before episode k begins, so that the policy of an episode is fixed and its regret exact. Updates are made
    at the end of the episode, in the order of its steps. Steps after N count as paying 0 in the problem's own
    units.

    Args:
        law: The assumed law.
        epsilon: Probability of a random action in the first episode.
        decay: Exponent of its decrease: with 0 the probability is constant, with 1 it is epsilon/k.
        rate: Learning rate α in (0, 1], or "mean" for 1/t at the t-th update.
        initial: Initially assumed reward per step, in [0, 1] after mapping; 1 is optimistic. By default Q
            starts at 0 in the problem's own units.
        form: "layered" or "stationary".
        gamma: Discount of the stationary form, in [0, 1).
        horizon, truncation, ties, after, count: As in `UCBVI`.
        n_states: Accepted for uniformity; nothing depends on it.

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
            discount_law(self.law, self.gamma)  # raises an error for an invalid discount
            if self.form != "stationary":
                raise ValueError(f"gamma must be left out unless the form is stationary; got {self.gamma!r}.")

    def _begin(self, episodes: int, rng: np.random.Generator, problem: dict[str, Any]) -> QLearningLearner:
        n_layers, _ = self.layers(episodes)
        law: LengthLaw = self.law
        n_tables, is_stationary = n_layers, self.form == "stationary"
        if is_stationary:
            law, n_tables = discount_law(law, self.gamma), 1
        remaining = remaining_steps(law, n_tables)
        low, high = check_reward_range(problem["reward_range"])
        absorbing = (problem["terminal_reward"] - low) / (high - low)
        initial = absorbing if self.initial is None else self.initial
        assumed = make_assumed_law(
            law.continuation(np.arange(1, n_tables + 1)),
            initial * remaining,
            absorbing * float(remaining[-1]),
        )
        return QLearningLearner(
            self,
            assumed,
            rate=0.0 if isinstance(self.rate, str) else float(self.rate),
            is_stationary=is_stationary,
            exploration=Exploration(self.epsilon, self.decay),
            n_layers=n_layers,
            remaining=remaining,
            **problem,
        )


class QLearningLearner(TabularLearner):
    """The learner of `QLearning` and `EpsilonGreedy`; it keeps no model.

    Args:
        settings: The agent's settings.
        assumed: The assumed law.
        rate: Constant learning rate α, or 0 for a decreasing one.
        lead: If `rate` is 0, update t has the rate (lead + 1)/(lead + t).
        is_capped: Whether V is at most the cap of its layer.
        is_stationary: Whether there is one layer, which is its own successor.
        problem: Arguments of `TabularLearner`.
    """

    def __init__(
        self,
        settings: QLearning | EpsilonGreedy,
        assumed: AssumedLaw,
        *,
        rate: float = 0.0,
        lead: float = 0.0,
        is_capped: bool = False,
        is_stationary: bool = False,
        **problem: Any,
    ) -> None:
        bookkeeping = Bookkeeping(counts_successors=False, keeps_steps=True)
        super().__init__(settings, assumed, bookkeeping=bookkeeping, **problem)
        counts = np.zeros((START_ROOM, assumed.ratios.size), dtype=np.int64)
        self._update = QLearningUpdate(counts, rate, lead, is_capped, is_stationary)

    @property
    def update(self) -> QLearningUpdate:
        """Parameters and counts of the update."""
        return self._update

    def _grow(self, states: int, pairs: int, arcs: int) -> None:
        counts = self._update.counts
        grown = np.zeros((pairs, counts.shape[1]), dtype=np.int64)
        grown[: len(counts)] = counts
        self._update = self._update._replace(counts=grown)
