"""Posterior sampling: play the best policy of a model drawn from the posterior."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sojourn._kernels import AssumedLaw, PSRLUpdate
from sojourn._memory import check_fits
from sojourn._typing import FloatArray
from sojourn._validation import check_choice, check_nonnegative, check_positive
from sojourn.agents._layered_agent import LayeredAgent, remaining_steps, require_n_states
from sojourn.agents.tabular._bookkeeping import Bookkeeping
from sojourn.agents.tabular._learner import TabularLearner
from sojourn.agents.tabular._table_memory import (
    empty_psrl_scratch,
    make_assumed_law,
    make_psrl_update,
)

__all__ = ["PSRL", "PSRLLearner"]

_MOST_APART = 1 << 22
"""Largest number of Q values S·A·N for which unseen states are drawn one by one by default."""

_BYTES_PER_ARC = 48
"""Memory of one successor of a pair."""

_LEAST_PRIOR = 0.1
"""Smallest prior of `unseen="each"`: with it, all of a pair's gamma draws underflow once in 10³⁰ cases."""


@dataclass(frozen=True)
class PSRL(LayeredAgent):
    """Posterior sampling (Strens 2000; Osband, Russo, Van Roy 2013) under any law of episode lengths.

    Before every episode a model is drawn from the posterior, and its best policy for the law's ratios ρ(h) is
    played: Q_h(s, a) = r + ρ(h) Σ_y P(y) V_{h+1}(y). The transitions of every pair, played or not, have a
    Dirichlet prior with weight `prior`/S for each of the S states. (The absorbing state is one of them once
    an episode has ended there.) The observed successors of a pair are drawn one by one. All others are
    lumped: their total probability is drawn from the same posterior; a share B of it goes to one of them,
    chosen uniformly, and the rest is spread evenly over all of them. B = U^(a/2), where U is uniform and a is
    the lump's weight in the prior. So all probabilities have the means, variances and covariances of the full
    Dirichlet posterior, and as `prior` decreases also its distribution, which puts all of a light lump on one
    state. Higher moments differ: if the lump is heavy, one state occasionally gets far more than in any draw
    from the full Dirichlet posterior, and the learner explores more. Its regret may be smaller or larger than
    that of textbook PSRL; see docs/learners.md.

    All pairs are drawn independently, including those of unseen states (`unseen="apart"`), so an episode
    costs S·A·N, no matter what was visited. With `unseen="together"` the pairs of all unseen states share one
    draw per episode, and the cost follows what was visited. The default is "apart" if the problem states its
    number of states and S·A·N is at most 4 million.

    With `unseen="each"` nothing is lumped: the probabilities of all S successors of every pair are drawn from
    the full Dirichlet posterior, as in textbook PSRL. An episode costs S²·A·N.

    Known rewards are not sampled. Unknown rewards have a Gaussian prior with mean 1, the largest reward,
    and standard deviation `noise`, which is also that of one observation: the mean of a pair with n ≥ 0
    observations is drawn from N((1 + Σ r)/(n + 1), noise²/(n + 1)).

    Steps after N count as paying 0 in the problem's own units. With `Fixed(H)`, and once all successors of
    all pairs have been observed, this is textbook PSRL.

    Args:
        law: The assumed law.
        prior: Weight of the prior of a pair's successors, in visits.
        noise: Standard deviation of one reward, after mapping to [0, 1], if rewards are learned.
        unseen: Whether unseen states are drawn "apart" or "together", or "each" successor one by one;
            "default" is described above. "each" needs a `prior` of at least 0.1.
        horizon, truncation, ties, after, count: As in `UCBVI`.
        n_states: Number of states S, for problems that do not state it.

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
        check_choice("unseen", self.unseen, ["default", "apart", "together", "each"])
        if self.unseen == "each" and self.prior < _LEAST_PRIOR:
            raise ValueError(
                f"prior must be at least {_LEAST_PRIOR} if unseen is 'each'; got {self.prior!r}."
            )

    def _begin(self, episodes: int, rng: np.random.Generator, problem: dict[str, Any]) -> PSRLLearner:
        n_states, is_stated = (
            require_n_states(self, problem["n_states"], "its prior"),
            problem["n_states"] is not None,
        )
        if self.unseen in {"apart", "each"} and not is_stated:
            raise ValueError(
                f"unseen must be 'together' if the number of states is not known; got {self.unseen!r}."
            )
        n_layers, _ = self.layers(episodes)
        is_small = is_stated and n_states * problem["n_actions"] * n_layers <= _MOST_APART
        ratios = self.law.continuation(np.arange(1, n_layers + 1))
        assumed = make_assumed_law(ratios, remaining_steps(self.law, n_layers), 0.0)
        return PSRLLearner(
            self,
            assumed,
            rng,
            all_states=n_states,
            is_apart=self.unseen in {"apart", "each"} or (self.unseen == "default" and is_small),
            **problem,
        )


class PSRLLearner(TabularLearner):
    """The learner of `PSRL`; its memory grows with the states that are drawn one by one.

    Args:
        settings: The agent's settings.
        assumed: The assumed law.
        rng: Random numbers for the draws from the posterior.
        all_states: Number of states S.
        is_apart: Whether unseen states are drawn one by one.
        problem: Arguments of `TabularLearner`.
    """

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
        super().__init__(settings, assumed, bookkeeping=Bookkeeping(has_all_actions=True), **problem)
        self._rng, self._all_states, self._is_apart = rng, all_states, is_apart
        self._best_rewards: FloatArray | None = None
        if self._rewards is not None:
            self._assumed = self._assumed._replace(prior_rewards=np.ascontiguousarray(self._rewards))
            self._best_rewards = self._rewards.max(axis=1)
        self._grow(self._tables.names.size, self._tables.visits.size, self._tables.arc_to.size)
        if is_apart:
            self._make_room(all_states)
        self._learn()
        if settings.unseen == "each":
            self._open_all_arcs()
            self._learn()

    @property
    def update(self) -> PSRLUpdate:
        """Parameters and scratch arrays of the update."""
        return make_psrl_update(
            rng=self._rng,
            n_states=self._all_states,
            is_apart=self._is_apart,
            weight=float(self.settings.prior),
            noise=float(self.settings.noise) if self._rewards is None else None,
            best_rewards=self._best_rewards,
            scratch=self._scratch,
        )

    @property
    def _memory_remedy(self) -> str:
        remedy = super()._memory_remedy
        return f'draw unseen states together (unseen="together"), or {remedy}' if self._is_apart else remedy

    def _grow(self, states: int, pairs: int, arcs: int) -> None:
        self._scratch = empty_psrl_scratch(states, pairs)

    def _open_all_arcs(self) -> None:
        """Add an arc without a count from every pair to every state, so that each successor is drawn.

        The absorbing state has none. Once an episode was seen to end, it is the only successor without an arc
        of its own, so that what the update draws for such successors is exact.
        """
        n_states, n_pairs = self._all_states, int(self._tables.sizes[1])
        n_arcs = n_pairs * n_states
        check_fits(_BYTES_PER_ARC * n_arcs, f"PSRL with {n_arcs:,} successors", self._memory_remedy)
        self._make_room(n_arcs)
        tables, arcs = self._tables, np.arange(n_arcs).reshape(n_pairs, n_states)
        tables.arc_from[:n_arcs] = np.repeat(np.arange(n_pairs), n_states)
        tables.arc_to[:n_arcs] = np.tile(np.arange(1, n_states + 1), n_pairs)
        tables.arc_count[:n_arcs] = 0.0
        tables.first_arc[:n_pairs], tables.last_arc[:n_pairs] = arcs[:, 0], arcs[:, -1]
        tables.arc_next[:n_arcs] = np.append(arcs[:, 1:], np.full((n_pairs, 1), -1), axis=1).ravel()
        tables.arc_next_into[:n_arcs] = np.append(np.full((1, n_states), -1), arcs[:-1], axis=0).ravel()
        tables.last_arc_into[1 : n_states + 1] = arcs[-1]
        tables.sizes[2] = n_arcs
