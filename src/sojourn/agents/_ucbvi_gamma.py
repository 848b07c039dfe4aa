"""UCBVI-γ: optimistic value iteration for a constant discount."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sojourn._kernels import AssumedLaw, BernsteinUpdate, UCBVIGammaUpdate
from sojourn._validation import check_choice, check_nonnegative, check_open_unit
from sojourn.agents._layered_agent import (
    LayeredAgent,
    choose_layers,
    discount_law,
    remaining_steps,
    require_n_states,
)
from sojourn.agents.tabular._bookkeeping import Bookkeeping
from sojourn.agents.tabular._learner import TabularLearner
from sojourn.agents.tabular._table_memory import make_assumed_law

__all__ = ["UCBVIGamma", "UCBVIGammaLearner"]


@dataclass(frozen=True)
class UCBVIGamma(LayeredAgent):
    """UCBVI-γ (He, Zhou, Gu 2021): stationary optimistic value iteration for a discount γ.

    Q(s, a) ← min(Q(s, a), r + γ Σ_y P̂(y|s, a) V(y) + scale · γ · UCB(s, a)), for every visited pair at the
    end of an episode, all computed from the previous V. Q starts at 1/(1 − γ), and
    UCB = √(8 U Var_{P̂}(V)/n) + 8 U/((1 − γ) n) + √(8 Σ_y P̂(y) min(100 B(y), 1/(1 − γ)²)/n) with
    B(y) = β/((1 − γ)⁵ n(y)), where n(y) counts the visits of y, β = S²A²U⁵ and
    U = ln(40·S·A·T³·ln²T/(δ (1 − γ)²)) for T steps. Here there are episodes, and T is their number times the
    mean length.

    The paper backs up after every step of one endless trajectory. `backups="step"` makes as many backups as
    an episode has steps, but all at its end, so that the policy of an episode is fixed and its regret exact.

    β, and U up to the square of its inner logarithm, are those of the paper's Theorem 4.3; its proof has 80
    where the theorem has 40. The three terms of the bonus (4.3) and B could not be checked against the
    original text. The absorbing state's value is known, so the last sum leaves it out. A learned reward is
    estimated by its mean plus scale · √(U/(2n)).

    Args:
        law: The law of lengths; only its mean is used: γ = 1 − 1/mean.
        scale: Factor on the bonus; 1 is the published bonus.
        gamma: The discount, instead of the one from the law's mean.
        delta: Probability that the bounds may fail, in (0, 1).
        backups: One backup of all visited pairs per "episode", or one per "step" of it.
        horizon: Number of steps N after which random ties repeat; Q does not depend on it.
        truncation: Δ, which gives N instead of `horizon`; "default" and "paper" are the choice of the paper's
            corollary for γ.
        ties: "random" breaks ties by a hash of (episode, layer, state, action); "first" takes the lowest
            action.
        after: Past step N, ties are broken as from step 1 on ("restart") or as at step N ("hold").
        count: Steps to learn from: "all", or only the "first" N of each episode.
        n_states: Number of states in the logarithm, for problems that do not state it.

    Example:
        >>> import sojourn as sj
        >>> law = sj.Uniform(1, 20)
        >>> agent = sj.UCBVIGamma(law, 1e-4)
        >>> round(agent.discount, 4)
        0.9048
        >>> run = sj.learn(agent, sj.mdps.river_swim(4), law, episodes=1_000)
        >>> bool(run.regret[-100:].mean() < 0.5 * run.regret[:10].mean())
        True
    """

    scale: float = 1.0
    gamma: float | None = field(default=None, kw_only=True)
    delta: float = field(default=0.1, kw_only=True)
    backups: str = field(default="episode", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_nonnegative("scale", self.scale)
        check_open_unit("delta", self.delta)
        check_choice("backups", self.backups, ["episode", "step"])
        if self.gamma is not None:
            discount_law(self.law, self.gamma)  # raises an error for an invalid discount

    @property
    def discount(self) -> float:
        """The discount γ that the agent assumes."""
        return discount_law(self.law, self.gamma).gamma

    def layers(self, episodes: int) -> tuple[int, float]:
        """Return the number of layers N and the truncation Δ for a trial of `episodes` episodes."""
        return choose_layers(discount_law(self.law, self.gamma), self.horizon, self.truncation, episodes)

    def _begin(self, episodes: int, rng: np.random.Generator, problem: dict[str, Any]) -> UCBVIGammaLearner:
        n_states, n_actions = (
            require_n_states(self, problem["n_states"], "its logarithm"),
            problem["n_actions"],
        )
        n_layers, _ = self.layers(episodes)
        caps, gamma = remaining_steps(discount_law(self.law, self.gamma), 1), self.discount
        steps = max(2.0, episodes * self.law.mean)
        log = math.log(
            40.0 * n_states * n_actions * steps**3 * math.log(steps) ** 2 / (self.delta * (1.0 - gamma) ** 2)
        )
        cap, beta = 1.0 / (1.0 - gamma), float(n_states) ** 2 * n_actions**2 * log**5
        bernstein = BernsteinUpdate(
            factor=np.full(1, self.scale * gamma),
            variance=8.0 * log,
            linear=np.full(1, 8.0 * log * cap),
            next_term=np.full(1, 100.0 * beta * cap**5),
            next_cap=np.full(1, cap**2),
        )
        assumed = make_assumed_law(
            np.full(1, gamma),
            caps,
            float(caps[-1]),
            reward_bonus=None if problem["rewards"] is not None else self.scale * math.sqrt(log / 2.0),
        )
        return UCBVIGammaLearner(self, assumed, bernstein=bernstein, n_layers=n_layers, **problem)


class UCBVIGammaLearner(TabularLearner):
    """The learner of `UCBVIGamma`; its memory grows with the visited states and pairs."""

    def __init__(
        self, settings: UCBVIGamma, assumed: AssumedLaw, *, bernstein: BernsteinUpdate, **problem: Any
    ) -> None:
        bookkeeping = Bookkeeping(has_layer_visits=True, keeps_steps=settings.backups == "step")
        super().__init__(settings, assumed, bookkeeping=bookkeeping, **problem)
        self._update = UCBVIGammaUpdate(bernstein)

    @property
    def update(self) -> Any:
        """Parameters of the update."""
        return self._update
