"""Rules that choose which candidate learner plays the next episode, from the rewards so far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn._validation import check_open_unit, check_positive

__all__ = ["D3RB", "CandidateStatistics", "DynamicBalancing", "SelectionRule"]


@dataclass
class CandidateStatistics:
    """Episodes and rewards of the candidates so far; arrays have one entry per candidate.

    Attributes:
        n_pairs: Number of states times number of actions.
        horizons: Number of layers.
        played: Number of episodes played.
        earned: Sum of rewards, at most 1 per episode.
        coefficients: The coefficient d of `D3RB`.
        beyond: Γ̂(H_i+1), the estimated weight of the steps after the last layer.
        bonus_scale: Scale of the candidates' bonus.
    """

    n_pairs: int
    horizons: IntArray
    played: IntArray
    earned: FloatArray
    coefficients: FloatArray
    beyond: FloatArray
    bonus_scale: float

    def means(self) -> FloatArray:
        """Return the mean reward per episode of each candidate; 0 for candidates that have not played."""
        return self.earned / np.maximum(self.played, 1)

    def slack(self, c: float, delta: float) -> FloatArray:
        """Return c √(ln(M · max(1, ln n)/δ)/n) for each of the M candidates; infinite if n = 0."""
        n = np.maximum(self.played, 1)
        logs = np.log(self.played.size * np.maximum(1.0, np.log(n)) / delta)
        return np.asarray(np.where(self.played > 0, c * np.sqrt(logs / n), np.inf))


class SelectionRule(Protocol):
    """Chooses the candidate for each episode, and may change the statistics after it."""

    def begin(self, statistics: CandidateStatistics) -> None:
        """Set up the statistics before the first episode."""

    def choose(self, statistics: CandidateStatistics) -> int:
        """Return the index of the candidate that plays the next episode."""

    def update(self, statistics: CandidateStatistics, last: int) -> None:
        """Change the statistics after candidate `last` has played."""


@dataclass(frozen=True)
class D3RB:
    """Doubling data-driven regret balancing (Pacchiano, Dann, Gentile 2023), which needs no regret bounds.

    The regret of candidate i after n_i episodes is assumed to be d_i √n_i; all d_i start equal. The candidate
    with the smallest assumed regret plays. Only that candidate is tested afterwards: d_i is doubled unless
    U_i/n_i + w_i + d_i/√n_i ≥ max_j (U_j/n_j − w_j), with w_i = c √(ln(M max(1, ln n_i)/δ)/n_i),
    where U_i is its sum of rewards and M the number of candidates.

    An episode earns at most 1, and usually far less. With c = 1 and d = 1 the intervals hold for any problem,
    but it may take millions of episodes to detect a bad candidate. Smaller values decide sooner.

    Args:
        c: Factor on the width of the intervals.
        first: Initial d of all candidates.
        delta: Probability that the intervals with c = 1 may fail, in (0, 1).
    """

    c: float = 1.0
    first: float = 1.0
    delta: float = 0.1

    def __post_init__(self) -> None:
        check_positive("c", self.c)
        check_positive("first", self.first)
        check_open_unit("delta", self.delta)

    def begin(self, statistics: CandidateStatistics) -> None:
        """Set all coefficients to `first`."""
        statistics.coefficients[:] = self.first

    def choose(self, statistics: CandidateStatistics) -> int:
        """Return the candidate with the smallest assumed regret, which is 0 before its first episode."""
        return int(np.argmin(statistics.coefficients * np.sqrt(statistics.played)))

    def update(self, statistics: CandidateStatistics, last: int) -> None:
        """Double the coefficient of candidate `last` if its rewards contradict its assumed regret."""
        means, slack = statistics.means(), statistics.slack(self.c, self.delta)
        promised = statistics.coefficients[last] / math.sqrt(statistics.played[last])
        if means[last] + slack[last] + promised < np.max(means - slack):
            statistics.coefficients[last] *= 2.0


@dataclass(frozen=True)
class DynamicBalancing:
    """Dynamic balancing (Cutkosky, Dann, Das, Gentile, Pacchiano, Purohit 2021), the paper's rule.

    Every candidate i has a bound R_i(n) on its regret after n episodes. The active candidate with the
    smallest R_i(n_i) plays. Candidate i is active while
    U_i/n_i + w_i + R_i(n_i)/n_i ≥ max_j (U_j/n_j − w_j), with w_i = c √(ln(M max(1, ln n_i)/δ)/n_i),
    where U_i is its sum of rewards and M the number of candidates; the right side is a lower bound. Each
    candidate plays one episode first.

    The bound is R_i(n) = n·Γ̂(H_i+1)/H_max + scale · (H_i/H_max) · √(S·A·n), in units in which H_max steps
    earn at most 1: the rewards after layer H_i, with the latest estimate of the law, and the leading term of
    UCB-VI's bound with H_i layers, without logarithms. Before the first estimate every step counts as
    reached: Γ̂(H_i+1) = H_max − H_i.

    Args:
        scale: Factor on the second term; by default the scale of the candidates' bonus.
        c: Factor on the width of the intervals.
        delta: Probability that the intervals with c = 1 may fail, in (0, 1).
    """

    scale: float | None = None
    c: float = 1.0
    delta: float = 0.1

    def __post_init__(self) -> None:
        if self.scale is not None:
            check_positive("scale", self.scale)
        check_positive("c", self.c)
        check_open_unit("delta", self.delta)

    def begin(self, statistics: CandidateStatistics) -> None:
        """Leave the statistics as they are."""

    def bounds(self, statistics: CandidateStatistics) -> FloatArray:
        """Return R_i(n_i) for every candidate."""
        longest, played = statistics.horizons.max(), statistics.played
        scale = statistics.bonus_scale if self.scale is None else self.scale
        learned = scale * (statistics.horizons / longest) * np.sqrt(float(statistics.n_pairs) * played)
        return np.asarray(learned + played * statistics.beyond / longest)

    def choose(self, statistics: CandidateStatistics) -> int:
        """Return the index of the candidate that plays the next episode."""
        if (statistics.played == 0).any():
            return int(np.argmin(statistics.played))
        means, slack, bounds = (
            statistics.means(),
            statistics.slack(self.c, self.delta),
            self.bounds(statistics),
        )
        is_active = means + slack + bounds / statistics.played >= np.max(means - slack)
        return int(np.argmin(np.where(is_active, bounds, np.inf)))

    def update(self, statistics: CandidateStatistics, last: int) -> None:
        """Leave the statistics as they are: `choose` tests all candidates."""
