"""Families of laws that can be fitted: how each finds its most likely member."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sojourn._typing import FloatArray
from sojourn.laws._base import LengthLaw
from sojourn.laws.estimates._sample import Sample
from sojourn.laws.families._geometric import Geometric
from sojourn.laws.families._quasi_hyperbolic import QuasiHyperbolic
from sojourn.laws.fitting._optimizer import Peak, climb

__all__ = ["HIGHEST_GAMMA", "ClimbedFamily", "Family", "GeometricFamily", "QuasiHyperbolicFamily", "Solution"]

HIGHEST_GAMMA = 1.0 - 1e-12
"""Chances of one more step go up to here: the mean length must be finite."""

_LOWEST_GAMMA = 1e-12
"""And down to here where a row is given that it got past the first step: no chance at all would forbid it."""

_COARSE = 2048
"""So many distinct lengths are enough to find a peak; it is then climbed with all of them."""


@dataclass(frozen=True)
class Solution:
    """The most likely member of a family.

    Attributes:
        law: The law.
        values: Its parameters, as they are counted.
        covariance: Of these, asymptotically, `(k, k)`; NaN where the data do not determine one.
        edge: Which parameters ended at the edge of what is allowed.
    """

    law: LengthLaw
    values: tuple[float, ...]
    covariance: FloatArray
    edge: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[float, ...]:
        """Standard errors; NaN where there is none."""
        return tuple(np.sqrt(np.diag(self.covariance)).tolist())


class Family(ABC):
    """A family of laws: its parameters, and how to find the most likely ones."""

    name: str
    parameters: tuple[str, ...]

    @property
    def n_parameters(self) -> int:
        """How many parameters the criteria count: those that are no whole numbers."""
        return len(self.parameters)

    @abstractmethod
    def make(self, *values: float) -> LengthLaw:
        """Return the law with these parameters."""

    @abstractmethod
    def solve(self, sample: Sample) -> Solution:
        """Return the most likely member, given at least one observed length."""


class GeometricFamily(Family):
    """γ is the share of steps at risk that were survived."""

    name = "geometric"
    parameters = ("gamma",)

    def make(self, *values: float) -> LengthLaw:
        """Return the law."""
        return Geometric(*values)

    def solve(self, sample: Sample) -> Solution:
        """Return the most likely member in closed form."""
        gamma, error = _whole_share(sample)
        edge = ("gamma",) if gamma in (HIGHEST_GAMMA, _LOWEST_GAMMA) else ()
        return Solution(Geometric(gamma), (gamma,), np.array([[error**2]]), edge)


class QuasiHyperbolicFamily(Family):
    """The first step has its own share of survivors, βγ, and all later ones another, γ."""

    name = "quasi_hyperbolic"
    parameters = ("beta", "gamma")

    def make(self, *values: float) -> LengthLaw:
        """Return the law."""
        return QuasiHyperbolic(*values)

    def solve(self, sample: Sample) -> Solution:
        """Return the most likely member in closed form; β = 1 where the first step is not the riskier."""
        at_first = int(sample.at_risk(np.array([1]))[0])
        ended_first = int(sample.ended[0]) if sample.ends.size and sample.ends[0] == 1 else 0
        survived_first = at_first - ended_first
        ended, survived = sample.n_observed - ended_first, sample.survived - survived_first
        gamma, error = _share(survived, ended)
        if not at_first or not survived + ended or not survived_first or survived_first / at_first >= gamma:
            whole, error = _whole_share(sample)
            covariance = np.diag([math.nan, error**2])
            return Solution(QuasiHyperbolic(1.0, whole), (1.0, whole), covariance, ("beta",))
        second, error_second = _share(survived_first, ended_first)
        beta = second / gamma
        # β and γ come from two shares that are independent.
        slopes = np.array([[1.0 / gamma, -beta / gamma], [0.0, 1.0]])
        covariance = slopes @ np.diag([error_second**2, error**2]) @ slopes.T
        edge = ("gamma",) if gamma == HIGHEST_GAMMA else ()
        return Solution(QuasiHyperbolic(beta, gamma), (beta, gamma), covariance, edge)


def _whole_share(sample: Sample) -> tuple[float, float]:
    """Return the share of all steps that were survived: over 0 where rows are given that they got far."""
    gamma, error = _share(sample.survived, sample.n_observed)
    return (gamma, error) if gamma or int(sample.entries[-1]) == 1 else (_LOWEST_GAMMA, math.nan)


def _share(survived: float, ended: float) -> tuple[float, float]:
    """Return the share of steps that were survived, at most `HIGHEST_GAMMA`, and its standard error."""
    if not survived + ended:
        return 0.0, math.nan
    share = survived / (survived + ended)
    if share >= HIGHEST_GAMMA:
        return HIGHEST_GAMMA, math.nan
    return share, math.sqrt(share * (1.0 - share) / (survived + ended))


class ClimbedFamily(Family):
    """A family whose likelihood is climbed in free variables (logarithms and log-odds) within a box.

    It states `lower` and `upper`, `starts`, `natural`, `make`, and `log_survival` and `log_pmf` of its free
    variables.
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]

    @abstractmethod
    def starts(self, sample: Sample) -> Sequence[Sequence[Sequence[float]]]:
        """Return free variables from which to climb, in groups: the most likely of each group is taken."""

    @abstractmethod
    def natural(self, free: FloatArray) -> tuple[float, ...]:
        """Return the law's parameters."""

    @abstractmethod
    def log_survival(self, free: FloatArray, h: FloatArray) -> FloatArray:
        """Return ln γ(h) for steps h ≥ 2 that rise."""

    @abstractmethod
    def log_pmf(self, free: FloatArray, h: FloatArray) -> FloatArray:
        """Return ln P(H = h) for steps that rise."""

    def solve(self, sample: Sample) -> Solution:
        """Return the most likely member by climbing from the best start of every group.

        Where there are very many distinct lengths, the climb is on some of them first.
        """
        coarse = sample.thinned(_COARSE)
        height = self._height(coarse)
        low, high = np.array(self.lower), np.array(self.upper)
        peaks = []
        for group in self.starts(coarse):
            begins: list[FloatArray] = [np.clip(np.array(start), low, high) for start in group]
            peaks.append(climb(height, max(begins, key=height), self.lower, self.upper))
        best = max(peaks, key=lambda peak: peak.value)
        if coarse is not sample:
            best = climb(self._height(sample), best.at, self.lower, self.upper)
        return self._settle(best, sample.n)

    def _height(self, sample: Sample) -> Callable[[FloatArray], float]:
        """Return the mean log-likelihood as a function of the free variables."""
        ends, (marks, weights), n = sample.ends.astype(np.float64), sample.marks(), sample.n

        def height(free: FloatArray) -> float:
            with np.errstate(all="ignore"):
                total = np.dot(sample.ended, self.log_pmf(free, ends))
                if marks.size:
                    total += np.dot(weights, self.log_survival(free, marks))
            return float(total) / n if math.isfinite(total) else -math.inf

        return height

    def _settle(self, peak: Peak, n: int) -> Solution:
        values, free = self.natural(peak.at), peak.free
        covariance = np.full((len(values), len(values)), math.nan)
        information = -n * peak.bend[np.ix_(free, free)]
        if free.any() and np.linalg.eigvalsh(information).min() > 1e-7 * n * _scale(information, n):
            slopes = np.array([self._slope(peak.at, i) for i in np.flatnonzero(free).tolist()]).T
            known = np.any(slopes != 0.0, axis=1)
            found = slopes @ np.linalg.inv(information) @ slopes.T
            covariance[np.ix_(known, known)] = found[np.ix_(known, known)]
        return Solution(self.make(*values), values, covariance, self.edge(peak))

    def edge(self, peak: Peak) -> tuple[str, ...]:
        """Return the parameters that ended at the edge of what is allowed."""
        return tuple(name for name, inside in zip(self.parameters, peak.free, strict=True) if not inside)

    def _slope(self, at: FloatArray, i: int, step: float = 1e-5) -> FloatArray:
        """Return how the law's parameters change with free variable i."""
        unit = step * np.eye(at.size)[i]
        return np.asarray((np.array(self.natural(at + unit)) - self.natural(at - unit)) / (2.0 * step))


def _scale(information: FloatArray, n: int) -> float:
    return float(min(1.0, np.diag(information).max() / n))
