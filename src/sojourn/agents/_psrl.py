"""Posterior sampling: plan as if a model drawn from the posterior were true."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sojourn._kernels import AssumedLaw, PSRLUpdate
from sojourn._validation import check_choice, check_nonnegative, check_positive
from sojourn.agents._layered_agent import LayeredAgent, states_of, worth_of
from sojourn.agents._learner import TabularLearner
from sojourn.agents._table_memory import make_assumed_law

__all__ = ["PSRL", "PSRLLearner"]

_MOST_APART = 1 << 22  # Q values of an episode, if states that were never seen are drawn one by one


@dataclass(frozen=True)
class PSRL(LayeredAgent):
    """Posterior sampling (Strens 2000; Osband, Russo, Van Roy 2013) under any law of episode lengths.

    Before every episode a model is drawn from the posterior, and its best policy for the law's ratios ρ(h) is
    played: Q_h(s, a) = r + ρ(h) Σ_y P(y) V_{h+1}(y). The transitions of every pair, played or not, have a
    Dirichlet prior of `prior`/S for each of the S states (the absorbing one is one more of them once an
    episode was seen to end there). Successors that a pair was seen to have are drawn one by one. All others
    are lumped: their probability is drawn as a whole, from the same posterior; a share B of it goes to one of
    them, drawn evenly, and the rest to all of them evenly. B = U^(a/2) with U uniform and a the lump's weight
    in the prior, so that all probabilities have the means, variances and covariances of the full Dirichlet
    posterior; and as `prior` falls also its law, which puts all of a light lump on one state. Two moments
    agree and not all: where the lump is heavy, now and then one state gets far more than in any draw from the
    full Dirichlet, and the learner explores more.

    All pairs are drawn independently, those of states that were never seen too (`unseen="apart"`): an episode
    costs S·A·N, whatever was visited. With `unseen="together"` pairs of states that were never seen share one
    draw an episode, and it costs what was visited. By default states are apart if the problem says how many
    there are and S·A·N is at most 4 million.

    Known rewards are used as they are. Others have a Gaussian prior with mean 1, the largest reward, and the
    standard deviation `noise`, which is also that of one observation: the mean of a pair with n ≥ 0
    observations is drawn from N((1 + Σ r)/(n + 1), noise²/(n + 1)).

    After step N nothing is counted, in the problem's own units. With `Fixed(H)`, and once all successors of
    all pairs were seen, it is textbook PSRL.

    Args:
        law: The law that the learner believes in.
        prior: Weight of the prior of a pair's successors, in visits.
        noise: Standard deviation of one reward where rewards are learned, as they are mapped to [0, 1].
        unseen: Whether states that were never seen are drawn "apart" or "together"; "default" as said above.
        horizon: Number of layers N, in place of `truncation`.
        truncation: Δ, with N the smallest with Γ(N) ≤ Δ; "default" is the corollary's choice, or Γ(1)/T.
        ties: "random" gives each (episode, layer, state, action) a priority; "first" takes the lowest action.
        after: Past step N the clock starts again at 1 ("restart"), or layer N is played for ever ("hold").
        count: Which steps are data: "all", or the "first" N of an episode.
        n_states: Number of states S where the problem does not say it.

    Example:
        >>> import sojourn as sj
        >>> law = sj.Geometric(0.9)
        >>> run = sj.learn(sj.PSRL(law), sj.mdps.river_swim(6), law, episodes=300)
        >>> bool(run.regret[-50:].mean() < 0.1 * run.regret[:10].mean())
        True
    """

    prior: float = 1.0
    noise: float = field(default=0.5, kw_only=True)
    unseen: str = field(default="default", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("prior", self.prior)
        check_nonnegative("noise", self.noise)
        check_choice("unseen", self.unseen, ["default", "apart", "together"])

    def _begin(self, episodes: int, rng: np.random.Generator, problem: dict[str, Any]) -> PSRLLearner:
        known, is_named = states_of(self, problem["n_states"], "its prior"), problem["n_states"] is not None
        if self.unseen == "apart" and not is_named:
            raise ValueError(
                "unseen must be 'together' where the number of states is not known; got 'apart'."
            )
        n_layers, _ = self.layers(episodes)
        is_small = is_named and known * problem["n_actions"] * n_layers <= _MOST_APART
        ratios = self.law.continuation(np.arange(1, n_layers + 1))
        assumed = make_assumed_law(ratios, worth_of(self.law, n_layers), 0.0)
        return PSRLLearner(
            self,
            assumed,
            rng,
            all_states=known,
            is_apart=self.unseen == "apart" or (self.unseen == "default" and is_small),
            **problem,
        )


class PSRLLearner(TabularLearner):
    """A learner of `PSRL`; memory grows with the states that it draws one by one, and all their actions."""

    plans_all_actions = True

    def __init__(
        self,
        settings: PSRL,
        assumed: AssumedLaw,
        rng: np.random.Generator,
        *,
        all_states: int,
        is_apart: bool,
        **problem: Any,
    ) -> None:
        super().__init__(settings, assumed, **problem)
        self._rng, self._all_states, self._is_apart = rng, all_states, is_apart
        self._best = np.zeros(0)
        if self._rewards is not None:
            self._assumed = self._assumed._replace(prior_rewards=np.ascontiguousarray(self._rewards))
            self._best = self._rewards.max(axis=1)
        self._all_best = float(self._best.sum())
        self._grow(self._tables.names.size, self._tables.visits.size, self._tables.arc_to.size)
        if is_apart:
            self.remedy = f'draw states that were never seen together (unseen="together"), or {self.remedy}'
            self._make_room(all_states)
        self._learn()

    @property
    def update(self) -> PSRLUpdate:
        """Parameters and scratch arrays of the update."""
        return PSRLUpdate(
            rng=self._rng,
            n_states=self._all_states,
            is_apart=self._is_apart,
            weight=float(self.settings.prior),
            noise=-1.0 if self._rewards is not None else float(self.settings.noise),
            best=self._best,
            all_best=self._all_best,
            even=self._even,
            lump=self._lump,
            target=self._target,
            extra=self._extra,
            mark=self._mark,
            above=self._above,
        )

    def _grow(self, states: int, pairs: int, arcs: int) -> None:
        self._even, self._lump, self._extra = np.zeros(pairs), np.zeros(pairs), np.zeros(pairs)
        self._target = np.zeros(pairs, dtype=np.int64)
        self._mark, self._above = np.full(states, -1, dtype=np.int64), np.zeros(states)
