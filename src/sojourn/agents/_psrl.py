"""Posterior sampling: plan as if a model drawn from the posterior were true."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sojourn._kernels import Sampling
from sojourn._typing import FloatArray
from sojourn._validation import check_nonnegative, check_positive, check_whole
from sojourn.agents._layered import Layered, states_of, worth_of
from sojourn.agents._learner import TabularLearner
from sojourn.agents._room import START_ROOM, Outlook

__all__ = ["PSRL", "PosteriorSampler"]


@dataclass(frozen=True)
class PSRL(Layered):
    """Posterior sampling (Strens 2000; Osband, Russo, Van Roy 2013) under any law of episode lengths.

    Before every episode a model is drawn from the posterior, and its best policy for the law's ratios ρ(h) is
    played: Q_h(s, a) = r + ρ(h) Σ_y P(y) V_{h+1}(y). A pair's transitions have a Dirichlet prior of `prior`/S
    for each of the S states, the absorbing one among them. Successors that the pair was seen to have are
    drawn one by one. All others are lumped: their probability is drawn as a whole, from the same posterior,
    and is worth the mean value, in the drawn model, of the states never seen to follow. A pair that was never
    played has nothing but that: its Q is its reward and ρ(h) times the mean value of all S states.

    Known rewards are used as they are. Others have a Gaussian prior with mean 1, the largest reward, and the
    standard deviation `noise`, which is also that of one observation: the mean of a pair with n observations
    is drawn from N((1 + Σ r)/(n + 1), noise²/(n + 1)); pairs never played are at the prior's mean.

    After step N nothing is counted, in the problem's own units. With `Fixed(H)`, and once all successors of
    all pairs were seen, it is textbook PSRL.

    Args:
        law: The law that the learner believes in.
        prior: Weight of the prior of a pair's successors, in visits.
        noise: Standard deviation of one reward where rewards are learned, as they are mapped to [0, 1].
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

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("prior", self.prior)
        check_nonnegative("noise", self.noise)

    def start(
        self,
        *,
        n_states: int | None,
        n_actions: int,
        episodes: int,
        rewards: FloatArray | None = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
        terminal_reward: float = 0.0,
        rng: np.random.Generator,
    ) -> PosteriorSampler:
        """Return a learner that has seen nothing; see `Agent.start`."""
        known = states_of(self, n_states, "its prior")
        n_actions = check_whole("n_actions", n_actions, least=1)
        n_layers, _ = self.layers(check_whole("episodes", episodes, least=1))
        caps = worth_of(self.law, n_layers)
        outlook = Outlook(
            ratios=self.law.continuation(np.arange(1, n_layers + 1)),
            caps=caps,
            last=0.0,
            bonus=np.zeros(n_layers),
        )
        return PosteriorSampler(
            self,
            outlook,
            known,
            rng,
            n_states=n_states,
            n_actions=n_actions,
            rewards=rewards,
            reward_range=reward_range,
            terminal_reward=terminal_reward,
            key=int(rng.integers(2**63)),
        )


class PosteriorSampler(TabularLearner):
    """A learner of `PSRL`; memory grows with what was visited."""

    def __init__(
        self, settings: PSRL, outlook: Outlook, all_states: int, rng: np.random.Generator, **problem: Any
    ) -> None:
        super().__init__(settings, outlook, **problem)
        self._rng, self._all_states = rng, all_states
        self._unseen = np.zeros(0)
        self._absorbing = self._scaled(problem["terminal_reward"])
        if self._rewards is not None:
            self._belief = self._belief._replace(prior=np.ascontiguousarray(self._rewards))
            self._unseen = self._rewards.max(axis=1)
        self._totals = np.zeros(self.n_layers + 1)
        self._grow(START_ROOM, START_ROOM, START_ROOM)
        self._learn()

    @property
    def rule(self) -> Sampling:
        """What is made of an episode, as kernels take it."""
        return Sampling(
            rng=self._rng,
            n_states=self._all_states,
            weight=float(self.settings.prior),
            noise=-1.0 if self._rewards is not None else float(self.settings.noise),
            unseen=self._unseen,
            absorbing=self._absorbing,
            rest=self._rest,
            untried=self._untried,
            totals=self._totals,
        )

    def _grow(self, states: int, pairs: int, arcs: int) -> None:
        self._rest, self._untried = np.zeros(pairs), np.zeros(states)
