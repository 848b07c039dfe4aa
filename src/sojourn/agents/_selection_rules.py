"""Rules that share episodes out between candidates, by what each has earned so far."""

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
    """What candidates have done: one entry each.

    Attributes:
        n_pairs: States times actions.
        horizons: Their numbers of layers.
        played: Episodes that they have played.
        earned: What they have earned in all, 1 an episode at most.
        coefficients: d of `D3RB`.
    """

    n_pairs: int
    horizons: IntArray
    played: IntArray
    earned: FloatArray
    coefficients: FloatArray

    def means(self) -> FloatArray:
        """Return what each has earned an episode; those that never played, 0."""
        return self.earned / np.maximum(self.played, 1)

    def slack(self, c: float, delta: float) -> FloatArray:
        """Return c √(ln(M · max(1, ln n)/δ)/n) for each; infinite where n is 0."""
        n = np.maximum(self.played, 1)
        logs = np.log(self.played.size * np.maximum(1.0, np.log(n)) / delta)
        return np.asarray(np.where(self.played > 0, c * np.sqrt(logs / n), np.inf))


class SelectionRule(Protocol):
    """A rule: it chooses who plays next, and may look at who has just played."""

    def begin(self, statistics: CandidateStatistics) -> None:
        """Enter what there is to enter before the first episode."""

    def choose(self, statistics: CandidateStatistics) -> int:
        """Return which candidate plays the next episode."""

    def update(self, statistics: CandidateStatistics, last: int) -> None:
        """Take in that a candidate has played."""


@dataclass(frozen=True)
class D3RB:
    """Doubling data-driven regret balancing (Pacchiano, Dann, Gentile 2023): it needs no bounds.

    Candidate i is taken to have a regret of d_i √n_i, with the same d_i at first. Whoever has the least of it
    plays. Then only who played is tested: unless
    U_i/n_i + w_i + d_i/√n_i ≥ max_j (U_j/n_j − w_j), with w_i = c √(ln(M max(1, ln n_i)/δ)/n_i),
    d_i is doubled.

    An episode earns at most 1, and most often far less: with c = 1 and d = 1 the intervals hold whatever the
    problem, and millions of episodes may pass before a bad candidate is found out. Smaller values judge
    sooner.

    Args:
        c: Width of the intervals.
        first: d of all candidates at first.
        delta: Probability with which intervals of c = 1 may fail, in (0, 1).
    """

    c: float = 1.0
    first: float = 1.0
    delta: float = 0.1

    def __post_init__(self) -> None:
        check_positive("c", self.c)
        check_positive("first", self.first)
        check_open_unit("delta", self.delta)

    def begin(self, statistics: CandidateStatistics) -> None:
        """Enter the first coefficients."""
        statistics.coefficients[:] = self.first

    def choose(self, statistics: CandidateStatistics) -> int:
        """Return which candidate plays the next episode: those that never did come first."""
        return int(np.argmin(statistics.coefficients * np.sqrt(statistics.played)))

    def update(self, statistics: CandidateStatistics, last: int) -> None:
        """Double the coefficient of who played, if that one cannot have told the truth."""
        means, slack = statistics.means(), statistics.slack(self.c, self.delta)
        promised = statistics.coefficients[last] / math.sqrt(statistics.played[last])
        if means[last] + slack[last] + promised < np.max(means - slack):
            statistics.coefficients[last] *= 2.0


@dataclass(frozen=True)
class DynamicBalancing:
    """Dynamic balancing (Cutkosky, Dann, Das, Gentile, Pacchiano, Purohit 2021), which the paper names.

    Every candidate i has a bound R_i(n) on its regret after n episodes. Of those that are active the one with
    the smallest R_i(n_i) plays; i is active while
    U_i/n_i + w_i + R_i(n_i)/n_i ≥ max_j (U_j/n_j − w_j), with w_i = c √(ln(M max(1, ln n_i)/δ)/n_i):
    the lower bound stands on the right. Each plays once first.

    The bound is R_i(n) = scale · (H_i/H_max) · √(S·A·n), the leading term of UCB-VI with H_i layers without
    its logarithms, where the reward of H_max steps counts as 1.

    Args:
        scale: Of the bounds.
        c: Width of the intervals.
        delta: Probability with which intervals of c = 1 may fail, in (0, 1).
    """

    scale: float = 1.0
    c: float = 1.0
    delta: float = 0.1

    def __post_init__(self) -> None:
        check_positive("scale", self.scale)
        check_positive("c", self.c)
        check_open_unit("delta", self.delta)

    def begin(self, statistics: CandidateStatistics) -> None:
        """Nothing."""

    def bounds(self, statistics: CandidateStatistics) -> FloatArray:
        """Return R_i(n_i) of every candidate."""
        share = statistics.horizons / statistics.horizons.max()
        return np.asarray(self.scale * share * np.sqrt(float(statistics.n_pairs) * statistics.played))

    def choose(self, statistics: CandidateStatistics) -> int:
        """Return which candidate plays the next episode."""
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
        """Nothing: everybody is tested when somebody is chosen."""
